"""Pipelines: stages of shared memory that producers fill and consumers empty.

Use i of a pipeline is of stage `i mod stages`, whose mbarriers are then in the phase of parity
`i / stages mod 2`. Those of `cp_async` are its groups, and a barrier of the CTA.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.dialects.cute.ops.pipeline import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    PipelineCreateOp,
    PipelineStageOp,
    PipelineUseOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerTailOp,
)
from tilewright.dialects.cute.types.pipeline import PipelineType
from tilewright.dialects.cute_nvgpu.lattice.mbarrier import MBARRIER_BYTES
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_types import BoolArray
from tilewright.lowering.interpreter.builder import Builder, Run, Step, effect, nothing, runs
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.machine.wait import Wait
from tilewright.lowering.interpreter.ops.base.arith import constant, gives, pure
from tilewright.lowering.interpreter.ops.base.gpu import wait_at
from tilewright.lowering.interpreter.ops.base.lane_record import LaneRecord
from tilewright.lowering.interpreter.ops.instructions import cluster as cluster_steps
from tilewright.lowering.interpreter.ops.instructions.tcgen05_sync import (
    commit,
    each_thread,
    fence_after,
)
from tilewright.lowering.interpreter.ops.tile.tensor_memory import synchronise
from tilewright.lowering.interpreter.values import Bits, spread


@frozen
class Pipeline(LaneRecord):
    """A `!cute.pipeline`: the places of its mbarriers in shared memory."""

    stages: int
    full: int = 0
    empty: int = 0
    ctas: int = 1
    theirs: int = 0
    """Of a pair of CTAs: the mbarriers that say that a stage of the other one is full."""

    def stage(self, use: Bits) -> Bits:
        """The stage of a use, as 32 bits."""
        return (use.astype(np.uint32) % np.uint32(self.stages)).astype(np.uint32)

    def parity(self, use: Bits) -> Bits:
        """The parity of the phase that completes with a use."""
        return (use.astype(np.uint32) // np.uint32(self.stages)) & np.uint32(1)

    def full_barrier(self, use: Bits) -> Bits:
        """The address of the mbarrier that says that the stage is full."""
        return self._barrier(self.full, use)

    def empty_barrier(self, use: Bits) -> Bits:
        """The address of the mbarrier that says that the stage is empty."""
        return self._barrier(self.empty, use)

    def their_barrier(self, use: Bits) -> Bits:
        """The address of the mbarrier that says that the other CTA's stage is full."""
        return self._barrier(self.theirs, use)

    def _barrier(self, first: int, use: Bits) -> Bits:
        return np.uint64(first) + self.stage(use).astype(np.uint64) * np.uint64(MBARRIER_BYTES)


# Steps


