"""Arithmetic rounded towards zero or to one side: of f16 and bf16 in f32, which has all of their
numbers, and once more in the same direction."""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type, Float64Type, StringAttr
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.enums import RoundingMode
from tilewright.dialects.cuda_tile.ops import floating_point
from tilewright.dialects.cute_nvgpu.lattice.scalar import FLUSHING
from tilewright.dialects.cute_nvgpu.ops.rounded import RoundedOp
from tilewright.lowering.cuda_tile.arithmetic.convert_conversions import (
    float_converted,
    float_resized,
)
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering

_INSTRUCTIONS: dict[type[Operation], str] = {
    floating_point.AddFOp: "add",
    floating_point.SubFOp: "sub",
    floating_point.MulFOp: "mul",
    floating_point.DivFOp: "div",
    floating_point.SqrtOp: "sqrt",
    floating_point.FmaOp: "fma",
}
_DIRECTIONS = {"zero": "rz", "negative_inf": "rm", "positive_inf": "rp"}


def flushed_form(op: Operation, rounding: str) -> str | None:
    """The instruction of f32 that flushes subnormal numbers; None where there is none."""
    name = _INSTRUCTIONS.get(type(op))
    direction = "rn" if rounding in ("", "nearest_even") else _DIRECTIONS.get(rounding)
    return None if name is None or direction is None else f"{name}.{direction}{FLUSHING}f32"


def full_quotient(op: Operation, rounding: str, *, flushes: bool) -> str | None:
    """The instruction of a division of f32 to within 2 ulp; None for any other op."""
    if not isinstance(op, floating_point.DivFOp) or rounding != RoundingMode.FULL:
        return None
    return f"div.full{FLUSHING if flushes else '.'}f32"


def rounded_to(
    op: Operation, kernel: EntryLowering, rounding: str, *operands: SSAValue
) -> SSAValue:
    """The result of addf, subf, mulf, divf, sqrt or fma in a directed rounding."""
    type_ = operands[0].type
    wide = type_ if type_ == Float64Type() else Float32Type()
    form = StringAttr(f"{_INSTRUCTIONS[type(op)]}.{_DIRECTIONS[rounding]}.{wide}")
    values = [float_resized(kernel, operand, wide) for operand in operands]
    result = kernel.emit(RoundedOp, values, wide, form=form)
    return float_converted(kernel, result, wide, type_, rounding)
