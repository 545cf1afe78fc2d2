"""`arith` (and the `math` ops that are one instruction) on floats to `ptx`.

Arithmetic on bf16, and on f16 where PTX has no instruction, goes through f32: one f32 operation on
such operands, rounded again, is the correctly rounded result (f32 has more than twice their
precision plus two bits).
"""

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, VectorType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.cute_nvgpu.ops.rounded import RoundedOp
from tilewright.dialects.math_functions.rounded_once import EXTREMES, half_quotient, odd_fma
from tilewright.dialects.once import once_each
from tilewright.dialects.ptx import scalars
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.dialects.ptx.registers import MovOp, PackOp
from tilewright.dialects.ptx.scalars import CvtOp, RcpOp
from tilewright.dialects.ptx.types import reg
from tilewright.lowering.to_ptx.conversion import Conversion, constant, lowers
from tilewright.lowering.to_ptx.convert_arith import known_predicate, scalar
from tilewright.lowering.to_ptx.programs import emitted

F16, BF16, F64 = Float16Type(), BFloat16Type(), Float64Type()
_FORMATS: dict[Attribute, str] = {F16: "f16", BF16: "bf16", Float32Type(): "f32", F64: "f64"}
_HALVES = ("f16", "bf16")
_format = once_each(_FORMATS.get)
_ONE = 0x3F800000
"""1.0 as f32."""

_FLOAT: dict[type[Operation], tuple[type[ScalarOp], str]] = {
    arith.AddfOp: (scalars.AddOp, "rn."),
    arith.SubfOp: (scalars.SubOp, "rn."),
    arith.MulfOp: (scalars.MulOp, "rn."),
    arith.DivfOp: (scalars.DivOp, "rn."),
    arith.MaximumfOp: (scalars.MaxOp, "NaN."),
    arith.MinimumfOp: (scalars.MinOp, "NaN."),
    arith.MaxnumfOp: (scalars.MaxOp, ""),
    arith.MinnumfOp: (scalars.MinOp, ""),
}

_CHOOSING = (scalars.MaxOp, scalars.MinOp, scalars.NegOp, scalars.AbsOp)
"""Instructions whose result is an operand, or that but for its sign."""


def widened(value: SSAValue, type_: Attribute, to: Conversion) -> SSAValue:
    """An f16 or bf16 value as f32, exactly; any other value as it is."""
    name = _format(type_)
    if name == "f16":
        return to.scalar(CvtOp, "f32.f16", value)
    if name == "bf16":
        # A bf16 is the upper half of the f32 of the same value.
        high = to.pure(
            (PackOp, value), (value, zero := to.const(0, "b16")), lambda: PackOp(zero, value)
        )
        return to.pure((MovOp, high), (high,), lambda: MovOp(high, reg("f32")))
    return value


def narrowed(value: SSAValue, type_: Attribute, to: Conversion) -> SSAValue:
    """An f32 value rounded to nearest even to f16 or bf16; for any other type as it is."""
    name = _format(type_)
    return to.scalar(CvtOp, f"rn.{name}.f32", value) if name in _HALVES else value


def operand(value: SSAValue, type_: Attribute, to: Conversion) -> SSAValue:
    """An operand of arithmetic: as f32, and not rounded first where that lost nothing but what NaN
    carries."""
    if _format(type_) not in _HALVES:
        return value
    return to.remembered((operand, value), lambda: widened(value, type_, to))


def _representable(value: SSAValue, type_: Attribute, to: Conversion) -> SSAValue:
    """An f32 value that f16 or bf16 has."""
    narrow = narrowed(value, type_, to)
    if narrow is not value:
        to.remembered((operand, narrow), lambda: value)
    return narrow


@once_each
def float_type(type_: Attribute) -> str:
    """The instruction type of arithmetic on floats of a type."""
    return "f64" if type_ == F64 else "f32"


def _format_of(op: Operation, type_: Attribute) -> str:
    """PTX's name of a type of floats. Raises OpError for one that does not lower."""
    if (name := _format(type_)) is None:
        scalar(op, type_)
    return name or str(type_)


