"""The functions of `math` to `ptx`: programs of scalar instructions, or the chip's approximations.

f16 and bf16 go through f32, integers below 32 bits through 32.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import math
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from tilewright.diagnostic import OpError
from tilewright.dialects.contents import ops_of
from tilewright.dialects.math_functions.code import Value
from tilewright.dialects.math_functions.functions import (
    APPROXIMATIONS,
    FUNCTIONS,
    ON_INTEGERS,
)
from tilewright.dialects.ptx import approximate, arithmetic, convert, logic
from tilewright.dialects.ptx.convert import CvtOp
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.dialects.ptx.registers import MovOp
from tilewright.dialects.ptx.types import RegType, reg
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_arith import scalar
from tilewright.lowering.to_ptx.convert_arith_floats import float_type, narrowed, widened

_OPS: dict[str, type[ScalarOp]] = {
    op.name.removeprefix("ptx."): op
    for op in ops_of(arithmetic, approximate, convert, logic)
    if issubclass(op, ScalarOp)
}
_INSTRUCTIONS: dict[type[Operation], str] = {
    math.Exp2Op: "ex2",
    math.Log2Op: "lg2",
    math.RsqrtOp: "rsqrt",
}
"""Functions that are one approximation of the chip's on f32."""


class Emitted:
    """The leaf of programs that emits them."""

    def __init__(self, to: Conversion):
        self.to = to

    def instruction(self, mnemonic: str, form: str, *operands: Any) -> SSAValue:
        """The result of the op."""
        return self.to.scalar(_OPS[mnemonic], form, *operands)

    def constant(self, bits: int, type_: str) -> SSAValue:
        """A constant register."""
        return self.to.const(bits, type_)

    def move(self, value: SSAValue, type_: str) -> SSAValue:
        """The register itself, or its bits in one of the other kind."""
        kind = reg(type_)
        if isinstance(value.type, RegType) and value.type == kind:
            return value
        return self.to.pure((MovOp, value, kind), (value,), lambda: MovOp(value, kind))


_MATH: dict[str, type[Operation]] = {op.name: op for op in math.Math.operations}


@lowers(*(_MATH[name] for name in FUNCTIONS))
def _function(op: Operation, to: Conversion) -> None:
    type_ = op.results[0].type
    scalar(op, type_)
    real, leaf = float_type(type_), Emitted(to)
    operands = [widened(to[operand], type_, to) for operand in op.operands]
    if real == "f32" and type(op) in _INSTRUCTIONS:
        result = leaf.instruction(_INSTRUCTIONS[type(op)], "approx.ftz.f32", *operands)
    else:
        program = FUNCTIONS[op.name].program
        if real == "f32" and is_approximate(op):
            program = APPROXIMATIONS.get(op.name, program)
        result = program(*(Value(leaf, operand, real) for operand in operands)).handle
    to[op.results[0]] = narrowed(result, type_, to)


def is_approximate(op: Operation) -> bool:
    """An op with `fastmath<afn>`."""
    flags = op.properties.get("fastmath")
    return flags is not None and FastMathFlag.APPROX_FUNC in flags.data  # type: ignore[attr-defined]


@lowers(math.FPowIOp)
def _integer_power(op: math.FPowIOp, to: Conversion) -> None:
    """Through f64, which holds every exponent of 32 bits."""
    type_ = op.results[0].type
    scalar(op, type_)
    base = widened(to[op.operands[0]], type_, to)
    if float_type(type_) == "f32":
        base = to.scalar(CvtOp, "f64.f32", base)
    exponent, bits = _as_word(op, op.operands[1], to)
    power = to.scalar(CvtOp, f"rn.f64.s{bits}", exponent)
    leaf = Emitted(to)
    result = FUNCTIONS["math.powf"].program(Value(leaf, base, "f64"), Value(leaf, power, "f64"))
    if float_type(type_) == "f32":
        to[op.results[0]] = narrowed(to.scalar(CvtOp, "rn.f32.f64", result.handle), type_, to)
    else:
        to[op.results[0]] = result.handle


@lowers(*(_MATH[name] for name in ON_INTEGERS))
def _on_integers(op: Operation, to: Conversion) -> None:
    type_ = op.results[0].type
    unsigned = not isinstance(op, math.AbsIOp | math.IPowIOp)
    words = [_as_word(op, operand, to, unsigned) for operand in op.operands]
    bits, leaf = words[0][1], Emitted(to)
    values = [Value(leaf, word, f"s{bits}") for word, _ in words]
    width = scalar(op, type_).bits
    if isinstance(op, math.CountTrailingZerosOp) and width < bits:
        values = [values[0] | 1 << width]
    result = ON_INTEGERS[op.name](*values)
    if isinstance(op, math.CountLeadingZerosOp) and width < bits:
        result = result - (bits - width)
    to[op.results[0]] = _narrowed(result.handle, width, to)


def _as_word(
    op: Operation, operand: SSAValue, to: Conversion, unsigned: bool = False
) -> tuple[SSAValue, int]:
    """An integer in a register of 32 or 64 bits, and which."""
    width = scalar(op, operand.type).bits
    if width == 1:
        raise OpError(op, f"'{op.name}' on i1 has no lowering to ptx; nearest legal: i8")
    if width >= 32:
        return to[operand], width
    letter = "u" if unsigned else "s"
    return to.scalar(CvtOp, f"{letter}32.{letter}{width}", to[operand]), 32


def _narrowed(value: SSAValue, width: int, to: Conversion) -> SSAValue:
    return value if width >= 32 else to.scalar(CvtOp, "u16.u32", value)
