"""`gpu`: ids of threads and blocks, and the CTA's barrier."""

from typing import Any

import numpy as np
from xdsl.dialects import gpu
from xdsl.ir import Operation

from tilewright.dialects.cute_nvgpu.lattice.data_movement import TIMES
from tilewright.dialects.cute_nvgpu.ops.special_register import SpecialRegisterOp
from tilewright.dialects.gpu import NUMBERS, register_of
from tilewright.dialects.ptx.registers import SregOp
from tilewright.dialects.ptx.types import KINDS
from tilewright.lowering.interpreter.builder import (
    Builder,
    Effect,
    Step,
    effect,
    effects,
    executes,
    runs,
)
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.machine.wait import Wait
from tilewright.lowering.interpreter.ops.base.arith import constant, gives
from tilewright.lowering.interpreter.values import Bits, spread


@effects(*NUMBERS)
def _id(op: Operation) -> Effect:
    register = register_of(op)
    return lambda machine, gang: _wide(machine, gang, register)


def _wide(machine: Machine, gang: Gang, register: str) -> Bits:
    """A special register as an index."""
    return machine.special(register)[gang.lanes].astype(np.uint64)


@effects
def _global_id(op: gpu.GlobalIdOp) -> Effect:
    axis = op.dimension.data.value

    def run(machine: Machine, gang: Gang) -> Bits:
        names = (f"{name}.{axis}" for name in ("ctaid", "ntid", "tid"))
        block, size, thread = (_wide(machine, gang, name) for name in names)
        return block * size + thread

    return run


@executes(gpu.LaneIdOp)
def _lane_id(machine: Machine, gang: Gang) -> Bits:
    return _wide(machine, gang, "laneid")


@runs(SpecialRegisterOp, SregOp)
def _special_register(op: Any, builder: Builder) -> Step:
    return effect(op, builder, special_register(op, builder))


def special_register(op: Any, builder: Builder) -> Effect:
    """One by its name; time is the steps that all threads have executed, with this one."""
    register = op.register.data
    if (kind := TIMES.get(register)) is None:
        return lambda machine, gang: machine.special(register)[gang.lanes]
    shift, width = (32 if register.endswith("_hi") else 0), KINDS[kind]
    place = len(builder.current.steps) + 1

    def run(machine: Machine, gang: Gang) -> Bits:
        time = machine.executed + gang.count * place
        return np.full(gang.count, time >> shift & (1 << width) - 1, dtype=f"uint{width}")

    return run


@executes(gpu.SubgroupIdOp)
def _subgroup_id(machine: Machine, gang: Gang) -> Bits:
    x, y, _ = machine.launch.block
    tid = [_wide(machine, gang, f"tid.{axis}") for axis in "xyz"]
    place = tid[0] + np.uint64(x) * (tid[1] + np.uint64(y) * tid[2])
    return place // np.uint64(WARP)


gives(gpu.SubgroupSizeOp)(constant(np.array([WARP], dtype=np.uint64)))


@runs
def _barrier(op: gpu.BarrierOp, builder: Builder) -> None:
    wait_at(op, builder, 0, None)


def arrive_at(barrier: int, threads: int | None, *, aligned: bool) -> Step:
    """The step of threads that arrive at a barrier of their CTA, and do not wait."""

    def step(machine: Machine, gang: Gang) -> None:
        if aligned and (threads is not None or machine.threads % WARP == 0):
            gang.warps(f"barrier {barrier}")
        machine.barriers.arrive(gang.lanes, barrier, threads)

    return step


def wait_at(
    op: Operation, builder: Builder, barrier: int, threads: int | None, *, aligned: bool = True,
    vote: int | None = None,
) -> None:  # fmt: skip
    """Arrive at a barrier of the CTA, and wait for the others; `threads` None means all. Whole
    warps come where it is `aligned`; the register `vote` says what the threads vote."""

    def begin(machine: Machine, gang: Gang) -> Wait:
        if aligned and (threads is not None or machine.threads % WARP == 0):
            machine.barriers.gather(op, gang.lanes, barrier)
        votes = None if vote is None else spread(gang.regs[vote], gang.count)
        return machine.barriers.wait(op, gang.lanes, barrier, threads, votes)

    builder.suspend(op, begin)
