"""CompiledBlocks of a program as native code.

A function for each stretch of steps that has code runs them for the threads of a gang that are at
its point: arithmetic on vectors of threads, each access of memory for one thread after the other. A
function for each region runs a vector of threads after the other from where they are until all
have left it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.row_ops import memory_operand
from tilewright.lowering.interpreter.array_types import AnyDType
from tilewright.lowering.interpreter.builder import Step
from tilewright.lowering.interpreter.compiled.code import Code
from tilewright.lowering.interpreter.compiled.llvm import I64, POINTER, ir
from tilewright.lowering.interpreter.compiled.memory import ACCESS, ACCESSES, Env
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
        self._accesses = {name: ir.Function(module, ACCESS, name) for name in ACCESSES}
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
            code.add(env, name, by)
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
            code.add(env, name, total * sign)
        code.builder.ret(ir.Constant(I64, GOING))
        return code.function

    # Memory

    def _add_access(self, code: Code, op: LdOp | StOp, place: int, stop: int) -> None:
        threads, _, points, env = code.arguments
        memory, _, offset = memory_operand(op)
        slots, flags = self.blocks.slots, self.blocks.flags
        data = slots[op.results[0] if isinstance(op, LdOp) else op.value]
        with code.vectors(threads) as first:
            registers = self.registers(code, first)
            here = code.load(points, np.int32, first) == np.int32(place)
            for slot in (slots[operand] for operand in op.operands):
                if slot in flags:
                    code.leave(here & (registers.moved(flags[slot]) != 0), stop)
            if op.predicate is not None:
                here = here & registers.moved(slots[op.predicate])
            address = registers.moved(slots[memory])
            # It wraps at the width of its register.
            address = (address.astype(np.int64) + offset).astype(address.dtype).astype(np.int64)
            code.store(code.pointer(env, Env.ADDRESSES), first, address)
            code.store(code.pointer(env, Env.ACTIVE), first, here)
        verb = "read" if isinstance(op, LdOp) else "write"
        space = "shared" if memory_operand(op).is_shared else "global"
        check, note = (self._accesses[f"{kind}_{space}_{verb}"] for kind in ("check", "note"))
        size = op.access_bytes * self.blocks.held[data].count
        given = threads, env, size, self.blocks.number_of(op)
        code.leave(code.call(check, *given) == 0, stop)
        if isinstance(op, LdOp):
            self._add_load(code, op, data, place)
        else:
            self._add_store(code, op, data, stop)
        code.call(note, *given)

    def _words(
        self, code: Code, op: LdOp | StOp, first: Any, count: int
    ) -> tuple[LaneWord, AnyDType, list[LaneWord]]:
        """Which threads of a vector access memory, the dtype of words, and where these are."""
        *_, env = code.arguments
        here = code.load(code.pointer(env, Env.ACTIVE), bool, first)
        places = code.load(code.pointer(env, Env.PLACES), np.int64, first)
        dtype = np.dtype(f"u{op.access_bytes}")
        return here, dtype, [places + n * dtype.itemsize for n in range(count)]

    def _add_load(self, code: Code, op: LdOp, data: int, place: int) -> None:
        threads, _, points, _ = code.arguments
        container = self.blocks.held[data]
        with code.vectors(threads) as first:
            here, dtype, places = self._words(code, op, first, container.count)
            registers = self.registers(code, first)
            words = [code.gather(there, dtype, here).astype(container.dtype) for there in places]
            columns = [word.value for word in words]
            loaded: Any = LaneWord(code, columns, container.dtype, 1 + (len(columns) > 1))
            if op.otherwise is not None:
                loaded = numpy.where(here, loaded, registers.moved(self.blocks.slots[op.otherwise]))
                here = code.load(points, np.int32, first) == np.int32(place)
            registers.write(data, loaded)
            registers.store(self.blocks.held, here)

    def _add_store(self, code: Code, op: StOp, data: int, stop: int) -> None:
        """Store words, and stop where that of another thread of the op is there."""
        threads, *_, env = code.arguments
        checked = code.entry(env, Env.CHECKED).value
        for writes in (True, False):
            with code.vectors(threads) as first:
                word = self.registers(code, first).moved(data)
                here, dtype, places = self._words(code, op, first, len(word.columns))
                for value, there in zip(word.columns, places, strict=True):
                    stored = code.word(value, word.dtype).astype(dtype)
                    if writes:
                        code.scatter(there, stored, here)
                        continue
                    differs = here & (code.gather(there, dtype, here) != stored)
                    if not memory_operand(op).is_shared:
                        differs = differs & (code.word(code.broadcast(checked)) != 0)
                    code.leave(differs, stop)
