"""Accesses to parts of tiles, as Tile IR, and whatever else depends on where a part begins."""

from __future__ import annotations

from math import gcd

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp, TruncIOp
from tilewright.dialects.cuda_tile.ops.views import (
    MakeGatherScatterViewOp,
    MakePartitionViewOp,
    MakeStridedViewOp,
    ViewAccess,
)
from tilewright.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TileType,
)
from tilewright.passes.cuda_tile.analysis.view_access import tensor_of
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type


def access_part(op: ViewAccess, axis: int, parts: int, number: SSAValue) -> None:
    """Let an access be to a part of its tile: to a tile of a view of such parts. What is gathered
    along the axis is a part of the index."""
    view, at = op.view_type, TileBuilder(op)
    part, step, kind = view.tile_shape[axis] // parts, view.tile_shape[axis], MakePartitionViewOp
    shape = tuple(part if i == axis else x for i, x in enumerate(view.tile_shape))
    tensor, between = view.tensor_view, part
    if isinstance(view, StridedViewType):
        step, kind = view.traversal_strides[axis], MakeStridedViewOp
        between = gcd(step, part)
        steps = tuple(between if i == axis else x for i, x in enumerate(view.traversal_strides))
        type_ = StridedViewType.get(shape, steps, tensor, view.dim_map, view.padding_value)
    elif isinstance(view, GatherScatterViewType):
        step, between, kind = 1, 1, MakeGatherScatterViewOp
        type_ = GatherScatterViewType.get(shape, tensor, view.sparse_dim, view.padding_value)
    else:
        assert isinstance(view, PartitionViewType)
        type_ = PartitionViewType.get(shape, tensor, view.dim_map, view.padding_value)
    index: list[SSAValue] = list(op.index)  # type: ignore[attr-defined]
    places = list(op.operands)
    place, view_place = places.index(index[0]) + axis, places.index(op.view)  # type: ignore[attr-defined]
    if not shape_of(index[axis]):
        first = _resized(index[axis], i32, at) if _is_narrow(index[axis]) else index[axis]
        element = element_of(first)
        first = at.add(integer.MulIOp, [first, at.constant(step // between, element)])
        own = at.add(integer.MulIOp, [number, at.constant(part // between, i32)])
        op.operands[place] = at.add(integer.AddIOp, [first, _resized(own, element, at)])
    op.operands[view_place] = at.add(kind, [tensor_of(op.view).result], type_)  # type: ignore[attr-defined]


def _is_narrow(value: SSAValue) -> bool:
    return element_of(value).bitwidth < i32.bitwidth  # type: ignore[attr-defined]


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
    """An integer that is not negative in another type."""
    if element == element_of(value):
        return value
    type_ = TileType.get((), element)
    if element.bitwidth < element_of(value).bitwidth:  # type: ignore[attr-defined]
        return at.add(TruncIOp, [value], type_)
    return at.add(ExtIOp, [value], type_, signedness=Signedness.UNSIGNED)
