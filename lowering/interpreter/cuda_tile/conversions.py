"""Conversions between element types: widths, integers and floats, bits as they are."""

from collections.abc import Callable

import numpy as np

from tilewright.lowering.interpreter.arithmetic.conversions import conversion
from tilewright.lowering.interpreter.array_types import AnyDType
from tilewright.lowering.interpreter.cuda_tile.elements import (
    Element,
    Tile,
    as_signed,
    as_unsigned,
    bits_of,
    unsigned,
)
from tilewright.lowering.interpreter.cuda_tile.float_arithmetic import (
    BFLOAT16,
    ROUNDINGS,
    narrowed,
    widened,
)
from tilewright.lowering.interpreter.numerics import Rounding, decode, encode

Function = Callable[[Tile], Tile]
_CAST = frozenset({"f16", "f32", "f64"})
_SATURATING = frozenset({"f8E4M3FN", "f8E5M2"})


def extended(source: Element, to: Element, signed: bool) -> Function:
    """Integers to a wider type, with sign or with zeros. i4 is held sign-extended."""
    if signed:
        return lambda x: as_signed(x).astype(to.dtype)
    if source.bits == 4:
        return lambda x: (x & 15).astype(to.dtype)
    return lambda x: as_unsigned(x).astype(unsigned(to.dtype)).view(to.dtype)


def truncated(to: Element) -> Function:
    """Integers to a narrower type: the low bits."""
    if to.bits == 4:
        return lambda x: (x.astype(np.int8) << 4) >> 4
    if to.dtype == np.bool_:
        return lambda x: (x & 1).astype(bool)
    return lambda x: x.astype(to.dtype)


def loses(source: Element, to: Element, *, signed: bool) -> Function:
    """Which integers a narrower type does not hold."""
    narrow, back = truncated(to), extended(to, source, signed)
    return lambda x: back(narrow(x)) != x


def float_to_float(source: Element, to: Element, rounding: str) -> Function:
    """A float to another format, rounded once.

    Beyond the range of an 8-bit format the largest finite value, as PTX's cvt.satfinite.
    """
    if rounding == "nearest_away" and to.name == "tf32":
        away = conversion("rna.tf32.f32")
        return lambda x: away(_as_float64(x, source).astype(np.float32).view(np.uint32)).view("f4")
    # To a wider format any value is exact.
    mode = ROUNDINGS.get(rounding, "rn")
    if to.name == "f8E8M0FNU":
        return lambda x: _to_power_of_two(_as_float64(x, source), up=mode == "rp").view(to.dtype)
    if mode == "rn":
        if source.name in _CAST and to.name in _CAST:
            return lambda x: x.astype(to.dtype)
        if source.dtype == BFLOAT16 and to.name == "f32":
            return widened
        if source.name == "f32" and to.dtype == BFLOAT16:
            return lambda x: narrowed(x, BFLOAT16)
    return lambda x: _encoded(_as_float64(x, source), to, mode)


def _encoded(value: Tile, to: Element, mode: Rounding) -> Tile:
    """float64 rounded once to a format."""
    fmt = to.format
    assert fmt is not None
    words = encode(value, fmt, mode)
    if to.name in _SATURATING:
        # An infinity saturates like any value beyond the range.
        over = (words & (fmt.sign_bit - 1)) == fmt.infinity
        over &= ~np.isnan(value)
        words = np.where(over, (words & fmt.sign_bit) | fmt.max_finite, words)
    return words.astype(fmt.container).view(to.dtype)


def _as_float64(x: Tile, source: Element) -> Tile:
    if source.format is not None and source.bits <= 8:
        return decode(bits_of(x), source.format)
    return x.astype(np.float64)


def _to_power_of_two(x: Tile, *, up: bool) -> Tile:
    """The words of f8E8M0FNU: magnitudes rounded to powers of two, NaN and infinities to NaN."""
    magnitude = np.abs(x)
    significand, exponent = np.frexp(magnitude)
    power = exponent - 1 + ((significand > 0.5) if up else 0)
    words = np.clip(power + 127, 0, 254)
    words = np.where(magnitude == 0, 0, words)
    return np.where(np.isfinite(x), words, 255).astype(np.uint8)


