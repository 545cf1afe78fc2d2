"""The table of effects of instructions: those of `ptx` that order others or are ordered by them.

What is a memref of an op is a register of an instruction: an address of the one shared memory, or
of the one tensor memory, that a CTA has, or a descriptor. A place has the function that says what
is accessed, in bytes or cells, by the numbers in those registers.
"""

from functools import cache, lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilewright.dialects.cute.types.argument import source_of
from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.atoms.umma_lookup import umma_of
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    CHUNK,
    TCGEN05,
    WGMMA,
    DescriptorFormat,
    MajorMode,
    SmemDescriptor,
)
from tilewright.dialects.cute_nvgpu.lattice.atomics import registers_of
from tilewright.dialects.cute_nvgpu.lattice.data_movement import CLUSTER_SPACE, WEAK
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANE_STRIDE, LANES, SHIFTED_COLUMNS
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.cute_nvgpu.types.tensor_map import TENSOR_MAP, TmaDescriptorType
from tilewright.dialects.ptx import (
    atomics,
    bulk_copy,
    cluster,
    data_movement,
    matrix_copy,
    mbarrier,
    synchronization,
    tcgen05_access,
    tcgen05_memory,
    tcgen05_mma,
    tcgen05_sync,
    warp_specialization,
    wgmma,
    wmma,
)
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.types import KINDS, reg
from tilewright.passes.analysis.hazards.effects import (
    Effect,
    MemoryPlace,
    Reach,
    Row,
    arrival_in_cluster,
    of_both,
    plain,
)
from tilewright.passes.analysis.hazards.placement import HALF, Cells, tensor_set


class UnknownReach(Exception):
    """The numbers stand for nothing that can be accessed."""


# Shared memory


@cache
def _bytes(size: int) -> Reach:
    run = np.arange(size, dtype=np.int64)

    def reach(address: Any) -> Cells:
        return np.asarray(address, dtype=np.int64).reshape(-1, 1) + run

    return reach


def run_at(
    address: SSAValue, size: int, *, offset: int = 0, writes: bool = False, atomic: bool = False,
    of_cluster: bool = False,
) -> MemoryPlace:  # fmt: skip
    """So many bytes of shared memory from an address on."""
    return MemoryPlace(Space.SMEM, (address,), writes=writes, offset=offset, reach=_bytes(size),
                       atomic=atomic, of_cluster=of_cluster, run=size & -size)  # fmt: skip


def _matrix(
    word: SSAValue, format: DescriptorFormat, major: MajorMode, extents: tuple[int, int], bits: int
) -> MemoryPlace:
    def reach(number: Any) -> Cells:
        first = int(np.asarray(number).reshape(-1)[0]) & ((1 << 64) - 1)
        return chunks(first, format, major, extents, bits)

    return MemoryPlace(Space.SMEM, (word,), reach=reach)


