"""Effects: the kind of event that an op is, and the memory that it happens to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp

Reach = Callable[..., NDArray[np.int64] | int]
"""The memory that an instruction accesses, by the numbers in its registers: bytes of shared memory,
[threads or 1, bytes], or a set of cells of tensor memory."""


@dataclass(frozen=True, eq=False, slots=True)
class MemoryPlace:
    """An element of a memref, or the elements that lie `extents` from it on, by dimension. In
    tensor memory `columns`, a bit for each, of some `lanes` (all of a tensor's where None). An
    instruction has the whole memory of a CTA for a memref, registers for indices, and a `reach`."""

    memref: SSAValue | Space
    indices: tuple[SSAValue, ...]
    extents: tuple[tuple[int, int], ...] = ()
    matrix: MakeSmemDescOp | None = None
    """The descriptor, where the place is a matrix of a line of memory."""
    columns: int | None = None
    lanes: int | None = None
    writes: bool = False
    offset: int = 0
    """How far behind its address it is, in bytes."""
    reach: Reach | None = None
    atomic: bool = False
    """It is atomic, or strong: others such may come beside it."""
    of_cluster: bool = False
    """It may lie in another CTA of the cluster."""
    run: int = 16
    """The bytes that always lie together, where it has a reach."""


@dataclass(frozen=True, eq=False, slots=True)
class Effect:
    """An event that an op is: `kind`, its barrier, its places, numbers and a constant."""

    kind: str
    barrier: MemoryPlace | None = None
    places: tuple[MemoryPlace, ...] = ()
    scalars: tuple[SSAValue, ...] = ()
    constant: Any = None
    predicate: SSAValue | None = None


Row = Callable[[Any], Effect | None]
"""The effect of an op, None where it has none."""


def plain(kind: str) -> Row:
    """An event that nothing but its kind says."""
    return lambda op: Effect(kind)


def pending(kind: str) -> Row:
    """A wait until at most so many groups are pending."""
    return lambda op: Effect(kind, constant=op.pending.value.data)


def arrival_in_cluster(op: Any, place: MemoryPlace, rank: SSAValue) -> Effect:
    """An arrival in another CTA."""
    return Effect(
        "arrive", place, scalars=(rank,), constant=(1, 0, *(("reads",) if op.reads else ()))
    )


def _barrier(waits: bool) -> Row:
    return lambda op: Effect("bar", constant=(
        op.barrier.value.data, None if op.threads is None else op.threads.value.data, waits
    ))  # fmt: skip


def of_both(
    place: Callable[[Any], MemoryPlace], *, copies: Any, boxes: Any, mbarrier: Any, threads: Any,
    cluster: Any, wgmma: Any, tensor_memory: Any, tcgen05: Any, warps: Any,
) -> dict[type[Operation], Row]:  # fmt: skip
    """The rows of what the ops of `cute_nvgpu` and the instructions have alike, by the place of an
    op's mbarrier and the modules that the ops are in."""
    return {
        copies.CpAsyncCommitGroupOp: plain("cp.commit"),
        copies.CpAsyncWaitGroupOp: pending("cp.wait"),
        boxes.BulkCommitGroupOp: plain("bulk.commit"),
        boxes.BulkWaitGroupOp: pending("bulk.wait"),
        mbarrier.InitOp: lambda op: Effect("init", place(op), constant=op.count.value.data),
        mbarrier.InvalOp: lambda op: Effect("inval", place(op)),
        mbarrier.ArriveOp: lambda op: Effect(
            "arrive", place(op), constant=(1 if op.count is None else op.count.value.data, 0)
        ),
        mbarrier.ArriveExpectTxOp: lambda op: Effect(
            "arrive", place(op), constant=(1, op.count.value.data)
        ),
        mbarrier.FenceMbarrierInitOp: plain("fence.init"),
        threads.BarSyncOp: _barrier(True),
        threads.BarArriveOp: _barrier(False),
        threads.WarpSyncOp: plain("warp.sync"),
        cluster.ArriveOp: plain("cluster.arrive"),
        cluster.WaitOp: plain("cluster.wait"),
        warps.SetmaxnregOp: lambda op: Effect(
            "registers", constant=(op.action.data, op.registers.value.data)
        ),
        wgmma.WgmmaFenceOp: plain("wgmma.fence"),
        wgmma.WgmmaCommitGroupOp: plain("wgmma.commit"),
        wgmma.WgmmaWaitGroupOp: pending("wgmma.wait"),
        wgmma.FenceProxyAsyncOp: plain("fence.proxy"),
        tensor_memory.RelinquishAllocPermitOp: plain("tmem.relinquish"),
        tcgen05.CommitOp: lambda op: Effect(
            "commit", place(op), scalars=() if op.mask is None else (op.mask,)
        ),
        tcgen05.FenceBeforeThreadSyncOp: plain("fence.before"),
        tcgen05.FenceAfterThreadSyncOp: plain("fence.after"),
    }
