"""The parts of a program that have code: stretches of steps, on registers of one thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.ptx.types import RegType
from tilewright.lowering.interpreter.builder import Pure, Step
from tilewright.lowering.interpreter.compiled.code import Code
from tilewright.lowering.interpreter.compiled.llvm import I64, POINTER, ir
from tilewright.lowering.interpreter.compiled.words import LaneWord
from tilewright.lowering.interpreter.program import CodeBlock, Fork, Jump, Program
from tilewright.lowering.interpreter.register_builder import Moving, Naming, Overwriting
from tilewright.lowering.interpreter.values import CONTAINERS, Undefined

Slots = tuple[int, ...]
STEP_BITS = 32
DIVERGED = -1
VECTOR = 16
"""The most words of a shadow that an access may have."""


def point(block: CodeBlock, step: int = 0) -> int:
    """The number of a place in a program, in the order of the text."""
    return block.number << STEP_BITS | step


def stopped(place: int) -> int:
    """The result of code that stops at a place: the first engine does what is there."""
    return DIVERGED - 1 - place


@dataclass(frozen=True, slots=True)
class Container:
    """The array of a register of all threads, or `count` ones of each."""

    dtype: np.dtype[Any]
    count: int

    def shape(self, threads: int) -> tuple[int, ...]:
        return (threads,) if self.count == 1 else (threads, self.count)


def containers(registers: Mapping[SSAValue, int]) -> dict[int, Container]:
    """Those of a program's registers."""
    return {
        slot: Container(np.dtype(CONTAINERS[value.type.kind.data]), value.type.count.data)
        for value, slot in registers.items()
        if isinstance(value.type, RegType)
    }


def bare(step: Any) -> Any:
    """A step without what is said of registers that others share."""
    while isinstance(step, Naming | Overwriting):
        step = step.step
    return step


def clobbered(step: Any) -> Slots:
    """The registers that a step leaves unreadable."""
    match step:
        case Naming():
            return clobbered(step.step)
        case Overwriting():
            return step.clobbered
        case _:
            return ()


class LaneRegisters:
    """The registers of one thread in a loop over threads, in arrays."""

    def __init__(
        self, code: Code, lane: Any, blocks: CompiledBlocks, pointers: Callable[[int], Any]
    ):
        self.code, self.lane, self._blocks, self._pointers = code, lane, blocks, pointers
        self.words: dict[int, LaneWord] = {}
        self.flags: dict[int, LaneWord] = {}
        self.written = set[int]()

    def read(self, slot: int) -> LaneWord:
        """The value, under the guard that something has written it."""
        if slot in self._blocks.loose:
            self.code.guards.append((self.flag(slot) != 0).value)
        return self.moved(slot)

    def moved(self, slot: int) -> LaneWord:
        """The value, whatever it is."""
        if slot not in self.words:
            container, code = self._blocks.held[slot], self.code
            first = code.word(self.lane) * container.count
            pointer = self._pointers(slot)
            columns = [
                code.load(pointer, container.dtype, first + i).value for i in range(container.count)
            ]
            self.words[slot] = LaneWord(code, columns, container.dtype, 1 + (container.count > 1))
        return self.words[slot]

    def flag(self, slot: int) -> LaneWord:
        """Not 0 where nothing has written a register."""
        if slot not in self._blocks.loose:
            return self.code.word(0, np.uint8)
        if slot not in self.flags:
            pointer = self._pointers(slot + self._blocks.count)
            self.flags[slot] = self.code.load(pointer, np.uint8, self.lane)
        return self.flags[slot]

    def write(self, slot: int, given: Any, flag: LaneWord | None = None) -> None:
        """Raises TypeError for a value that the register does not hold."""
        word, container = self.code.wrap(given), self._blocks.held[slot]
        if (word.dtype, len(word.columns)) != (container.dtype, container.count):
            raise TypeError(slot)
        self.words[slot] = word
        self.flags[slot] = self.code.word(0, np.uint8) if flag is None else flag
        self.written.add(slot)

    def store(self) -> None:
        """Let the arrays have what is written."""
        for slot in sorted(self.written):
            first = self.code.word(self.lane) * len(self.words[slot].columns)
            for number, value in enumerate(self.words[slot].columns):
                word = LaneWord(self.code, [value], self.words[slot].dtype)
                self.code.store(self._pointers(slot), first + number, word)
            if slot in self._blocks.loose:
                pointer = self._pointers(slot + self._blocks.count)
                self.code.store(pointer, self.lane, self.flags[slot])

    def run(self, step: Step) -> None:
        """The effect of a step. Raises whatever NumPy does where words are not enough."""
        match bare(step):
            case Moving() as moving:
                moved = [(self.moved(slot), self.flag(slot)) for slot in moving.sources]
                for dest, (word, flag) in zip(moving.dests, moved, strict=True):
                    self.write(dest, word, flag)
            case Pure() as pure:
                result = self.code.trace(pure.compute, [self.read(slot) for slot in pure.sources])
                results = [result] if len(pure.dests) == 1 else result
                for dest, word in zip(pure.dests, results, strict=True):
                    self.write(dest, word)
            case _:
                raise TypeError(step)


