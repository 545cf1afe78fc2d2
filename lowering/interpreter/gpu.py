"""`gpu`: ids of threads and blocks, and the CTA's barrier."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import gpu
from xdsl.ir import Operation

from tilewright.lowering.interpreter.arith import constant
from tilewright.lowering.interpreter.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.program import Builder, CodeBlock, Jump, Step, Wait, runs

_REGISTERS: dict[type[object], str] = {
    gpu.ThreadIdOp: "tid",
    gpu.BlockIdOp: "ctaid",
    gpu.BlockDimOp: "ntid",
    gpu.GridDimOp: "nctaid",
}


@runs(gpu.ThreadIdOp, gpu.BlockIdOp, gpu.BlockDimOp, gpu.GridDimOp)
def _id(op: gpu.ThreadIdOp, builder: Builder) -> Step:
    register = f"{_REGISTERS[type(op)]}.{op.dimension.data.value}"
    dest = builder.slot(op.result)

    def step(machine: Machine, gang: Gang) -> None:
        gang.regs[dest] = machine.special(register)[gang.lanes].astype(np.uint64)

    return step


@runs(gpu.GlobalIdOp)
def _global_id(op: gpu.GlobalIdOp, builder: Builder) -> Step:
    axis, dest = op.dimension.data.value, builder.slot(op.result)

    def step(machine: Machine, gang: Gang) -> None:
        block, size, thread = (
            machine.special(f"{name}.{axis}")[gang.lanes].astype(np.uint64)
            for name in ("ctaid", "ntid", "tid")
        )
        gang.regs[dest] = block * size + thread

    return step


@runs(gpu.LaneIdOp)
def _lane_id(op: gpu.LaneIdOp, builder: Builder) -> Step:
    dest = builder.slot(op.result)

    def step(machine: Machine, gang: Gang) -> None:
        gang.regs[dest] = machine.special("laneid")[gang.lanes].astype(np.uint64)

    return step


@runs(gpu.SubgroupIdOp)
def _subgroup_id(op: gpu.SubgroupIdOp, builder: Builder) -> Step:
    dest = builder.slot(op.result)

    def step(machine: Machine, gang: Gang) -> None:
        x, y, _ = machine.launch.block
        tid = [machine.special(f"tid.{axis}")[gang.lanes].astype(np.uint64) for axis in "xyz"]
        place = tid[0] + np.uint64(x) * (tid[1] + np.uint64(y) * tid[2])
        gang.regs[dest] = place // np.uint64(WARP)

    return step


@runs(gpu.SubgroupSizeOp)
def _subgroup_size(op: gpu.SubgroupSizeOp, builder: Builder) -> Step:
    return constant(op, builder, np.array([WARP], dtype=np.uint64))


@runs(gpu.BarrierOp)
def _barrier(op: gpu.BarrierOp, builder: Builder) -> None:
    wait_at(op, builder, 0, None)


def wait_at(op: Operation, builder: Builder, barrier: int, threads: int | None) -> None:
    """End the block at a barrier, and go on behind it."""
    following = CodeBlock()
    builder.end(Wait(barrier, threads, Jump(following)), op)
    builder.start(following)