def _range(element: Element, signed: bool) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    bits = 1 if element.dtype == np.bool_ else element.bits
    return -(1 << (bits - 1)) if signed else 0, (1 << (bits - signed)) - 1


def out_of_range(source: Element, to: Element, signed: bool, x: Tile) -> Tile:
    """Which floats, rounded towards zero, an integer type does not hold."""
    low, high = _range(to, signed)
    value = np.trunc(_as_float64(x, source))
    return ~((value >= low) & (value < float(high + 1)))


def float_to_integer(source: Element, to: Element, signed: bool, x: Tile) -> Tile:
    """Towards zero. Beyond the range the nearest integer of the type, and 0 for NaN: what
    `saturating` says, and what PTX's cvt does where Tile IR leaves it undefined."""
    low, high = _range(to, signed)
    container: AnyDType = to.dtype if to.dtype != np.bool_ else np.dtype(np.int8)
    target = container if signed else unsigned(container)
    value = _as_float64(x, source)
    over, under = value >= high, value <= low
    inside = np.where(over | under | np.isnan(value), 0.0, value)
    result = np.trunc(inside).astype(target)
    result = np.where(over, np.asarray(high, target), result)
    result = np.where(under, np.asarray(low, target), result).view(container)
    return (result & 1).astype(bool) if to.dtype == np.bool_ else result


def float_to_truth(source: Element) -> Function:
    """True of all but zeros."""
    return lambda x: _as_float64(x, source) != 0


def integer_to_float(to: Element, signed: bool, rounding: str, x: Tile) -> Tile:
    """An integer's value, rounded to the format."""
    mode = ROUNDINGS[rounding]
    view = as_signed if signed else as_unsigned
    number = view(x)
    if to.name == "f64" and mode == "rn":
        return number.astype(np.float64)
    if to.name == "f32" and mode == "rn":
        return number.astype(np.float32)
    wide = _odd_float64(number) if number.dtype.itemsize == 8 else number.astype(np.float64)
    return _encoded(wide, to, mode)


def _odd_float64(number: Tile) -> Tile:
    """64-bit integers as float64, rounded to odd: one bit below the 53 says that some were lost."""
    negative = number < 0
    magnitude = as_unsigned(np.where(negative, -number, number))
    low, sticky = np.uint64(0x7FF), np.uint64(0x800)
    lost = (magnitude & low) != 0
    kept = np.where(lost, (magnitude & ~low) | sticky, magnitude)
    value = np.where(magnitude >= np.uint64(1 << 53), kept, magnitude).astype(np.float64)
    return np.where(negative, -value, value)


def reinterpreted(to: Element) -> Function:
    """The same bits as another type of the same width."""
    if to.dtype == np.bool_:
        return lambda x: (x.view(np.uint8) & 1).astype(bool)
    return lambda x: x.view(to.dtype)


def packed(source: Element, x: Tile) -> Tile:
    """A tile of rank 1 as the bytes it would take in memory."""
    if source.packed:
        words = bits_of(x) & 15
        return (words[:, 0::2] | words[:, 1::2] << 4).astype(np.uint8).view(np.int8)
    if source.dtype == np.bool_:
        return np.packbits(x, axis=-1, bitorder="little").view(np.int8)
    return np.ascontiguousarray(x).view(np.int8)


def unpacked(to: Element, x: Tile) -> Tile:
    """Bytes as a tile of rank 1."""
    if to.dtype == np.bool_:
        return np.unpackbits(bits_of(x), axis=-1, bitorder="little").astype(bool)
    if not to.packed:
        return np.ascontiguousarray(x).view(to.dtype)
    octets = bits_of(x)
    words = np.stack([octets & 15, octets >> 4], axis=-1).reshape(len(x), -1)
    return ((words.view(np.int8) << 4) >> 4) if to.kind == "integer" else words.view(to.dtype)
