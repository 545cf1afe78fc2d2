"""Stages of shared memory and their mbarriers: what pipelines of both levels are made of."""

from xdsl.dialects import memref
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute.types.memref import shared_line
from tilewright.dialects.cute_nvgpu.ops import (
    cluster,
    mbarrier,
    sync,
    tcgen05_sync,
    warp_specialization,
)
from tilewright.dialects.cute_nvgpu.ops.wgmma_sync import FenceProxyAsyncOp
from tilewright.lowering.emit.emitter import Emitter


def shared_words(
    emitter: Emitter, element: Attribute, count: int, name: str | None = None
) -> SSAValue:
    """Words of shared memory: mbarriers, or what one thread tells the others."""
    words = emitter.emit(memref.AllocOp([], [], shared_line(element, count)))
    words.name_hint = name
    return words


def initialise(emitter: Emitter, stages: int, *arrivals: tuple[SSAValue, int]) -> None:
    """Make the mbarriers of all stages: those of each array expect so many arrivals."""
    for stage in range(stages):
        at = emitter.constant(stage, None)
        for barriers, count in arrivals:
            emitter.add(mbarrier.InitOp(barriers, [at], count))


def everyone(emitter: Emitter, ctas: int) -> SSAValue | None:
    """The mask of so many CTAs, where there are several."""
    return None if ctas == 1 else emitter.constant((1 << ctas) - 1, 16)


def commit_mmas(
    emitter: Emitter, barriers: SSAValue, at: SSAValue, ctas: int, cta_group: int
) -> None:
    """The MMAs that the thread has issued arrive in so many CTAs when they are complete."""
    mask = everyone(emitter, ctas)
    emitter.add(tcgen05_sync.CommitOp(barriers, [at], mask=mask, cta_group=cta_group))


def release_stage(
    empty: SSAValue, at: SSAValue, ctas: int, emitter: Emitter, *, generic: bool
) -> None:
    """Tell every CTA that copies to a stage, once for the warp, after what all of its threads have
    read. Reads in the generic proxy are over behind a proxy fence alone (PTX ISA, 9.7.15.4): an
    arrival overtakes an `ldmatrix` in flight on a chip, and the next copy what it reads."""

    def arrive() -> None:
        if ctas == 1:
            emitter.add(mbarrier.ArriveOp(empty, [at]))
            return
        for number in range(ctas):
            rank = emitter.constant(number, 32)
            emitter.add(cluster.MbarrierArriveOp(empty, [at], rank, reads=True))

    if generic:
        emitter.add(FenceProxyAsyncOp(space="shared::cta"))
    emitter.add(sync.WarpSyncOp())
    emitter.when(emitter.emit(warp_specialization.ElectSyncOp()), arrive)
