"""Parts of tiles, as Tile IR: accesses to them, and what else depends on where a part begins."""

from __future__ import annotations

from math import gcd

from xdsl.dialects.builtin import IntegerType, i32
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.views import ViewAccess
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.analysis.view_access import (
    MAKES,
    tensor_of,
    tile_dimensions,
    view_like,
)
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder


def access_part(op: ViewAccess, axis: int, parts: int, number: SSAValue) -> None:
    """Let an access be to a part of its tile: to a tile of a view of such parts. What is gathered
    along the axis is a part of the index."""
    view, at = op.view_type, ShapedBuilder(op)
    part, step = view.tile_shape[axis] // parts, tile_dimensions(op)[axis].step
    between = gcd(step, part)
    type_ = view_like(view, view.tensor_view, axis, part, between, view.padding_value)
    index: list[SSAValue] = list(op.index)  # type: ignore[attr-defined]
    places = list(op.operands)
    place, view_place = places.index(index[0]) + axis, places.index(op.view)  # type: ignore[attr-defined]
    if not shape_of(index[axis]):
        first = index[axis]
        if isa(own := element_of(first), IntegerType) and own.bitwidth < i32.bitwidth:
            first = at.resized(first, i32)
        element = element_of(first)
        first = at.add(integer.MulIOp, [first, step // between])
        own = at.add(integer.MulIOp, [number, part // between])
        op.operands[place] = at.add(integer.AddIOp, [first, at.resized(own, element)])
    op.operands[view_place] = at.add(MAKES[type(type_)], [tensor_of(op.view).result], type_)  # type: ignore[attr-defined]


def as_part(value: SSAValue, type_: TileType, number: SSAValue) -> SSAValue:
    """A value as a part of its tile, by the part's number: a constant has so much of its elements,
    an `iota` counts from where the part begins. Other ops compute parts already."""
    op = value.owner
    if isinstance(op, core.ConstantOp):
        op.properties["value"] = ElementsAttr(type_, op.elements.data)
    part = Rewriter.replace_value_with_new_type(value, type_)
    return _counted(op, number) if isinstance(op, core.IotaOp) else part


def _counted(op: core.IotaOp, number: SSAValue) -> SSAValue:
    type_, at = tile_type(op.result), ShapedBuilder(op, InsertPoint.after(op))
    element = type_.element_type
    first = at.resized(number, element)
    first = at.add(integer.MulIOp, [first, type_.elements])
    return at.add(integer.AddIOp, [op.result, at.spread(first, type_.shape)])
