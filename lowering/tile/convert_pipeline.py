"""Pipelines as mbarriers in shared memory, or as groups of `cp.async`."""

from functools import partial
from typing import Any

from xdsl.dialects import gpu
from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute.ops.copy import CopyOp
from tilewright.dialects.cute.ops.elements import LoadOp, LoadVecOp
from tilewright.dialects.cute.ops.operation import typed_value
from tilewright.dialects.cute.ops.pipeline import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    PipelineCreateOp,
    PipelineStageOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerTailOp,
)
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.types.pipeline import PipelineType
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.ops import (
    cluster,
    copy,
    mbarrier,
    tcgen05_sync,
)
from tilewright.dialects.frozen import frozen
from tilewright.lowering.emit.leaves import Leaf, sized
from tilewright.lowering.emit.mbarriers import (
    commit_mmas,
    initialise,
    release_stage,
    shared_words,
)
from tilewright.lowering.tile.kernel import KernelLowering, lowers


@frozen
class LoweredPipeline:
    """A pipeline; of mbarriers, those that say that a stage is full, and that it is empty."""

    type: PipelineType
    full: SSAValue | None = None
    empty: SSAValue | None = None
    theirs: SSAValue | None = None
    """Of a pair's CTA of rank 0: the stages of the other one that are full."""

    @property
    def stages(self) -> int:
        return self.type.stages.data

    @property
    def has_barriers(self) -> bool:
        """It is one of mbarriers."""
        return self.kind != "cp_async"

    @property
    def kind(self) -> str:
        """Who produces, and who consumes."""
        return self.type.kind.data

    def stage(self, use: Scalar) -> Scalar:
        """The stage that a use is of."""
        return scalar.mod(use, self.stages)

    def parity(self, use: Scalar) -> Scalar:
        """The parity of a use among those of its stage."""
        return scalar.bit_and(scalar.div(use, self.stages), 1)


def pipeline_of(kernel: KernelLowering, value: SSAValue) -> LoweredPipeline:
    """The pipeline that a value of the source is."""
    pipeline = kernel.values[value]
    assert isinstance(pipeline, LoweredPipeline)
    return pipeline


@lowers
def _create(op: PipelineCreateOp, kernel: KernelLowering) -> None:
    type_ = op.type
    if type_.kind.data == "cp_async":
        kernel[op.result] = LoweredPipeline(type_)
        return
    emitter = kernel.emitter
    barriers = partial(shared_words, emitter, i64, type_.stages.data)
    full, empty = map(barriers, ("full", "empty"))
    halves = type_.pairs and type_.kind.data == "tma_umma"
    theirs = barriers("theirs") if halves else None
    kernel[op.result] = pipeline = LoweredPipeline(type_, full, empty, theirs)
    first = emitter.compare("eq", _linear_thread(kernel), 0)
    emitter.when(first, lambda: _initialise(pipeline, kernel))
    if type_.ctas.data == 1:
        emitter.add(gpu.BarrierOp())
    else:
        emitter.add(cluster.ArriveOp())
        emitter.add(cluster.WaitOp())


def _linear_thread(kernel: KernelLowering) -> SSAValue:
    """A number that is 0 in one thread of the CTA alone."""
    emitter = kernel.emitter
    used = [
        axis for axis, size in zip("xyz", kernel.block_size or (2, 2, 2), strict=False) if size > 1
    ]
    total: SSAValue | None = None
    for axis in used or "x":
        place = emitter.of_launch(gpu.ThreadIdOp, axis)
        total = place if total is None else emitter.binary("or", total, place)
    assert total is not None
    return total


def _initialise(pipeline: LoweredPipeline, kernel: KernelLowering) -> None:
    emitter = kernel.emitter
    made = zip(
        (pipeline.full, pipeline.empty, pipeline.theirs), (*pipeline.type.arrivals, 1), strict=True
    )
    for barriers, count in made:
        if barriers is not None:
            initialise(emitter, pipeline.stages, (barriers, count))
    emitter.add(mbarrier.FenceMbarrierInitOp())


def use_of(kernel: KernelLowering, value: SSAValue) -> Scalar:
    """The number of a use, counted from 0: never negative, so that stages and phases follow from
    its bits."""
    use = kernel.typed(value).value
    if not isinstance(use, Leaf) or use.bound is not None or use.addend:
        return use
    return Leaf(use.value, use.width, use.emitter, factor=use.factor, bound=1 << (use.width - 1))


def _used(op: Any, kernel: KernelLowering) -> tuple[LoweredPipeline, Scalar]:
    """The pipeline that an op is of, and the number of the use."""
    return pipeline_of(kernel, op.pipeline), use_of(kernel, op.use)


