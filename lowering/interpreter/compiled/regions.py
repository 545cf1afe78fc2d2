"""The code of regions: blocks that a vector of threads goes through by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.lowering.interpreter.compiled.code import Code
from tilewright.lowering.interpreter.compiled.llvm import I64, ir
from tilewright.lowering.interpreter.compiled.memory import Env
from tilewright.lowering.interpreter.compiled.stretches import CompiledBlocks, LaneRegisters
from tilewright.lowering.interpreter.compiled.words import BOOL, numpy
from tilewright.lowering.interpreter.program import CodeBlock


class RegionCode:
    """The code of the blocks of a region for one vector of threads, on registers of its own."""

    def __init__(self, blocks: CompiledBlocks, code: Code, region: range):
        self._all, self._code = blocks, code
        self._blocks = [blocks.program.blocks[number] for number in region]
        targets = [jump.target for block in self._blocks for jump in block.jumps()]
        live = (blocks.live(block, 0) for block in (*self._blocks, *targets))
        self._live = blocks.held.keys() & set[int]().union(*live)
        self._places: dict[tuple[int, int], Any] = {}
        self._heads = {blocks.point(block): self._head() for block in self._blocks}
        self._turn, self._done = self._head(), self._head()
        self._at, self._left = code.variable(code.type(np.dtype(np.int32))), code.variable(I64)

    def _head(self) -> Any:
        return self._code.function.append_basic_block()

    def _place(self, slot: int, column: int) -> Any:
        """Where the registers of the vector are: LLVM keeps most of them in registers."""
        if (slot, column) not in self._places:
            code, dtype = self._code, self._all.held[slot].dtype
            type_ = code.type(np.dtype(np.uint8) if dtype == BOOL else dtype)
            self._places[slot, column] = code.variable(type_)
        return self._places[slot, column]

    def _own(self) -> LaneRegisters:
        return LaneRegisters(self._code, self._all, self._place)

    def add(self, theirs: LaneRegisters, points: Any, totals: dict[Env, Any]) -> None:
        """The threads that such registers are of take turns from their points on, until they have
        left or all turns are taken; `totals` are the most that a vector has taken, and what all
        have executed."""
        code, builder = self._code, self._code.builder
        self._own().take(theirs, self._live)
        code.store(self._at, 0, code.load(points, np.int32))
        turns = builder.load(code.place(code.arguments[-1], np.int64, Env.TURNS), typ=I64)
        builder.store(turns, self._left)
        builder.branch(self._turn)
        builder.position_at_end(self._turn)
        least = code.least(code.load(self._at, np.int32))
        switch = builder.switch(least, self._done)
        for point, head in self._heads.items():
            switch.add_case(ir.Constant(least.type, point), head)
        for block in self._blocks:
            self._add_block(block, totals[Env.EXECUTED])
        builder.position_at_end(self._done)
        theirs.take(self._own(), self._live)
        code.store(points, 0, code.load(self._at, np.int32))
        taken = builder.sub(turns, builder.load(self._left, typ=I64))
        most = builder.load(totals[Env.TURNS], typ=I64)
        larger = builder.icmp_signed(">", taken, most)
        builder.store(builder.select(larger, taken, most), totals[Env.TURNS])

    def _add_block(self, block: CodeBlock, executed: Any) -> None:
        code, builder, blocks = self._code, self._code.builder, self._all
        point, after = blocks.point(block), self._head()
        builder.position_at_end(self._heads[point])
        at = code.load(self._at, np.int32)
        here, registers = at == np.int32(point), self._own()
        for _, step, _ in block.steps:
            registers.run(step)
        at = numpy.where(here, blocks.following(registers, block), at)
        registers.store(blocks.live(block, len(block.steps)), here)
        code.store(self._at, 0, at)
        code.count(executed, here, len(block.steps) + 1)
        left = builder.sub(builder.load(self._left, typ=I64), ir.Constant(I64, 1))
        builder.store(left, self._left)
        builder.cbranch(builder.icmp_signed(">", left, ir.Constant(I64, 0)), after, self._done)
        builder.position_at_end(after)
        # All are behind the block, or were at it: those that go no further than to the next one,
        # or back, are furthest behind.
        for target in sorted({blocks.point(jump.target) for jump in block.jumps()}):
            if target in self._heads and target <= point + len(block.steps) + 1:
                other = self._head()
                builder.cbranch(code.holds(at == np.int32(target)), self._heads[target], other)
                builder.position_at_end(other)
        builder.branch(self._turn)
