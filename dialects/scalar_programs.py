"""The ops of `arith` and `math` on scalars: one scalar instruction each, or a program of them.

The lowering emits them, the interpreter computes them on arrays: so both have the same bits. A
program takes the op and what registers hold of its operands: `pred`, integers (`s8` in the lower
half of 16 bits), floats by PTX name. Integers of 8 bits are computed in 16, bits as numbers in 32,
f16 and bf16 in f32: one f32 operation on such operands, rounded again, is the correctly rounded
result (f32 has more than twice their precision plus two bits).
"""

from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float32Type, VectorType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from tilewright.dialects.cute_nvgpu.ops.libdevice import LibdeviceOp
from tilewright.dialects.math_functions.code import Program, Value, choice
from tilewright.dialects.math_functions.functions import APPROXIMATIONS, FUNCTIONS, ON_INTEGERS
from tilewright.dialects.math_functions.libdevice import function_named
from tilewright.dialects.math_functions.rounded_once import odd_single, odd_whole
from tilewright.dialects.once import once_each
from tilewright.dialects.ptx.scalar_types import NARROW_FLOATS, type_name

_TABLE = """
addi      add  s
subi      sub  s
muli      mul  s  lo.
divsi     div  s
divui     div  u
remsi     rem  s
remui     rem  u
minsi     min  s
minui     min  u
maxsi     max  s
maxui     max  u
andi      and  b
ori       or   b
xori      xor  b
shli      shl  b
shrui     shr  u
shrsi     shr  s
addf      add  -  rn.
subf      sub  -  rn.
mulf      mul  -  rn.
divf      div  -  rn.
maximumf  max  -  NaN.
minimumf  min  -  NaN.
maxnumf   max  -
minnumf   min  -
"""
_OPS = {op.name: op for op in arith.Arith.operations}
INSTRUCTIONS = {
    _OPS[f"arith.{name}"]: (instruction, "".join(modifier), letter.strip("-"))
    for name, instruction, letter, *modifier in map(str.split, _TABLE.strip().splitlines())
}
"""Ops of two operands that are one instruction: its name, the beginning of its form, and the letter
of the type that integers have there."""

_INTEGER_RELATIONS = (
    ("eq", "s"), ("ne", "s"), ("lt", "s"), ("le", "s"), ("gt", "s"), ("ge", "s"),
    ("lt", "u"), ("le", "u"), ("gt", "u"), ("ge", "u"),
)  # fmt: skip
_FLOAT_RELATIONS = (
    "ne", "eq", "gt", "ge", "lt", "le", "ne", "num",
    "equ", "gtu", "geu", "ltu", "leu", "neu", "nan", "eq",
)  # fmt: skip
"""The relations of comparisons, by the numbers of their predicates; the first and the last are
never and always true, of a number and itself."""


def is_reciprocal(op: Operation) -> bool:
    """A division may multiply by the approximate reciprocal: of f32 (or vectors of it),
    `fastmath<arcp>`."""
    if not isinstance(op, arith.DivfOp) or FastMathFlag.ALLOW_RECIP not in op.fastmath.data:
        return False
    type_ = op.result.type
    return (type_.element_type if isa(type_, VectorType) else type_) == Float32Type()


def times_reciprocal(a: Value, b: Value) -> Value:
    """a / b by the chip's reciprocal."""
    return a * reciprocal(b)


def reciprocal(x: Value) -> Value:
    """1 / x by the chip."""
    return x.do("rcp", "approx.ftz.f32")


# What registers hold, as instructions take it

_HALVES = ("f16", "bf16")


def as_integer(x: Value, letter: str, least: int = 16) -> Value:
    """An integer of at least so many bits, with its sign (`s`) or zeros (`u`) above it; of one bit
    it is a number of 32."""
    if x.type_ == "pred":
        return _as_bit(x, letter, f"{letter}32")
    bits = int(x.type_[1:])
    wide = f"{letter}{max(bits, least)}"
    return x.seen_as(wide) if bits >= least else x.do("cvt", f"{wide}.{letter}{bits}", type_=wide)


