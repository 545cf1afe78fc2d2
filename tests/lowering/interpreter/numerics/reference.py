"""The arithmetic of docs/numerics.md once more, slowly, from Fractions, one element at a time.

Shares nothing with the code under test but the names of the formats: here a format is four
numbers, a value is a Fraction, and every step is written as the spec words it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np


@dataclass(frozen=True)
class Format:
    """A format in numbers; `ieee`: all-ones exponents are infinities and NaNs."""

    exponent_bits: int
    mantissa_bits: int
    ignored: int = 0
    ieee: bool = True
    last_is_nan: bool = False

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1


FORMATS = {
    "f64": Format(11, 52),
    "f32": Format(8, 23),
    "tf32": Format(8, 10, ignored=13),
    "f16": Format(5, 10),
    "bf16": Format(8, 7),
    "e4m3": Format(4, 3, ieee=False, last_is_nan=True),
    "e5m2": Format(5, 2),
    "e3m2": Format(3, 2, ieee=False),
    "e2m3": Format(2, 3, ieee=False),
    "e2m1": Format(2, 1, ieee=False),
}
NAN = {"f64": 0xFFF8 << 48, "f32": 0x7FFFFFFF, "f16": 0x7FFF}


@dataclass(frozen=True)
class Number:
    """A decoded element: "nan", "inf" or "finite"; for finite ones significand * 2**exponent."""

    kind: str
    negative: bool
    significand: Fraction = Fraction(0)
    exponent: int = 0

    @cached_property
    def value(self) -> Fraction:
        magnitude = self.significand * Fraction(2) ** self.exponent
        return -magnitude if self.negative else magnitude


@lru_cache(4096)  # each element is in many products
def number(word: int, name: str) -> Number:
    fmt = FORMATS[name]
    word >>= fmt.ignored
    mantissa = word & ((1 << fmt.mantissa_bits) - 1)
    field = (word >> fmt.mantissa_bits) & ((1 << fmt.exponent_bits) - 1)
    negative = bool((word >> (fmt.mantissa_bits + fmt.exponent_bits)) & 1)
    if field == (1 << fmt.exponent_bits) - 1:
        if fmt.ieee:
            return Number("nan" if mantissa else "inf", negative)
        if fmt.last_is_nan and mantissa == (1 << fmt.mantissa_bits) - 1:
            return Number("nan", negative)
    fraction = Fraction(mantissa, 1 << fmt.mantissa_bits)
    if field == 0:
        return Number("finite", negative, fraction, 1 - fmt.bias)
    return Number("finite", negative, 1 + fraction, field - fmt.bias)


def floor_log2(x: Fraction) -> int:
    guess = x.numerator.bit_length() - x.denominator.bit_length()
    return guess if Fraction(2) ** guess <= x else guess - 1


def to_whole(x: Fraction, rounding: str, negative: bool) -> int:
    """A magnitude to a whole number."""
    floor = math.floor(x)
    rest = x - floor
    if rounding == "rn":
        return floor + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor % 2 == 1))
    if (rounding == "rm" and negative) or (rounding == "rp" and not negative):
        return floor + (rest > 0)
    return floor


def round_word(
    value: Fraction,
    name: str,
    rounding: str,
    *,
    mantissa_bits: int | None = None,
    overflow_at: Fraction | None = None,
    zero_sign: bool = False,
) -> int:
    """The word of `value` rounded once. `overflow_at`: magnitudes from here on are infinite
    whatever the rounding (the tensor cores' f32)."""
    fmt = FORMATS[name]
    sign = (1 << (fmt.exponent_bits + fmt.mantissa_bits)) if value < 0 else 0
    if value == 0:
        sign = (1 << (fmt.exponent_bits + fmt.mantissa_bits)) if zero_sign else 0
        return sign
    infinity = ((1 << fmt.exponent_bits) - 1) << fmt.mantissa_bits
    magnitude = abs(value)
    if overflow_at is not None and magnitude >= overflow_at:
        return sign | infinity
    kept = fmt.mantissa_bits if mantissa_bits is None else mantissa_bits
    exponent = max(floor_log2(magnitude), 1 - fmt.bias)
    quantum = Fraction(2) ** (exponent - kept)
    rounded = to_whole(magnitude / quantum, rounding, value < 0) * quantum
    if rounded == 0:
        return sign
    exponent = max(floor_log2(rounded), 1 - fmt.bias)
    if exponent > fmt.bias:
        away = rounding == "rn" or rounding == ("rm" if value < 0 else "rp")
        return sign | (infinity if away else infinity - 1)
    steps = rounded / Fraction(2) ** (exponent - fmt.mantissa_bits)
    assert steps.denominator == 1
    return sign | (int(steps) + ((exponent - (1 - fmt.bias)) << fmt.mantissa_bits))


def special(products: list[tuple[Number, Number]], c: Number, d_type: str) -> int | None:
    """The word of an infinite or NaN result; None if every input is finite."""
    fmt = FORMATS[d_type]
    infinity = ((1 << fmt.exponent_bits) - 1) << fmt.mantissa_bits
    signs: set[bool] = set()
    for a, b in products:
        if "nan" in (a.kind, b.kind):
            return NAN[d_type]
        if "inf" in (a.kind, b.kind):
            other = b if a.kind == "inf" else a
            if other.kind == "finite" and other.significand == 0:
                return NAN[d_type]
            signs.add(a.negative != b.negative)
    if c.kind == "nan":
        return NAN[d_type]
    if c.kind == "inf":
        signs.add(c.negative)
    if len(signs) == 2:
        return NAN[d_type]
    if len(signs) == 1:
        sign = 1 << (fmt.exponent_bits + fmt.mantissa_bits)
        return infinity | (sign if signs.pop() else 0)
    return None


def fused_sum(products: list[tuple[Number, Number]], c: Number, d_type: str, widths: Widths) -> int:
    word = special(products, c, d_type)
    if word is not None:
        return word
    addends = [(a.value * b.value, a.exponent + b.exponent) for a, b in products]
    addends.append((c.value, c.exponent))
    exponents = [exponent for value, exponent in addends if value != 0]
    return aligned_sum([value for value, _ in addends], exponents, d_type, widths)


def aligned_sum(addends: list[Fraction], exponents: list[int], d_type: str, widths: Widths) -> int:
    """Truncate the addends to F bits below the largest of `exponents`, add, round once."""
    if widths.floor is not None:
        exponents = [*exponents, 1 - FORMATS[d_type].bias - widths.floor]
    if not exponents:
        return 0
    quantum = Fraction(2) ** (max(exponents) - widths.fraction_bits)
    total = sum((math.trunc(value / quantum) * quantum for value in addends), Fraction(0))
    if d_type == "f16":
        word = round_word(total, "f16", "rn")
        return 0 if word == 0x8000 else word
    limit = Fraction(2) ** 128
    word = round_word(total, "f32", "rz", mantissa_bits=widths.f32_bits, overflow_at=limit)
    return 0 if word == 0x80000000 else word


@dataclass(frozen=True)
class Widths:
    """F, elements of K a fused sum, fraction bits of an f32 result, floor of the largest exponent
    (below the result type's smallest)."""

    fraction_bits: int
    chunk: int | None
    f32_bits: int
    floor: int | None


def fused_dot(
    a: list[int], b: list[int], c: int, types: tuple[str, str, str, str], widths: Widths
) -> int:
    """One element of D. types: of A, B, C, D."""
    pairs = [(number(x, types[0]), number(y, types[1])) for x, y in zip(a, b, strict=True)]
    inside = types[3] if types[2] == types[3] else "f32"
    word = converted(c, types[2], inside)
    step = widths.chunk or len(pairs)
    for start in range(0, len(pairs), step):
        part = pairs[start : start + step]
        word = fused_sum(part, number(word, inside), inside, widths)
    return converted(word, inside, types[3])


def converted(word: int, name: str, to: str) -> int:
    """A word of one format in another, to nearest even."""
    if name == to:
        return word
    x = number(word, name)
    special_word = special([], x, to)
    if special_word is not None:
        return special_word
    return round_word(x.value, to, "rn", zero_sign=x.negative and x.value == 0)


@dataclass(frozen=True)
class Scaling:
    """The scale words of one row of A and one column of B, and their type."""

    a: list[int]
    b: list[int]
    name: str

    def pairs(self, k: int) -> list[tuple[Number, Number]]:
        """The two scales of each k."""
        each = k // len(self.a)
        pairs = zip(self.a, self.b, strict=True)
        return [
            (scale_number(x, self.name), scale_number(y, self.name))
            for x, y in pairs
            for _ in range(each)
        ]


def scale_number(word: int, name: str) -> Number:
    if name == "ue4m3":
        return number(word & 0x7F, "e4m3")
    return Number("nan" if word == 0xFF else "finite", False, Fraction(1), word - 127)


def scaled_special(pairs, scales, c: Number, d_type: str) -> int | None:
    """As `special`, with scales: a NaN among them is NaN, a zero one makes a zero of a number."""
    if any(x.kind == "nan" for pair in scales for x in pair):
        return NAN[d_type]
    return special(pairs, c, d_type)


def exact_dot(
    a: list[int],
    b: list[int],
    c: int,
    types: tuple[str, str, str, str],
    scaling: Scaling | None = None,
) -> int:
    pairs = [(number(x, types[0]), number(y, types[1])) for x, y in zip(a, b, strict=True)]
    scales = [] if scaling is None else scaling.pairs(len(pairs))
    addend = number(c, types[2])
    word = scaled_special(pairs, scales, addend, types[3])
    if word is not None:
        return word
    factors = [x.value * y.value for x, y in scales] or [Fraction(1)] * len(pairs)
    products = (x.value * y.value * z for (x, y), z in zip(pairs, factors, strict=True))
    return round_word(sum(products, addend.value), types[3], "rn")


def scaled_dot(
    a: list[int],
    b: list[int],
    c: int,
    types: tuple[str, str],
    scaling: Scaling,
    fraction_bits: int,
    block: int | None,
) -> int:
    """One element of a block-scaled MMA's f32 D. types: of A and B. block: how many products are
    first summed exactly; None: every product is an addend, with its own exponent."""
    pairs = [(number(x, types[0]), number(y, types[1])) for x, y in zip(a, b, strict=True)]
    scales = scaling.pairs(len(pairs))
    addend = number(c, "f32")
    word = scaled_special(pairs, scales, addend, "f32")
    if word is not None:
        return word
    addends, exponents = [addend.value], [addend.exponent] if addend.value else []
    step = block or 1
    for start in range(0, len(pairs), step):
        x, y = scales[start]
        total = sum((p.value * q.value for p, q in pairs[start : start + step]), Fraction(0))
        addends.append(total * x.value * y.value)
        exponent = x.exponent + y.exponent
        if block is None:
            exponent += sum(each.exponent for each in pairs[start])
        if addends[-1] or (block is not None and x.value * y.value):
            exponents.append(exponent)
    return aligned_sum(addends, exponents, "f32", Widths(fraction_bits, None, 23, None))


def float32_dot(a: list[int], b: list[int], c: int, c_type: str, d_type: str) -> int:
    """One element of f16 m8n8k4 in f32 arithmetic: `fma_word` is every step."""
    x, y = ([converted(word, "f16", "f32") for word in words] for words in (a, b))
    one, plus_zero, minus_zero = 0x3F800000, 0, 0x80000000

    def fma(p: int, q: int, r: int) -> int:
        return fma_word(p, q, r, "f32", "rn")

    total = converted(c, c_type, "f32")
    if d_type == "f32":
        chain = plus_zero
        for p, q in zip(x, y, strict=True):
            chain = fma(p, q, chain)
        return fma(total, one, chain)
    for k in (0, 2):
        # x * y - 0 is x * y, its zero sign included.
        total = fma(total, one, fma(x[k + 1], y[k + 1], fma(x[k], y[k], minus_zero)))
    return converted(total, "f32", d_type)


def fma_word(a: int, b: int, c: int, name: str, rounding: str) -> int:
    """IEEE 754 fusedMultiplyAdd on words."""
    x, y, z = (number(word, name) for word in (a, b, c))
    if name == "f64":
        for operand, operand_word in ((y, b), (z, c), (x, a)):
            if operand.kind == "nan":
                return operand_word | 1 << 51
    word = special([(x, y)], z, name)
    if word is not None:
        return word
    product_negative = x.negative != y.negative
    total = x.value * y.value + z.value
    if x.value * y.value == 0 and z.value == 0 and product_negative == z.negative:
        zero_sign = z.negative
    else:
        zero_sign = rounding == "rm"
    return round_word(total, name, rounding, zero_sign=zero_sign)


def matrices(f, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Apply f(row of A, column of B, element of C) to a batch of matrices."""
    d = np.empty_like(c, dtype=object)
    for index in np.ndindex(*c.shape):
        *batch, m, n = index
        row = a[(*batch, m)].tolist()
        column = b[(*batch, slice(None), n)].tolist()
        d[index] = f(row, column, int(c[index]))
    return d