@dataclass(frozen=True, slots=True)
class Stretch:
    """The steps of a block from one to another that have code."""

    block: CodeBlock
    first: int
    last: int

    @property
    def whole(self) -> bool:
        """The block's ending has code too."""
        return self.last > len(self.block.steps)


class CompiledBlocks:
    """The code of some blocks of a program, by their numbers: `stretches` by the points where
    they begin. `live` are the registers that something from there on reads, `held` what holds
    registers, and `loose` are those that may hold what nothing has written."""

    def __init__(
        self, program: Program, registers: Mapping[SSAValue, int], numbers: Collection[int]
    ):
        self.program, self.slots, self.count = program, registers, program.registers
        self.held = containers(registers)
        self.loose = self._loose()
        self._numbers = {id(op): number for number, op in enumerate(program.ops, 1)}
        self.stretches: dict[int, Stretch] = {}
        self.live: dict[int, set[int]] = {}
        for block in (program.blocks[number] for number in sorted(numbers)):
            for stretch in self._stretches_of(block):
                place = point(block, stretch.first)
                self.stretches[place], self.live[place] = stretch, self._live_at(stretch)

    def _loose(self) -> set[int]:
        """The registers that may hold what nothing has written."""
        loose, size = set[int](), -1
        steps = [bare(step) for block in self.program.blocks for _, step, _ in block.steps]
        for step in steps:
            if (
                isinstance(step, Pure)
                and not step.sources
                and isinstance(step.compute(), Undefined)
            ):
                loose |= set(step.dests)
        while len(loose) > size:
            size = len(loose)
            for step in steps:
                if isinstance(step, Moving):
                    pairs = zip(step.sources, step.dests, strict=True)
                    loose |= {dest for source, dest in pairs if source in loose}
        return loose & self.held.keys()

    def _stretches_of(self, block: CodeBlock) -> Iterator[Stretch]:
        first = None
        for number, (op, step, _) in enumerate(block.steps):
            fine = self._has_code(op, step) and not self._lost(block, number)
            if fine and first is None:
                first = number
            elif not fine and first is not None:
                yield Stretch(block, first, number)
                first = None
        if first is None and isinstance(block.ending, Jump | Fork):
            first = len(block.steps)
        if first is not None:
            ends = isinstance(block.ending, Jump | Fork)
            yield Stretch(block, first, len(block.steps) + ends)

    def _live_at(self, stretch: Stretch) -> set[int]:
        """The registers that something from a stretch on reads."""
        block, live = stretch.block, set[int]()
        for jump in block.jumps():
            live |= self.program.live_before(jump)
        if isinstance(block.ending, Fork):
            live.add(block.ending.condition)
        for op, step, _ in reversed(block.steps[stretch.first :]):
            reads, writes = self._accessed(op, step)
            live = live.difference(writes).union(reads)
        return live

    def _lost(self, block: CodeBlock, number: int) -> bool:
        """A register that a step leaves unreadable is read before something writes it."""
        for slot in clobbered(block.steps[number][1]):
            for op, step, _ in block.steps[number + 1 :]:
                reads, writes = self._accessed(op, step)
                if slot in reads:
                    return True
                if slot in writes:
                    break
            else:
                if any(slot in self.program.live_before(jump) for jump in block.jumps()):
                    return True
        return False

    def _accessed(self, op: Operation, step: Step) -> tuple[Slots, Slots]:
        if isinstance(own := bare(step), Pure | Moving):
            return own.sources, own.dests
        sources, dests = (
            [self.slots[value] for value in values] for values in (op.operands, op.results)
        )
        return tuple(sources), tuple(dests)

    def _has_code(self, op: Operation, step: Step) -> bool:
        if isinstance(op, LdOp | StOp):
            return op.semantics.data == "weak" and not isinstance(bare(step), Pure)
        if not isinstance(bare(step), Pure | Moving):
            return False
        code = Code(ir.Module(), "trial", [I64, POINTER])
        try:
            # Of a function, anything may be asked: what words do not have is NumPy's.
            LaneRegisters(code, code.arguments[0], self, lambda slot: code.arguments[1]).run(step)
        except Exception:
            return False
        return True

    def number_of(self, op: Operation) -> int:
        """The number by which memory remembers an op."""
        return self._numbers[id(op)]