def _as_bit(x: Value, letter: str, type_: str) -> Value:
    """A predicate as a number: a true i1 is -1 signed and 1 unsigned."""
    one = x.number(-1 if letter == "s" else 1, type_)
    return one.where(x, x.number(0, type_))


def _in_register(x: Value, type_: str) -> Value:
    """An integer in a register of a type that has as many bits or fewer."""
    bits = max(int(x.type_[1:]), 16)
    if type_ == "pred":
        return (x.seen_as(f"u{bits}") & 1).compare("ne", 0)
    return x.do("cvt", "u16.u32", type_="s16") if int(type_[1:]) < bits == 32 else x


def widened(x: Value) -> Value:
    """An f16 or bf16 as f32, exactly; any other value as it is."""
    if x.type_ == "bf16":
        return Value(x.leaf, x.leaf.upper_half(x.handle), "f32")
    return x.do("cvt", "f32.f16", type_="f32") if x.type_ == "f16" else x


def narrowed(x: Value, type_: str) -> Value:
    """An f32 rounded to nearest even to f16 or bf16; for any other type as it is."""
    return x.do("cvt", f"rn.{type_}.f32", type_=type_) if type_ in _HALVES else x


def operand(x: Value) -> Value:
    """An operand of arithmetic: as f32, and not rounded first where that lost nothing but what NaN
    carries."""
    if x.type_ not in _HALVES:
        return x
    key = operand, x.handle
    return Value(x.leaf, x.leaf.remembered(key, lambda: widened(x).handle), "f32")


def rounded(x: Value, type_: str, mnemonic: str) -> Value:
    """The result of an instruction on operands of a type: f16 or bf16 has it where the instruction
    chooses an operand, or changes its sign."""
    narrow = narrowed(x, type_)
    if mnemonic in ("max", "min", "neg", "abs") and narrow is not x:
        x.leaf.remembered((operand, narrow.handle), lambda: x.handle)
    return narrow


def type_of(op: Operation, type_: Attribute) -> str | None:
    """The name that an operand's or result's type, or that of a vector's elements, has here: of
    8-bit floats in casts alone. None where it is none."""
    element = element_type(type_)
    narrow = NARROW_FLOATS.get(element) if isinstance(op, (arith.ExtFOp, arith.TruncFOp)) else None
    return narrow or type_name(element)


@once_each
def element_type(type_: Attribute) -> Attribute:
    """The type of a vector's elements; any other type is its own."""
    return type_.element_type if isa(type_, VectorType) else type_


def _result(op: Operation) -> str:
    """The type of the first result."""
    return type_of(op, op.results[0].type) or ""


# Integers


def _letter(op: Operation) -> str:
    """How an op reads its integers, or writes them."""
    return "u" if isinstance(op, _UNSIGNED) else "s"


_UNSIGNED = (
    arith.AddUIExtendedOp, arith.MulUIExtendedOp, arith.CeilDivUIOp, arith.ExtUIOp, arith.UIToFPOp,
    arith.FPToUIOp, math.CountLeadingZerosOp, math.CountTrailingZerosOp, math.CtPopOp,
)  # fmt: skip


def _add_extended(op: Operation, a: Value, b: Value) -> tuple[Value, Value]:
    """Sum and carry: of an i8 the sum stands in 16 bits, of others it wraps around."""
    if a.type_ == "pred":
        return a.do("xor", "pred", b), a & b
    x, y = as_integer(a, "u"), as_integer(b, "u")
    total = x + y
    return total, total > 0xFF if a.type_ == "s8" else total < x


def _multiply_extended(op: Operation, a: Value, b: Value) -> tuple[Value, Value]:
    """The halves of a product: of 32 bits one instruction has both."""
    if a.type_ == "pred":
        return a & b, a.do("xor", "pred", a)
    x, y = as_integer(a, _letter(op)), as_integer(b, _letter(op))
    if x.type_[1:] == "32" and all(half.uses for half in op.results):
        wide = x.do("mul", f"wide.{x.type_}", y, type_=f"{x.type_[0]}64")
        low, high = (half.do("cvt", f"{x.type_}.{wide.type_}", type_=x.type_)
                     for half in (wide, wide >> 32))  # fmt: skip
        return low, high
    low = x * y
    return low, low >> 8 if a.type_ == "s8" else x.do("mul", f"hi.{x.type_}", y)


