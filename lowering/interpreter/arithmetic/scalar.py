"""Scalar instructions, on arrays of raw bits.

`scalar("add", "rn.f32")` is the function of `add.rn.f32`. Integers wrap; shifts of the width or
more give zero or the sign; a float NaN result is the canonical NaN. PTX ISA 9.7.1 to 9.7.9.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.scalar import DIRECTIONS
from tilewright.dialects.cute_nvgpu.lattice.tma import OUT_OF_BOUNDS
from tilewright.lowering.interpreter.arithmetic import bit_fields, integers, logic
from tilewright.lowering.interpreter.arithmetic.conversions import conversion
from tilewright.lowering.interpreter.arithmetic.typed_words import (
    DTYPES,
    FLOATS,
    Function,
    bits_dtype,
    kept_nan,
    of_type,
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
from tilewright.lowering.interpreter.numerics.flush import flushed, flushing
from tilewright.lowering.interpreter.values import Bits


@cache
def scalar(mnemonic: str, form: str) -> Function:
    """The function of one instruction form: raw bits in, raw bits out."""
    *modifiers, type_ = form.split(".")
    if mnemonic == "cvt":
        return conversion(form)
    if mnemonic == "setp":
        return partial(_comparison, modifiers[0], type_, flushes="ftz" in modifiers)
    if modifiers[-1:] == ["f32"] and type_ in ("f16", "bf16"):
        return _widening(scalar(mnemonic, form.removesuffix(f".{type_}")), type_)
    if type_.endswith("x4"):
        return on_halves(scalar(mnemonic, f"{form[:-1]}2"))
    if type_.endswith("x2"):
        return on_halves(scalar(mnemonic, form.removesuffix("x2")))
    if "sat" in modifiers and type_ not in FLOATS:
        compute = np.add if mnemonic == "add" else np.subtract
        return partial(integers.within_range, compute, type_)
    for word, change in _CHANGED.items():
        if word in modifiers:
            return partial(change, scalar(mnemonic, form.replace(f"{word}.", "")), type_)
    if "oob" in modifiers:
        return partial(_within_bounds, scalar(mnemonic, form.replace("oob.", "")))
    if "xorsign" in modifiers:
        return partial(_apart, scalar(mnemonic, form.replace("xorsign.abs.", "")), type_)
    if "ftz" in modifiers and modifiers[0] not in ("approx", "full"):
        fused = mnemonic if mnemonic in _ROUNDED else None
        return _flushing(fused, scalar(mnemonic, form.replace("ftz.", "")), type_)
    if modifiers and modifiers[0] in DIRECTIONS:
        compute = directed("div" if mnemonic == "rcp" else mnemonic, type_, modifiers[0])
        if mnemonic == "rcp":
            return _valued(partial(_reciprocal, compute), type_)
        if mnemonic == "fma":
            return _fused(compute, type_)
        return _valued(compute, type_, first_nan=mnemonic == "div")
    build = _BUILDERS[mnemonic]
    return build(type_, *modifiers)


_ROUNDED = ("add", "sub", "mul", "div", "sqrt", "fma", "rcp")
"""Instructions whose result may round up to the smallest normal number."""


def _pointwise(compute: Callable[..., Any]) -> Callable[..., Function]:
    """An instruction whose values are NumPy's own operation on its type."""

    def build(type_: str, *_: str) -> Function:
        return _valued(compute, type_)

    return build


def _valued(compute: Callable[..., Any], type_: str, *, first_nan: bool = False) -> Function:
    """A function of raw bits, of one on the values of a type. `first_nan`: of several NaNs the
    first is kept, as a quotient does (H100), not the last."""

    def run(*operands: Bits) -> Bits:
        result = raw(compute(*(typed(operand, type_) for operand in operands)), type_)
        kept = operands[::-1] if first_nan else operands
        return kept_nan(result, kept) if type_ == "f64" else result

    return run


def _flushing(mnemonic: str | None, compute: Function, type_: str) -> Function:
    """A function of bits of f32 or f16, with subnormal numbers taken as zeros."""

    def on_values(*operands: Any) -> Any:
        return compute(*(raw(operand, type_) for operand in operands)).view(DTYPES[type_])

    return _valued(flushing(on_values, mnemonic), type_)


def _widening(compute: Function, type_: str) -> Function:
    """A function of bits of f32, whose operands but the last are of a type that f32 contains."""
    widen = conversion(f"f32.{type_}")
    return lambda *operands: compute(*map(widen, operands[:-1]), operands[-1])


