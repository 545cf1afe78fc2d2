"""Products of integers, whole or in part, and sums that do not wrap. PTX ISA 9.7.1."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.arithmetic.typed_words import (
    DTYPES,
    Function,
    of_type,
    raw,
    typed,
)
from tilewright.lowering.interpreter.values import Bits


def multiply(type_: str, *modifiers: str) -> Function:
    if modifiers and modifiers[0] == "hi":
        return partial(_multiply_high, type_)
    if modifiers and modifiers[0] == "wide":
        return partial(_product, type_, _wide_type(type_))
    return partial(_product, type_, type_)


def _product(type_: str, wide: str, a: Bits, b: Bits) -> Bits:
    return raw(typed(a, type_).astype(DTYPES[wide]) * typed(b, type_), wide)


def _wide_type(type_: str) -> str:
    """The integer type of twice the width."""
    return f"{type_[0]}{2 * int(type_[1:])}"


def multiply_add(type_: str, *modifiers: str) -> Function:
    product = multiply(type_, *modifiers)

    def run(a: Bits, b: Bits, c: Bits) -> Bits:
        return product(a, b) + c

    return run


def multiply_24(type_: str, *modifiers: str) -> Function:
    """The low 24 bits of both, as signed or unsigned numbers: the product has 48 bits."""
    up, wide = np.uint32(8), np.dtype(DTYPES[_wide_type(type_)])

    def run(a: Bits, b: Bits, *c: Bits) -> Bits:
        x, y = (typed(operand << up, type_).astype(wide) >> wide.type(8) for operand in (a, b))
        product = x * y >> wide.type(16 if modifiers[0] == "hi" else 0)
        return sum(c, product.astype(np.uint32))

    return run


@of_type
def absolute_difference(type_: str, a: Bits, b: Bits, c: Bits) -> Bits:
    """sad: |a - b| + c."""
    return np.where(typed(a, type_) > typed(b, type_), a - b, b - a) + c


def _multiply_high(type_: str, a: Bits, b: Bits) -> Bits:
    width = int(type_[1:])
    x, y = typed(a, type_), typed(b, type_)
    if width < 64:
        wide = np.int64 if type_[0] == "s" else np.uint64
        return raw((x.astype(wide) * y.astype(wide) >> wide(width)).astype(x.dtype), type_)
    high = _upper_word(a, b)
    if type_[0] == "s":
        high = high - np.where(x < 0, b, 0) - np.where(y < 0, a, 0)
    return high


def _upper_word(a: Bits, b: Bits) -> Bits:
    """The upper half of products of 64 bits, by their halves."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    middle = (a >> half) * (b & low) + ((a & low) * (b & low) >> half)
    other = (a & low) * (b >> half) + (middle & low)
    return (a >> half) * (b >> half) + (middle >> half) + (other >> half)


def within_range(compute: Callable[..., Any], type_: str, a: Bits, b: Bits) -> Bits:
    """A sum or difference of at most 32 bits, or the nearest number that its type holds."""
    exact = compute(typed(a, type_).astype(np.int64), typed(b, type_).astype(np.int64))
    bounds = np.iinfo(DTYPES[type_])
    return raw(np.clip(exact, bounds.min, bounds.max), type_)
