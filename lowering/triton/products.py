"""Products of matrices, with the precisions of Triton."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    FloatTF32Type,
    IntegerType,
)
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.attributes import choice_attr
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.enums import RoundingMode, Signedness
from tilewright.dialects.cuda_tile.ops.conversions import FToFOp
from tilewright.dialects.cuda_tile.ops.floating_point import AddFOp, SubFOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaIOp
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.passes.cuda_tile.legalization.shaped_builder import ROUNDING

_F16, _F32, _BF16, _TF32 = Float16Type(), Float32Type(), BFloat16Type(), FloatTF32Type()

_SIGNED = choice_attr(Signedness.SIGNED)

_SPLIT: dict[str, tuple[Attribute, int, tuple[tuple[int, int], ...]]] = {
    "tf32x3": (_TF32, 2, ((1, 0), (0, 1), (0, 0))),
    "bf16x3": (_BF16, 2, ((1, 0), (0, 1), (0, 0))),
    "bf16x6": (_BF16, 3, ((1, 1), (2, 0), (0, 2), (1, 0), (0, 1), (0, 0))),
}
"""Of a product in parts: the elements of a part, how many an operand has, and which parts are
multiplied, the smallest products first."""


@converts
def _dot(op: triton.DotOp, at: TritonConversion) -> SSAValue:
    lhs, rhs, acc = at.all(op.operands)
    precision, imprecise = op.word("inputPrecision"), op.word("maxNumImpreciseAcc")
    if element_of(lhs) == _F32 and precision in _SPLIT:
        return _in_parts(at, lhs, rhs, acc, precision)
    if element_of(lhs) == _F32 and precision == "tf32":
        lhs, rhs = (_tf32(at, value) for value in (lhs, rhs))
    return product(at, lhs, rhs, acc, fast=imprecise >= shape_of(lhs)[-1])


def _tf32(at: TritonConversion, value: SSAValue) -> SSAValue:
    """The upper bits of f32, as the tensor cores read them."""
    type_ = tile_type(value).with_element(_TF32)
    return at.add(FToFOp, [value], type_, rounding_mode=RoundingMode.ZERO)


def product(
    at: TritonConversion, lhs: SSAValue, rhs: SSAValue, acc: SSAValue, fast: bool = False
) -> SSAValue:
    """A product and a sum of matrices. Floats of two types are multiplied as the wider one."""
    left, right = element_of(lhs), element_of(rhs)
    if isinstance(left, IntegerType):
        return at.insert(MmaIOp(lhs, rhs, acc, acc.type, _SIGNED, _SIGNED)).result
    if left != right:
        wide = _F16 if max(ELEMENT_OF[x].bits for x in (left, right)) <= 8 else _F32
        lhs, rhs = (at.float(value, wide) for value in (lhs, rhs))
    return at.insert(MmaFOp(lhs, rhs, acc, acc.type, fast_acc=fast or None)).result


def _in_parts(
    at: TritonConversion, lhs: SSAValue, rhs: SSAValue, acc: SSAValue, precision: str
) -> SSAValue:
    """A product of f32 by products of parts of its operands."""
    element, count, pairs = _SPLIT[precision]
    zero = at.constant(0.0, acc.type)
    left, right = (_parts(at, value, element, count) for value in (lhs, rhs))
    total = zero
    for i, j in pairs:
        total = product(at, left[i], right[j], total)
    return at.add(AddFOp, [total, acc], **ROUNDING)


def _parts(at: TritonConversion, value: SSAValue, element: Attribute, count: int) -> list[SSAValue]:
    """Parts of f32 that add up to it, the greatest first."""
    parts: list[SSAValue] = []
    while True:
        parts.append(at.float(value, element))
        if len(parts) == count:
            return parts
        value = at.add(SubFOp, [value, at.float(parts[-1], _F32)], **ROUNDING)
