"""Large tiles that are numbered in a row and then reshaped, numbered in the shape that they have:
their parts are then parts along any dimension.

    reshape (offset (broadcast p), (iota n))        offset (broadcast p), (iota a) * b + (iota b)
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.conversions import ConversionOp
from tilewright.dialects.cuda_tile.ops.elementwise import BinaryInteger
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder
from tilewright.passes.cuda_tile.scheduling.computed_parts import erase

_Shape = tuple[int, ...]


def unfold_rows(entry: EntryOp, limit: int) -> None:
    """Rewrite the reshaped rows of an entry of more elements."""
    for op in list(entry.walk()):
        if isinstance(op, core.ReshapeOp) and prod(shape_of(op.result)) > limit:
            if not _is_numbered(op.source):
                continue
            shaped = _shaped(op.source, shape_of(op.result), ShapedBuilder(op))
            op.result.replace_all_uses_with(shaped)
            erase(op)


def _is_numbered(value: SSAValue) -> bool:
    """True of elements that follow from their number alone, and scalars."""
    match value.owner:
        case core.IotaOp():
            return True
        case core.ConstantOp() as constant:
            return constant.elements.is_splat
        case core.BroadcastOp() as broadcast:
            return prod(shape_of(broadcast.source)) == 1
        case core.ReshapeOp() as reshape:
            return _is_numbered(reshape.source)
        case core.OffsetOp() | BinaryInteger() | ConversionOp() as op:
            return all(map(_is_numbered, op.operands))
        case _:
            return False


def _shaped(value: SSAValue, shape: _Shape, before: ShapedBuilder) -> SSAValue:
    """A numbered tile in another shape."""
    type_ = TileType.get(shape, element_of(value))
    match value.owner:
        case core.IotaOp():
            return _numbers(shape, type_.element_type, before)
        case core.ConstantOp() as constant:
            elements = ElementsAttr(type_, constant.elements.data)
            return before.add(core.ConstantOp, [], type_, value=elements)
        case core.BroadcastOp() as broadcast:
            return before.spread(broadcast.source, shape)
        case core.ReshapeOp() as reshape:
            return _shaped(reshape.source, shape, before)
        case _ as op:
            assert isinstance(op, Operation)
            operands = [_shaped(operand, shape, before) for operand in op.operands]
            return before.add(type(op), operands, type_, **op.properties)


def _numbers(shape: _Shape, element: Attribute, before: ShapedBuilder) -> SSAValue:
    """The number of each element."""
    total = before.constant(0, TileType.get(shape, element))
    for axis, extent in enumerate(shape):
        row = before.iota(extent, element)
        scale = before.constant(prod(shape[axis + 1 :]), row.type)
        scaled = before.add(integer.MulIOp, [row, scale])
        total = before.add(integer.AddIOp, [total, before.spread(scaled, shape, axis)])
    return total
