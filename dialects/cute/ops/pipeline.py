"""Pipelines: producers fill stages of shared memory that consumers empty.

    %p = cute.pipeline.create : !cute.pipeline<tma, stages = 4, ...>

    producer                                     consumer
    cute.pipeline.producer_acquire(%p, %i)       cute.pipeline.consumer_wait(%p, %i)
    cute.copy(...) pipeline %p[%i]               cute.gemm(...)
    cute.pipeline.producer_commit(%p, %i)        cute.pipeline.consumer_release(%p, %i)

Use number %i, counted from 0 on both sides, is of stage `i mod stages`, and the (i / stages)-th of
that stage.
"""

from abc import ABC
from math import prod

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation
from xdsl.irdl import operand_def, result_def

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cute.ops.operands import I32, PIPELINE, USE
from tilewright.dialects.cute.ops.operation import CuteOp, cute_op
from tilewright.dialects.cute.ops.text import Syntax
from tilewright.dialects.cute.ops.tiled import TypedConstantOp
from tilewright.dialects.cute.types.pipeline import PipelineType
from tilewright.dialects.traits import PURE, READS_AND_WRITES, WRITES


@cute_op("cute.pipeline.create")
class PipelineCreateOp(TypedConstantOp):
    """A pipeline all of whose stages are empty. Every thread of the CTA executes it.

    One thread initialises the mbarriers, then the CTA synchronises, or the cluster where the
    pipeline is one of several `ctas`. `cp_async`: nothing.
    """

    HAS_EFFECT = True

    result = result_def(PIPELINE)

    traits = WRITES

    @property
    def type(self) -> PipelineType:
        """The pipeline's type."""
        type_ = self.result.type
        assert isinstance(type_, PipelineType)
        return type_

    def verify_in_place(self) -> None:
        ctas, cluster = self.type.ctas.data, _cluster_of(self)
        if ctas != 1 and cluster is not None and cluster != ctas:
            raise self.fail(
                f"a kernel in clusters of {ctas} CTAs for {self.type}, got {cluster} "
                "(gpu.known_cluster_size)"
            )


def _cluster_of(op: Operation) -> int | None:
    """How many CTAs a cluster of the kernel around an op has, or None outside of functions."""
    parent = next((x for x in ancestors(op) if "function_type" in x.properties), None)
    if parent is None:
        return None
    known = parent.attributes.get("gpu.known_cluster_size")
    return prod(known.get_values()) if isinstance(known, DenseArrayBase) else 1  # type: ignore[arg-type]


@cute_op("cute.pipeline.stage")
class PipelineStageOp(CuteOp):
    """The stage of a use: `%s = cute.pipeline.stage(%p, %i)`."""

    pipeline = operand_def(PIPELINE)
    use = operand_def(USE)
    result = result_def(I32)

    traits = PURE


class PipelineUseOp(CuteOp, ABC):
    """A step of a producer or a consumer in one use of a stage."""

    pipeline = operand_def(PIPELINE)
    use = operand_def(USE)

    SYNTAX = Syntax.INFERRED

    traits = READS_AND_WRITES


@cute_op("cute.pipeline.producer_acquire")
class ProducerAcquireOp(PipelineUseOp):
    """Wait until the stage is empty, then arrive and announce `bytes`: each of the `producers`
    threads executes it. `umma_async`: wait alone, what follows may write tensor memory. `cp_async`:
    nothing, because `consumer_wait` synchronises the CTA."""


@cute_op("cute.pipeline.producer_commit")
class ProducerCommitOp(PipelineUseOp):
    """All copies of the stage are issued. `umma_async`: the stage is full when the MMAs that this
    thread has issued are complete. `cp_async`: the copies become a group."""


@cute_op("cute.pipeline.consumer_wait")
class ConsumerWaitOp(PipelineUseOp):
    """Wait until the stage is full; what MMAs wrote to tensor memory may be read behind it.
    `cp_async`: until at most `stages - 2` groups are pending, then for the CTA."""


@cute_op("cute.pipeline.consumer_release")
class ConsumerReleaseOp(PipelineUseOp):
    """The stage may be filled again as far as this warp goes: all threads of each of the
    `consumers` warps execute it, one of them arrives. `tma_umma`: the thread that issues the MMAs
    executes it, and the stage is empty when they are complete. `cp_async`: nothing."""


@cute_op("cute.pipeline.producer_tail")
class ProducerTailOp(PipelineUseOp):
    """Behind so many uses, wait until all stages are empty: no CTA of a cluster ends while others
    still release its stages. A thread of the producer executes it. `cp_async`: nothing."""