def rounded_quotient(a: Value, b: Value, letter: str, *, up: bool) -> Value:
    """The truncating quotient, corrected by one where the remainder says so."""
    if a.type_ == "pred":
        return a
    x, y = as_integer(a, letter), as_integer(b, letter)
    quotient = x / y
    rest = x.do("rem", x.type_, y)
    inexact = rest.compare("ne", 0)
    if letter == "s":
        inexact = inexact & (rest ^ y).compare("ge" if up else "lt", 0)
    step = choice(inexact, 1, x.number(0))
    return quotient + step if up else quotient - step


def _divide(op: Operation, a: Value, b: Value) -> Value:
    return rounded_quotient(a, b, _letter(op), up=not isinstance(op, arith.FloorDivSIOp))


def _compare_integers(op: arith.CmpiOp, a: Value, b: Value) -> Value:
    relation, letter = _INTEGER_RELATIONS[op.predicate.value.data]
    return as_integer(a, letter).compare(relation, as_integer(b, letter))


def _resize(op: Operation, x: Value) -> Value:
    type_, letter = _result(op), _letter(op)
    if type_ == "pred":
        return _in_register(x, type_)
    wide = f"{letter}{max(int(type_[1:]), 16)}"
    if x.type_ == "pred":
        return _as_bit(x, letter, wide)
    value = as_integer(x, letter) if type_ != "s8" else x.seen_as(f"{letter}{x.type_[1:]}")
    return value if value.type_ == wide else value.do("cvt", f"{wide}.{value.type_}", type_=wide)


def _on_integers(op: Operation, *operands: Value) -> Value:
    """A function of words of 32 or 64 bits."""
    words = [as_integer(x, _letter(op), 32) for x in operands]
    values = [word.seen_as(f"s{word.type_[1:]}") for word in words]
    type_, bits = operands[0].type_, int(values[0].type_[1:])
    width = 1 if type_ == "pred" else int(type_[1:])
    if isinstance(op, math.CountTrailingZerosOp) and width < bits:
        values = [values[0] | 1 << width]
    result = ON_INTEGERS[op.name](*values)
    if isinstance(op, math.CountLeadingZerosOp) and width < bits:
        result = result - (bits - width)
    return _in_register(result, type_)


# Floats


def _unary(op: Operation, x: Value) -> Value:
    mnemonic, modifier = _UNARY[type(op)]
    if x.type_ in _HALVES and (sign := _SIGNS.get(mnemonic)) is not None:
        users = {type(use.operation) for use in op.results[0].uses}
        if mnemonic == "neg" and users == {math.FmaOp}:
            # Where it is an operand's sign, which costs nothing; of NaN there is but one behind it.
            return x.do(mnemonic, x.type_)
        logic, mask = sign
        return logic(x.seen_as("s16"), mask).seen_as(x.type_)
    value = operand(x)
    return rounded(value.do(mnemonic, f"{modifier}{value.type_}"), x.type_, mnemonic)


_UNARY: dict[type[Operation], tuple[str, str]] = {
    arith.NegfOp: ("neg", ""),
    math.AbsFOp: ("abs", ""),
    math.SqrtOp: ("sqrt", "rn."),
}
_SIGNS = {"neg": (Value.__xor__, 0x8000), "abs": (Value.__and__, 0x7FFF)}
"""Their functions of the bits of a half."""


def _fma(op: Operation, *operands: Value) -> Value:
    x, *others = operands
    return x.do("fma", f"rn.{x.type_}", *others)


def _compare_floats(op: arith.CmpfOp, a: Value, b: Value) -> Value:
    predicate = op.predicate.value.data
    x = a.number(0, "s32") if predicate in (0, 15) else operand(a)
    return x.compare(_FLOAT_RELATIONS[predicate], x if predicate in (0, 15) else operand(b))


def _function(op: Operation, *operands: Value) -> Value:
    values = [operand(x) for x in operands]
    program = FUNCTIONS[op.name].program
    flags: Any = op.properties.get("fastmath")
    if flags is not None and FastMathFlag.APPROX_FUNC in flags.data and values[0].type_ == "f32":
        program = APPROXIMATIONS.get(op.name, program)
    return narrowed(program(*values), operands[0].type_)


