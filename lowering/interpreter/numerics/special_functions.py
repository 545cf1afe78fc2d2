"""The special function unit: functions of f32 with `.approx`, bit for bit.

The unit evaluates a quadratic by table (S. Oberman, M. Siu, ARITH 2005): the upper bits of the
argument choose an interval, the rest `x` goes into C0 + C1 x + C2 S(x). S is a square of 15 bits
without the partial products below 2^-15. With the tables and the rounding constants all arguments
that were tried give what a chip computes (`tests/silicon`).
"""

import operator
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, Int64Array, UInt32Array
from tilewright.lowering.interpreter.numerics import special_function_tables as tables
from tilewright.lowering.interpreter.numerics.flush import flushing
from tilewright.lowering.interpreter.numerics.fma import fma64

Words: TypeAlias = UInt32Array
Integers: TypeAlias = Int64Array

_FRACTION = 23
_SQUARED = 15
"""Bits that the squarer reads, and bits behind the point of its result."""
_GUARD = 16
"""Bits of the sum behind the result's last place."""
_LG2_POINT = 36
_MANTISSA = (1 << _FRACTION) - 1
_SIGN = np.uint32(1 << 31)
_INFINITY = np.uint32(0x7F800000)
_NAN = np.uint32(0x7FFFFFFF)


@cache
def _squares() -> Integers:
    """S of every argument, in units of 2^-15: partial products of smaller weight do not exist."""
    v = np.arange(1 << _SQUARED)
    total = np.zeros_like(v)
    for i in range(_SQUARED):
        for j in range(i, _SQUARED):
            weight = 2 * i if i == j else i + j + 1
            if weight >= _SQUARED:
                total += ((v >> i) & (v >> j) & 1) << (weight - _SQUARED)
    return total


@cache
def _columns(table: str) -> Integers:
    rows = [row.split() for row in table.split(",")]
    return np.array(rows, dtype=np.int64).T


def _interpolate(fraction: Integers, table: str, c0_unit: int, bias: int) -> Integers:
    """The quadratic at a fraction of 23 bits, in 2^-16 last places of the result.

    `c0_unit` is how many C0 are one last place; C1 counts pairs of it, C2 whole ones.
    """
    low = _FRACTION - (_columns(table).shape[1].bit_length() - 1)
    return _quadratic(fraction >> low, fraction & ((1 << low) - 1), low, table, c0_unit, bias)


