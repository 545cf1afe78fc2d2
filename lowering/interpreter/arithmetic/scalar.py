"""Scalar instructions, on arrays of raw bits.

`scalar("add", "rn.f32")` is the function of `add.rn.f32`. Integers wrap; shifts of the width or
more give zero or the sign; a float NaN result is the canonical NaN. PTX ISA 9.7.1 to 9.7.9.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.scalar import DIRECTIONS, FLUSHING
from tilewright.lowering.interpreter.arithmetic import logic
from tilewright.lowering.interpreter.arithmetic.float_conversions import float_conversion
from tilewright.lowering.interpreter.arithmetic.typed_words import (
    DTYPES,
    FLOATS,
    bits_dtype,
    raw,
    typed,
)
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.numerics import (
    encode,
    fma32,
    fma64,
    format_named,
    odd_sum,
    special_functions,
)
from tilewright.lowering.interpreter.numerics.directed import directed
from tilewright.lowering.interpreter.numerics.flush import flushing
from tilewright.lowering.interpreter.values import Bits

Function = Callable[..., Bits]


@cache
def scalar(mnemonic: str, form: str) -> Function:
    """The function of one instruction form: raw bits in, raw bits out."""
    *modifiers, type_ = form.split(".")
    if mnemonic == "cvt":
        return _conversion(form)
    if mnemonic == "setp":
        return _comparison(modifiers[0], type_)
    if FLUSHING in form and modifiers[0] != "approx":
        return _flushing(mnemonic, scalar(mnemonic, form.replace(FLUSHING, ".")))
    if modifiers and modifiers[0] in DIRECTIONS:
        compute = directed(mnemonic, type_, modifiers[0])
        if mnemonic == "fma":
            return _fused(compute, type_)
        return _valued(compute, type_, first_nan=mnemonic == "div")
    build = _BUILDERS[mnemonic]
    return build(type_, *modifiers)


def _pointwise(compute: Callable[..., Any]) -> Callable[..., Function]:
    """An instruction whose values are NumPy's own operation on its type."""

    def build(type_: str, *_: str) -> Function:
        return _valued(compute, type_)

    return build


def _valued(compute: Callable[..., Any], type_: str, *, first_nan: bool = False) -> Function:
    """A function of raw bits, of one on the values of a type. `first_nan`: of several NaNs the
    first is kept, as a quotient does (H100), not the last."""

    def run(*operands: Bits) -> Bits:
        with np.errstate(all="ignore"):
            result = raw(compute(*(typed(operand, type_) for operand in operands)), type_)
        kept = operands[::-1] if first_nan else operands
        return _kept_nan(result, kept) if type_ == "f64" else result

    return run


_QUIET = np.uint64(1 << 51)
_INVALID = np.uint64(0xFFF8000000000000)


def _kept_nan(result: Bits, operands: tuple[Bits, ...]) -> Bits:
    """An f64 NaN is the last operand that is NaN, quieted, sign and payload kept; where none is,
    the operation was invalid and has its own (H200)."""
    nan = np.isnan(result.view(np.float64))
    if not nan.any():
        return result
    kept = np.where(nan, _INVALID, result)
    for operand in operands:
        kept = np.where(nan & np.isnan(operand.view(np.float64)), operand | _QUIET, kept)
    return kept


def _flushing(mnemonic: str, compute: Function) -> Function:
    """A function of bits of f32, with subnormal numbers taken as zeros."""

    def on_values(*operands: Any) -> Any:
        return compute(*(raw(operand, "f32") for operand in operands)).view(np.float32)

    return _valued(flushing(on_values, mnemonic), "f32")


# Integers and floats


def _divide(type_: str, *_: str) -> Function:
    if type_ in FLOATS:
        return _valued(np.divide, type_, first_nan=True)

    def run(a: Bits, b: Bits) -> Bits:
        x, y = typed(a, type_), typed(b, type_)
        _reject_zero(y)
        with np.errstate(all="ignore"):
            quotient = np.floor_divide(x, y)
            if type_[0] == "s":
                # PTX truncates toward zero where NumPy takes the floor.
                inexact = (quotient * y != x) & ((x < 0) != (y < 0))
                quotient = quotient + inexact.astype(quotient.dtype)
        return raw(quotient, type_)

    return run


def _remainder(type_: str, *_: str) -> Function:
    def run(a: Bits, b: Bits) -> Bits:
        x, y = typed(a, type_), typed(b, type_)
        _reject_zero(y)
        with np.errstate(all="ignore"):
            return raw(np.fmod(x, y), type_)

    return run


