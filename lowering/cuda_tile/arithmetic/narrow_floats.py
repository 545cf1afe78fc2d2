"""Floats of 8 bits and fewer by integer arithmetic: what no instruction of the target converts.

A word's magnitude, shifted to where a wide float has its fraction and exponent, is that float times
a power of two; multiplying puts the exponents right, of subnormal numbers too. The way back rounds
on the bits of normal numbers, and by adding a large power of two below those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cuda_tile.element_types import Float8E5M3FNUType
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import EXACT, on_integers
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel

F32, F64 = Float32Type(), Float64Type()


@dataclass(frozen=True, slots=True)
class NarrowFloat:
    """A format: its exponent and mantissa bits and its bias, the words of the largest number and of
    NaN, and whether it has a sign. Beyond `largest` lie infinity, where there is one, and NaN."""

    exponent_bits: int
    mantissa_bits: int
    bias: int
    largest: int
    nan: int | None
    signed: bool = True
    infinity: int | None = None

    @property
    def magnitude(self) -> int:
        """The mask of all bits but the sign."""
        return (1 << (self.exponent_bits + self.mantissa_bits)) - 1


NARROW: dict[Attribute, NarrowFloat] = {
    Float8E4M3FNType(): NarrowFloat(4, 3, 7, 0x7E, 0x7F),
    Float8E5M2Type(): NarrowFloat(5, 2, 15, 0x7B, 0x7F, infinity=0x7C),
    Float4E2M1FNType(): NarrowFloat(2, 1, 1, 7, None),
    Float8E5M3FNUType(): NarrowFloat(5, 3, 15, 0xFE, 0xFF, signed=False),
}
"""How a number becomes one of the last is not known (a preview of Tile IR)."""
POWERS = Float8E8M0FNUType()
"""The format of powers of two, 2 ** (word - 127), and NaN."""
_POWER_BIAS, _POWER_NAN = 127, 255

_WIDE: dict[Attribute, tuple[IntegerType, int, int]] = {F32: (i32, 23, 127), F64: (i64, 52, 1023)}
"""The integers that wide floats are as bits, their mantissa bits and their bias."""


_OPS: dict[str, type[Operation]] = {
    "add": arith.AddiOp, "sub": arith.SubiOp, "and": arith.AndIOp, "or": arith.OrIOp,
    "shl": arith.ShLIOp, "shr": arith.ShRUIOp, "min": arith.MinSIOp, "max": arith.MaxSIOp,
    "rem": arith.RemUIOp,
}  # fmt: skip


class Bits:
    """Arithmetic of one integer type, which wraps."""

    def __init__(self, kernel: Kernel, type_: IntegerType) -> None:
        self.kernel, self.type = kernel, type_

    def constant(self, number: int) -> SSAValue:
        """A number of the type."""
        return self.kernel.constant(number, self.type)

    def on(self, name: str, a: SSAValue, b: SSAValue | int) -> SSAValue:
        """The result of an operation."""
        other = self.constant(b) if isinstance(b, int) else b
        return on_integers(self.kernel, _OPS[name], a, other)

    def above(self, a: SSAValue, b: int) -> SSAValue:
        """True where a number is greater than another, both below the sign bit."""
        return self.kernel.emitter.compare("gt", a, self.constant(b))

    def select(self, condition: SSAValue, a: SSAValue | int, b: SSAValue) -> SSAValue:
        """One of two."""
        chosen = self.constant(a) if isinstance(a, int) else a
        return self.kernel.emitter.select(condition, chosen, b)


def _as(kernel: Kernel, value: SSAValue, type_: Attribute) -> SSAValue:
    return kernel.emit(arith.BitcastOp, [value], type_)


def decoded(kernel: Kernel, word: SSAValue, element: Attribute) -> SSAValue:
    """The f32 that a word of 8 bits is, in a format."""
    bits = Bits(kernel, i32)
    wide = kernel.emit(arith.ExtUIOp, [word], i32)
    nan = bits.constant(0x7FFFFFFF)
    if element == POWERS:
        shifted = bits.select(bits.above(wide, 0), bits.on("shl", wide, 23), bits.constant(1 << 22))
        return _as(kernel, bits.select(bits.above(wide, _POWER_NAN - 1), nan, shifted), F32)
    row = NARROW[element]
    magnitude = bits.on("and", wide, row.magnitude)
    scaled = _as(kernel, bits.on("shl", magnitude, 23 - row.mantissa_bits), F32)
    factor = kernel.constant(2.0 ** (127 - row.bias), F32)
    value = _as(kernel, kernel.emit(arith.MulfOp, [scaled, factor], F32, fastmath=EXACT), i32)
    if row.nan is not None:
        value = bits.select(bits.above(magnitude, row.infinity or row.largest), nan, value)
    if row.infinity is not None:
        infinite = kernel.emitter.compare("eq", magnitude, bits.constant(row.infinity))
        value = bits.select(infinite, 0x7F800000, value)
    if row.signed:
        sign = bits.on("and", wide, row.magnitude + 1)
        value = bits.on("or", value, bits.on("shl", sign, 31 - row.magnitude.bit_length()))
    return _as(kernel, value, F32)


def encoded(kernel: Kernel, value: SSAValue, element: Attribute, *, up: bool = False) -> SSAValue:
    """The word of 8 bits of an f32 or f64 in a format, rounded once to nearest even: what is beyond
    the largest number is that. Powers of two are rounded to zero or `up` in magnitude."""
    type_, mantissa, bias = _WIDE[value.type]
    bits = Bits(kernel, type_)
    word = _as(kernel, value, type_)
    magnitude = bits.on("and", word, (1 << (type_.bitwidth - 1)) - 1)
    endless = ((1 << (type_.bitwidth - 1 - mantissa)) - 1) << mantissa
    if element == POWERS:
        assert type_ == i64, "f32 has subnormal numbers here"
        above = bits.on("add", magnitude, (1 << mantissa) - 1) if up else magnitude
        power = bits.on("sub", bits.on("shr", above, mantissa), bias - _POWER_BIAS)
        power = bits.on("min", bits.on("max", power, 0), _POWER_NAN - 1)
        code = bits.select(bits.above(magnitude, endless - 1), _POWER_NAN, power)
        return kernel.emit(arith.TruncIOp, [code], i8)
    row = NARROW[element]
    shift = mantissa - row.mantissa_bits
    odd = bits.on("and", bits.on("shr", magnitude, shift), 1)
    rounded = bits.on("add", bits.on("add", magnitude, odd), (1 << (shift - 1)) - 1)
    normal = bits.on("sub", bits.on("shr", rounded, shift), (bias - row.bias) << row.mantissa_bits)
    lowest = 1 - row.bias
    large = kernel.constant(2.0 ** (lowest + shift), value.type)
    number = _as(kernel, magnitude, value.type)
    total = kernel.emit(arith.AddfOp, [number, large], value.type, fastmath=EXACT)
    small = bits.on("sub", _as(kernel, total, type_), (lowest + shift + bias) << mantissa)
    normal = bits.select(bits.above(magnitude, ((lowest + bias) << mantissa) - 1), normal, small)
    code = bits.on("min", normal, row.largest)
    is_nan = bits.above(magnitude, endless)
    if row.nan is not None:
        code = bits.select(is_nan, row.nan, code)
    sign_at = row.magnitude.bit_length()
    sign = bits.on("shr", word, type_.bitwidth - 1)
    if row.signed:
        code = bits.on("or", code, bits.on("shl", sign, sign_at))
    if row.nan is None:
        code = bits.select(is_nan, row.largest, code)
    return kernel.emit(arith.TruncIOp, [code], i8)


def is_above(kernel: Kernel, a: SSAValue, b: SSAValue) -> SSAValue:
    """True where a float is greater than another."""
    number = IntegerAttr(_GREATER, i64)
    return kernel.emit(arith.CmpfOp, [a, b], i1, predicate=number, fastmath=EXACT)


_GREATER = 2
"""arith's number of the ordered relation."""


