"""The functions of `math` to `ptx`: programs of scalar instructions, or the chip's approximations.

f16 and bf16 go through f32, integers below 32 bits through 32.
"""

from xdsl.dialects import math
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.math_functions.code import Value
from tilewright.dialects.math_functions.functions import APPROXIMATIONS, FUNCTIONS, ON_INTEGERS
from tilewright.dialects.ptx.scalars import CvtOp, SelpOp
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_arith import lowest_bit, scalar
from tilewright.lowering.to_ptx.convert_arith_floats import float_type, narrowed, operand, widened
from tilewright.lowering.to_ptx.programs import Emitted, emitted

_MATH: dict[str, type[Operation]] = {op.name: op for op in math.Math.operations}


@lowers(*(_MATH[name] for name in FUNCTIONS))
def _function(op: Operation, to: Conversion) -> None:
    type_ = op.results[0].type
    scalar(op, type_)
    real = float_type(type_)
    operands = [operand(to[value], type_, to) for value in op.operands]
    program = FUNCTIONS[op.name].program
    if real == "f32" and is_approximate(op):
        program = APPROXIMATIONS.get(op.name, program)
    to[op.results[0]] = narrowed(emitted(program, real, operands, to), type_, to)


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
    result = emitted(FUNCTIONS["math.powf"].program, "f64", (base, power), to)
    if float_type(type_) == "f32":
        result = narrowed(to.scalar(CvtOp, "rn.f32.f64", result), type_, to)
    to[op.results[0]] = result


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
        one = to.const(1 if unsigned else -1, "b32")
        return to.scalar(SelpOp, "b32", one, to.const(0, "b32"), to[operand]), 32
    if width >= 32:
        return to[operand], width
    letter = "u" if unsigned else "s"
    return to.scalar(CvtOp, f"{letter}32.{letter}{width}", to[operand]), 32


def _narrowed(value: SSAValue, width: int, to: Conversion) -> SSAValue:
    if width == 1:
        return lowest_bit(value, "b32", to)
    return value if width >= 32 else to.scalar(CvtOp, "u16.u32", value)
