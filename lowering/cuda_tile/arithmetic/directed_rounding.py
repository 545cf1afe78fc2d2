"""Arithmetic rounded towards zero or to one side: of f16 and bf16 in f32, which has all of their
numbers, and once more in the same direction. And that of f32 with subnormal numbers as zeros."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops import floating_point
from tilewright.dialects.cute_nvgpu.ops.rounded import RoundedOp
from tilewright.lowering.cuda_tile.arithmetic.convert_conversions import (
    float_converted,
    float_resized,
)
from tilewright.lowering.cuda_tile.arithmetic.narrow_floats import F32, F64
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel

INSTRUCTIONS: dict[type[Operation], str] = {
    floating_point.AddFOp: "add",
    floating_point.SubFOp: "sub",
    floating_point.MulFOp: "mul",
    floating_point.DivFOp: "div",
    floating_point.SqrtOp: "sqrt",
    floating_point.FmaOp: "fma",
}
"""Instructions that round as their op says, and may flush."""
_DIRECTIONS = {"zero": "rz", "negative_inf": "rm", "positive_inf": "rp"}


def rounded_to(
    op: Operation, operands: tuple[SSAValue, ...], rounding: str, kernel: Kernel
) -> SSAValue:
    """The result of addf, subf, mulf, divf, sqrt or fma in a directed rounding, or flushed."""
    type_ = operands[0].type
    wide = F64 if type_ == F64 else F32
    form = _form(INSTRUCTIONS[type(op)], rounding, "flush_to_zero" in op.properties, str(wide))
    values = [float_resized(kernel, operand, wide) for operand in operands]
    result = kernel.emit(RoundedOp, values, wide, form=form)
    return float_converted(kernel, result, wide, type_, rounding)


@cache
def _form(name: str, rounding: str, flushes: bool, type_: str) -> StringAttr:
    way = _DIRECTIONS.get(rounding, "rn")
    return StringAttr(f"{name}.{way}.{'ftz.' if flushes else ''}{type_}")