DIRECTIONS = ("zero", "negative_inf", "positive_inf")


def stepped(
    kernel: Kernel, value: SSAValue, above: SSAValue, below: SSAValue, rounding: str
) -> SSAValue:
    """A float, rounded to nearest, in a directed rounding: `above` and `below` say that it is
    greater and less than what was rounded."""
    type_: Any = value.type
    width = int(type_.bitwidth)
    bits = Bits(kernel, IntegerType(width))
    word = _as(kernel, value, bits.type)
    negative = kernel.emitter.compare("lt", word, bits.constant(0))
    emitter = kernel.emitter
    less, more = (bits.on("add", word, by) for by in (-1, 1))

    def where(condition: SSAValue, sign: int) -> SSAValue:
        of_sign = emitter.binary("xor", negative, kernel.constant(1 - sign, i1))
        return emitter.binary("and", condition, of_sign)

    if rounding == "zero":
        towards_zero, away = emitter.select(negative, below, above), None
    elif rounding == "negative_inf":
        towards_zero, away = where(above, 0), where(above, 1)
    else:
        towards_zero, away = where(below, 1), where(below, 0)
    word = emitter.select(towards_zero, less, word)
    if away is not None:
        word = emitter.select(away, more, word)
    return _as(kernel, word, value.type)
