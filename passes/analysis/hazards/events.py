"""The table of effects: what ops do that orders others or is ordered by them.

A row names the kind of event, the place of a barrier, the places in memory that are accessed, and
the numbers that it depends on. What is no row here does nothing that matters to the analysis.
"""

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import gpu, memref
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute.types.memref import Space, is_memref, space_of
from tilewright.dialects.cute_nvgpu.lattice.data_movement import WEAK
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANES, SHIFTED_COLUMNS
from tilewright.dialects.cute_nvgpu.ops import (
    address,
    cluster,
    copy,
    fragment_memory,
    matrix_copy,
    mbarrier,
    sync,
    tcgen05_sync,
    tma,
    tmem,
    tmem_access,
    tmem_copy,
    tmem_reduce,
    warp_specialization,
    wgmma_sync,
    wmma,
)
from tilewright.dialects.cute_nvgpu.ops.memory_operand import bits_of
from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.dialects.cute_nvgpu.ops.umma import UmmaOp
from tilewright.dialects.cute_nvgpu.ops.wmma_memory import extents_of
from tilewright.passes.analysis.hazards.effects import (
    Effect,
    MemoryPlace,
    Row,
    arrival_in_cluster,
    of_both,
    plain,
)
from tilewright.passes.analysis.hazards.instructions import INSTRUCTIONS, matrices_at, run_at


def effect_of(op: Operation) -> Effect | None:
    """The event that an op is, or None."""
    kind = type(op)
    if (row := _EFFECTS.get(kind, _MISSING)) is _MISSING:
        row = next((_EFFECTS[base] for base in _BASES if issubclass(kind, base)), None)
        _EFFECTS[kind] = row
    return None if row is None else row(op)


def _shared(value: SSAValue) -> Space | None:
    """The shared memory that a memref is in, the CTA's or the cluster's, or None."""
    space = space_of(value.type.memory_space) if is_memref(value.type) else None
    return space if space is not None and space.is_shared else None


def _bar(op: Any) -> MemoryPlace:
    return MemoryPlace(op.barrier, tuple(op.indices))


def _generic(
    memory: SSAValue, indices: Sequence[SSAValue], *, elements: int = 1, writes: bool = False,
    atomic: bool = False, predicate: SSAValue | None = None, constant: Any = None,
) -> Effect | None:  # fmt: skip
    """A thread's own access to neighbours in shared memory."""
    if (space := _shared(memory)) is None:
        return None
    extents = ((len(indices) - 1, elements),) if elements > 1 and indices else ()
    far = space is Space.DSMEM
    place = MemoryPlace(
        memory, tuple(indices), extents, writes=writes or atomic, atomic=atomic, of_cluster=far
    )
    return Effect("access", places=(place,), predicate=predicate, constant=constant)


def _addressed(op: Any) -> Effect | None:
    """A thread's own access to an address, an atomic one too."""
    if not op.is_shared:
        return None
    values = (op.result,) if isinstance(op, address.AtomicOp) else op.elements
    place = run_at(
        op.address, sum(address.bytes_of(value.type) for value in values),
        atomic=op.semantics.data != WEAK, offset=op.offset.value.data,
        writes=not isinstance(op, address.LoadOp),
    )  # fmt: skip
    return Effect("access", places=(place,), predicate=op.predicate)


