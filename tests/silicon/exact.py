"""Scalar forms by the PTX ISA alone: exact fractions, rounded once. It shares no code with the
interpreter.

    result("fma.rn.ftz.f16", ("f16",) * 3, "f16", (0x3C01, 0x3C01, 0x0001))    0x3C02
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
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
        case "mul":
            x, y = values
            if math.isfinite(x) and math.isfinite(y):
                return Fraction(x) * Fraction(y), _is_minus(x) ^ _is_minus(y)
            return x * y, False
        case _:
            value = {"abs": math.fabs, "neg": lambda x: -x}[name](values[0])
            return value, _is_minus(value)


def _extreme(name: str, words: Sequence[str], x: float, y: float) -> float:
    """PTX ISA 9.7.3.11: the pseudo-code."""
    apart = _is_minus(x) ^ _is_minus(y)
    if "abs" in words:
        x, y = abs(x), abs(y)
    if math.isnan(x) or math.isnan(y):
        value = math.nan if "NaN" in words else y if math.isnan(x) else x
    elif x == y == 0:
        value = -0.0 if (_is_minus(x) or _is_minus(y)) == (name == "min") else 0.0
        value = x if _is_minus(x) == _is_minus(y) else value
    else:
        value = min(x, y) if name == "min" else max(x, y)
    return math.copysign(value, -1 if apart else 1) if "xorsign" in words else value


_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
}  # fmt: skip


def _holds(relation: str, x: float, y: float) -> bool:
    unordered = math.isnan(x) or math.isnan(y)
    if relation in ("num", "nan"):
        return unordered == (relation == "nan")
    return (
        unordered
        if unordered and relation not in _RELATIONS
        else (not unordered and _RELATIONS[relation[:2]](x, y))
    )


def _flushed(value: float, type_: str) -> float:
    small = value != 0 and abs(value) < 2.0 ** FORMATS[type_].lowest
    return math.copysign(0.0, value) if small else value


def _integer(word: int, type_: str) -> int:
    width = int(type_[1:])
    word &= (1 << width) - 1
    return word - (word >> width - 1 << width) if type_[0] == "s" else word


def _clamped(value: float, type_: str) -> int:
    """The nearest integer of a type."""
    width, signed = int(type_[1:]), type_[0] == "s"
    low, high = -(1 << width - 1) * signed, (1 << width - signed) - 1
    return low if value < low else high if value > high else int(value)


_WAYS: dict[str, Callable[[float], int]] = {
    "rni": round, "rmi": math.floor, "rpi": math.ceil, "rzi": math.trunc,
}  # fmt: skip


def _converted(words: Sequence[str], source: str, operands: Sequence[int]) -> int:
    """PTX ISA 9.7.9.21; a NaN to an integer, and one of f64, as an H200 has it of other types."""
    if words[0] == "pack":
        to, bits = words[2], int(words[2][1:])
        parts = [_clamped(_integer(word, "s32"), to) & (1 << bits) - 1 for word in operands[:2]]
        above = sum(operands[2:]) << 2 * bits
        return (above | parts[0] << bits | parts[1]) & 0xFFFFFFFF
    *words, to = words
    mask = (1 << max(int(to[1:]), 16)) - 1 if to[0] in "su" else 0
    if source in FORMATS:
        value = number(operands[0], source)
        if not mask and source == "f64" and to != "bf16" and math.isnan(value):
            of = FORMATS[to]
            payload = (operands[0] & (1 << 52) - 1) >> 52 - of.mantissa | 1 << of.mantissa - 1
            return of.infinity | payload | (of.sign if operands[0] >> 63 else 0)
        if not mask:
            return rounded(value, to, words[0], minus=_is_minus(value))
        if math.isnan(value):
            return _integer((source == "f64") << int(to[1:]) - 1, to) & mask
        if "ftz" in words:
            value = _flushed(value, source)
        return _clamped(_WAYS[words[0]](value) if math.isfinite(value) else value, to) & mask
    whole = _integer(operands[0], source)
    return _clamped(whole, to) & mask if mask else rounded(Fraction(whole), to, words[0])


def result(mnemonic: str, types: Sequence[str], to: str, operands: Sequence[int]) -> int:
    """The bits of an instruction's result, of the bits of its operands."""
    name, *words, type_ = mnemonic.split(".")
    if name == "cvt":
        return _converted(words, type_, operands)
    if type_.endswith("x2"):
        half = {"f32x2": 32}.get(type_, 16)
        of, mask = type_[:-2], (1 << half) - 1
        low, high = (
            result(mnemonic[:-2], [of] * len(types), of, [word >> up & mask for word in operands])
            for up in (0, half)
        )
        return high << half | low
    if type_[0] == "s":
        width = int(type_[1:])
        signed = [word - (word >> width - 1 << width) for word in operands]
        return max({"min": min, "max": max}[name](signed), 0)
    values = [number(word, of) for word, of in zip(operands, types, strict=True)]
    if "ftz" in words:
        values = [_flushed(value, type_) for value in values]
    if name == "setp":
        return _holds(words[0], *values)
    if name in ("min", "max"):
        value = _extreme(name, words, *values)
        return rounded(value, to, minus=_is_minus(value))
    rounding = next((word for word in words if word in ("rz", "rm", "rp")), "rn")
    value, minus = _computed(name, values, rounding)
    if "ftz" in words and 0 < abs(value) < Fraction(2) ** FORMATS[to].lowest:
        value, minus = 0.0, value < 0
    if "sat" in words:
        value = 0.0 if value != value else min(max(value, 0), 1)
        minus = False
    if "relu" in words and value <= 0:
        value, minus = 0.0, False
    return rounded(value, to, rounding, minus=minus)
