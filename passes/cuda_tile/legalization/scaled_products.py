"""Products whose operands have scale factors: as products of the elements of each factor, whose
sums are scaled."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    i8,
    i32,
)
from xdsl.ir import SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cuda_tile.ops.floating_point import FmaOp, MulFOp
from tilewright.dialects.cuda_tile.ops.integer import AddIOp, ShLIOp, ShRIOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.passes.cuda_tile.analysis.split_dimensions import SplitTiles, UnsplitError
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.passes.cuda_tile.layouts.mma_layouts import atom_of
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import block_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import (
    EQUAL,
    ROUNDING,
    UNSIGNED,
    ShapedBuilder,
)

_F16, _F32, _F64 = Float16Type(), Float32Type(), Float64Type()
_SUMS, _COLUMNS = 1 << 14, 64
"""The sums that are scaled at once, beside their totals, and the columns at least."""
_BIAS, _FRACTION, _NAN, _NAN_BITS = 127, 23, 255, 0x7FC00000
"""Of f32 the bias of exponents, which f8E8M0FNU has too, the bits below them and a NaN, and the
word of f8E8M0FNU that is one."""


def scaled_product(op: MmaFScaledOp, before: ShapedBuilder) -> SSAValue:
    """A scaled product: of f16, where an MMA multiplies that, whose sums over the elements of a
    scale factor are scaled, some columns after the others where the kernel will not be strip-mined;
    else of f64, of which each is scaled."""
    *_, rows, columns = shape_of(op.acc)
    own = min(columns, max(_SUMS // rows, _COLUMNS))
    if own < columns and _may_be_parted(op):
        own = columns
    parts = [_scaled_columns(op, number, own, before) for number in range(columns // own)]
    sums = [part for part in parts if part is not None]
    if len(sums) < len(parts):
        return _product_of_scaled(op, before)
    return before.joined(sums, len(shape_of(op.acc)) - 1)


def _may_be_parted(op: MmaFScaledOp) -> bool:
    """True where the rows or the columns of a product may be computed one after the other."""
    for axis in (-2, -1):
        split = SplitTiles(next(enclosing(op, EntryOp)), 2)
        try:
            split.spread(op.result, tile_type(op.result).rank + axis)
        except UnsplitError:
            continue
        return True
    return False


def _scaled_columns(
    op: MmaFScaledOp, part: int, columns: int, before: ShapedBuilder
) -> SSAValue | None:
    """A part of the columns of a scaled product; None where no MMA multiplies them."""
    blocks, last = shape_of(op.lhs_scale)[-1], len(shape_of(op.lhs)) - 1
    block = shape_of(op.lhs)[-1] // blocks
    right, scale, total = (
        before.part(value, last, part, columns) for value in (op.rhs, op.rhs_scale, op.acc)
    )
    shape, type_ = shape_of(total), tile_type(total)
    zero = before.constant(0.0, type_)
    for number in range(blocks):
        operands = [
            before.float(before.part(value, axis, number, block), _F16)
            for value, axis in ((op.lhs, last), (right, last - 1))
        ]
        product = MmaFOp.create(operands=[*operands, zero], result_types=[type_])
        if atom_of(product) is None:
            return None
        sums = before.insert(product).results[0]
        x, y = (
            before.broadcast(before.part(value, axis, number, 1), shape)
            for value, axis in ((op.lhs_scale, last), (scale, last - 1))
        )
        total = _scaled_sum(sums, x, y, total, before)
    return total


def _scaled_sum(
    part: SSAValue, left: SSAValue, right: SSAValue, total: SSAValue, before: ShapedBuilder
) -> SSAValue:
    """part * left * right + total, rounded once. Products of powers of two up to 2^254 are taken in
    halves, each of which is an f32."""
    type_ = total.type
    if not isinstance(element_of(left), Float8E8M0FNUType):
        x, y = (before.float(scale, _F32) for scale in (left, right))
        factor = before.add(MulFOp, [x, y], type_, **ROUNDING)
        return before.add(FmaOp, [part, factor, total], type_, **ROUNDING)
    for scale, up in ((left, 0), (right, 1)):
        part = before.add(MulFOp, [part, _half(scale, up, before)], type_, **ROUNDING)
    rest = [_half(scale, up, before) for scale, up in ((left, 1), (right, 0))]
    factor = before.add(MulFOp, rest, type_, **ROUNDING)
    return before.add(FmaOp, [part, factor, total], type_, **ROUNDING)


def _product_of_scaled(op: MmaFScaledOp, before: ShapedBuilder) -> SSAValue:
    """A product of f64 whose elements are scaled first."""
    block, rank = block_of(op), len(shape_of(op.lhs))
    scaled: list[SSAValue] = []
    for operand, scale, axis in (
        (op.lhs, op.lhs_scale, rank - 1),
        (op.rhs, op.rhs_scale, rank - 2),
    ):
        wide = before.float(operand, _F64)
        factor = before.repeated(before.float(scale, _F64), axis, block)
        scaled.append(before.add(MulFOp, [wide, factor], wide.type, **ROUNDING))
    acc = before.float(op.acc, _F64)
    return before.float(before.add(MmaFOp, [*scaled, acc], acc.type), _F32)


def _half(scale: SSAValue, up: int, before: ShapedBuilder) -> SSAValue:
    """About the square root of a f8E8M0FNU, a power of two as f32: of an odd power the smaller
    or, `up`, the larger one; both of them multiply to it. NaN of NaN."""
    word = before.resized(before.bitcast(scale, i8), i32)
    power = before.add(AddIOp, [word, _BIAS + up])
    power = before.add(ShRIOp, [power, 1], **UNSIGNED)
    bits = before.add(ShLIOp, [power, _FRACTION])
    # The word 255 is NaN.
    nan = before.compare(EQUAL, word, _NAN)
    bits = before.select(nan, before.constant(_NAN_BITS, word.type), bits)
    return before.bitcast(bits, _F32)