@runs
def _create(op: PipelineCreateOp, builder: Builder) -> Step | None:
    type_, dest = op.type, builder.slot(op.result)
    stages = type_.stages.data
    if type_.kind.data == "cp_async":
        return pure(op, builder, constant(Pipeline(stages)))
    full = -(-builder.shared_bytes // MBARRIER_BYTES) * MBARRIER_BYTES
    empty = full + stages * MBARRIER_BYTES
    builder.shared_bytes = empty + stages * MBARRIER_BYTES
    ctas, theirs = type_.ctas.data, builder.shared_bytes if type_.pairs else 0
    builder.shared_bytes += stages * MBARRIER_BYTES if theirs else 0
    counts = [count for count in type_.arrivals for _ in range(stages)]
    counts += [1] * stages if theirs else []
    number, pipeline = builder.number(op), Pipeline(stages, full, empty, ctas, theirs)

    def step(machine: Machine, gang: Gang) -> None:
        gang.regs[dest] = pipeline
        first = gang.lanes[gang.lanes % machine.slots == 0]
        for place, count in enumerate(counts):
            address = np.full(len(first), full + place * MBARRIER_BYTES, dtype=np.uint64)
            machine.mbarriers.make(first, address, count, number)
        machine.mbarriers.fence(first)

    builder.add(op, step, (), (dest,))
    synchronise(op, builder, ctas)


gives(PipelineStageOp)(Pipeline.stage)


def _type(op: PipelineUseOp) -> PipelineType:
    type_ = op.pipeline.type
    assert isinstance(type_, PipelineType)
    return type_


def _kind(op: PipelineUseOp) -> str:
    return _type(op).kind.data


def _at_stage(op: PipelineUseOp, builder: Builder, run: Run) -> Step:
    """The step that runs on the pipeline and the use of an op."""
    return effect(op, builder, (run, op.pipeline, op.use))


def _commit_mmas(
    op: PipelineUseOp, builder: Builder, barrier: Callable[[Pipeline, Bits], Bits]
) -> Step:
    """mbarriers learn when the MMAs that each thread has issued are complete, of a pair in both of
    its CTAs."""
    mask, group = (0b11, 2) if _type(op).pairs else (None, 1)

    def run(machine: Machine, gang: Gang, stages: Pipeline, use: Bits) -> None:
        at = spread(barrier(stages, use), gang.count)
        each_thread(gang, lambda index, lane: commit(machine, lane, int(at[index]), mask, group))

    return _at_stage(op, builder, run)


Phase = Callable[[Machine, Gang, Pipeline, Bits], tuple[Bits, Bits]]
"""The mbarrier and the parity of a phase, by pipeline and use."""


def _wait_for(op: PipelineUseOp, builder: Builder, phase: Phase, *, cluster: bool = False) -> None:
    pipeline, use = builder.slots((op.pipeline, op.use))

    def begin(machine: Machine, gang: Gang) -> Wait:
        address, parity = phase(machine, gang, gang.regs[pipeline], gang.regs[use])
        address = spread(address, gang.count)
        return machine.mbarriers.wait(gang.lanes, address, parity, op, cluster=cluster)

    builder.suspend(op, begin)


@runs
def _acquire(op: ProducerAcquireOp, builder: Builder) -> Step | None:
    kind, expected = _kind(op), _type(op).bytes.data
    if kind == "cp_async":
        return nothing

    def expect(machine: Machine, gang: Gang, stages: Pipeline, use: Bits) -> None:
        address = spread(stages.full_barrier(use), gang.count)
        machine.mbarriers.arrive(gang.lanes, address, 1, expected)

    _wait_until_empty(op, builder, 0)
    if kind == "umma_async":
        builder.add(op, fence_after, (), ())
        return None
    return _at_stage(op, builder, expect)


def _wait_until_empty(op: PipelineUseOp, builder: Builder, later: int) -> None:
    """Wait for the stage of so many uses later."""

    def empty(machine: Machine, gang: Gang, stages: Pipeline, use: Bits) -> tuple[Bits, Bits]:
        number = use.astype(np.uint32) + np.uint32(later)
        # The stages begin empty: a wait for the phase before the first one is over at once.
        return stages.empty_barrier(number), stages.parity(number) ^ np.uint32(1)

    _wait_for(op, builder, empty)


@runs
def _tail(op: ProducerTailOp, builder: Builder) -> Step | None:
    if _kind(op) == "cp_async":
        return nothing
    for later in range(_type(op).stages.data):
        _wait_until_empty(op, builder, later)
    return None


@runs
def _commit(op: ProducerCommitOp, builder: Builder) -> Step:
    kind = _kind(op)
    if kind == "cp_async":
        return lambda machine, gang: machine.copies.commit(gang.lanes)
    if kind != "umma_async":
        return nothing
    return _commit_mmas(op, builder, Pipeline.full_barrier)


@runs
def _wait(op: ConsumerWaitOp, builder: Builder) -> None:
    kind = _kind(op)
    if kind == "cp_async":
        pending = _type(op).stages.data - 2
        builder.add(op, lambda machine, gang: machine.copies.wait(gang.lanes, pending), (), ())
        wait_at(op, builder, 0, None)
        return
    _wait_for(
        op, builder,
        lambda machine, gang, stages, use: (stages.full_barrier(use), stages.parity(use)),
    )  # fmt: skip
    if kind == "tma_umma" and _type(op).pairs:
        _wait_for_other(op, builder)
    if kind != "tma":
        builder.add(op, fence_after, (), ())


def _wait_for_other(op: ConsumerWaitOp, builder: Builder) -> None:
    """The pair's second CTA tells the first one that its half of a stage is full."""

    def others(machine: Machine, gang: Gang) -> BoolArray:
        return machine.special("cluster_ctarank")[gang.lanes] != 0

    def tell(machine: Machine, gang: Gang, stages: Pipeline, use: Bits) -> None:
        chosen = others(machine, gang)
        address = spread(stages.their_barrier(use), gang.count)[chosen]
        there = cluster_steps.remote(address, np.zeros(len(address), dtype=np.uint32))
        machine.mbarriers.arrive(gang.lanes[chosen], there, 1)

    def theirs(machine: Machine, gang: Gang, stages: Pipeline, use: Bits) -> tuple[Bits, Bits]:
        # The others' own mbarriers never get on: a wait for the phase before is over at once.
        parity = spread(stages.parity(use), gang.count)
        parity = np.where(others(machine, gang), np.uint32(1), parity)
        return stages.their_barrier(use), parity

    builder.add(op, _at_stage(op, builder, tell), builder.slots(op.operands), ())
    _wait_for(op, builder, theirs, cluster=True)


@runs
def _release(op: ConsumerReleaseOp, builder: Builder) -> Step:
    kind = _kind(op)
    if kind == "cp_async":
        return nothing
    if kind == "tma_umma":
        return _commit_mmas(op, builder, Pipeline.empty_barrier)

    def release(machine: Machine, gang: Gang, stages: Pipeline, use: Bits) -> None:
        gang.warps(op.name)
        if kind == "umma_async":
            machine.tensor.fence_before(gang.lanes)
        leaders = gang.lanes[::WARP]
        machine.clocks.synchronise(leaders // WARP)
        address = spread(stages.empty_barrier(use), gang.count)[::WARP]
        places = [address] if stages.ctas == 1 else [
            cluster_steps.remote(address, np.full(len(leaders), rank, dtype=np.uint32))
            for rank in range(stages.ctas)
        ]  # fmt: skip
        for place in places:
            machine.mbarriers.arrive(leaders, place, 1)

    return _at_stage(op, builder, release)
