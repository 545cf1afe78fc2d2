"""ldmatrix, stmatrix, movmatrix and vector accesses of `cute_nvgpu` to `ptx`."""

from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import WANTS_ALL_ADDRESSES, WARP
from tilewright.dialects.cute_nvgpu.ops import matrix_copy
from tilewright.dialects.ptx.matrix_copy import LdmatrixOp
from tilewright.dialects.ptx.scalars import AddOp, SelpOp, SetpOp
from tilewright.dialects.ptx.types import reg
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_gpu import special
from tilewright.lowering.to_ptx.convert_memref import locate


@lowers
def _ldmatrix(op: matrix_copy.LdmatrixOp, to: Conversion) -> SSAValue:
    tile, copy = to.tile(op.source), op.matrix_copy
    address, offset = locate(op, tile, op.indices, to)
    if copy.runs < WARP and to.arch is not None and to.arch.number <= WANTS_ALL_ADDRESSES:
        # Threads that name no row name the tile's beginning.
        every = to.scalar(AddOp, "u32", address, to.const(offset, "b32")) if offset else address
        names = to.scalar(SetpOp, "lt.u32", special("laneid", to), to.const(copy.runs, "b32"))
        address, offset = to.scalar(SelpOp, "b32", every, tile.address, names), 0
    return to.emit(
        LdmatrixOp(
            address, reg("b32", copy.registers), offset, form=copy.row.form, trans=copy.trans
        )
    )