@lowers
def _stage(op: PipelineStageOp, kernel: KernelLowering) -> None:
    pipeline, use = _used(op, kernel)
    kernel[op.result] = Typed("scalar", pipeline.stage(use))


@lowers
def _acquire(op: ProducerAcquireOp, kernel: KernelLowering) -> None:
    pipeline, use = _used(op, kernel)
    if not pipeline.has_barriers:
        return
    emitter, at = kernel.emitter, _wait_until_empty(pipeline, use, kernel)
    assert pipeline.full is not None
    if pipeline.kind == "umma_async":
        # What the consumers have read of tensor memory is read before the MMAs write it.
        emitter.add(tcgen05_sync.FenceAfterThreadSyncOp())
    else:
        emitter.add(mbarrier.ArriveExpectTxOp(pipeline.full, [at], pipeline.type.bytes.data))


def _wait_until_empty(pipeline: LoweredPipeline, use: Scalar, kernel: KernelLowering) -> SSAValue:
    """Its stage, which nobody reads any more."""
    emitter, at = kernel.emitter, kernel.index(pipeline.stage(use))
    # Before the first phase is complete a wait for parity 1 is over at once: all stages are empty.
    opposite = scalar.bit_xor(pipeline.parity(use), 1)
    assert pipeline.empty is not None
    emitter.add(mbarrier.WaitOp(pipeline.empty, [at], sized(emitter, opposite, 32)))
    return at


@lowers
def _tail(op: ProducerTailOp, kernel: KernelLowering) -> None:
    pipeline, use = _used(op, kernel)
    for stage in range(pipeline.stages if pipeline.has_barriers else 0):
        _wait_until_empty(pipeline, scalar.add(use, stage), kernel)


@lowers
def _commit(op: ProducerCommitOp, kernel: KernelLowering) -> None:
    pipeline, use = _used(op, kernel)
    if pipeline.kind == "cp_async":
        kernel.emitter.add(copy.CpAsyncCommitGroupOp())
    elif pipeline.kind == "umma_async":
        _commit_mmas(pipeline, pipeline.full, kernel.index(pipeline.stage(use)), kernel)


def _commit_mmas(
    pipeline: LoweredPipeline, barriers: SSAValue | None, at: SSAValue, kernel: KernelLowering
) -> None:
    """Say when the MMAs that the thread has issued are complete, of a pair in both CTAs."""
    assert barriers is not None
    ctas = 1 + bool(pipeline.type.pairs)
    commit_mmas(kernel.emitter, barriers, at, ctas, ctas)


@lowers
def _wait(op: ConsumerWaitOp, kernel: KernelLowering) -> None:
    pipeline, use = _used(op, kernel)
    emitter = kernel.emitter
    if not pipeline.has_barriers:
        emitter.add(copy.CpAsyncWaitGroupOp(pipeline.stages - 2))
        emitter.add(gpu.BarrierOp())
        return
    assert pipeline.full is not None
    at, parity = kernel.index(pipeline.stage(use)), sized(emitter, pipeline.parity(use), 32)
    emitter.add(mbarrier.WaitOp(pipeline.full, [at], parity))
    if (theirs := pipeline.theirs) is not None:
        rank, first = emitter.emit(cluster.RankOp()), emitter.constant(0, 32)
        issues, other = (emitter.compare(relation, rank, first) for relation in ("eq", "ne"))
        emitter.when(other, lambda: emitter.add(cluster.MbarrierArriveOp(theirs, [at], first)))
        emitter.when(
            issues, lambda: emitter.add(mbarrier.WaitOp(theirs, [at], parity, cluster=True))
        )
    if pipeline.kind != "tma":
        emitter.add(tcgen05_sync.FenceAfterThreadSyncOp())


@lowers
def _release(op: ConsumerReleaseOp, kernel: KernelLowering) -> None:
    pipeline, use = _used(op, kernel)
    if not pipeline.has_barriers:
        return
    emitter, empty, at = kernel.emitter, pipeline.empty, kernel.index(pipeline.stage(use))
    assert empty is not None
    if pipeline.kind == "tma_umma":
        _commit_mmas(pipeline, empty, at, kernel)
        return
    if pipeline.kind == "umma_async":
        emitter.add(tcgen05_sync.FenceBeforeThreadSyncOp())
    generic = pipeline.kind == "tma" and any(map(_threads_read, kernel.entry.walk()))
    release_stage(empty, at, pipeline.type.ctas.data, emitter, generic=generic)


def _threads_read(op: Operation) -> bool:
    """True of an op by which threads read shared memory."""
    if not isinstance(op, (CopyOp, LoadOp, LoadVecOp)):
        return False
    source = typed_value(op.source.type)
    own = not isinstance(op, CopyOp) or typed_value(op.destination.type).value.space == "rmem"
    return own and source.kind == "memref" and source.value.space == "smem"
