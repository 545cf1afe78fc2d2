"""Pipelines: stages of shared memory that producers fill and consumers empty.

Use i of a pipeline is of stage `i mod stages`, whose mbarriers are then in the phase of parity
`i / stages mod 2`. Those of `cp_async` are its groups, and a barrier of the CTA.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
from tilewright.lowering.interpreter.builder import Builder, Step, nothing, runs
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.machine.wait import Wait
from tilewright.lowering.interpreter.ops.base.arith import constant, pure
from tilewright.lowering.interpreter.ops.base.gpu import wait_at
from tilewright.lowering.interpreter.ops.instructions import cluster as cluster_steps
from tilewright.lowering.interpreter.ops.instructions.tcgen05_sync import commit, each_thread
from tilewright.lowering.interpreter.values import Bits, Lanes, spread


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A `!cute.pipeline`: the places of its mbarriers in shared memory."""

    stages: int
    full: int = 0
    empty: int = 0
    ctas: int = 1
    theirs: int = 0
    """Of a pair of CTAs: the mbarriers that say that a stage of the other one is full."""

    def take(self, lanes: Lanes) -> Pipeline:
        """The same for all threads."""
        return self

    def joined(self, other: Pipeline, counts: tuple[int, int], order: Lanes) -> Pipeline:
        """The same for all threads."""
        return self

    def stage(self, use: Bits) -> Bits:
        """The stage of a use, as 32 bits."""
        return (use.astype(np.uint32) % np.uint32(self.stages)).astype(np.uint32)

    def parity(self, use: Bits) -> Bits:
        """The parity of the phase that completes with a use."""
        return (use.astype(np.uint32) // np.uint32(self.stages)) & np.uint32(1)

    def full_barrier(self, use: Bits) -> Bits:
        """The address of the mbarrier that says that the stage is full."""
        return np.uint64(self.full) + self.stage(use).astype(np.uint64) * np.uint64(MBARRIER_BYTES)

    def empty_barrier(self, use: Bits) -> Bits:
        """The address of the mbarrier that says that the stage is empty."""
        return np.uint64(self.empty) + self.stage(use).astype(np.uint64) * np.uint64(MBARRIER_BYTES)

    def their_barrier(self, use: Bits) -> Bits:
        """The address of the mbarrier that says that the other CTA's stage is full."""
        return self.full_barrier(use) + np.uint64(self.theirs - self.full)


# Steps


@runs(PipelineCreateOp)
def _create(op: PipelineCreateOp, builder: Builder) -> Step | None:
    type_, dest = op.type, builder.slot(op.result)
    stages = type_.stages.data
    if type_.kind.data == "cp_async":
        return constant(op, builder, Pipeline(stages))
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
    if ctas == 1:
        wait_at(op, builder, 0, None)
    else:
        builder.add(op, cluster_steps.arrive, (), ())
        cluster_steps.wait(op, builder)
    return None


@runs(PipelineStageOp)
def _stage(op: PipelineStageOp, builder: Builder) -> Step:
    return pure(op, builder, Pipeline.stage)


def _type(op: PipelineUseOp) -> PipelineType:
    type_ = op.pipeline.type
    assert isinstance(type_, PipelineType)
    return type_


def _kind(op: PipelineUseOp) -> str:
    return _type(op).kind.data


def _fence_after(machine: Machine, gang: Gang) -> None:
    """Order accesses to tensor memory behind what was waited for."""
    machine.tensor.fence_after(gang.lanes)


def _commit_mmas(machine: Machine, gang: Gang, address: Bits, op: PipelineUseOp) -> None:
    """mbarriers learn when the MMAs that each thread has issued are complete, of a pair in both of
    its CTAs."""
    at, pairs = spread(address, gang.count), _type(op).pairs
    mask, group = (0b11, 2) if pairs else (None, 1)
    each_thread(gang, lambda index, lane: commit(machine, lane, int(at[index]), mask, group))


@runs(ProducerAcquireOp)
def _acquire(op: ProducerAcquireOp, builder: Builder) -> Step | None:
    kind = _kind(op)
    if kind == "cp_async":
        return nothing
    slots, type_ = builder.slots((op.pipeline, op.use)), op.pipeline.type
    assert isinstance(type_, PipelineType)
    expected, pipeline, use = type_.bytes.data, *slots

    def expect(machine: Machine, gang: Gang) -> None:
        address = spread(gang.regs[pipeline].full_barrier(gang.regs[use]), gang.count)
        machine.mbarriers.arrive(gang.lanes, address, 1, expected)

    _wait_until_empty(op, builder, 0)
    if kind == "umma_async":
        builder.add(op, _fence_after, (), ())
    else:
        builder.add(op, expect, slots, ())
    return None


def _wait_until_empty(op: PipelineUseOp, builder: Builder, later: int) -> None:
    """Wait for the stage of so many uses later."""
    pipeline, use = builder.slots((op.pipeline, op.use))

    def begin(machine: Machine, gang: Gang) -> Wait:
        stages, number = gang.regs[pipeline], gang.regs[use].astype(np.uint32) + np.uint32(later)
        # The stages begin empty: a wait for the phase before the first one is over at once.
        parity = stages.parity(number) ^ np.uint32(1)
        address = spread(stages.empty_barrier(number), gang.count)
        return machine.mbarriers.wait(gang.lanes, address, parity, op)

    builder.suspend(op, begin)


@runs(ProducerTailOp)
def _tail(op: ProducerTailOp, builder: Builder) -> Step | None:
    if _kind(op) == "cp_async":
        return nothing
    for later in range(_type(op).stages.data):
        _wait_until_empty(op, builder, later)
    return None


@runs(ProducerCommitOp)
def _commit(op: ProducerCommitOp, builder: Builder) -> Step:
    kind, (pipeline, use) = _kind(op), builder.slots((op.pipeline, op.use))
    if kind == "cp_async":
        return lambda machine, gang: machine.copies.commit(gang.lanes)
    if kind != "umma_async":
        return nothing
    return lambda machine, gang: _commit_mmas(
        machine, gang, gang.regs[pipeline].full_barrier(gang.regs[use]), op
    )


@runs(ConsumerWaitOp)
def _wait(op: ConsumerWaitOp, builder: Builder) -> None:
    pipeline, use = builder.slots((op.pipeline, op.use))
    kind = _kind(op)
    if kind == "cp_async":
        type_ = op.pipeline.type
        assert isinstance(type_, PipelineType)
        pending = type_.stages.data - 2
        builder.add(op, lambda machine, gang: machine.copies.wait(gang.lanes, pending), (), ())
        wait_at(op, builder, 0, None)
        return

    def begin(machine: Machine, gang: Gang) -> Wait:
        stages, number = gang.regs[pipeline], gang.regs[use]
        address = spread(stages.full_barrier(number), gang.count)
        return machine.mbarriers.wait(gang.lanes, address, stages.parity(number), op)

    builder.suspend(op, begin)
    if kind == "tma_umma" and _type(op).pairs:
        _wait_for_other(op, builder)
    if kind != "tma":
        builder.add(op, _fence_after, (), ())


def _wait_for_other(op: ConsumerWaitOp, builder: Builder) -> None:
    """The pair's second CTA tells the first one that its half of a stage is full."""
    pipeline, use = builder.slots((op.pipeline, op.use))

    def others(machine: Machine, gang: Gang) -> NDArray[np.bool_]:
        return machine.special("cluster_ctarank")[gang.lanes] != 0

    def tell(machine: Machine, gang: Gang) -> None:
        chosen = others(machine, gang)
        address = spread(gang.regs[pipeline].their_barrier(gang.regs[use]), gang.count)[chosen]
        there = cluster_steps.remote(address, np.zeros(len(address), dtype=np.uint32))
        machine.mbarriers.arrive(gang.lanes[chosen], there, 1)

    def begin(machine: Machine, gang: Gang) -> Wait:
        stages, number = gang.regs[pipeline], gang.regs[use]
        # The others' own mbarriers never get on: a wait for the phase before is over at once.
        parity = spread(stages.parity(number), gang.count)
        parity = np.where(others(machine, gang), np.uint32(1), parity)
        address = spread(stages.their_barrier(number), gang.count)
        return machine.mbarriers.wait(gang.lanes, address, parity, op)

    builder.add(op, tell, (pipeline, use), ())
    builder.suspend(op, begin)


@runs(ConsumerReleaseOp)
def _release(op: ConsumerReleaseOp, builder: Builder) -> Step:
    kind = _kind(op)
    if kind == "cp_async":
        return nothing
    pipeline, use = builder.slots((op.pipeline, op.use))
    if kind == "tma_umma":
        return lambda machine, gang: _commit_mmas(
            machine, gang, gang.regs[pipeline].empty_barrier(gang.regs[use]), op
        )

    def step(machine: Machine, gang: Gang) -> None:
        gang.warps(op.name)
        if kind == "umma_async":
            machine.tensor.fence_before(gang.lanes)
        stages = gang.regs[pipeline]
        machine.clocks.synchronise(gang.lanes[::WARP] // WARP)
        leaders = gang.lanes[::WARP]
        address = spread(stages.empty_barrier(gang.regs[use]), gang.count)[::WARP]
        if stages.ctas == 1:
            machine.mbarriers.arrive(leaders, address, 1)
        else:
            for rank in range(stages.ctas):
                there = cluster_steps.remote(address, np.full(len(leaders), rank, dtype=np.uint32))
                machine.mbarriers.arrive(leaders, there, 1)

    return step
