"""Histograms and gathers: every element against every bin or place."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.ops import integer
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.control_flow import YieldOp
from tilewright.dialects.cuda_tile.ops.conversions import IntToPtrOp
from tilewright.dialects.cuda_tile.types import PointerType, TileType
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.folds import fold
from tilewright.lowering.triton.memory import in_memory
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import EQUAL


@converts
def _histogram(op: triton.HistogramOp, at: TritonConversion) -> SSAValue:
    values, type_ = at[op.src], at.tile(op.result.type)
    shape = (*shape_of(values), *type_.shape)
    bins = at.spread(at.iota(type_.shape[0], i32), shape, 1)
    hit = at.compare(EQUAL, at.spread(at.resized(values, i32), shape, 0), bins)
    if op.mask is not None:
        hit = at.add(integer.AndIOp, [hit, at.spread(at[op.mask], shape, 0)])
    return combined(at, integer.AddIOp, at.resized(hit, type_.element_type), 0, 0)


@converts
def _gather(op: triton.GatherOp, at: TritonConversion) -> SSAValue:
    source, indices, axis = in_memory(at, at[op.src]), at[op.indices], op.number("axis")
    assert source is not None
    element, shape = element_of(source), list(shape_of(indices))
    whole = [*shape[: axis + 1], shape_of(source)[axis], *shape[axis + 1 :]]
    indices = at.reshape(indices, [*shape[: axis + 1], 1, *shape[axis + 1 :]])
    index = at.broadcast(indices, whole)
    places = at.spread(at.iota(whole[axis + 1], i32), whole, axis + 1)
    hit = at.compare(EQUAL, at.resized(index, i32), places)
    bits = IntegerType(ELEMENT_OF[element].bits)
    rows = at.reshape(at.bitcast(source, bits), [*shape[:axis], 1, *whole[axis + 1 :]])
    zero = at.constant(0, TileType.get(tuple(whole), bits))
    chosen = at.select(hit, at.broadcast(rows, whole), zero)
    chosen_bits = combined(at, integer.AddIOp, chosen, axis + 1, 0)
    type_ = at.tile(op.result.type)
    if isinstance(type_.element_type, PointerType):
        return at.add(IntToPtrOp, [chosen_bits], type_)
    return at.bitcast(chosen_bits, element)


def combined(
    at: TritonConversion, kind: type[Operation], value: SSAValue, axis: int, identity: int
) -> SSAValue:
    """Integers along an axis as one, by an operation and the number that changes none."""
    shape, element = shape_of(value), element_of(value)
    scalar = TileType.get((), element)
    with at.inside(Block(arg_types=[scalar, scalar])) as body:
        at.insert(YieldOp.create(operands=[at.add(kind, body.args)]))
    type_ = TileType.get((*shape[:axis], *shape[axis + 1 :]), element)
    number: Any = IntegerAttr(identity, element)  # pyright: ignore
    return fold(at, ReduceOp, value, type_, axis, number, Region(body))
