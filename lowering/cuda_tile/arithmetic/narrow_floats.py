"""Floats of 8 bits and fewer by integer arithmetic: what no instruction of the target converts.

A word's magnitude, shifted to where a wide float has its fraction and exponent, is that float times
a power of two; multiplying puts the exponents right, of subnormal numbers too. The way back rounds
on the bits of normal numbers, and by adding a large power of two below those.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float32Type,
    Float64Type,
    IntegerType,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cuda_tile.element_types import Float8E5M3FNUType
from tilewright.dialects.frozen import frozen
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import (
    ThreadWord,
    on_floats,
)
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering

F32, F64 = Float32Type(), Float64Type()


@frozen
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


def decoded(kernel: EntryLowering, word: SSAValue, element: Attribute) -> SSAValue:
    """The f32 that a word of 8 bits is, in a format."""
    wide = ThreadWord(kernel, kernel.emit(arith.ExtUIOp, [word], i32))
    nan = wide.like(0x7FFFFFFF)
    if element == POWERS:
        shifted = wide.like(1 << 22).where(wide.above(0), wide << 23)
        return shifted.where(wide.above(_POWER_NAN - 1), nan).to(F32)
    row = NARROW[element]
    magnitude = wide & row.magnitude
    scaled = (magnitude << 23 - row.mantissa_bits).to(F32)
    factor = kernel.constant(2.0 ** (127 - row.bias), F32)
    value = ThreadWord.of(kernel, on_floats(kernel, arith.MulfOp, scaled, factor), i32)
    if row.nan is not None:
        value = value.where(magnitude.above(row.infinity or row.largest), nan)
    if row.infinity is not None:
        infinite = kernel.emitter.compare("eq", magnitude.value, row.infinity)
        value = value.where(infinite, 0x7F800000)
    if row.signed:
        value |= (wide & row.magnitude + 1) << 31 - row.magnitude.bit_length()
    return value.to(F32)


def encoded(
    kernel: EntryLowering, value: SSAValue, element: Attribute, *, up: bool = False
) -> SSAValue:
    """The word of 8 bits of an f32 or f64 in a format, rounded once to nearest even: what is beyond
    the largest number is that. Powers of two are rounded to zero or `up` in magnitude."""
    type_, mantissa, bias = _WIDE[value.type]
    word = ThreadWord.of(kernel, value, type_)
    magnitude = word & (1 << (type_.bitwidth - 1)) - 1
    endless = ((1 << (type_.bitwidth - 1 - mantissa)) - 1) << mantissa
    if element == POWERS:
        assert type_ == i64, "f32 has subnormal numbers here"
        above = magnitude + ((1 << mantissa) - 1) if up else magnitude
        power = ((above >> mantissa) - (bias - _POWER_BIAS)).at_least(0).at_most(_POWER_NAN - 1)
        code = power.where(magnitude.above(endless - 1), _POWER_NAN)
        return kernel.emit(arith.TruncIOp, [code.value], i8)
    row = NARROW[element]
    shift = mantissa - row.mantissa_bits
    odd = magnitude >> shift & 1
    rounded = magnitude + odd + ((1 << (shift - 1)) - 1)
    normal = (rounded >> shift) - ((bias - row.bias) << row.mantissa_bits)
    lowest = 1 - row.bias
    large = kernel.constant(2.0 ** (lowest + shift), value.type)
    total = on_floats(kernel, arith.AddfOp, magnitude.to(value.type), large)
    small = ThreadWord.of(kernel, total, type_) - ((lowest + shift + bias) << mantissa)
    normal = small.where(magnitude.above(((lowest + bias) << mantissa) - 1), normal)
    code, is_nan = normal.at_most(row.largest), magnitude.above(endless)
    if row.nan is not None:
        code = code.where(is_nan, row.nan)
    sign = word >> type_.bitwidth - 1
    if row.signed:
        code |= sign << row.magnitude.bit_length()
    if row.nan is None:
        code = code.where(is_nan, row.largest)
    return kernel.emit(arith.TruncIOp, [code.value], i8)


DIRECTIONS = ("zero", "negative_inf", "positive_inf")


def stepped(
    kernel: EntryLowering, value: SSAValue, above: SSAValue, below: SSAValue, rounding: str
) -> SSAValue:
    """A float, rounded to nearest, in a directed rounding: `above` and `below` say that it is
    greater and less than what was rounded."""
    type_: Any = value.type
    word, emitter = ThreadWord.of(kernel, value, IntegerType(int(type_.bitwidth))), kernel.emitter
    negative = emitter.compare("lt", word.value, 0)
    less, more = word + -1, word + 1

    def where(condition: SSAValue, sign: int) -> SSAValue:
        of_sign = emitter.binary("xor", negative, 1 - sign)
        return emitter.binary("and", condition, of_sign)

    if rounding == "zero":
        return word.where(emitter.select(negative, below, above), less).to(type_)
    down = rounding == "negative_inf"
    beyond, signs = (above, (0, 1)) if down else (below, (1, 0))
    towards_zero, away = (where(beyond, sign) for sign in signs)
    return word.where(towards_zero, less).where(away, more).to(type_)