def _quadratic(
    interval: Integers, x: Integers, low: int, table: str, c0_unit: int, bias: int
) -> Integers:
    """The same at `low` bits of an interval."""
    c0, c1, c2 = _columns(table)
    square = _squares()[x >> (low - _SQUARED)]
    linear = c1[interval] * (x << (_GUARD + 1 - low))
    quadratic = c2[interval] * (square << (_GUARD - _SQUARED))
    return c0[interval] * ((1 << _GUARD) // c0_unit) + linear + quadratic + bias


def _truncated(value: Any, point: Any = 0) -> NDArray[np.float32]:
    """A number with so many bits behind the point as f32, rounded to zero."""
    significand, power = np.frexp(value)
    return np.ldexp(np.trunc(np.ldexp(significand, 24)), power - 24 - point).astype(np.float32)


def _parts(x: Words) -> tuple[BoolArray, Integers, Integers]:
    """Sign, biased exponent and fraction; a subnormal has fraction 0, as a zero."""
    word = x.astype(np.int64)
    exponent = (word >> _FRACTION) & 0xFF
    return word >> 31 != 0, exponent, np.where(exponent == 0, 0, word & _MANTISSA)


def ex2(x: Words) -> Words:
    """2^x of f32 bits, subnormals being zeros on both sides. PTX ISA 9.7.3, `ex2.approx.ftz.f32`.

    A negative argument is the ones' complement of its fraction, truncated to 23 bits.
    """
    negative, exponent, fraction = _parts(x)
    significand = np.where(exponent == 0, 0, fraction | 1 << _FRACTION)
    # Beyond 2^8 every result is infinite or zero anyway, and below 2^-23 every one is 1.
    shift = np.clip(exponent - 127, -_FRACTION - 1, 8)
    fixed = significand << np.maximum(shift, 0) >> np.maximum(-shift, 0)
    down = negative & (fixed & _MANTISSA != 0)
    fixed = np.where(negative, -fixed, fixed) - down
    power = (fixed >> _FRACTION) + 127
    mantissa = _interpolate(fixed & _MANTISSA, tables.EX2, 8, 4036) >> _GUARD
    result = (power << _FRACTION) + mantissa
    result = np.where(power > 254, int(_INFINITY), np.where(power < 1, 0, result))
    return np.where(_is_nan(x), _NAN, result.astype(np.uint32))


def _of_positive(x: Words, result: Words) -> Words:
    """A result where a number is none below zero, else NaN."""
    negative, exponent, _ = _parts(x)
    return np.where(_is_nan(x) | (negative & (exponent != 0)), _NAN, result)


def lg2(x: Words) -> Words:
    """log2(x) of f32 bits, subnormals being zeros. PTX ISA 9.7.3, `lg2.approx.ftz.f32`.

    The sum has 36 bits behind the point, a negative one is the ones' complement; the result keeps
    the first 24. Of the powers of 2 only 1 is exact.
    """
    _, exponent, fraction = _parts(x)
    sum_ = ((exponent - 127) << _LG2_POINT) + (_interpolate(fraction, tables.LG2, 8, 1674) >> 3)
    sum_ = np.where((exponent == 127) & (fraction == 0), 0, sum_)
    kept = _truncated(np.where(sum_ < 0, ~sum_, sum_), _LG2_POINT).view(np.uint32)
    result = np.where(sum_ < 0, kept | _SIGN, kept)
    result = np.where(exponent == 255, _INFINITY, result)
    result = np.where(exponent == 0, _INFINITY | _SIGN, result)
    return _of_positive(x, result)


def rcp(x: Words) -> Words:
    """1 / x of f32 bits, subnormals being zeros on both sides. PTX ISA 9.7.3,
    `rcp.approx.ftz.f32`."""
    _, exponent, fraction = _parts(x)
    mantissa = _interpolate(fraction, tables.RCP, 4, 4046) >> _GUARD
    result = ((253 - exponent) << _FRACTION) + mantissa
    result = np.where(253 - exponent + (mantissa >> _FRACTION) < 1, 0, result)
    result = np.where(exponent == 0, int(_INFINITY), np.where(exponent == 255, 0, result))
    signed = result.astype(np.uint32) | (x & _SIGN)
    return np.where(_is_nan(x), _NAN, signed)


def rsqrt(x: Words) -> Words:
    """x^(-1/2) of f32 bits, subnormals being zeros. PTX ISA 9.7.3, `rsqrt.approx.ftz.f32`."""
    _, exponent, fraction = _parts(x)
    odd = exponent % 2 == 1
    mantissa = np.where(
        odd,
        _interpolate(fraction, tables.RSQRT_ODD, 4, -1) >> _GUARD,
        _interpolate(fraction, tables.RSQRT_EVEN, 4, -1) >> _GUARD,
    )
    mantissa = np.where(odd & (fraction == 0), 1 << _FRACTION, mantissa)  # powers of 4 are exact
    half = np.where(odd, exponent - 127, exponent - 128) // 2
    result = ((126 - half) << _FRACTION) + mantissa
    result = np.where(exponent == 255, 0, result).astype(np.uint32)
    result = np.where(exponent == 0, _INFINITY | (x & _SIGN), result)
    return _of_positive(x, result)


def sqrt(x: Words) -> Words:
    """The square root of f32 bits, subnormals being zeros. PTX ISA 9.7.3, `sqrt.approx.ftz.f32`."""
    _, exponent, fraction = _parts(x)
    odd = exponent % 2 == 1
    halves = np.where(
        odd,
        _interpolate(fraction, tables.SQRT_ODD, 2, -1),
        _interpolate(fraction, tables.SQRT_EVEN, 2, -1),
    )
    result = ((exponent + 126 + odd) // 2 << _FRACTION) + (halves >> _GUARD + 1)
    result = np.where(exponent == 255, int(_INFINITY), result).astype(np.uint32)
    result = np.where(exponent == 0, x & _SIGN, result)
    return _of_positive(x, result)


_INVERSE_TURN = 0xA2F983 / 2**26
"""1 / (2 pi), rounded to f32."""
_TURN = 25
"""Bits of an angle behind the point, in turns."""
_SIN_POINT = 38


def sin(x: Words) -> Words:
    """sin(x) of f32 bits. PTX ISA 9.7.3, `sin.approx.f32`: x / (2 pi) is rounded to zero as f32,
    then in units of 2^-25 turns; in every other quadrant its ones' complement counts."""
    return _wave(x, 0)


def cos(x: Words) -> Words:
    """cos(x) of f32 bits, the sine a quarter of a turn further. PTX ISA 9.7.3, `cos.approx.f32`."""
    return _wave(x & ~_SIGN, 1)


def _wave(x: Words, quarters: int) -> Words:
    """The sine of an angle so many quarters of a turn further."""
    size = np.where(_parts(x)[1] == 255, 0, (x & ~_SIGN).view(np.float32).astype(np.float64))
    turns = _truncated(size * _INVERSE_TURN)
    angle = np.floor(np.fmod(turns, 1) * (1 << _TURN)).astype(np.int64) + (quarters << _FRACTION)
    fraction, quadrant = angle & _MANTISSA, angle >> _FRACTION & 3
    fraction = np.where(quadrant % 2 == 1, _MANTISSA - fraction, fraction)
    result = _truncated(_interpolate(fraction, tables.SIN, 8, 0), _SIN_POINT).view(np.uint32)
    signed = result | (x & _SIGN) ^ np.where(quadrant > 1, _SIGN, np.uint32(0))
    return np.where((x & _INFINITY) == _INFINITY, _NAN, signed)


_TANH_FIRST, _TANH_END = 119, 130
"""The exponents between which tanh(x) is neither x nor 1."""
_TANH_BITS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3])
"""The bits of the fraction that choose an interval, by the exponent."""
_TANH_LOW, _TANH_POINT = 17, 40


