"""The table of effects: what ops do that orders others or is ordered by them.

A row is of the ops of an instruction, in both dialects, or of a type of op. It names the kind of
event, the place of a barrier, the places in memory that are accessed, and the numbers that it
depends on. What is no row here does nothing that matters to the analysis.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import gpu, memref
from xdsl.ir import Operation

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import copy_lanes
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import ROWS, TCGEN05
from tilewright.dialects.cute_nvgpu.lattice import (
    cluster,
    data_movement,
    mbarrier,
    sync,
    tma,
    tmem,
    tmem_access,
)
from tilewright.dialects.cute_nvgpu.lattice.launch_control import RESPONSE_BYTES, TRY_CANCEL
from tilewright.dialects.cute_nvgpu.ops import address, wmma
from tilewright.dialects.cute_nvgpu.ops.sm90 import WGMMA_OPS
from tilewright.dialects.cute_nvgpu.ops.sm100 import UMMA_OPS
from tilewright.dialects.cute_nvgpu.ops.tmem import RetrieveOp
from tilewright.dialects.cute_nvgpu.ops.wmma_memory import extents_of
from tilewright.dialects.ptx import wmma as ptx_wmma
from tilewright.dialects.ptx.bulk_copy import BulkLoadOp, TensormapReplaceOp
from tilewright.dialects.ptx.instruction import content
from tilewright.dialects.ptx.mbarrier import AskOp
from tilewright.dialects.ptx.registers import ConstOp
from tilewright.dialects.ptx.tcgen05_mma import Tcgen05MmaOp
from tilewright.dialects.ptx.wgmma import WgmmaOp
from tilewright.dialects.row_ops import memory_operand, ops_of
from tilewright.passes.analysis.hazards.effects import Effect, MemoryPlace
from tilewright.passes.analysis.hazards.placement import Cells
from tilewright.passes.analysis.hazards.places import (
    box_of,
    matrix_of,
    matrix_operand,
    place_of,
    place_of_box,
    tensor_operand,
    tensor_place,
)
from tilewright.passes.analysis.hazards.thread_accesses import (
    ELEMENTS,
    MATRICES,
    ORDERED,
    access_of,
)

Row = Callable[[Any], Effect | None]
"""The effect of an op, None where it has none."""


def effect_of(op: Operation) -> Effect | None:
    """The event that an op is, or None."""
    row = _EFFECTS.get(type(op))
    return None if row is None else row(op)


def _plain(kind: str) -> Row:
    """An event that nothing but its kind says."""
    return lambda op: Effect(kind)


def _pending(kind: str) -> Row:
    """A wait until at most so many groups are pending."""
    return lambda op: Effect(kind, constant=op.pending.value.data)


# Barriers


def _bar(waits: bool) -> Row:
    return lambda op: Effect("bar", constant=(op.barrier.value.data, content(op.threads), waits))


def _mbarrier(op: Any, name: str = "") -> MemoryPlace:
    return place_of(op, mbarrier.MBARRIER_BYTES, name)


def _arrive(op: Any) -> Effect:
    return Effect("arrive", _mbarrier(op), constant=(content(op.count) or 1, 0))


def _arrive_behind_copies(op: Any) -> Effect:
    """An arrival of copies, and not one more that the phase waits for."""
    return Effect("cp.arrive" if op.noinc else "unknown", _mbarrier(op), constant=(1, 0))


def _arrive_in_cluster(op: Any) -> Effect:
    """An arrival in another CTA, whose rank an address has in it."""
    rank = getattr(op, "rank", op.operands[0])
    count = content(getattr(op, "count", None))
    expects = op.row is cluster.MBARRIER_EXPECT_TX_CLUSTER
    arrival = *((1, count) if expects else (count or 1, 0)), op.reads is not None
    return Effect("arrive", _mbarrier(op), scalars=(rank,), constant=arrival)


def _wait(op: Any) -> Effect:
    """A wait for a parity."""
    return Effect("wait", _mbarrier(op), scalars=(op.parity,), constant=bool(op.cluster))


def _ask(op: Any) -> Effect | None:
    """A look is a wait where something reads what it says. Of a relaxed one only fences say what
    follows it."""
    words = op.form.data.split(".")
    if op.results[0].first_use is None:
        return None
    if "relaxed" in words:
        return Effect("unknown")
    scalars = (op.phase,) if "parity" in words else ()
    return Effect("wait", _mbarrier(op), scalars=scalars, constant="cluster" in words)


# Copies


def _cp_async(op: Any) -> Effect:
    return Effect("cp.async", places=(place_of(op, op.size.value.data, "dest", writes=True),))


def _tma_load(op: Any) -> Effect:
    box, numbers = box_of(op.map), (op.mask, getattr(op, "rank", None))
    return Effect(
        "tma.pair" if op.mask is None and ".cta_group::2" in op.row.suffix else "tma.load",
        _mbarrier(op, "barrier"),
        () if box is None else (place_of_box(op, box, "dest", writes=True),),
        tuple(number for number in numbers if number is not None),
        None if box is None else box.bytes,
    )


def _tma_store(op: Any) -> Effect:
    if (box := box_of(op.map)) is None:
        return Effect("unknown")
    return Effect("tma.store", places=(place_of_box(op, box, "source", writes=False),))


def _bulk(op: Any) -> Effect:
    """A copy of bytes, as many as a constant says."""
    size = op.size.owner.unsigned if isinstance(op.size.owner, ConstOp) else None
    loads = isinstance(op, BulkLoadOp)
    name = "dest" if loads else "source"
    places = () if size is None else (place_of(op, size, name, writes=loads),)
    if loads:
        masks = (op.mask,) if op.mask else ()
        return Effect("tma.load", _mbarrier(op, "barrier"), places, masks, size)
    return Effect("tma.store", places=places) if places else Effect("unknown")


def _st_bulk(op: Any) -> Effect:
    size = op.size.owner.unsigned if isinstance(op.size.owner, ConstOp) else None
    return (
        Effect("access", places=(place_of(op, size, writes=True),)) if size else Effect("unknown")
    )


def _try_cancel(op: Any) -> Effect:
    """The answer of 16 bytes, of a thread for its CTA."""
    if op.multicast:
        return Effect("unknown")
    place = place_of(op, RESPONSE_BYTES, writes=True)
    return Effect("tma.load", _mbarrier(op, "barrier"), (place,), (), RESPONSE_BYTES)


def _replaced(op: Any) -> Effect | None:
    """A change of a tensor map in shared memory."""
    if ".shared::cta." not in op.form.data:
        return None
    return Effect("access", places=(place_of(op, tma.TENSOR_MAP_BYTES, "address", writes=True),))


def _wmma(op: Any) -> Effect | None:
    """A matrix: one thread of a warp counts as the one that accesses it."""
    if not memory_operand(op).is_shared:
        return None
    access: WmmaAccess = op.access
    writes = isinstance(op, wmma.StoreOp | ptx_wmma.StoreOp)
    memory, indices, offset = memory_operand(op)
    if indices is not None:
        rank = len(indices)
        extents = zip((rank - 2, rank - 1), extents_of(access, op.memory_type), strict=True)
        place = MemoryPlace(memory, indices, tuple(extents), writes=writes)
        return Effect("access", places=(place,), constant="warp")
    (count, length), bits = access.lines, access.element.bits
    size = bits * length // 8

    def reach(address: Any, stride: Any) -> Cells:
        first, apart = (int(np.asarray(number).reshape(-1)[0]) for number in (address, stride))
        lines = first + np.arange(count) * (apart * bits // 8)
        return (lines[:, None] + np.arange(size)).reshape(1, -1)

    place = MemoryPlace(Space.SMEM, (memory, op.stride), offset=offset, writes=writes, reach=reach,
                        run=size & -size)  # fmt: skip
    return Effect("access", places=(place,), constant="warp")


# MMAs and tensor memory


def _wgmma(op: Any) -> Effect:
    pairs = ("A", op.a), ("B", op.b)
    places = (matrix_operand(op.mma_atom, *pair) for pair in pairs)
    return Effect("wgmma", places=tuple(filter(None, places)))


def _umma(op: Any) -> Effect:
    if (atom := op.mma_atom) is None:
        return Effect("unknown")
    places = (
        tensor_operand(atom, name, value) if name in atom.tmem_operands
        else matrix_operand(atom, name, value)
        for name, value in op.sources.items()
    )  # fmt: skip
    # The accumulator is the last of its places.
    accesses = sorted(filter(None, places), key=lambda place: place.writes)
    return Effect("umma", places=tuple(accesses), constant=("mma", atom.pipeline))


def _copy(op: Any) -> Effect:
    shape = op.copy_shape
    word = getattr(op, "descriptor", None) or op.source
    matrix = matrix_of(word, TCGEN05, "k", (max(shape.rows, ROWS), shape.bits // 8), 8)
    lanes = copy_lanes(shape)
    places = tensor_place(op, (1 << shape.columns) - 1, map(lanes, range(lanes.size()))), matrix
    return Effect("umma", places=tuple(filter(None, places)), constant=("cp", shape.name))


def _shift(op: Any) -> Effect:
    place = tensor_place(op, (1 << tmem.SHIFTED_COLUMNS) - 1)
    return Effect("umma", places=(place,), constant=("shift", None))


def _tile(op: Any) -> Effect:
    stores, access = op.row is tmem_access.TMEM_STORE, op.access
    place = tensor_place(op, access.column_set, range(access.shape.lanes), writes=stores)
    return Effect("tmem.store" if stores else "tmem.load", places=(place,))


def _alloc(op: Any) -> Effect:
    return Effect("tmem.alloc", places=(place_of(op, 4, writes=True),))


def _dealloc(op: Any) -> Effect:
    """It gives all of an allocation back."""
    memory, indices, _ = memory_operand(op)
    if indices is None:
        place = tensor_place(op, (1 << op.columns.value.data) - 1)
    else:
        place = MemoryPlace(memory, indices, writes=True)
    return Effect("tmem.dealloc", places=(place,))


_TABLE: tuple[tuple[Row, tuple[Any, ...]], ...] = (
    # Accesses of threads.
    (access_of, (*ELEMENTS, memref.AtomicRMWOp, *ORDERED, *MATRICES)),
    (lambda op: Effect("access", places=(place_of(op, 4),)), (RetrieveOp,)),
    (_wmma, (wmma.LoadOp, wmma.StoreOp, ptx_wmma.LoadOp, ptx_wmma.StoreOp)),
    # Asynchronous copies.
    (_cp_async, (data_movement.CP_ASYNC, address.CpAsyncOp)),
    (_plain("cp.commit"), (data_movement.CP_ASYNC_COMMIT_GROUP,)),
    (_pending("cp.wait"), (data_movement.CP_ASYNC_WAIT_GROUP,)),
    (_arrive_behind_copies, (mbarrier.CP_ASYNC_ARRIVE,)),
    (_tma_load, (tma.TENSOR_LOAD,)),
    (_tma_store, (tma.TENSOR_STORE, tma.TENSOR_REDUCE["add"])),
    # Nothing is known of what is behind what only the machine knows to be complete.
    (
        _plain("unknown"),
        (
            *cluster.ST_ASYNC,
            *cluster.RED_ASYNC,
            cluster.BULK_SEND,
            *mbarrier.MBARRIER_COUNTED,
            *mbarrier.MBARRIER_ARRIVALS,
            *sync.REGISTER_BARRIERS,
            sync.BAR_WARP_SYNC_MEMBERS,
        ),
    ),
    (
        _bulk,
        (
            tma.BULK_LOAD,
            tma.BULK_STORE,
            tma.BULK_REDUCE["add.u32"],
            tma.MULTIMEM_STORE,
            tma.MULTIMEM_REDUCE["add.u32"],
        ),
    ),
    (_plain("bulk.commit"), (tma.BULK_COMMIT_GROUP,)),
    (_pending("bulk.wait"), (tma.BULK_WAIT_GROUP,)),
    (_st_bulk, (data_movement.ST_BULK,)),
    (_try_cancel, (TRY_CANCEL,)),
    # Tensor maps in shared memory.
    (_replaced, (TensormapReplaceOp,)),
    (
        lambda op: Effect("access", places=(place_of(op, tma.TENSOR_MAP_BYTES, "source"),)),
        (tma.CP_FENCEPROXY,),
    ),
    (lambda op: Effect("fence.proxy") if op.is_of_shared else None, (sync.FENCE_PROXY_ASYNC,)),
    # Barriers.
    (
        lambda op: Effect("init", _mbarrier(op), constant=op.count.value.data),
        (mbarrier.MBARRIER_INIT,),
    ),
    (lambda op: Effect("inval", _mbarrier(op)), (mbarrier.MBARRIER_INVAL,)),
    (_arrive, (mbarrier.MBARRIER_ARRIVE,)),
    (
        lambda op: Effect("arrive", _mbarrier(op), constant=(1, op.count.value.data)),
        (mbarrier.MBARRIER_ARRIVE_EXPECT_TX,),
    ),
    (
        _arrive_in_cluster,
        (cluster.MBARRIER_ARRIVE_CLUSTER, cluster.MBARRIER_EXPECT_TX_CLUSTER),
    ),
    (_wait, (mbarrier.MBARRIER_TRY_WAIT,)),
    (_ask, (AskOp,)),
    (_plain("fence.init"), (mbarrier.FENCE_MBARRIER_INIT,)),
    (lambda op: Effect("bar", constant=(0, None, True)), (gpu.BarrierOp,)),
    (_bar(True), (sync.BAR_SYNC, sync.BARRIER_SYNC, sync.BAR_COUNT, sync.BARRIER_COUNT)),
    (_bar(False), (sync.BAR_ARRIVE, sync.BARRIER_ARRIVE)),
    (_plain("warp.sync"), (sync.BAR_WARP_SYNC,)),
    (_plain("cluster.arrive"), (cluster.CLUSTER_ARRIVE, cluster.CLUSTER_ARRIVE_RELAXED)),
    (_plain("cluster.wait"), (cluster.CLUSTER_WAIT,)),
    (
        lambda op: Effect("registers", constant=(op.action.data, op.registers.value.data)),
        (mbarrier.SETMAXNREG,),
    ),
    # MMAs and tensor memory.
    (_wgmma, (*WGMMA_OPS.values(), WgmmaOp)),
    (_plain("wgmma.fence"), (sync.WGMMA_FENCE,)),
    (_plain("wgmma.commit"), (sync.WGMMA_COMMIT_GROUP,)),
    (_pending("wgmma.wait"), (sync.WGMMA_WAIT_GROUP,)),
    (_umma, (*UMMA_OPS.values(), Tcgen05MmaOp)),
    (_copy, (tmem_access.TMEM_COPY,)),
    (_shift, (tmem.TMEM_SHIFT,)),
    (
        lambda op: Effect("commit", _mbarrier(op), scalars=(op.mask,) if op.mask else ()),
        (tmem.TMEM_COMMIT,),
    ),
    (_plain("fence.before"), (tmem.FENCE_BEFORE,)),
    (_plain("fence.after"), (tmem.FENCE_AFTER,)),
    (_tile, (tmem_access.TMEM_LOAD, tmem_access.TMEM_LOAD_REDUCE, tmem_access.TMEM_STORE)),
    (_plain("tmem.wait_load"), (tmem.TMEM_WAIT_LOAD,)),
    (_plain("tmem.wait_store"), (tmem.TMEM_WAIT_STORE,)),
    (_alloc, (tmem.TMEM_ALLOC,)),
    (_dealloc, (tmem.TMEM_DEALLOC,)),
    (_plain("tmem.relinquish"), (tmem.TMEM_RELINQUISH,)),
)

_EFFECTS: dict[type[Operation], Row] = {op: row for row, keys in _TABLE for op in ops_of(*keys)}
