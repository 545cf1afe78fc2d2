"""`cute_nvgpu.wmma` to `ptx`: the address of a matrix's first element, and its stride."""

from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.ops.wmma import LoadOp, MmaOp, StoreOp, WmmaAccessOp
from tilewright.dialects.cute_nvgpu.ops.wmma_memory import elements_per_item
from tilewright.dialects.ptx import wmma
from tilewright.lowering.to_ptx.conversion import Conversion, Tile, lowers
from tilewright.lowering.to_ptx.convert_memref import locate


def _stride(op: WmmaAccessOp, tile: Tile, to: Conversion) -> SSAValue:
    """The stride between rows (columns) in elements of the matrix, in a 32-bit register."""
    several = elements_per_item(op.access.element, op.memory_type)
    stride = op.stride
    if stride is None:
        stride = tile.strides[op.leading_dimension]
        if not isinstance(stride, int):
            return to.times(to.narrow(stride), several, "u32")
    return to.const(stride * several, "b32")


@lowers
def _access(op: LoadOp | StoreOp, to: Conversion) -> SSAValue | None:
    tile = to.tile(op.memory)
    address, offset = locate(op, tile, op.indices, to)
    space, stride = "shared" if tile.ptx_space == "shared" else "global", _stride(op, tile, to)
    if isinstance(op, LoadOp):
        return to.emit(wmma.LoadOp(op.access, space, address, stride, offset))
    return to.add(wmma.StoreOp(op.access, space, address, to[op.fragment], stride, offset))


@lowers
def _mma(op: MmaOp, to: Conversion) -> SSAValue:
    return to.emit(wmma.MmaOp([to[operand] for operand in op.operands], op.mma_atom))
