"""`cvt` between float types with a modifier, and of pairs of narrow floats. PTX ISA 9.7.9.21.

Of two operands the first is the upper half of the result. A result is rounded once, from the exact
value; `relu` makes negative ones +0, `satfinite` keeps them within the type's finite numbers. NaN
is the type's NaN, of a type without one its largest number. What is `scaled` is multiplied by a
power of two, or by NaN, before that.
"""

from collections.abc import Callable
from functools import partial
from typing import get_args

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALED
from tilewright.lowering.interpreter.arithmetic.typed_words import Function
from tilewright.lowering.interpreter.array_types import AnyArray
from tilewright.lowering.interpreter.numerics import FloatFormat, decode, encode, format_named
from tilewright.lowering.interpreter.numerics.formats import Floats
from tilewright.lowering.interpreter.numerics.rounding import Rounding
from tilewright.lowering.interpreter.values import Bits

_FACTORS = format_named("ue8m0")
_STOCHASTIC_BITS = {"f16": 13}
"""How many random bits an element takes, where not 16: those of an f32 that its type has not."""


def _parted(type_: str) -> tuple[FloatFormat, int]:
    """The format of `e4m3x2`, and how many elements one register has."""
    name, cross, count = type_.rpartition("x")
    return format_named(name if cross else type_), int(count) if cross else 1


def float_conversion(modifiers: list[str], to: str, source: str) -> Function:
    """The function of `cvt.MODIFIERS.to.source`: raw bits in, raw bits out."""
    if to == "tf32" and "rna" in modifiers:
        return _saturated_ties_away if "satfinite" in modifiers else _ties_away
    is_fixed, is_scaled = source == "s2f6x2", SCALED in modifiers
    (from_, parts), (into, count) = _parted("e4m3x2" if is_fixed else source), _parted(to)
    rounders = _ROUNDERS if into.has_zero else _POWERS
    narrowed = rounders[next(word for word in modifiers if word in rounders)]

    def element(values: Floats, random: Bits) -> Bits:
        if "relu" in modifiers:
            values = np.where(values <= 0, 0.0, values)
        if "satfinite" in modifiers:
            values = np.clip(values, -into.largest, into.largest)
        return narrowed(values, into, random)

    def run(*operands: Bits) -> Bits:
        random = operands[-1]
        elements = _elements(operands[0], from_, parts) if parts > 1 else operands[:count]
        width = _field(into)
        word = np.dtype(f"uint{max(count * width, into.container.itemsize * 8)}").type
        result = word(0)
        factors = _elements(operands[-1], _FACTORS, 2) if is_scaled else ()
        for place, bits in enumerate(elements):
            share = _random_bits(random, place, count, width) if "rs" in modifiers else random
            values = bits.view(np.int8) / 64.0 if is_fixed else decode(bits, from_)
            values = values * decode(factors[place], _FACTORS) if is_scaled else values
            result = result << word(width) if place else result
            result = result | element(values, share).astype(word)
        return result

    return run


def _field(fmt: FloatFormat) -> int:
    """The bits that an element takes beside others."""
    return 4 if fmt.bits == 4 else 8 * fmt.container.itemsize


def _elements(word: Bits, fmt: FloatFormat, count: int) -> list[Bits]:
    """The elements of a register, the upper one first."""
    width = _field(fmt)
    mask = word.dtype.type((1 << width) - 1)
    shifts = (word.dtype.type(width * place) for place in reversed(range(count)))
    return [(word >> shift & mask).astype(fmt.container) for shift in shifts]


def _random_bits(random: Bits, place: int, count: int, width: int) -> Bits:
    """The random bits of an element: of four, the first two have the same ones, and so do the last
    two; those of 4 bits take a byte of each half."""
    upper = place < count // 2
    if width > 4:
        return random >> random.dtype.type(16 * upper)
    first = random.dtype.type(8 * upper)
    return (random >> first & 0xFF) | (random >> first >> 16 & 0xFF) << 8


def _rounded(rounding: Rounding) -> Callable[[Floats, FloatFormat, Bits], Bits]:
    return lambda values, fmt, random: encode(values, fmt, rounding)


_TF32 = format_named("tf32")
_HALF = np.uint32(1 << _TF32.ignored_low_bits - 1)
_KEPT = ~np.uint32(2 * _HALF - 1)
_INFINITY = np.uint32(0x7F800000)


def _ties_away(words: Bits) -> Bits:
    """f32 to tf32, to nearest: half a unit more of the magnitude, cut off. Of NaN and infinity the
    bits are cut off alone (H100)."""
    finite = (words & _INFINITY) != _INFINITY
    return np.where(finite, words + _HALF, words) & _KEPT


def _saturated_ties_away(words: Bits) -> Bits:
    """The same, one unit less where it is no finite number, NaN included (H100)."""
    rounded = _ties_away(words)
    finite = (rounded & _INFINITY) != _INFINITY
    return np.where(finite, rounded, rounded - 2 * _HALF)


def _stochastic(values: Floats, fmt: FloatFormat, random: Bits) -> Bits:
    """Away from zero where the random bits carry out of the bits that are cut off."""
    count = _STOCHASTIC_BITS.get(fmt.name, 16)
    cut = encode(values, fmt, "rz")
    away = encode(values, fmt, "rp"), encode(values, fmt, "rm")
    outward = np.where(np.signbit(values), away[1], away[0]).astype(cut.dtype)
    near, far = decode(cut, fmt), decode(outward, fmt)
    share = np.abs(values - near) / np.abs(far - near)
    beyond = np.isinf(far) & np.isfinite(near)
    unit = np.abs(near - decode(cut - cut.dtype.type(1), fmt))
    share = np.where(beyond, np.abs(values - near) / unit, share)
    part = np.nan_to_num(np.floor(share * 2.0**count), posinf=0.0).astype(np.int64)
    carries = part + (random.astype(np.int64) & ((1 << count) - 1)) >= 1 << count
    return np.where(carries & (part > 0), outward, cut)


def _power(values: Floats, fmt: FloatFormat, random: Bits, *, up: bool) -> Bits:
    """A power of two next to the magnitude; beyond the largest, and of NaN, the NaN."""
    magnitude = np.abs(values)
    finite: AnyArray = np.isfinite(values)
    significand, exponent = np.frexp(np.where(finite & (magnitude > 0), magnitude, 2.0**-1000))
    power = exponent - 1 + (significand > 0.5) * up
    words = np.maximum(power + fmt.bias, 0)
    fits = finite & (words <= fmt.max_finite)
    return np.where(fits, words, fmt.canonical_nan or 0).astype(fmt.container)


_ROUNDERS: dict[str, Callable[[Floats, FloatFormat, Bits], Bits]] = {
    **{rounding: _rounded(rounding) for rounding in get_args(Rounding)},
    "rs": _stochastic,
}
_POWERS = {"rz": partial(_power, up=False), "rp": partial(_power, up=True)}