@lru_cache(256)
def chunks(
    word: int, format: DescriptorFormat, major: MajorMode, extents: tuple[int, int], bits: int
) -> Cells:
    """The bytes of the matrix of a descriptor, [1, bytes]. Raises UnknownReach for none."""
    try:
        places = SmemDescriptor.decode(word, format).addresses(major, extents, bits)
    except DescriptorError as error:
        raise UnknownReach from error
    first = np.unique(places // (8 * CHUNK)) * CHUNK
    return (first[:, None] + np.arange(CHUNK)).reshape(1, -1)


def _bar(op: Any, *, address: SSAValue | None = None) -> MemoryPlace:
    offset = op.offset.value.data if hasattr(op, "offset") else 0
    return MemoryPlace(Space.SMEM, (address or op.address,), offset=offset)


def _access(op: data_movement.LdOp | data_movement.StOp) -> Effect | None:
    if op.space.data not in ("shared", CLUSTER_SPACE):
        return None
    stores = isinstance(op, data_movement.StOp)
    size = op.access_bytes * op.data.type.count.data
    far = op.space.data == CLUSTER_SPACE
    place = run_at(
        op.address, size, offset=op.offset.value.data, writes=stores,
        atomic=op.semantics.data != WEAK, of_cluster=far,
    )  # fmt: skip
    value = op.value if stores else None
    return Effect("access", places=(place,), predicate=op.guard, constant=value)


def _atomic(op: atomics.AtomOp | atomics.RedOp) -> Effect | None:
    if op.space.data != "shared":
        return None
    size = word_bytes(op.form.data)
    place = run_at(op.address, size, offset=op.offset.value.data, writes=True, atomic=True)
    return Effect("access", places=(place,), predicate=op.predicate)


def word_bytes(form: str) -> int:
    """The bytes that an atomic operation combines: 4 of `add.u32`."""
    kind, count = registers_of(form)
    return count * KINDS[kind] // 8


def matrices_at(
    op: matrix_copy.LdmatrixOp | matrix_copy.StmatrixOp | address.LdmatrixOp,
) -> Effect:
    """The rows of matrices, each at its thread's address."""
    stores = isinstance(op, matrix_copy.StmatrixOp)
    place = run_at(op.address, CHUNK, offset=op.offset.value.data, writes=stores)
    return Effect("access", places=(place,), constant=op.matrix_copy.runs)


def _wmma(op: wmma.LoadOp | wmma.StoreOp) -> Effect | None:
    if op.space != "shared":
        return None
    access = op.access
    count, length = access.lines
    size = access.element.bits * length // 8

    def reach(address: Any, stride: Any) -> Cells:
        first, apart = (int(np.asarray(number).reshape(-1)[0]) for number in (address, stride))
        lines = first + np.arange(count) * (apart * access.element.bits // 8)
        return (lines[:, None] + np.arange(size)).reshape(1, -1)

    place = MemoryPlace(
        Space.SMEM, (op.address, op.stride), offset=op.offset.value.data,
        writes=isinstance(op, wmma.StoreOp), reach=reach, run=size & -size,
    )  # fmt: skip
    return Effect("access", places=(place,), constant="warp")


# Copies of boxes


def box_bytes(map_: SSAValue) -> int | None:
    """The bytes of the box that a tensor map moves, as its parameter says; None where it does
    not."""
    entry = map_.owner.parent_op() if isinstance(map_.owner, Block) else None
    if not isinstance(entry, EntryOp) or entry.arg_attrs is None:
        return None
    assert isinstance(map_, BlockArgument)
    attributes = entry.arg_attrs.data[map_.index]
    assert isinstance(attributes, DictionaryAttr)
    source = source_of(attributes)
    type_ = attributes.data.get(TENSOR_MAP) if source is None else source.type
    return type_.box.bytes if isinstance(type_, TmaDescriptorType) else None


def _tensor_load(op: bulk_copy.TensorLoadOp) -> Effect:
    size = box_bytes(op.map)
    return Effect(
        "tma.load" if op.pair is None else "tma.pair",
        _bar(op, address=op.barrier),
        () if size is None else (run_at(op.dest, size, writes=True),),
        () if op.mask is None else (op.mask,),
        size,
    )


def _from_shared(op: bulk_copy.TensorStoreOp | bulk_copy.TensorReduceOp) -> Effect:
    size = box_bytes(op.map)
    return Effect("tma.store", places=() if size is None else (run_at(op.source, size),))


# MMAs


def _wgmma(op: wgmma.WgmmaOp) -> Effect:
    atom = op.mma_atom
    operands = {"A": op.a, "B": op.b} if op.a.type == reg("b64") else {"B": op.b}
    places = (
        _matrix(value, WGMMA, atom.majors["AB".index(name)], atom.shared_extents(name),
                atom.element(name).bits)
        for name, value in operands.items()
    )  # fmt: skip
    return Effect("wgmma", places=tuple(places))


def _umma(op: tcgen05_mma.Tcgen05MmaOp) -> Effect | None:
    if (idesc := op.known_idesc) is None:
        return Effect("unknown")
    atom = op.atom_of(idesc)
    shared = {"A": op.a, "B": op.b} if op.a.type == reg("b64") else {"B": op.b}
    tensors = {"D": op.d, "A": op.a, "E": op.metadata, "SFA": op.sfa, "SFB": op.sfb}
    places = [
        _matrix(value, TCGEN05, atom.majors["AB".index(name)], atom.shared_extents(name),
                atom.element(name).bits)
        for name, value in shared.items()
    ]  # fmt: skip
    for name in atom.tmem_operands:
        value = tensors[name]
        assert value is not None
        reach = _operand_cells(op.mnemonic, idesc, name, atom.frag_kind)
        places.append(MemoryPlace(Space.TMEM, (value,), writes=name == "D", reach=reach))
    signature = (atom.shape, atom.row.kind if hasattr(atom.row, "kind") else None, op.group)
    return Effect("umma", places=tuple(places), constant=("mma", signature))


@cache
def _operand_cells(mnemonic: str, idesc: int, operand: str, kind: Any) -> Reach:
    """The cells of one CTA's part of an operand, from its address on."""
    cells = umma_of(mnemonic, idesc, kind).cells(operand)
    lanes = np.unique(cells[..., 0] % LANE_STRIDE // HALF).tolist()
    columns = sum(1 << column for column in np.unique(cells[..., 1]).tolist())
    halves = tuple(lanes) if operand == "D" else tuple(range(LANES // HALF))
    return _set_of(halves, columns)


# Tensor memory


def _set_of(halves: tuple[int, ...], columns: int) -> Reach:
    def reach(address: Any) -> int:
        return tensor_set(int(address), halves, columns)

    return reach


def _columns(columns: int, lanes: int = LANES) -> Reach:
    return _set_of(tuple(range(max(lanes // HALF, 1))), columns)


def _tensor(
    address: SSAValue, columns: int, lanes: int = LANES, *, offset: int = 0, writes: bool = True
) -> MemoryPlace:  # fmt: skip
    reach = _columns(columns, lanes)
    return MemoryPlace(Space.TMEM, (address,), lanes=lanes, writes=writes, offset=offset,
                       reach=reach)  # fmt: skip


def _tile(op: tcgen05_access.AccessOp) -> Effect:
    stores, access = isinstance(op, tcgen05_access.StOp), op.access
    place = _tensor(
        op.operands[0], access.column_set, access.shape.lanes,
        offset=op.offset.value.data, writes=stores,
    )  # fmt: skip
    return Effect("tmem.store" if stores else "tmem.load", places=(place,))


def _cp(op: tcgen05_memory.CpOp) -> Effect:
    place = _tensor(op.address, (1 << op.copy_shape.columns) - 1, offset=op.offset.value.data)
    shape = op.copy_shape
    source = _matrix(op.descriptor, TCGEN05, "k", (shape.rows, shape.bits // 8), 8)
    return Effect("umma", places=(place, source), constant=("cp", op.shape.data))


def _shift(op: tcgen05_memory.ShiftOp) -> Effect:
    place = _tensor(op.address, (1 << SHIFTED_COLUMNS) - 1, offset=op.offset.value.data)
    return Effect("umma", places=(place,), constant=("shift", op.group))


INSTRUCTIONS: dict[type[Operation], Row] = {
    **of_both(
        _bar, copies=data_movement, boxes=bulk_copy, mbarrier=mbarrier, threads=synchronization,
        cluster=cluster, wgmma=wgmma, tensor_memory=tcgen05_memory, tcgen05=tcgen05_sync,
        warps=warp_specialization,
    ),
    # Copies.
    data_movement.LdOp: _access,
    data_movement.StOp: _access,
    atomics.AtomOp: _atomic,
    atomics.RedOp: _atomic,
    matrix_copy.LdmatrixOp: matrices_at,
    matrix_copy.StmatrixOp: matrices_at,
    wmma.LoadOp: _wmma,
    wmma.StoreOp: _wmma,
    data_movement.CpAsyncOp: lambda op: Effect(
        "cp.async", places=(run_at(op.dest, op.size.value.data, writes=True),)
    ),
    bulk_copy.TensorLoadOp: _tensor_load,
    bulk_copy.TensorStoreOp: _from_shared,
    bulk_copy.TensorReduceOp: _from_shared,
    # Barriers.
    mbarrier.TryWaitParityOp: lambda op: Effect("wait", _bar(op), scalars=(op.parity,)),
    cluster.MbarrierArriveOp: lambda op: arrival_in_cluster(op, _bar(op), op.address),
    # MMAs and tensor memory.
    wgmma.WgmmaOp: _wgmma,
    tcgen05_mma.Tcgen05MmaOp: _umma,
    tcgen05_memory.CpOp: _cp,
    tcgen05_memory.ShiftOp: _shift,
    tcgen05_access.LdOp: _tile,
    tcgen05_access.LdRedOp: _tile,
    tcgen05_access.StOp: _tile,
    tcgen05_sync.WaitLdOp: plain("tmem.wait_load"),
    tcgen05_sync.WaitStOp: plain("tmem.wait_store"),
    tcgen05_memory.AllocOp: lambda op: Effect(
        "tmem.alloc", places=(run_at(op.slot, 4, offset=op.offset.value.data, writes=True),)
    ),
    tcgen05_memory.DeallocOp: lambda op: Effect(
        "tmem.dealloc", places=(_tensor(op.address, (1 << op.columns.value.data) - 1),)
    ),
}  # fmt: skip