@lowers(*_FLOAT)
def _float(op: arith.AddfOp, to: Conversion) -> None:
    result, a, b = op.result, to[op.lhs], to[op.rhs]
    type_ = result.type
    if is_reciprocal(op):
        to[result] = _times_reciprocal(a, b, to)
        return
    instruction, prefix = _FLOAT[type(op)]
    form = prefix + _format_of(op, type_)
    if form in instruction.ROW.forms:
        to[result] = to.scalar(instruction, form, a, b)
        return
    form = f"{prefix}{float_type(type_)}"
    a, b = operand(a, type_, to), operand(b, type_, to)
    if form not in instruction.ROW.forms:
        to[result] = emitted(EXTREMES[op.name], "f64", (a, b), to)
        return
    if type_ == F16 and isinstance(op, arith.DivfOp):
        to[result] = narrowed(emitted(half_quotient, "f32", (a, b), to), type_, to)
        return
    finish = _representable if instruction in _CHOOSING else narrowed
    to[result] = finish(to.scalar(instruction, form, a, b), type_, to)


def is_reciprocal(op: Operation) -> bool:
    """A division may multiply by the approximate reciprocal: of f32 (or vectors of it),
    `fastmath<arcp>`."""
    if not isinstance(op, arith.DivfOp) or FastMathFlag.ALLOW_RECIP not in op.fastmath.data:
        return False
    type_ = op.result.type
    return (type_.element_type if isa(type_, VectorType) else type_) == Float32Type()


def _times_reciprocal(a: SSAValue, b: SSAValue, to: Conversion) -> SSAValue:
    reciprocal = to.scalar(RcpOp, "approx.ftz.f32", b)
    one = constant(a) == _ONE
    return reciprocal if one else to.scalar(scalars.MulOp, "rn.f32", a, reciprocal)


_UNARY: dict[type[Operation], tuple[type[ScalarOp], str]] = {
    arith.NegfOp: (scalars.NegOp, ""),
    math.AbsFOp: (scalars.AbsOp, ""),
    math.SqrtOp: (scalars.SqrtOp, "rn."),
}


@lowers(*_UNARY)
def _unary_float(op: arith.NegfOp, to: Conversion) -> None:
    type_ = op.result.type
    scalar(op, type_)
    instruction, prefix = _UNARY[type(op)]
    value = operand(to[op.operand], type_, to)
    finish = _representable if instruction in _CHOOSING else narrowed
    to[op.result] = finish(to.scalar(instruction, f"{prefix}{float_type(type_)}", value), type_, to)


@lowers(math.FmaOp)
def _fma(op: math.FmaOp, to: Conversion) -> None:
    result, operands = op.result, (to[op.a], to[op.b], to[op.c])
    form = f"rn.{_format_of(op, result.type)}"
    if form in scalars.FmaOp.ROW.forms:
        to[result] = to.scalar(scalars.FmaOp, form, *operands)
        return
    wide = [to.scalar(CvtOp, "f64.f32", widened(x, result.type, to)) for x in operands]
    to[result] = narrowed(emitted(odd_fma, "f64", wide, to), result.type, to)


@lowers(RoundedOp)
def _rounded(op: RoundedOp, to: Conversion) -> None:
    name, form = op.instruction
    to[op.result] = to.scalar(
        scalars.SCALAR_OPS[name], form, *(to[operand] for operand in op.operands)
    )


# Of arith's order: ordered relations, ord, unordered relations, uno; 0 and 15 are constants.
_FLOAT_RELATIONS = (
    "eq", "gt", "ge", "lt", "le", "ne", "num", "equ", "gtu", "geu", "ltu", "leu", "neu", "nan",
)  # fmt: skip


@lowers(arith.CmpfOp)
def _compare_floats(op: arith.CmpfOp, to: Conversion) -> None:
    type_ = op.lhs.type
    scalar(op, type_)
    predicate = op.predicate.value.data
    if predicate in (0, 15):
        to[op.result] = known_predicate(predicate == 15, to)
        return
    a, b = (operand(to[value], type_, to) for value in (op.lhs, op.rhs))
    form = f"{_FLOAT_RELATIONS[predicate - 1]}.{float_type(type_)}"
    to[op.result] = to.scalar(scalars.SetpOp, form, a, b)