def _reject_zero(divisor: Any) -> None:
    zero = divisor == 0
    if zero.any():
        raise Fault("division by zero", int(np.argmax(zero)) // (zero.size // len(zero)))


def _multiply(type_: str, *modifiers: str) -> Function:
    if modifiers and modifiers[0] == "hi":
        return _multiply_high(type_)
    return _pointwise(np.multiply)(type_)


def _multiply_high(type_: str) -> Function:
    width = int(type_[1:])

    def run(a: Bits, b: Bits) -> Bits:
        x, y = typed(a, type_), typed(b, type_)
        if width < 64:
            wide = np.int64 if type_[0] == "s" else np.uint64
            return raw((x.astype(wide) * y.astype(wide) >> wide(width)).astype(x.dtype), type_)
        high = _upper_word(a, b)
        if type_[0] == "s":
            high = high - np.where(x < 0, b, 0) - np.where(y < 0, a, 0)
        return high

    return run


def _upper_word(a: Bits, b: Bits) -> Bits:
    """The upper half of products of 64 bits, by their halves."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    middle = (a >> half) * (b & low) + ((a & low) * (b & low) >> half)
    other = (a & low) * (b >> half) + (middle & low)
    return (a >> half) * (b >> half) + (middle >> half) + (other >> half)


def _extreme(larger: bool) -> Callable[..., Function]:
    """min and max: of numbers, -0 is below +0; NaN loses, unless the form says `NaN`."""
    pick = np.maximum if larger else np.minimum
    pick_number = np.fmax if larger else np.fmin

    def build(type_: str, *modifiers: str) -> Function:
        if type_ not in FLOATS:
            return _pointwise(pick)(type_)

        def run(a: Bits, b: Bits) -> Bits:
            x, y = typed(a, type_), typed(b, type_)
            with np.errstate(all="ignore"):
                result = (pick if "NaN" in modifiers else pick_number)(x, y)
                zeros = (x == 0) & (y == 0)
            signed = a & b if larger else a | b
            bits = np.where(zeros, signed, raw(result, type_))
            return _kept_nan(bits, (a, b)) if type_ == "f64" else bits

        return run

    return build


def _fma(type_: str, *_: str) -> Function:
    if type_ == "f64":
        return _fused(fma64, "f64")
    if type_ == "f32":
        return _fused(fma32, "f32")
    single = partial(_fma16, type_.removesuffix("x2"))
    return _on_halves(single) if type_.endswith("x2") else single


def _on_halves(function: Function) -> Function:
    """A function of 16-bit values on each half of words."""

    def run(*words: Bits) -> Bits:
        wide = np.broadcast_arrays(*words)
        halves = [np.ascontiguousarray(word)[..., None].view(np.uint16) for word in wide]
        return np.ascontiguousarray(function(*halves)).view(np.uint32)[..., 0]

    return run


def _fused(compute: Callable[..., Any], type_: str) -> Function:
    def run(*operands: Bits) -> Bits:
        wide = np.broadcast_arrays(*operands)
        x, y, z = (np.ascontiguousarray(operand).view(DTYPES[type_]) for operand in wide)
        return raw(compute(x, y, z), type_)

    return run


def _fma16(type_: str, a: Bits, b: Bits, c: Bits) -> Bits:
    """f16 and bf16: the product is exact in f64; the sum is rounded to odd there, then once."""
    x, y, z = (typed(operand, type_).astype(np.float64) for operand in (a, b, c))
    with np.errstate(all="ignore"):
        return encode(odd_sum(x * y, z), format_named(type_)).astype(np.uint16)


def _special(compute: Callable[..., Bits]) -> Callable[..., Function]:
    """A function of the special function unit, on bits of f32."""

    def build(type_: str, *_: str) -> Function:
        return special_functions.on_doubles(compute) if type_ == "f64" else compute

    return build


def _negate(type_: str, *_: str) -> Function:
    if type_ not in FLOATS:
        return _pointwise(np.negative)(type_)
    return _on_sign(type_, np.bitwise_xor, 1)


def _absolute(type_: str, *_: str) -> Function:
    if type_ not in FLOATS:
        return _pointwise(np.abs)(type_)
    return _on_sign(type_, np.bitwise_and, 0)


def _on_sign(type_: str, change: Callable[..., Any], sign: int) -> Function:
    """A float with its sign bit changed; a NaN keeps its sign."""
    dtype = bits_dtype(type_)
    top = 1 << (8 * dtype.itemsize - 1)
    mask = dtype.type(top if sign else top - 1)

    def run(a: Bits) -> Bits:
        result = raw(change(a, mask).view(DTYPES[type_]), type_)
        return _kept_nan(result, (a,)) if type_ == "f64" else result

    return run


def _multiply_add(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


_RELATIONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _comparison(relation: str, type_: str) -> Function:
    def run(a: Bits, b: Bits) -> Bits:
        x, y = typed(a, type_), typed(b, type_)
        if type_ not in FLOATS:
            return _RELATIONS[relation](x, y)
        with np.errstate(all="ignore"):
            unordered = np.isnan(x) | np.isnan(y)
            if relation in ("num", "nan"):
                return unordered if relation == "nan" else ~unordered
            if relation in _RELATIONS:
                return _RELATIONS[relation](x, y) & ~unordered
            return _RELATIONS[relation[:-1]](x, y) | unordered

    return run


# Conversions


_ROUNDINGS: dict[str, Callable[..., Any]] = {
    "rni": np.rint,
    "rmi": np.floor,
    "rpi": np.ceil,
    "rzi": np.trunc,
}


def _conversion(form: str) -> Function:
    *modifiers, to, source = form.split(".")
    if to == source:
        return _pointwise(_ROUNDINGS[modifiers[0]])(to)
    if to in ("s8", "u8"):
        return partial(_to_octet, to=to, source=source, rounding=modifiers[0])
    if {"x2", "x4", "tf32"} & {to[-2:], to} or {"rz", "relu", "satfinite"} & set(modifiers):
        return float_conversion(modifiers, to, source)
    if to[0] in "su" and source in FLOATS:
        return partial(_float_to_integer, to=to, source=source)
    if "f64" in (to, source) and to in FLOATS and source in FLOATS:
        return partial(_convert_double, to=to, source=source)

    def run(a: Bits) -> Bits:
        # An 8-bit source is the low byte of its 16-bit register.
        value = a.astype(np.uint8) if source in ("s8", "u8") and a.dtype != np.uint8 else a
        with np.errstate(all="ignore"):
            return raw(typed(value, source).astype(DTYPES[to]), to)

    return run


def _convert_double(a: Bits, to: str, source: str) -> Bits:
    """Between f64 and a smaller float: a NaN keeps its sign and the top of its payload (H200)."""
    narrow = typed(a, source)
    with np.errstate(all="ignore"):
        result = narrow.astype(DTYPES[to])
    bits: Bits = result.view(bits_dtype(to))
    if to == "f64":
        nan = np.isnan(result)
        return np.where(nan, bits | _QUIET, bits) if nan.any() else bits
    return bits


def _to_octet(a: Bits, to: str, source: str, rounding: str) -> Bits:
    """Clamped to 8 bits, with its sign or zeros above them; NaN becomes 0."""
    info = np.iinfo(DTYPES[to])
    with np.errstate(all="ignore"):
        value = np.nan_to_num(typed(a, source).astype(np.float64), posinf=np.inf, neginf=-np.inf)
    if rounding in _ROUNDINGS:
        value = _ROUNDINGS[rounding](value)
    return np.clip(value, info.min, info.max).astype(np.int16).view(np.uint16)


def _float_to_integer(a: Bits, to: str, source: str) -> Bits:
    """Truncated toward zero and kept in range. NaN becomes 0, but from f64 or to 64 bits the
    sign bit alone (H200; PTX ISA 9.7.9.21 says 0)."""
    value = typed(a, source)
    dtype = np.dtype(DTYPES[to])
    info = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        wide = np.trunc(value.astype(np.float64))
        # The largest 64-bit integers are no f64: compare with the next power of two.
        over, under = wide >= float(info.max) + 1.0, wide < float(info.min)
        inside = np.where(np.isnan(wide) | over | under, 0.0, wide).astype(dtype)
    result = np.where(over, info.max, np.where(under, info.min, inside)).astype(dtype)
    bits = raw(result, to)
    if source == "f64" or dtype.itemsize == 8:
        sign = bits.dtype.type(1 << (8 * dtype.itemsize - 1))
        bits = np.where(np.isnan(wide), sign, bits)
    return bits


_BUILDERS: dict[str, Callable[..., Function]] = {
    "add": _pointwise(np.add),
    "sub": _pointwise(np.subtract),
    "mul": _multiply,
    "mad": _pointwise(_multiply_add),
    "fma": _fma,
    "div": _divide,
    "rem": _remainder,
    "abs": _absolute,
    "neg": _negate,
    "min": _extreme(False),
    "max": _extreme(True),
    "sqrt": _pointwise(np.sqrt),
    "ex2": _special(special_functions.ex2),
    "rcp": _special(special_functions.rcp),
    "rsqrt": _special(special_functions.rsqrt),
    "lg2": _special(special_functions.lg2),
    "and": logic.bitwise(np.bitwise_and),
    "or": logic.bitwise(np.bitwise_or),
    "xor": logic.bitwise(np.bitwise_xor),
    "not": logic.bitwise(np.invert),
    "popc": logic.population,
    "clz": logic.leading_zeros,
    "brev": logic.bits_reversed,
    "shl": logic.shift_left,
    "shr": logic.shift_right,
    "selp": logic.select,
}
