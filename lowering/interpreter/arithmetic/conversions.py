"""`cvt`, on arrays of raw bits. PTX ISA 9.7.9.21."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.scalar import DIRECTIONS
from tilewright.lowering.interpreter.arithmetic.float_conversions import float_conversion
from tilewright.lowering.interpreter.arithmetic.typed_words import (
    DTYPES,
    FLOATS,
    QUIET,
    Function,
    bits_dtype,
    kept_nan,
    raw,
    typed,
)
from tilewright.lowering.interpreter.numerics import encode, fma64, format_named, odd_sum
from tilewright.lowering.interpreter.numerics.flush import flushed
from tilewright.lowering.interpreter.values import Bits

_ROUNDINGS: dict[str, Callable[..., Any]] = {
    "rni": np.rint,
    "rmi": np.floor,
    "rpi": np.ceil,
    "rzi": np.trunc,
}
_OCTETS = ("s8", "u8")


def conversion(form: str) -> Function:
    """The function of a form: raw bits in, raw bits out."""
    *modifiers, to, source = form.split(".")
    if "pack" in modifiers:
        return partial(_packed, modifiers[2] if source == "b32" else to)
    if to == source:
        return partial(_within_f32 if to == "f32" else _rounded, modifiers)
    if to in _OCTETS:
        return partial(_widened_octet, _to_integer(modifiers, to, source), to)
    if to in _INTEGERS:
        return _to_integer(modifiers, to, source)
    is_directed = (*modifiers, "")[0] in DIRECTIONS or to == "bf16"
    if is_directed and source in ("f64", *_INTEGERS):
        return partial(_directed, to=to, source=source, rounding=modifiers[0])
    altered = {*DIRECTIONS, "relu", "satfinite"} & set(modifiers)
    if altered or {"x2", "x4", "tf32"} & {to[-2:], to}:
        return float_conversion(modifiers, to, source)
    if (to, source) == ("f32", "bf16"):
        return widened
    if "f64" in (to, source) and to in FLOATS and source in FLOATS:
        return partial(_convert_double, to=to, source=source)

    def run(a: Bits) -> Bits:
        return raw(_number(a, source).astype(DTYPES[to]), to)

    return run


_INTEGERS = ("s16", "u16", "s32", "u32", "s64", "u64")


def _number(a: Bits, type_: str) -> Any:
    """Raw bits as a number; one of 8 bits is in the low byte of its 16-bit register."""
    octet = type_ in _OCTETS and a.dtype != np.uint8
    return typed(a.astype(np.uint8) if octet else a, type_)


def _to_integer(modifiers: list[str], to: str, source: str) -> Function:
    """A number as an integer, its low bits, or the nearest of the type; of floats always that."""
    if source in FLOATS:
        return partial(_float_to_integer, to=to, source=source, modifiers=modifiers)
    low, high = _common(to, source) if modifiers else (None, None)

    def run(a: Bits) -> Bits:
        value = _number(a, source)
        return raw((np.clip(value, low, high) if modifiers else value).astype(DTYPES[to]), to)

    return run


def _widened_octet(compute: Function, type_: str, a: Bits) -> Bits:
    """8 bits with their sign or zeros above them."""
    return typed(compute(a), type_).astype(np.int16).view(np.uint16)


def _common(type_: str, other: str) -> tuple[int, int]:
    """The least and largest integer that both types have."""
    a, b = np.iinfo(DTYPES[type_]), np.iinfo(DTYPES[other])
    return max(int(a.min), int(b.min)), min(int(a.max), int(b.max))


def _packed(type_: str, a: Bits, b: Bits, *c: Bits) -> Bits:
    """Clamped integers side by side, a above b, and the low bits of c above them."""
    bits, signed = int(type_[1:]), type_[0] == "s"
    low, high = -(1 << bits - 1) * signed, (1 << bits - signed) - 1

    def part(x: Bits) -> Bits:
        return np.clip(typed(x, "s32"), low, high).view(np.uint32) & np.uint32((1 << bits) - 1)

    above = sum(word << np.uint32(2 * bits) for word in c)
    return part(a) << np.uint32(bits) | part(b) | np.uint32(above)


def widened(a: Bits) -> Bits:
    """bf16 is the upper half of f32, a NaN too (H200)."""
    return a.astype(np.uint32) << np.uint32(16)


def _rounded(modifiers: list[str], a: Bits) -> Bits:
    """f64 as a whole number."""
    return kept_nan(raw(_ROUNDINGS[modifiers[0]](typed(a, "f64")), "f64"), (a,))


def _within_f32(modifiers: list[str], a: Bits) -> Bits:
    """f32 as a whole number, without subnormal ones, or within 0 and 1, where NaN is 0."""
    value = typed(a, "f32")
    if "ftz" in modifiers:
        value = flushed(value)
    if modifiers[0] in _ROUNDINGS:
        value = _ROUNDINGS[modifiers[0]](value)
    if "sat" in modifiers:
        value = np.where(value > 0, np.minimum(value, np.float32(1)), np.float32(0))
    return raw(value, "f32")


def _directed(a: Bits, to: str, source: str, rounding: Any) -> Bits:
    """A number of more bits than the type has, rounded to one side."""
    value = typed(a, source)
    if source == "f64":
        result = encode(value, format_named(to), rounding)
        kept = _convert_double(a, "f32" if to == "bf16" else to, source)
        kept = kept >> np.uint32(16) if to == "bf16" else kept
        return np.where(np.isnan(value), kept.astype(result.dtype), result)
    # A half of 64 bits is exact in f64, their sum rounded to odd knows the side of the rest.
    wide = value.astype(np.int64 if source[0] == "s" else np.uint64)
    low = (wide & wide.dtype.type(0xFFFFFFFF)).astype(np.float64)
    high = (wide >> wide.dtype.type(32)).astype(np.float64) * 2.0**32
    if to != "f64":
        return encode(odd_sum(high, low), format_named(to), rounding)
    return raw(fma64(high, np.ones(1), low, rounding), "f64")


def _convert_double(a: Bits, to: str, source: str) -> Bits:
    """Between f64 and a smaller float: a NaN keeps its sign and the top of its payload, quiet
    (H200)."""
    narrow = typed(a, source)
    result = narrow.astype(DTYPES[to])
    bits: Bits = result.view(bits_dtype(to))
    if to == "f64":
        nan = np.isnan(result)
        return np.where(nan, bits | QUIET, bits) if nan.any() else bits
    if to == "f16":
        top = (a >> np.uint64(42)).astype(np.uint16) & 0x1FF | 0x7E00 | bits & 0x8000
        return np.where(np.isnan(result), top, bits)
    return bits


def _float_to_integer(a: Bits, to: str, source: str, modifiers: list[str]) -> Bits:
    """A whole number kept in range. NaN becomes 0, but from f64 or to 64 bits the
    sign bit alone (H200; PTX ISA 9.7.9.21 says 0)."""
    value = typed(a, source)
    dtype = np.dtype(DTYPES[to])
    info = np.iinfo(dtype)
    value = flushed(value) if "ftz" in modifiers else value
    wide = _ROUNDINGS[modifiers[0]](value.astype(np.float64))
    # The largest 64-bit integers are no f64: compare with the next power of two.
    over, under = wide >= float(info.max) + 1.0, wide < float(info.min)
    inside = np.where(np.isnan(wide) | over | under, 0.0, wide).astype(dtype)
    result = np.where(over, info.max, np.where(under, info.min, inside)).astype(dtype)
    bits = raw(result, to)
    if source == "f64" or dtype.itemsize == 8:
        sign = bits.dtype.type(1 << (8 * dtype.itemsize - 1))
        bits = np.where(np.isnan(wide), sign, bits)
    return bits