def tanh(x: Words) -> Words:
    """tanh(x) of f32 bits. PTX ISA 9.7.3, `tanh.approx.f32`: intervals by the exponent, and 17
    bits in each."""
    _, exponent, fraction = _parts(x)
    place = np.clip(exponent - _TANH_FIRST, 0, len(_TANH_BITS) - 1)
    bits, first = _TANH_BITS[place], (np.cumsum(1 << _TANH_BITS) - (1 << _TANH_BITS))[place]
    interval = first + (fraction >> _FRACTION - bits)
    within = fraction >> _FRACTION - _TANH_LOW - bits & (1 << _TANH_LOW) - 1
    sum_ = _quadratic(interval, within, _TANH_LOW, tables.TANH, 4, 0)
    result = _truncated(sum_, _TANH_POINT + 127 - _TANH_FIRST - place).view(np.uint32)
    result |= x & _SIGN
    result = np.where(exponent < _TANH_FIRST, x, result)
    result = np.where(exponent < _TANH_END, result, np.uint32(0x3F800000) | (x & _SIGN))
    return np.where(_is_nan(x), _NAN, result)


_SMALLEST = np.float32(2.0**-126)
_LARGE = np.float32(2.0**126)
_UP, _DOWN = np.float32(2.0**24), np.float32(0.25)


def _scaled(
    function: Callable[[Words], Words], then: Callable[[Any, Any], Any], below: Any = _SMALLEST,
    by: Any = _UP, *, large: bool = False,
) -> Callable[[Words], Words]:  # fmt: skip
    """The function without `.ftz`: of an argument below a bound, a multiple of it goes to the unit,
    and `then` makes the result of the unit's; of `large` ones a quarter does. As ptxas has it."""

    def run(bits: Words) -> Words:
        x = bits.view(np.float32)
        size = x if by < 1 else np.abs(x)
        factor = np.where(size < below, by, np.float32(1))
        factor = np.where(large & (np.abs(x) > _LARGE), _DOWN, factor)
        unit = function((x * factor).view(np.uint32)).view(np.float32)
        result = np.where(factor == 1, unit, then(unit, factor))
        return np.where(np.isnan(result), _NAN, result.view(np.uint32))

    return run