def _apart(compute: Function, type_: str, a: Bits, b: Bits) -> Bits:
    """A function of magnitudes, with a sign where those of the operands differ, but for NaN."""
    top = _sign_bit(type_)
    bits = compute(a & ~top, b & ~top)
    return np.where(np.isnan(typed(bits, type_)), bits, bits | ((a ^ b) & top))


def _sign_bit(type_: str) -> Any:
    dtype = bits_dtype(type_)
    return dtype.type(1 << (8 * dtype.itemsize - 1))


def _saturated(compute: Function, type_: str, *operands: Bits) -> Bits:
    """A result kept within 0 and 1, NaN being 0."""
    value = typed(compute(*operands), type_)
    return raw(np.where(value > 0, np.minimum(value, 1), 0), type_)


def _rectified(compute: Function, type_: str, *operands: Bits) -> Bits:
    """A result without negative numbers, which are 0; NaN stays."""
    bits = compute(*operands)
    return np.where(typed(bits, type_) <= 0, bits.dtype.type(0), bits)


def _within_bounds(compute: Function, a: Bits, b: Bits, c: Bits) -> Bits:
    """A function of f16 or bf16 that is 0 where a factor is none of the tensor (H200)."""
    is_outside = (a & 0x7FFF == OUT_OF_BOUNDS) | (b & 0x7FFF == OUT_OF_BOUNDS)
    return np.where(is_outside, a.dtype.type(0), compute(a, b, c))


_CHANGED: dict[str, Function] = {"sat": _saturated, "relu": _rectified}
"""The change that a modifier makes to a result."""


def _product(type_: str, *modifiers: str) -> Function:
    return (_pointwise(np.multiply) if type_ in FLOATS else integers.multiply)(type_, *modifiers)


def _divide(type_: str, *modifiers: str) -> Function:
    if modifiers and modifiers[0] in ("approx", "full"):
        return partial(
            special_functions.quotient, full=modifiers[0] == "full", flushes="ftz" in modifiers
        )
    if type_ in FLOATS:
        return _valued(np.divide, type_, first_nan=True)

    def run(a: Bits, b: Bits) -> Bits:
        x, y = typed(a, type_), typed(b, type_)
        _reject_zero(y)
        quotient = np.floor_divide(x, y)
        if type_[0] == "s":
            # PTX truncates toward zero where NumPy takes the floor.
            inexact = (quotient * y != x) & ((x < 0) != (y < 0))
            quotient = quotient + inexact.astype(quotient.dtype)
        return raw(quotient, type_)

    return run


@of_type
def _remainder(type_: str, a: Bits, b: Bits) -> Bits:
    divisor = typed(b, type_)
    _reject_zero(divisor)
    return raw(np.fmod(typed(a, type_), divisor), type_)