def _elements(memory: SSAValue, size: int) -> int:
    """How many elements of a memref so many bytes are."""
    assert is_memref(memory.type)
    return max(size * 8 // (bits_of(memory.type.element_type) or 8), 1)


def _vector(memory: SSAValue, fragment: Any) -> int:
    return _elements(memory, fragment_memory.fragment_bytes(fragment))


def _wmma(op: wmma.LoadOp | wmma.StoreOp) -> Effect | None:
    if not _shared(op.memory):
        return None
    rank = len(op.indices)
    extents = tuple(zip((rank - 2, rank - 1), extents_of(op.access, op.memory_type), strict=True))
    place = MemoryPlace(op.memory, tuple(op.indices), extents, writes=isinstance(op, wmma.StoreOp))
    return Effect("access", places=(place,), constant="warp")


def _cp_async(op: copy.CpAsyncOp) -> Effect:
    run = len(op.dest_indices) - 1, _elements(op.dest, op.size.value.data)
    place = MemoryPlace(op.dest, tuple(op.dest_indices), (run,), writes=True)
    return Effect("cp.async", places=(place,))


def _box(op: Any, memory: SSAValue, indices: Sequence[SSAValue], *, writes: bool) -> MemoryPlace:
    extents = op.map.type.box.extents(len(indices))
    return MemoryPlace(memory, tuple(indices), tuple(extents.items()), writes=writes)


def _tma_load(op: Any) -> Effect:
    return Effect(
        "tma.load" if op.rank is None else "tma.pair",
        MemoryPlace(op.barrier, tuple(op.barrier_indices)),
        (_box(op, op.dest, op.dest_indices, writes=True),),
        tuple(value for value in (op.mask, op.rank) if value is not None),
        op.map.type.box.bytes,
    )


def _tma_store(op: tma.TmaStoreOp | tma.TmaReduceOp) -> Effect:
    box = _box(op, op.source, op.source_indices, writes=False)
    return Effect("tma.store", places=(box,), scalars=tuple(op.coordinates))


def matrix_place(value: SSAValue) -> MemoryPlace | None:
    """The matrix of a descriptor, where its op is at hand."""
    if not isinstance(desc := value.owner, MakeSmemDescOp):
        return None
    line = desc if desc.in_a_line else None
    return MemoryPlace(desc.source, tuple(desc.indices), tuple(desc.extents.items()), line)


def _wgmma(op: WarpgroupMmaOp) -> Effect:
    places = (matrix_place(value) for value in op.multiplicands_and_c[:2])
    return Effect("wgmma", places=tuple(place for place in places if place is not None))


def _umma(op: UmmaOp) -> Effect:
    atom, places = op.mma_atom, list[MemoryPlace]()
    for name, value in op.sources.items():
        if name in atom.tmem_operands:
            # Of operands there are copies in the lanes of every warp.
            lanes = None if name == "D" else LANES
            places.append(MemoryPlace(value, (), lanes=lanes, writes=name == "D"))
        elif (place := matrix_place(value)) is not None:
            places.append(place)
    signature = (atom.shape, atom.row.kind if hasattr(atom.row, "kind") else None, op.group)
    return Effect("umma", places=tuple(places), constant=("mma", signature))


def _copy(op: tmem_copy.CopyOp) -> Effect:
    place = MemoryPlace(
        op.dest, tuple(op.indices), columns=(1 << op.copy_shape.columns) - 1, lanes=128, writes=True
    )
    source = matrix_place(op.source)
    places = (place,) if source is None else (place, source)
    return Effect("umma", places=places, constant=("cp", op.shape.data))


def _shift(op: tmem_copy.ShiftOp) -> Effect:
    place = MemoryPlace(
        op.source, tuple(op.indices), columns=(1 << SHIFTED_COLUMNS) - 1, lanes=128, writes=True
    )
    return Effect("umma", places=(place,), constant=("shift", op.group))


def _tile(op: tmem_access.TmemAccessOp) -> Effect:
    memory, indices = op.tile_operand
    stores = isinstance(op, tmem_access.StoreOp)
    place = MemoryPlace(
        memory, tuple(indices), columns=op.access.column_set, lanes=op.access.shape.lanes,
        writes=stores,
    )  # fmt: skip
    return Effect("tmem.store" if stores else "tmem.load", places=(place,))


def _slot(op: tmem.AllocOp | tmem.RetrieveOp) -> MemoryPlace:
    return MemoryPlace(op.slot, tuple(op.indices), writes=isinstance(op, tmem.AllocOp))


_BASES = (UmmaOp, WarpgroupMmaOp, tmem_access.TmemAccessOp)
"""Bases of families of ops, each with one row."""

_MISSING: Any = object()

_EFFECTS: dict[type[Operation], Row | None] = {
    **INSTRUCTIONS,
    **of_both(
        _bar, copies=copy, boxes=tma, mbarrier=mbarrier, threads=sync, cluster=cluster,
        wgmma=wgmma_sync, tensor_memory=tmem, tcgen05=tcgen05_sync, warps=warp_specialization,
    ),
    # Threads' own accesses to shared memory.
    memref.LoadOp: lambda op: _generic(op.memref, op.indices),
    memref.StoreOp: lambda op: _generic(op.memref, op.indices, writes=True, constant=op.value),
    memref.AtomicRMWOp: lambda op: _generic(op.memref, op.indices, atomic=True),
    fragment_memory.LoadOp: lambda op: _generic(
        op.source, op.indices, elements=_vector(op.source, op.fragment.type)
    ),
    fragment_memory.StoreOp: lambda op: _generic(
        op.dest, op.indices, elements=_vector(op.dest, op.fragment.type), writes=True,
        predicate=op.predicate, constant=op.fragment,
    ),
    matrix_copy.LdmatrixOp: lambda op: _generic(
        op.source, op.indices, elements=_elements(op.source, 16), constant=op.matrix_copy.runs
    ),
    matrix_copy.StmatrixOp: lambda op: _generic(
        op.dest, op.indices, elements=_elements(op.dest, 16), writes=True,
        constant=op.matrix_copy.runs,
    ),
    wmma.LoadOp: _wmma,
    wmma.StoreOp: _wmma,
    address.LoadOp: _addressed,
    address.StoreOp: _addressed,
    address.AtomicOp: _addressed,
    address.ReduceOp: _addressed,
    address.LdmatrixOp: matrices_at,
    # Asynchronous copies.
    address.CpAsyncOp: lambda op: Effect("cp.async", places=(
        run_at(op.dest, op.size.value.data, offset=op.offset.value.data, writes=True),
    )),
    copy.CpAsyncOp: _cp_async,
    tma.TmaLoadOp: _tma_load,
    tma.TmaStoreOp: _tma_store,
    tma.TmaReduceOp: _tma_store,
    # Barriers.
    mbarrier.WaitOp: lambda op: Effect("wait", _bar(op), scalars=(op.parity,)),
    gpu.BarrierOp: lambda op: Effect("bar", constant=(0, None, True)),
    cluster.MbarrierArriveOp: lambda op: arrival_in_cluster(op, _bar(op), op.rank),
    # MMAs and tensor memory.
    WarpgroupMmaOp: _wgmma,
    UmmaOp: _umma,
    tmem_copy.CopyOp: _copy,
    tmem_copy.ShiftOp: _shift,
    tmem_access.TmemAccessOp: _tile,
    tmem_reduce.LoadReduceOp: _tile,
    tmem_access.WaitLoadOp: plain("tmem.wait_load"),
    tmem_access.WaitStoreOp: plain("tmem.wait_store"),
    tmem.AllocOp: lambda op: Effect("tmem.alloc", places=(_slot(op),)),
    tmem.RetrieveOp: lambda op: Effect("access", places=(_slot(op),)),
    tmem.DeallocOp: lambda op: Effect(
        "tmem.dealloc", places=(MemoryPlace(op.source, (), writes=True),)
    ),
}  # fmt: skip
