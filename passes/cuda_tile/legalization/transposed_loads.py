"""Loads of matrices whose columns lie side by side in memory: through the transposed pointers.

    %x = load_ptr_tko weak %p : tile<64x32xptr<f16>>          an element at a time
    ->
    %y = load_ptr_tko weak %q : tile<32x64xptr<f16>>;  %x = permute %y [1, 0]

The pointers %q are computed as %p is, where that is of scalars and of tiles of one dimension.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops import conversions, core, integer
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.analysis.runs import pointer_run
from tilewright.passes.cuda_tile.analysis.view_access import WIDEST
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder

_ELEMENTWISE = (
    core.OffsetOp, core.SelectOp, conversions.ExtIOp, conversions.TruncIOp, integer.CmpIOp,
    integer.AddIOp, integer.SubIOp, integer.MulIOp, integer.DivIOp, integer.RemIOp,
    integer.AndIOp, integer.OrIOp,
)  # fmt: skip


def transpose_load(op: LoadPtrTkoOp) -> bool:
    """Load a matrix through the transposed pointers, where one access moves several elements of
    these and none of the others; whether that was done. What is not needed then stays unused."""
    if len(shape_of(op.result)) != 2 or pointer_run(op.source, op.mask, WIDEST):
        return False
    at = ShapedBuilder(op)
    given = [value for value in (op.source, op.mask, op.padding_value) if value is not None]
    made = {value: _transposed(value, at) for value in given}
    pointers, mask = made[op.source], None if op.mask is None else made[op.mask]
    if pointers is None or None in made.values() or not pointer_run(pointers, mask, WIDEST):
        return False
    load = LoadPtrTkoOp.create(
        operands=[made.get(value) or value for value in op.operands],
        result_types=[_swapped(op.result), op.result_token.type],
        properties=op.properties.copy(),
    )
    result, token = at.insert(load).results
    op.result.replace_all_uses_with(at.turned(result))
    op.result_token.replace_all_uses_with(token)
    return True


def _swapped(value: SSAValue) -> TileType:
    return TileType.get(shape_of(value)[::-1], element_of(value))


def _transposed(value: SSAValue, at: ShapedBuilder) -> SSAValue | None:
    """A matrix, computed transposed; None where it cannot be."""
    rows, columns = shape_of(value)
    match value.owner:
        case core.ConstantOp() as op if op.elements.is_splat:
            number = op.elements.array().reshape(-1)[0].item()
            return at.spread(at.constant(number, element_of(value)), (columns, rows))
        case core.ReshapeOp() as op if 1 in (rows, columns) and len(shape_of(op.source)) < 2:
            return at.reshape(op.source, (columns, rows))
        case core.BroadcastOp() as op:
            source = _transposed(op.source, at)
            return None if source is None else at.broadcast(source, (columns, rows))
        case op if isinstance(op, _ELEMENTWISE):
            operands = [_transposed(x, at) if shape_of(x) else x for x in op.operands]
            if None in operands:
                return None
            return at.add(type(op), operands, _swapped(value), **op.properties)  # type: ignore[arg-type]
        case _:
            return None