def _libdevice(op: LibdeviceOp, *operands: Value) -> Value:
    row = function_named(op.function.data)
    assert row is not None
    result = row.program(*map(operand, operands))
    return narrowed(result, _result(op))


def _integer_power(op: Operation, base: Value, exponent: Value) -> Value:
    """Through f64, which holds every exponent of 32 bits."""
    value = widened(base).converted("f64")
    power = as_integer(exponent, "s", 32).converted("f64")
    result = FUNCTIONS["math.powf"].program(value, power)
    return result if base.type_ == "f64" else narrowed(result.converted("f32"), base.type_)


# Casts of floats


def _integer_to_float(op: Operation, x: Value) -> Value:
    type_, whole = _result(op), as_integer(x, _letter(op))
    if type_ != "bf16":
        return whole.do("cvt", f"rn.{type_}.{whole.type_}", type_=type_)
    wide = odd_whole(whole) if whole.type_[1:] != "16" else whole.converted("f32")
    return narrowed(wide, type_)


def _float_to_integer(op: Operation, x: Value) -> Value:
    """Of 8 bits and one what the lowest of 16 are."""
    type_, value = _result(op), widened(x)
    bits = 16 if type_ in ("pred", "s8") else int(type_[1:])
    whole = f"{_letter(op)}{bits}"
    result = value.do("cvt", f"rzi.{whole}.{value.type_}", type_=whole)
    return _in_register(result, type_) if type_ == "pred" else result


def _extend_float(op: Operation, x: Value) -> Value:
    """8-bit floats through f16, which has every value: they are the lower half of a pair."""
    type_ = _result(op)
    if x.type_ in NARROW_FLOATS.values():
        x = x.do("cvt", f"rn.f16x2.{x.type_}x2", type_="s32")
        x = Value(x.leaf, x.leaf.lower_half(x.handle), "f16")
    if (x.type_, type_) == ("f16", "f64"):
        # Through f32 a NaN would lose its payload.
        return x.converted(type_)
    value = x if x.type_ == type_ else narrowed(widened(x), type_)
    return value.converted("f64") if type_ == "f64" else value


def _truncate_float(op: Operation, x: Value) -> Value:
    type_ = _result(op)
    narrow = type_ in NARROW_FLOATS.values()
    if x.type_ == "f64" and not narrow and type_ != "bf16":
        return x.converted(type_)
    value = odd_single(x) if x.type_ == "f64" else widened(x)
    if narrow:
        return value.number(0.0).do("cvt", f"rn.satfinite.{type_}x2.f32", value, type_=type_)
    return narrowed(value, type_)


_MATH: dict[str, type[Operation]] = {op.name: op for op in math.Math.operations}

PROGRAMS: dict[type[Operation], Program] = {
    arith.AddUIExtendedOp: _add_extended,
    **dict.fromkeys((arith.MulUIExtendedOp, arith.MulSIExtendedOp), _multiply_extended),
    **dict.fromkeys((arith.CeilDivUIOp, arith.CeilDivSIOp, arith.FloorDivSIOp), _divide),
    arith.CmpiOp: _compare_integers,
    arith.CmpfOp: _compare_floats,
    **dict.fromkeys((arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp), _resize),
    **dict.fromkeys((arith.SIToFPOp, arith.UIToFPOp), _integer_to_float),
    **dict.fromkeys((arith.FPToSIOp, arith.FPToUIOp), _float_to_integer),
    arith.ExtFOp: _extend_float,
    arith.TruncFOp: _truncate_float,
    **dict.fromkeys(_UNARY, _unary),
    math.FmaOp: _fma,
    LibdeviceOp: _libdevice,
    math.FPowIOp: _integer_power,
    **{_MATH[name]: _function for name in FUNCTIONS},
    **{_MATH[name]: _on_integers for name in ON_INTEGERS},
}
"""Programs of the op and its operands: of ops that are more than an instruction, or of one whose
operands are not always as it takes them."""
