"""The parts of a program that have code: stretches of steps, on registers of threads."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import accumulate
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.frozen import entity, factory, frozen
from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.ptx.types import RegType
from tilewright.lowering.interpreter.array_types import AnyDType
from tilewright.lowering.interpreter.builder import Pure, Step
from tilewright.lowering.interpreter.compiled.code import Code
from tilewright.lowering.interpreter.compiled.llvm import I64, POINTER, ir
from tilewright.lowering.interpreter.compiled.words import LaneWord, numpy
from tilewright.lowering.interpreter.program import CodeBlock, Fork, Jump, Program, Suspend
from tilewright.lowering.interpreter.register_builder import Moving, Naming, Overwriting
from tilewright.lowering.interpreter.values import CONTAINERS, Undefined

Slots = tuple[int, ...]


@frozen
class Container:
    """The array of a register, `count` ones of each thread."""

    dtype: AnyDType
    count: int = 1


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
            return tuple(step.clobbered)
        case _:
            return ()


@entity
class LaneRegisters:
    """The registers of a thread, or of a vector of them, each element of which has a `place`."""

    code: Code
    _blocks: CompiledBlocks
    _place: Callable[[int, int], Any]
    _words: dict[int, LaneWord] = factory(dict)
    _written: set[int] = factory(set)

    def read(self, slot: int) -> LaneWord:
        """The value, under the guard that something has written it."""
        if (flag := self._blocks.flags.get(slot)) is not None:
            self.code.guards.append((self.moved(flag) != 0).value)
        return self.moved(slot)

    def moved(self, slot: int) -> LaneWord:
        """The value, whatever it is."""
        if slot not in self._words:
            self._words[slot] = self._kept(slot)
        return self._words[slot]

    def _kept(self, slot: int) -> LaneWord:
        container = self._blocks.held[slot]
        columns = [
            self.code.load(self._place(slot, column), container.dtype).value
            for column in range(container.count)
        ]
        return LaneWord(self.code, columns, container.dtype, 1 + (container.count > 1))

    def write(self, slot: int, given: Any, flag: LaneWord | None = None) -> None:
        """Raises TypeError for a value that the register does not hold."""
        word, container = self.code.wrap(given), self._blocks.held[slot]
        if (word.dtype, len(word.columns)) != (container.dtype, container.count):
            raise TypeError(slot)
        self._words[slot] = word
        self._written.add(slot)
        if slot in self._blocks.flags:
            self.write(self._blocks.flags[slot], np.uint8(0) if flag is None else flag)

    def take(self, other: LaneRegisters, slots: Collection[int]) -> None:
        """Let the places have what those of others have."""
        self._words = {slot: other.moved(slot) for slot in sorted(slots)}
        self._written = set(slots)
        self.store(slots)

    def store(self, live: Collection[int], here: LaneWord | None = None) -> None:
        """Let the places have what is written and live; of a vector in the threads that are `here`
        alone."""
        for slot in sorted(self._written.intersection(live)):
            word = self._words[slot]
            if here is not None:
                word = numpy.where(here, word, self._kept(slot))
            for column, value in enumerate(word.columns):
                self.code.store(self._place(slot, column), 0, self.code.word(value, word.dtype))

    def run(self, step: Step) -> None:
        """The effect of a step. Raises whatever NumPy does where words are not enough."""
        match bare(step):
            case Moving() as moving:
                flags = self._blocks.flags
                moved = [
                    (self.moved(slot), self.moved(flags[slot]) if slot in flags else None)
                    for slot in moving.sources
                ]
                for dest, (word, flag) in zip(moving.dests, moved, strict=True):
                    self.write(dest, word, flag)
            case Pure() as pure:
                result = self.code.trace(pure.compute, [self.read(slot) for slot in pure.sources])
                results = [result] if len(pure.dests) == 1 else result
                for dest, word in zip(pure.dests, results, strict=True):
                    self.write(dest, word)
            case _:
                raise TypeError(step)


@frozen
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
    they begin, and `regions` of blocks, in which no thread can tell what another one does. `held`
    is what holds registers, and `flags` those registers that say, of others, not 0 where nothing
    has written them.

    Points number the places in a program in the order of the text.
    """

    def __init__(
        self, program: Program, registers: Mapping[SSAValue, int], numbers: Collection[int]
    ):
        self.program, self.slots, self.count = program, registers, program.registers
        self._starts = [0, *accumulate(len(block.steps) + 1 for block in program.blocks)]
        self.held = containers(registers)
        self.flags = {slot: slot + self.count for slot in self._loose()}
        self.held |= dict.fromkeys(self.flags.values(), Container(np.dtype(np.uint8)))
        self._numbers = {id(op): number for number, op in enumerate(program.ops, 1)}
        # Where each register is among those of a thread, in bytes, and how many these are.
        sizes = np.zeros(2 * self.count + 1, np.int64)
        for slot, container in self.held.items():
            sizes[slot + 1] = container.count * container.dtype.itemsize
        self.places = np.cumsum(sizes)
        self._guarded, self._live = set[int](), dict[int, set[int]]()
        self.stretches: dict[int, Stretch] = {}
        for block in (program.blocks[number] for number in sorted(numbers)):
            for stretch in self._stretches_of(block):
                self.stretches[self.point(block, stretch.first)] = stretch
        self.regions = list(self._regions())

    def point(self, block: CodeBlock, step: int = 0) -> int:
        """The number of a place."""
        return self._starts[block.number] + step

    def at(self, point: int) -> tuple[CodeBlock, int]:
        """The block and the step of a place."""
        number = bisect_right(self._starts, point) - 1
        return self.program.blocks[number], point - self._starts[number]

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
        last, ends = len(block.steps), isinstance(block.ending, Jump | Fork)
        if first is not None or ends:
            yield Stretch(block, last if first is None else first, last + ends)

    def _regions(self) -> Iterator[range]:
        """The longest runs of blocks that access no memory and stop for nothing, and that threads
        leave for later ones alone: those that do wait there for the others, as they would."""
        first = 0
        for block in self.program.blocks:
            targets = [jump.target.number for jump in block.jumps()]
            if not self._is_free(block) or min(targets) < first:
                if first < block.number:
                    yield range(first, block.number)
                first = block.number + 1
        if first < len(self.program.blocks):
            yield range(first, len(self.program.blocks))

    def _is_free(self, block: CodeBlock) -> bool:
        stretch = self.stretches.get(self.point(block))
        if stretch is None or not stretch.whole:
            return False
        if isinstance(block.ending, Fork) and block.ending.condition in self.flags:
            return False
        return not any(
            isinstance(op, LdOp | StOp) or self.is_guarded(step) for op, step, _ in block.steps
        )

    def live(self, block: CodeBlock, first: int) -> set[int]:
        """The registers that something from a step of a block on reads, and their flags."""
        if (known := self._live.get(place := self.point(block, first))) is not None:
            return known
        live = set[int]()
        for jump in block.jumps():
            live |= self.program.live_before(jump)
        match block.ending:
            case Fork(condition):
                live.add(condition)
            case Suspend():
                assert block.ending_op is not None
                live |= {self.slots[value] for value in block.ending_op.operands}
            case _:
                pass
        for op, step, _ in reversed(block.steps[first:]):
            reads, writes = self._accessed(op, step)
            live = live.difference(writes).union(reads)
        self._live[place] = live | {self.flags[slot] for slot in self.flags.keys() & live}
        return self._live[place]

    def read_from(self, point: int) -> list[int]:
        """The registers of the program that are held and that something from a point on reads."""
        return [slot for slot in self.live(*self.at(point)) & self.held.keys() if slot < self.count]

    def following(self, registers: LaneRegisters, block: CodeBlock) -> LaneWord:
        """The points where threads go on behind a block."""
        then, *other = (np.int32(self.point(jump.target)) for jump in block.jumps())
        if isinstance(block.ending, Jump):
            return registers.code.wrap(then)
        assert isinstance(block.ending, Fork)
        return numpy.where(registers.moved(block.ending.condition), then, *other)

    def _lost(self, block: CodeBlock, number: int) -> bool:
        """A register that a step leaves unreadable is read before something writes it."""
        return not self.live(block, number + 1).isdisjoint(clobbered(block.steps[number][1]))

    def _accessed(self, op: Operation, step: Step) -> tuple[Slots, Slots]:
        if isinstance(own := bare(step), Pure | Moving):
            return own.sources, own.dests
        sources, dests = (
            [self.slots[value] for value in values] for values in (op.operands, op.results)
        )
        return tuple(sources), tuple(dests)

    def _has_code(self, op: Operation, step: Step) -> bool:
        if isinstance(op, LdOp | StOp):
            is_plain = op.semantics.data == "weak" and op.space.data != "local"
            is_plain &= not (isinstance(op, LdOp) and op.is_read_only)
            return is_plain and not isinstance(bare(step), Pure)
        code = Code(ir.Module(), "trial", [I64, POINTER])
        try:
            # Of a function, anything may be asked: what words do not have is NumPy's.
            LaneRegisters(code, self, lambda slot, column: code.arguments[1]).run(step)
        except Exception:
            return False
        if code.guards:
            self._guarded.add(id(step))
        return True

    def is_guarded(self, step: Step) -> bool:
        """A step that NumPy has to take in some cases."""
        return id(step) in self._guarded

    def number_of(self, op: Operation) -> int:
        """The number by which memory remembers an op."""
        return self._numbers[id(op)]
