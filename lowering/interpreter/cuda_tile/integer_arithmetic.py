"""Element-wise integer arithmetic: two's complement, wrapping; i1 is arithmetic modulo 2. What is
undefined is a number too: rules/undefined_results.py says where."""

from collections.abc import Callable

import numpy as np

from tilewright.lowering.interpreter.cuda_tile.elements import (
    Tile,
    as_signed,
    as_unsigned,
    unsigned,
)

Function = Callable[..., Tile]
Binary = Callable[[Tile, Tile], Tile]
RELATIONS: dict[str, Binary] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_than_or_equal": np.less_equal,
    "greater_than": np.greater,
    "greater_than_or_equal": np.greater_equal,
}


def _modulo_two(on_bits: Binary, on_words: Binary) -> Binary:
    return lambda x, y: on_bits(x, y) if x.dtype == np.bool_ else on_words(x, y)


def _shifted_left(x: Tile, y: Tile) -> Tile:
    width = 1 if x.dtype == np.bool_ else 8 * x.dtype.itemsize
    amount, bits = as_unsigned(y), as_unsigned(x)
    shifted = np.left_shift(bits, np.minimum(amount, width - 1).astype(bits.dtype))
    return np.where(amount < width, shifted, 0).astype(bits.dtype).view(x.dtype)


def shifted_right(signed: bool, x: Tile, y: Tile) -> Tile:
    """x >> y with y unsigned; a shift by the width or more leaves sign bits, or zeros."""
    width = 1 if x.dtype == np.bool_ else 8 * x.dtype.itemsize
    amount = as_unsigned(y)
    inside = np.minimum(amount, width - 1)
    if inside.size and len(inside) == 1 and (inside == (one := inside.flat[0])).all():
        inside = one  # NumPy is many times as fast with one amount for all
    if signed:
        return np.right_shift(x, inside.astype(x.dtype))
    bits = as_unsigned(x)
    shifted = np.where(amount < width, np.right_shift(bits, inside.astype(bits.dtype)), 0)
    return shifted.astype(bits.dtype).view(x.dtype)


WRAPPING: dict[str, Function] = {
    "addi": _modulo_two(np.bitwise_xor, np.add),
    "subi": _modulo_two(np.bitwise_xor, np.subtract),
    "muli": _modulo_two(np.bitwise_and, np.multiply),
    "shli": _shifted_left,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
}


def negated(x: Tile) -> Tile:
    """-x, wrapping; of an i1, x itself."""
    return x if x.dtype == np.bool_ else np.negative(x)


def magnitude(x: Tile) -> Tile:
    """|x| of a signed integer, whose result reads as unsigned."""
    return x if x.dtype == np.bool_ else np.abs(x)


def overflowing(name: str, view: Callable[[Tile], Tile], *tiles: Tile) -> Tile:
    """Where the result, read through a view as the operands are, is not the true one."""
    exact: dict[str, Function] = {
        "addi": np.add,
        "subi": np.subtract,
        "muli": np.multiply,
        "negi": np.negative,
    }
    wrapped = negated(*tiles) if name == "negi" else WRAPPING[name](*tiles)
    wide = [view(tile).astype(np.float64) for tile in tiles]
    if name == "shli":
        value = wide[0] * np.exp2(as_unsigned(tiles[1]).astype(np.float64))
    else:
        value = exact[name](*wide)
    # float64 rounds by less than wrapping changes: a multiple of the width's power of two.
    return np.abs(view(wrapped).astype(np.float64) - value) > np.abs(value) * 2.0**-40 + 0.5


def compared(predicate: str, signed: bool) -> Binary:
    """A comparison of integers, as i1."""
    relation, view = RELATIONS[predicate], as_signed if signed else as_unsigned
    return lambda x, y: relation(view(x), view(y))


def extreme(x: Tile, y: Tile, *, larger: bool, signed: bool) -> Tile:
    """The larger or the smaller of two integers."""
    view, ufunc = as_signed if signed else as_unsigned, np.maximum if larger else np.minimum
    chosen = ufunc(view(x), view(y))
    return chosen != 0 if x.dtype == np.bool_ else chosen.view(x.dtype)


def upper_half(x: Tile, y: Tile) -> Tile:
    """The upper half of the unsigned product."""
    a, b = as_unsigned(x), as_unsigned(y)
    if x.dtype == np.bool_:
        return np.zeros(np.broadcast_shapes(x.shape, y.shape), bool)
    width = 8 * x.dtype.itemsize
    if width < 64:
        product = a.astype(np.uint64) * b.astype(np.uint64)
        return (product >> np.uint64(width)).astype(a.dtype).view(x.dtype)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a_low, a_high, b_low, b_high = a & low, a >> half, b & low, b >> half
    cross = (a_low * b_low >> half) + (a_high * b_low & low) + a_low * b_high
    return (a_high * b_high + (a_high * b_low >> half) + (cross >> half)).view(x.dtype)


def divided(signed: bool, rounding: str, x: Tile, y: Tile) -> Tile:
    """x / y towards zero, minus or plus infinity; by zero all ones."""
    a, b = _numbers(x, y, signed)
    zero = b == 0
    safe = np.where(zero, b.dtype.type(1), b)
    quotient = a // safe
    inexact = quotient * safe != a
    if rounding == "positive_inf":
        quotient = quotient + inexact
    elif rounding == "zero" and signed:
        quotient = quotient + (inexact & ((a < 0) != (safe < 0)))
    return _held(np.where(zero, ~b, quotient), x)


def remainder(signed: bool, x: Tile, y: Tile) -> Tile:
    """The remainder of truncated division, with the dividend's sign; of a zero divisor, the
    dividend."""
    a, b = _numbers(x, y, signed)
    return _held(np.where(b == 0, a, np.fmod(a, np.where(b == 0, b.dtype.type(1), b))), x)


def _numbers(x: Tile, y: Tile, signed: bool) -> tuple[Tile, Tile]:
    view = as_signed if signed else as_unsigned
    return view(x), view(y)


def _held(result: Tile, x: Tile) -> Tile:
    """A result in the dtype that tiles of its type are held in."""
    if x.dtype == np.bool_:
        return (result & 1).astype(bool)
    return result.astype(unsigned(x.dtype), copy=False).view(x.dtype)
