"""ldmatrix, stmatrix, movmatrix and vector accesses of `cute_nvgpu` to `ptx`."""

from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import WANTS_ALL_ADDRESSES, WARP
from tilewright.dialects.cute_nvgpu.ops import fragment_memory, matrix_copy
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.ptx.matrix_copy import LdmatrixOp, StmatrixOp
from tilewright.dialects.ptx.scalars import AddOp, SelpOp, SetpOp
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_gpu import special
from tilewright.lowering.to_ptx.convert_memref import locate


@lowers(matrix_copy.LdmatrixOp)
def _ldmatrix(op: matrix_copy.LdmatrixOp, to: Conversion) -> None:
    tile, copy = to.tile(op.source), op.matrix_copy
    address, offset = locate(op, tile, op.indices, to)
    if copy.runs < WARP and to.arch is not None and to.arch.number <= WANTS_ALL_ADDRESSES:
        # Threads that name no row name the tile's beginning.
        every = to.scalar(AddOp, "u32", address, to.const(offset, "b32")) if offset else address
        names = to.scalar(SetpOp, "lt.u32", special("laneid", to), to.const(copy.runs, "b32"))
        address, offset = to.scalar(SelpOp, "b32", every, tile.address, names), 0
    to[op.fragment] = to.emit(LdmatrixOp(address, copy, offset))


@lowers(matrix_copy.StmatrixOp)
def _stmatrix(op: matrix_copy.StmatrixOp, to: Conversion) -> None:
    address, offset = locate(op, to.tile(op.dest), op.indices, to)
    to.add(StmatrixOp(address, to[op.fragment], op.matrix_copy, offset))


# Vector accesses


@lowers(fragment_memory.LoadOp)
def _load(op: fragment_memory.LoadOp, to: Conversion) -> None:
    tile, fragment = to.tile(op.source), op.fragment.type
    address, offset = locate(op, tile, op.indices, to)
    access = fragment.element.register
    to[op.fragment] = to.emit(LdOp(tile.ptx_space, access, address, offset, fragment.registers))


@lowers(fragment_memory.StoreOp)
def _store(op: fragment_memory.StoreOp, to: Conversion) -> None:
    tile, fragment = to.tile(op.dest), op.fragment.type
    assert isinstance(fragment, FragmentType)
    address, offset = locate(op, tile, op.indices, to)
    predicate = to.given(op.predicate)
    access, value = fragment.element.register, to[op.fragment]
    to.add(StOp(tile.ptx_space, access, address, value, offset, predicate=predicate))
