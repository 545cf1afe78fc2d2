"""Instructions on bits: logic, shifts, selection, counts. PTX ISA 9.7.6 to 9.7.8."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.arithmetic.typed_words import (
    Function,
    bits_dtype,
    of_type,
    typed,
)
from tilewright.lowering.interpreter.values import Bits


def bitwise(compute: Callable[..., Any]) -> Callable[..., Function]:
    """An instruction whose result is one of NumPy's on the bits."""

    def build(type_: str, *_: str) -> Function:
        return compute

    return build


@of_type
def shift_left(type_: str, a: Bits, amount: Bits) -> Bits:
    """shl: amounts of the width or more give zero."""
    dtype = bits_dtype(type_)
    width = 8 * dtype.itemsize
    shifted = a << np.minimum(amount, width - 1).astype(dtype)
    return np.where(amount >= width, dtype.type(0), shifted)


@of_type
def shift_right(type_: str, a: Bits, amount: Bits) -> Bits:
    """shr: amounts of the width or more give zero, or the sign."""
    dtype, x = bits_dtype(type_), typed(a, type_)
    width = 8 * dtype.itemsize
    shifted: Bits = x >> np.minimum(amount, width - 1).astype(x.dtype)
    if type_[0] == "s":
        return shifted.view(dtype)
    return np.where(amount >= width, dtype.type(0), shifted)


@bitwise
def select(a: Bits, b: Bits, p: Bits) -> Bits:
    """selp."""
    return np.where(p, a, b)


@bitwise
def population(a: Bits) -> Bits:
    """popc: the bits that are set."""
    return np.bitwise_count(a).astype(np.uint32)


@bitwise
def leading_zeros(a: Bits) -> Bits:
    """clz."""
    width = 8 * a.dtype.itemsize
    # Every bit below the highest one set, too: what is not set then is above it.
    filled = a.copy()
    for shift in (1, 2, 4, 8, 16, 32)[: width.bit_length() - 1]:
        filled |= filled >> a.dtype.type(shift)
    return (width - np.bitwise_count(filled)).astype(np.uint32)


@bitwise
def bits_reversed(a: Bits) -> Bits:
    """brev."""
    width = 8 * a.dtype.itemsize
    # Neighbours change places: bits, pairs of bits, and so on.
    for shift in (1, 2, 4, 8, 16, 32)[: width.bit_length() - 1]:
        low = a.dtype.type(((1 << width) - 1) // ((1 << shift) + 1))
        by = a.dtype.type(shift)
        a = (a >> by & low) | (a & low) << by
    return a
