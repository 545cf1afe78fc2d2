"""CompiledBlocks of a program as native code.

A function for each stretch of steps that has code runs them for the threads of a gang that are at
its point: arithmetic on vectors of threads, each access of memory for one thread after the other. A
function for each region runs a vector of threads after the other from where they are until all
have left it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.row_ops import memory_operand
from tilewright.lowering.interpreter.builder import Step
from tilewright.lowering.interpreter.compiled.code import Code
from tilewright.lowering.interpreter.compiled.llvm import I64, POINTER, ir
from tilewright.lowering.interpreter.compiled.memory import MOST_WORDS, Accesses, Env
from tilewright.lowering.interpreter.compiled.regions import RegionCode
from tilewright.lowering.interpreter.compiled.stretches import (
    CompiledBlocks,
    LaneRegisters,
    Stretch,
)
from tilewright.lowering.interpreter.compiled.words import LaneWord, numpy
from tilewright.lowering.interpreter.program import CodeBlock, Fork

GOING = -1
"""The result of code whose threads go on; else it is the point where they have stopped."""


class BlockCode:
    """The functions of stretches and regions in a module, by the points that they are for:
    `f(threads, registers, points, env)`, of a number of threads that vectors divide."""

    def __init__(self, blocks: CompiledBlocks, module: Any):
        self.blocks, self._module = blocks, module
        self._accesses = Accesses(module)
        regions = {
            blocks.point(blocks.program.blocks[number]): function
            for region in blocks.regions
            for function in [self._region(region)]
            for number in region
        }
        self.functions = {
            place: regions.get(place) or self._stretch(stretch, place)
            for place, stretch in blocks.stretches.items()
        }

    def _code(self, name: str) -> Code:
        return Code(self._module, name, [I64, *[POINTER] * 3], apart=True)

    def registers(self, code: Code, thread: Any) -> LaneRegisters:
        """Those of a thread, or of the vector that it begins."""
        threads, registers, *_ = code.arguments

        def place(slot: int, column: int) -> Any:
            index = code.builder.add(thread, code.builder.mul(threads, ir.Constant(I64, column)))
            return code.place(code.pointer(registers, slot), self.blocks.held[slot].dtype, index)

        return LaneRegisters(code, self.blocks, place)

    # Stretches

    def _stretch(self, stretch: Stretch, place: int) -> Any:
        code, block, run = self._code(f"stretch_{place}"), stretch.block, list[Step]()
        for number, (op, step, _) in enumerate(block.steps[stretch.first : stretch.last]):
            if isinstance(op, LdOp | StOp):
                self._add_run(code, place, run, place + number)
                run = []
                self._add_access(code, op, place, place + number)
            else:
                run.append(step)
        end = self.blocks.point(block, min(stretch.last, len(block.steps)))
        self._add_run(code, place, run, end)
        if stretch.whole:
            self._add_ending(code, place, block)
        else:
            code.builder.ret(ir.Constant(I64, end))
        return code.function

    @contextmanager
    def _vectors(self, code: Code, place: int) -> Generator[tuple[Any, LaneWord]]:
        """Code for each vector of which threads are at a point: the first one, and which are."""
        threads, _, points, _ = code.arguments
        with code.vectors(threads) as first:
            here = code.load(points, np.int32, first) == np.int32(place)
            with code.where(here):
                yield first, here

    def _add_run(self, code: Code, place: int, steps: Sequence[Step], end: int) -> None:
        """Steps on registers, up to a point: none is done where a guard holds for a thread."""
        if not steps:
            return
        if any(map(self.blocks.is_guarded, steps)):
            with self._vectors(code, place) as (first, here):
                registers, code.guards = self.registers(code, first), []
                for step in steps:
                    registers.run(step)
                for guard in code.guards:
                    code.leave(code.word(guard, bool) & here, end - len(steps))
        with self._vectors(code, place) as (first, here):
            registers = self.registers(code, first)
            for step in steps:
                registers.run(step)
            registers.store(self.blocks.live(*self.blocks.at(end)), here)

    def _add_ending(self, code: Code, place: int, block: CodeBlock) -> None:
        *_, points, env = code.arguments
        ending, count = block.ending, code.variable(I64, ir.Constant(I64, 0))
        if isinstance(ending, Fork) and (flag := self.blocks.flags.get(ending.condition)):
            with self._vectors(code, place) as (first, here):
                wrong = self.registers(code, first).moved(flag) != 0
                code.leave(wrong & here, self.blocks.point(block, len(block.steps)))
        with self._vectors(code, place) as (first, here):
            following = self.blocks.following(self.registers(code, first), block)
            following = numpy.where(here, following, code.load(points, np.int32, first))
            code.store(points, first, following)
            code.count(count, here, 1)
        executed = code.word(code.builder.load(count, typ=I64)) * (len(block.steps) + 1)
        for name, by in ((Env.TURNS, -1), (Env.EXECUTED, executed)):
            code.store(env, int(name), code.load(env, np.int64, int(name)) + by)
        code.builder.ret(ir.Constant(I64, GOING))

    # Regions

    def _region(self, region: range) -> Any:
        code = self._code(f"region_{region.start}")
        threads, _, points, env = code.arguments
        end = self.blocks.point(self.blocks.program.blocks[region.stop - 1]) + 1
        signs = {Env.TURNS: -1, Env.EXECUTED: 1}
        totals = {name: code.variable(I64, ir.Constant(I64, 0)) for name in signs}
        with code.vectors(threads) as first:
            here = code.load(points, np.int32, first) < np.int32(end)
            with code.where(here):
                at = code.place(points, np.int32, first)
                RegionCode(self.blocks, code, region).add(self.registers(code, first), at, totals)
        for name, sign in signs.items():
            total = code.word(code.builder.load(totals[name], typ=I64))
            code.store(env, int(name), code.load(env, np.int64, int(name)) + total * sign)
        code.builder.ret(ir.Constant(I64, GOING))
        return code.function

    # Memory

    def _add_access(self, code: Code, op: LdOp | StOp, place: int, stop: int) -> None:
        threads, *_, env = code.arguments
        verb = "read" if isinstance(op, LdOp) else "write"
        key = memory_operand(op).is_shared, verb
        access = ThreadAccess(self, op, env)
        number = ir.Constant(I64, self.blocks.number_of(op))
        if verb == "read":
            logged = code.load(env, np.int64, int(Env.LOGGED)) + code.word(threads) * MOST_WORDS
            code.leave(logged > code.load(env, np.int64, int(Env.ROOM)), stop)
        accessing = partial(self._each, code, access, place)
        with_ = self._accesses
        for lane, address in accessing(stop):
            fine = code.call(with_.check[key], env, lane, address, access.size)
            code.leave(fine == 0, stop)
        if verb == "write":
            for lane, address in accessing():
                access.store(code, lane, code.call(with_.place[key[0]], env, lane, address))
            for lane, address in accessing():
                there = code.call(with_.place[key[0]], env, lane, address)
                code.leave(access.differs(code, lane, there, checked=not key[0]), stop)
        for lane, address in accessing():
            if verb == "read":
                access.load(code, lane, code.call(with_.place[key[0]], env, lane, address))
            code.call(with_.note[key], env, lane, address, access.size, number)

    def _each(
        self, code: Code, access: ThreadAccess, place: int, stop: int | None = None
    ) -> Iterator[tuple[Any, LaneWord]]:
        """Code for each thread at a point that makes an access, with the address; of a load that
        one does not make the result is another register. Code before any access stops where
        operands are not defined."""
        threads, _, points, _ = code.arguments
        with code.loop(threads) as lane, code.where(code.load(points, np.int32, lane) == place):
            registers = self.registers(code, lane)
            if stop is not None:
                for flag in access.flags:
                    code.leave(registers.moved(flag) != 0, stop)
            if access.predicate is None:
                yield lane, access.address(registers)
                return
            with code.where(registers.moved(access.predicate)):
                yield lane, access.address(registers)
            if access.otherwise is not None and stop is None:
                with code.where(~registers.moved(access.predicate)):
                    registers.write(access.data, registers.moved(access.otherwise))
                    registers.store(self.blocks.held)


class ThreadAccess:
    """An access of memory by one thread: `words` of so many bytes `width`."""

    def __init__(self, own: BlockCode, op: LdOp | StOp, env: Any):
        blocks = own.blocks
        memory, _, self._offset = memory_operand(op)
        value = op.results[0] if isinstance(op, LdOp) else op.value
        self.width, self._env = op.access_bytes, env
        self.words = blocks.held[blocks.slots[value]].count
        self.size = self.width * self.words
        self.data, self._memory = blocks.slots[value], blocks.slots[memory]
        others = [op.predicate, op.otherwise if isinstance(op, LdOp) else None]
        self.predicate, self.otherwise = (
            None if one is None else blocks.slots[one] for one in others
        )
        operands = [blocks.slots[one] for one in op.operands]
        self.flags = [blocks.flags[slot] for slot in operands if slot in blocks.flags]
        self._own = own

    def address(self, registers: LaneRegisters) -> LaneWord:
        word = registers.moved(self._memory)
        moved = (word.astype(np.int64) + self._offset).astype(word.dtype)
        return moved.astype(np.int64)

    def load(self, code: Code, lane: Any, place: LaneWord) -> None:
        """Let the result have the words at a place."""
        registers, dtype = self._own.registers(code, lane), np.dtype(f"u{self.width}")
        pointer = code.builder.inttoptr(place.value, POINTER)
        words = [code.load(pointer, dtype, i) for i in range(self.words)]
        container = self._own.blocks.held[self.data]
        columns = [word.astype(container.dtype).value for word in words]
        registers.write(self.data, LaneWord(code, columns, container.dtype, 1 + (self.words > 1)))
        registers.store(self._own.blocks.held)

    def _stored(self, code: Code, lane: Any) -> list[LaneWord]:
        word = self._own.registers(code, lane).moved(self.data)
        dtype = np.dtype(f"u{self.width}")
        return [LaneWord(code, [value], word.dtype).astype(dtype) for value in word.columns]

    def store(self, code: Code, lane: Any, place: LaneWord) -> None:
        pointer = code.builder.inttoptr(place.value, POINTER)
        for number, word in enumerate(self._stored(code, lane)):
            code.store(pointer, number, word)

    def differs(self, code: Code, lane: Any, place: LaneWord, *, checked: bool) -> LaneWord:
        """True where another thread's word is there; where races are no errors that is fine."""
        pointer = code.builder.inttoptr(place.value, POINTER)
        result = code.word(0, bool)
        for number, word in enumerate(self._stored(code, lane)):
            result = result | (code.load(pointer, word.dtype, number) != word)
        return (
            result & (code.load(self._env, np.int64, int(Env.CHECKED)) != 0) if checked else result
        )
