"""Tile schedulers: which tiles a CTA computes, as bounds and step of a loop."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.dialects.cute.int_tuple import flatten
from tilewright.dialects.cute.ops.scheduler import TileSchedulerBoundsOp
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneInteger, sized
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.tile import algebra as cute
from tilewright.lowering.interpreter.program import Builder, Step, runs


@runs(TileSchedulerBoundsOp)
def _bounds(op: TileSchedulerBoundsOp, builder: Builder) -> Step:
    tiles = builder.slot(op.tiles)
    results: tuple[SSAValue, ...] = (op.lower, op.upper, op.step)
    dests, persistent = builder.slots(results), op.kind.data == "persistent"

    def step(machine: Machine, gang: Gang) -> None:
        count: Scalar = 1
        for extent in flatten(cute.typed_value(gang.regs[tiles]).value):
            count = scalar.mul(count, extent)
        first = LaneInteger(machine.special("ctaid.x")[gang.lanes])
        # One that is not persistent has one tile: its step leaves the loop.
        stride: Scalar = LaneInteger(machine.special("nctaid.x")[gang.lanes])
        for dest, value in zip(dests, (first, count, stride if persistent else count), strict=True):
            gang.regs[dest] = sized(value, 32)

    return step