def _reject_zero(divisor: Any) -> None:
    zero = divisor == 0
    if zero.any():
        raise Fault("division by zero", int(np.argmax(zero)) // (zero.size // len(zero)))


def _extreme(larger: bool) -> Callable[..., Function]:
    """min and max: of numbers, -0 is below +0; NaN loses, unless the form says `NaN`."""
    pick = np.maximum if larger else np.minimum
    pick_number = np.fmax if larger else np.fmin

    def build(type_: str, *modifiers: str) -> Function:
        if type_ not in FLOATS:
            return _pointwise(pick)(type_)

        def run(a: Bits, b: Bits) -> Bits:
            x, y = typed(a, type_), typed(b, type_)
            result = (pick if "NaN" in modifiers else pick_number)(x, y)
            zeros = (x == 0) & (y == 0)
            signed = a & b if larger else a | b
            bits = np.where(zeros, signed, raw(result, type_))
            return kept_nan(bits, (a, b)) if type_ == "f64" else bits

        return run

    return build


def _fma(type_: str, *_: str) -> Function:
    if type_ == "f64":
        return _fused(fma64, "f64")
    if type_ == "f32":
        return _fused(fma32, "f32")
    return partial(_fma16, type_)


def on_halves(function: Function) -> Function:
    """A function of values of half the width on each half of words."""

    def run(*words: Bits) -> Bits:
        wide = np.broadcast_arrays(*words)
        dtype = wide[0].dtype
        narrow = f"uint{4 * dtype.itemsize}"
        halves = [np.ascontiguousarray(word)[..., None].view(narrow) for word in wide]
        return np.ascontiguousarray(function(*halves)).view(dtype)[..., 0]

    return run


def _fused(compute: Callable[..., Any], type_: str) -> Function:
    def run(*operands: Bits) -> Bits:
        wide = np.broadcast_arrays(*operands)
        x, y, z = (operand.view(DTYPES[type_]) for operand in wide)
        return raw(compute(x, y, z), type_)

    return run


def _fma16(type_: str, a: Bits, b: Bits, c: Bits) -> Bits:
    """f16 and bf16: the product is exact in f64; the sum is rounded to odd there, then once."""
    x, y, z = (typed(operand, type_).astype(np.float64) for operand in (a, b, c))
    return encode(odd_sum(x * y, z), format_named(type_)).astype(np.uint16)


def _special(
    compute: Callable[..., Bits], rounded: Callable[..., Any] = np.sqrt
) -> Callable[..., Function]:
    """A function of the special function unit, on bits of f32; `rn` is `rounded`."""

    def build(type_: str, *modifiers: str) -> Function:
        if modifiers[0] == "rn":
            return _valued(rounded, type_)
        if type_ in ("f16", "bf16"):
            return _narrowed(compute, type_)
        if type_ == "f64":
            fast = partial(special_functions.on_doubles, compute)
            return fast if "ftz" in modifiers else partial(special_functions.refined_rsqrt, fast)
        return compute if "ftz" in modifiers else special_functions.SCALED.get(compute, compute)

    return build


def _narrowed(compute: Function, type_: str) -> Function:
    """A function of f32 whose result is cut off to 16 bits; beyond those of f16 it is infinite
    (H200, all arguments)."""
    widen, cut = conversion(f"f32.{type_}"), conversion(f"rz.{type_}.f32")

    def run(a: Bits) -> Bits:
        value = typed(compute(widen(a)), "f32")
        beyond = (value >= 2.0**16) & (type_ == "f16")
        return cut(raw(np.where(beyond, np.float32(np.inf), value), "f32"))

    return run


def _reciprocal(divide: Callable[..., Any], x: Any) -> Any:
    return divide(np.ones_like(x), x)


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
    top = _sign_bit(type_)
    mask = top if sign else ~top

    def run(a: Bits) -> Bits:
        result = raw(change(a, mask).view(DTYPES[type_]), type_)
        return kept_nan(result, (a,)) if type_ == "f64" else result

    return run


@of_type
def _copy_sign(type_: str, a: Bits, b: Bits) -> Bits:
    top = _sign_bit(type_)
    return (b & ~top) | (a & top)


_SMALLEST = {"f32": 2.0**-126, "f64": 2.0**-1022}
_TESTS: dict[str, Callable[[Any, float], Any]] = {
    "finite": lambda x, _: np.isfinite(x),
    "infinite": lambda x, _: np.isinf(x),
    "number": lambda x, _: ~np.isnan(x),
    "notanumber": lambda x, _: np.isnan(x),
    "normal": lambda x, least: np.isfinite(x) & ((np.abs(x) >= least) | (x == 0)),
    "subnormal": lambda x, least: (np.abs(x) < least) & (x != 0),
}


def _test(type_: str, *modifiers: str) -> Function:
    def run(a: Bits) -> Bits:
        return _TESTS[modifiers[0]](typed(a, type_), _SMALLEST[type_])

    return run


_RELATIONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _comparison(relation: str, type_: str, a: Bits, b: Bits, *, flushes: bool) -> Bits:
    x, y = typed(a, type_), typed(b, type_)
    if flushes:
        x, y = flushed(x), flushed(y)
    if type_ not in FLOATS:
        return _RELATIONS[relation](x, y)
    unordered = np.isnan(x) | np.isnan(y)
    if relation in ("num", "nan"):
        return unordered if relation == "nan" else ~unordered
    if relation in _RELATIONS:
        return _RELATIONS[relation](x, y) & ~unordered
    return _RELATIONS[relation[:-1]](x, y) | unordered


_BUILDERS: dict[str, Callable[..., Function]] = {
    "add": _pointwise(np.add),
    "sub": _pointwise(np.subtract),
    "mul": _product,
    "mad": integers.multiply_add,
    "mul24": integers.multiply_24,
    "mad24": integers.multiply_24,
    "sad": integers.absolute_difference,
    "copysign": _copy_sign,
    "testp": _test,
    "fma": _fma,
    "div": _divide,
    "rem": _remainder,
    "abs": _absolute,
    "neg": _negate,
    "min": _extreme(False),
    "max": _extreme(True),
    "sqrt": _special(special_functions.sqrt),
    "ex2": _special(special_functions.ex2),
    "rcp": _special(special_functions.rcp, partial(_reciprocal, np.divide)),
    "rsqrt": _special(special_functions.rsqrt),
    "lg2": _special(special_functions.lg2),
    "sin": _special(special_functions.sin),
    "cos": _special(special_functions.cos),
    "tanh": _special(special_functions.tanh),
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
    **bit_fields.BUILDERS,
}
