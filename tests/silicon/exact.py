"""Scalar forms by the PTX ISA alone: exact fractions, rounded once. It shares no code with the
interpreter.

    result("fma.rn.ftz.f16", ("f16",) * 3, "f16", (0x3C01, 0x3C01, 0x0001))    0x3C02
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Format(NamedTuple):
    """The fields of a float, and the word of its NaN."""

    mantissa: int
    exponent: int
    nan: int

    @property
    def lowest(self) -> int:
        """The exponent of the smallest normal number."""
        return 2 - (1 << self.exponent - 1)

    @property
    def infinity(self) -> int:
        return (1 << self.exponent) - 1 << self.mantissa

    @property
    def sign(self) -> int:
        return 1 << self.mantissa + self.exponent


FORMATS = {
    "f16": Format(10, 5, 0x7FFF), "bf16": Format(7, 8, 0x7FFF), "f32": Format(23, 8, 0x7FFFFFFF),
    "f64": Format(52, 11, 0xFFF8 << 48),
}  # fmt: skip


def number(bits: int, type_: str) -> float:
    """What bits are worth, as a float of Python."""
    if type_ == "bf16":
        bits, type_ = bits << 16, "f32"
    letters = {"f16": "<He", "f32": "<If", "f64": "<Qd"}[type_]
    [value] = struct.unpack(f"<{letters[2]}", struct.pack(letters[:2], bits))
    return value


def rounded(
    value: Fraction | float, type_: str, rounding: str = "rn", *, minus: bool = False
) -> int:
    """The bits of a value rounded once; a zero is negative where `minus` says so."""
    of = FORMATS[type_]
    if isinstance(value, float) and not math.isfinite(value):
        return of.nan if math.isnan(value) else of.infinity | (of.sign if value < 0 else 0)
    if value == 0:
        return of.sign if minus else 0
    magnitude, negative = abs(Fraction(value)), value < 0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent = max(exponent - (Fraction(2) ** exponent > magnitude), of.lowest)
    quanta = magnitude / Fraction(2) ** (exponent - of.mantissa)
    whole = math.floor(quanta)
    away = {"rz": False, "rm": negative, "rp": not negative}.get(rounding)
    if away is None:
        whole = round(quanta)
    elif away and whole != quanta:
        whole += 1
    word = whole + (exponent - of.lowest << of.mantissa)
    if word >= of.infinity:
        word = of.infinity - (away is False)
    return word | (of.sign if negative else 0)


def _is_minus(value: float) -> bool:
    return math.copysign(1, value) < 0


def _sum(x: float, y: float, z: float, rounding: str) -> tuple[Fraction | float, bool]:
    """x * y + z, and whether it is a negative zero if it is zero."""
    product_minus = _is_minus(x) ^ _is_minus(y)
    if not all(map(math.isfinite, (x, y, z))):
        if math.isfinite(x) and math.isfinite(y):
            return z, False
        return x * y + z, False
    value = Fraction(x) * Fraction(y) + Fraction(z)
    if (x * y == 0 and z == 0) or (value == 0 and product_minus == _is_minus(z)):
        same = product_minus == _is_minus(z)
        return value, product_minus if same else rounding == "rm"
    return value, rounding == "rm"


def _computed(name: str, values: Sequence[float], rounding: str) -> tuple[Fraction | float, bool]:
    match name:
        case "add":
            return _sum(values[0], 1.0, values[1], rounding)
        case "sub":
            return _sum(values[0], 1.0, -values[1], rounding)
        case "fma":
            return _sum(values[0], values[1], values[2], rounding)
        case _:
            x, y = values
            if math.isfinite(x) and math.isfinite(y):
                return Fraction(x) * Fraction(y), _is_minus(x) ^ _is_minus(y)
            return x * y, False


def _flushed(value: float, type_: str) -> float:
    small = value != 0 and abs(value) < 2.0 ** FORMATS[type_].lowest
    return math.copysign(0.0, value) if small else value


def result(mnemonic: str, types: Sequence[str], to: str, operands: Sequence[int]) -> int:
    """The bits of an instruction's result, of the bits of its operands."""
    name, *words, type_ = mnemonic.split(".")
    if type_.endswith("x2"):
        half = {"f32x2": 32}.get(type_, 16)
        of, mask = type_[:-2], (1 << half) - 1
        low, high = (
            result(mnemonic[:-2], [of] * len(types), of, [word >> up & mask for word in operands])
            for up in (0, half)
        )
        return high << half | low
    values = [number(word, of) for word, of in zip(operands, types, strict=True)]
    if "ftz" in words:
        values = [_flushed(value, type_) for value in values]
    rounding = next((word for word in words if word in ("rz", "rm", "rp")), "rn")
    value, minus = _computed(name, values, rounding)
    if "ftz" in words and 0 < abs(value) < Fraction(2) ** FORMATS[to].lowest:
        value, minus = 0.0, value < 0
    if "sat" in words:
        value = 0.0 if value != value else min(max(value, 0), 1)
        minus = False
    return rounded(value, to, rounding, minus=minus)


def of_integers(mnemonic: str, operands: Sequence[int]) -> int:
    """The bits of `add`, `sub`, `min`, `max` or `neg` of 32 bits of integers: `s8x4`, `u16x2`."""
    name, *words, type_ = mnemonic.split(".")
    width = int(type_[1:].partition("x")[0])
    lowest = -(1 << width - 1) if type_[0] == "s" else 0
    span, bits = 1 << width, 0
    for up in range(0, 32, width):
        values = [((word >> up) % span - lowest) % span + lowest for word in operands]
        compute = {"add": sum, "sub": lambda of: of[0] - of[1], "neg": lambda of: -of[0]}
        value = {"min": min, "max": max, **compute}[name](values)
        if "sat" in words:
            value = min(max(value, lowest), lowest + span - 1)
        bits |= (max(value, 0) if "relu" in words else value) % span << up
    return bits