SCALED: dict[Callable[[Words], Words], Callable[[Words], Words]] = {
    ex2: _scaled(ex2, lambda y, _: y * y, np.float32(-126), np.float32(0.5)),
    lg2: _scaled(lg2, lambda y, _: y + np.float32(-24)),
    rcp: _scaled(rcp, operator.mul, large=True),
    rsqrt: _scaled(rsqrt, lambda y, _: y * np.float32(4096)),
    sqrt: _scaled(sqrt, lambda y, _: y / np.float32(4096)),
}
"""Each without `.ftz`, where that changes anything."""


def quotient(a: Words, b: Words, *, full: bool, flushes: bool) -> Words:
    """a / b of f32 bits by the reciprocal: `div.approx`, and `div.full`, whose large divisors are
    quartered. PTX ISA 9.7.3.8."""
    x, y = a.view(np.float32), b.view(np.float32)
    small = (np.abs(y) < _SMALLEST) & (not flushes)
    factor = np.where(small, _UP, np.where(full & (np.abs(y) > _LARGE), _DOWN, np.float32(1)))
    inverse = rcp((y * factor).view(np.uint32)).view(np.float32)
    product: Any = (flushing(np.multiply, "mul") if flushes else np.multiply)(x * factor, inverse)
    return np.where(np.isnan(product), _NAN, product.view(np.uint32))


_NO_ROOT = np.uint64(0xFFF8000000000000)


def refined_rsqrt(function: Callable[[Any], Any], bits: AnyArray) -> AnyArray:
    """`rsqrt.approx.f64`, of bits: a step of Newton's method behind that of the upper word; a
    subnormal number is 2^54 times as large before, the result 2^27 times after."""
    x = bits.view(np.float64)
    small = (np.abs(x) < 2.0**-1022) & (x != 0)
    scaled = np.where(small, x * 2.0**54, x)
    y = function(scaled.view(np.uint64)).view(np.float64)
    error = fma64(scaled, -(y * y), np.ones_like(y))
    refined = fma64(fma64(error, np.full_like(y, 0.375), np.full_like(y, 0.5)), y * error, y)
    refined = np.where(small, refined * 2.0**27, refined)
    unusual = np.where(
        x < 0, _NO_ROOT, np.where(np.isnan(x), (x + x).view(np.uint64), function(bits))
    )
    usual = np.isfinite(x) & (x > 0)
    return np.where(usual, refined.view(np.uint64), unusual)


def on_doubles(function: Callable[[Words], Words], x: AnyArray) -> AnyArray:
    """`rcp` or `rsqrt` with `.approx.ftz.f64`, of bits: that of f32 for the upper word alone, whose
    20 bits of the significand are the upper ones of f32's; the lower word is zero."""
    high = (x >> np.uint64(32)).astype(np.int64)
    sign, exponent, fraction = high & 1 << 31, high >> 20 & 0x7FF, high & 0xFFFFF
    odd = exponent & 1 if function is rsqrt else np.ones_like(exponent)
    single = function((126 + odd << 23 | fraction << 3).astype(np.uint32)).astype(np.int64)
    halved = (exponent - odd - 1022) // 2 if function is rsqrt else exponent - 1023
    scale = (single >> 23) + 896 - halved
    word = np.where(scale > 0, scale << 20 | single >> 3 & 0xFFFFF, 0) | sign
    word = np.where(exponent == 0, 0x7FF << 20 | sign, word)
    word = np.where(exponent == 0x7FF, sign, word)
    nan = (exponent == 0x7FF) & (fraction != 0)
    if function is rsqrt:
        nan |= (sign != 0) & (exponent != 0)
    return np.where(nan, 0x7FFFFFFF, word).astype(np.uint64) << np.uint64(32)


def _is_nan(x: Words) -> BoolArray:
    return (x & np.uint32(0x7FFFFFFF)) > _INFINITY
