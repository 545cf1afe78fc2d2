"""Accesses to parts of tiles, as Tile IR, and whatever else depends on where a part begins."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp, TruncIOp
from tilewright.dialects.cuda_tile.ops.views import (
    LoadViewTkoOp,
    MakePartitionViewOp,
    StoreViewTkoOp,
)
from tilewright.dialects.cuda_tile.types import PartitionViewType, TileType
from tilewright.lowering.cuda_tile.analysis.view_access import tensor_of
from tilewright.lowering.cuda_tile.layouts.elements import tile_type


def access_part(
    op: LoadViewTkoOp | StoreViewTkoOp, axis: int, parts: int, number: SSAValue
) -> None:
    """Let an access be to a part of its tile: to a tile of a view of such parts."""
    view, at = op.view_type, TileBuilder(op)
    assert isinstance(view, PartitionViewType)
    shape = tuple(x // parts if i == axis else x for i, x in enumerate(view.tile_shape))
    type_ = PartitionViewType.get(shape, view.tensor_view, view.dim_map, view.padding_value)
    tensor, index = tensor_of(op.view).result, op.index[axis]
    element = tile_type(index).element_type
    first = at.add(integer.MulIOp, [index, at.constant(parts, element)])
    own = at.add(integer.AddIOp, [first, _resized(number, element, at)])
    place = list(op.operands).index(op.index[0]) + axis
    view_place = list(op.operands).index(op.view)
    op.operands[place] = own
    op.operands[view_place] = at.add(MakePartitionViewOp, [tensor], type_)


def counted_part(op: core.IotaOp, number: SSAValue) -> SSAValue:
    """The numbers of an `iota` of the type of a part, from where the part begins."""
    type_, at = tile_type(op.result), TileBuilder(op, InsertPoint.after(op))
    element = type_.element_type
    first = _resized(number, element, at)
    first = at.add(integer.MulIOp, [first, at.constant(type_.elements, element)])
    for kind, shape in ((core.ReshapeOp, (1,)), (core.BroadcastOp, type_.shape)):
        first = at.add(kind, [first], TileType.get(shape, element))
    return at.add(integer.AddIOp, [op.result, first])


def _resized(value: SSAValue, element: Attribute, at: TileBuilder) -> SSAValue:
    """An i32 that is not negative, as an integer of another type."""
    if element == i32:
        return value
    type_ = TileType.get((), element)
    if element.bitwidth < 32:  # type: ignore[attr-defined]
        return at.add(TruncIOp, [value], type_)
    return at.add(ExtIOp, [value], type_, signedness=Signedness.UNSIGNED)
