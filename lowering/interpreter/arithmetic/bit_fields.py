"""Instructions on fields, bytes and single bits of words. PTX ISA 9.7.1.16 to 9.7.1.24, 9.7.6.4,
9.7.8.5, 9.7.8.6 and 9.7.9.7."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.scalar import PERMUTATIONS
from tilewright.lowering.interpreter.arithmetic import logic
from tilewright.lowering.interpreter.arithmetic.typed_words import (
    Function,
    bits_dtype,
    of_type,
    typed,
)
from tilewright.lowering.interpreter.values import Bits


def _masks(type_: str) -> Callable[[Bits, Bits], Bits]:
    """Words of so many bits from a place on; a word may not have all of them."""
    dtype = bits_dtype(type_)
    up, everything = logic.shift_left(type_), np.array([(1 << 8 * dtype.itemsize) - 1], dtype)
    return lambda place, length: up(~up(everything, length), place)


def _count(type_: str, x: Bits) -> Bits:
    """A place or length of a field: its low byte, but of 64 bits all of it (H200)."""
    return x if type_[1:] == "64" else x & np.uint32(0xFF)


def _extract(type_: str, *_: str) -> Function:
    """bfe: above the field is its highest bit, or that of the word where it ends before."""
    width, mask = int(type_[1:]), _masks(type_)
    down, zero = logic.shift_right(f"u{width}"), np.zeros(1, np.uint32)

    def run(a: Bits, b: Bits, c: Bits) -> Bits:
        place, length = _count(type_, b), _count(type_, c)
        top = np.clip(place.astype(np.int64) + length - 1, 0, width - 1).astype(np.uint32)
        negative = (down(a, top) & 1 != 0) & (length > 0) & (type_[0] == "s")
        there = np.minimum(length, np.maximum(width - place.astype(np.int64), 0)).astype(np.uint32)
        inside = mask(zero, there)
        return np.where(negative, ~inside, inside & 0) | (down(a, place) & inside)

    return run


def _insert(type_: str, *_: str) -> Function:
    mask, up = _masks(type_), logic.shift_left(type_)

    def run(a: Bits, b: Bits, c: Bits, e: Bits) -> Bits:
        inside = mask(_count(type_, c), _count(type_, e))
        return (b & ~inside) | (up(a, _count(type_, c)) & inside)

    return run


def _find(type_: str, *modifiers: str) -> Function:
    zeros, width = logic.leading_zeros(type_), int(type_[1:])

    def run(a: Bits) -> Bits:
        x = typed(a, type_)
        above = zeros(np.where(x < 0, ~a, a))
        place = above if modifiers else np.uint32(width - 1) - above
        return np.where(above == width, np.uint32(0xFFFFFFFF), place)

    return run


@logic.bitwise
def _find_nth(a: Bits, b: Bits, c: Bits) -> Bits:
    """fns: none is all bits, but counted from no place that there is it is 0 (H200)."""
    a, b, c = np.broadcast_arrays(a, b, c)
    place, offset = b.astype(np.int64), c.view(np.int32).astype(np.int64)
    left = np.where(place < 32, np.maximum(np.abs(offset), 1), 0)
    result = np.full(a.shape, 0xFFFFFFFF, np.uint32)
    for _ in range(32):
        inside = (place >= 0) & (place < 32) & (left > 0)
        is_set = inside & (a.astype(np.int64) >> np.clip(place, 0, 31) & 1 != 0)
        left = left - is_set
        result = np.where(is_set & (left == 0), place.astype(np.uint32), result)
        left = np.where(offset == 0, 0, left)
        place = place + np.sign(offset)
    return np.where(offset == -1 << 31, np.uint32(0), result)


def _amount(mode: str, x: Bits) -> Bits:
    """A count of bits of a word, at most 32, or modulo 32."""
    return x & np.uint32(31) if mode == "wrap" else np.minimum(x, np.uint32(32))


def _extend(type_: str, *modifiers: str) -> Function:
    extract, zero = _extract(type_), np.zeros(1, np.uint32)

    def run(a: Bits, b: Bits) -> Bits:
        return extract(a, zero, _amount(modifiers[0], b))

    return run


def _mask(type_: str, *modifiers: str) -> Function:
    mask = _masks(type_)

    def run(a: Bits, b: Bits) -> Bits:
        return mask(_amount(modifiers[0], a), _amount(modifiers[0], b))

    return run


def _funnel(type_: str, *modifiers: str) -> Function:
    way, mode = modifiers

    def run(a: Bits, b: Bits, c: Bits) -> Bits:
        both = b.astype(np.uint64) << np.uint64(32) | a
        amount = _amount(mode, c).astype(np.uint64)
        shifted = both << amount >> np.uint64(32) if way == "l" else both >> amount
        return shifted.astype(np.uint32)

    return run


def _permute(mode: str, *_: str) -> Function:
    """prmt: of a selector's four bits the highest takes the sign of the byte for all its bits."""

    def run(a: Bits, b: Bits, c: Bits) -> Bits:
        both = b.astype(np.uint64) << np.uint64(32) | a
        if mode != "b32":
            c = np.array(PERMUTATIONS[mode], np.uint32)[c & np.uint32(3)]
        result = np.zeros(1, np.uint32)
        for place in range(4):
            selector = (c >> np.uint32(4 * place)).astype(np.uint64)
            octet = both >> (selector & np.uint64(7)) * np.uint64(8) & np.uint64(0xFF)
            signs = (octet >> np.uint64(7)) * np.uint64(0xFF)
            chosen = np.where(selector & np.uint64(8), signs, octet).astype(np.uint32)
            result = result | chosen << np.uint32(8 * place)
        return result

    return run


@logic.bitwise
def _is_zero(a: Bits) -> Bits:
    return (a == 0).astype(a.dtype)


@of_type
def _choose(type_: str, a: Bits, b: Bits, c: Bits) -> Bits:
    return np.where(typed(c, type_) >= 0, a, b)


def _parts(x: Bits, type_: str, width: int) -> list[Any]:
    """The bytes or halves of words as signed or unsigned numbers, the lowest first."""
    numbers = np.ascontiguousarray(x)[..., None].view(
        f"{'int' if type_[0] == 's' else 'uint'}{width}"
    )
    return [numbers[..., place].astype(np.int64) for place in range(32 // width)]


def _dot(wide: int) -> Callable[..., Function]:
    """dp4a and dp2a: the products of parts of a so wide and bytes of b."""

    def build(b_type: str, *modifiers: str) -> Function:
        *half, a_type = modifiers

        def run(a: Bits, b: Bits, c: Bits) -> Bits:
            octets = _parts(b, b_type, 8)[2 * (half == ["hi"]) :]
            pairs = zip(_parts(a, a_type, wide), octets, strict=False)
            return (sum(x * y for x, y in pairs) + c.astype(np.int64)).astype(np.uint32)

        return run

    return build


def _differences(wide: int) -> Callable[..., Function]:
    """vabsdiff2 and vabsdiff4: |a - b| of parts so wide."""

    def build(*_: str) -> Function:
        def run(a: Bits, b: Bits, c: Bits) -> Bits:
            x, y = (bits.astype(np.uint32)[..., None].view(f"u{wide // 8}") for bits in (a, b))
            return (np.maximum(x, y) - np.minimum(x, y)).view(np.uint32)[..., 0]

        return run

    return build


BUILDERS: dict[str, Callable[..., Function]] = {
    "bfe": _extract,
    "bfi": _insert,
    "bfind": _find,
    "fns": _find_nth,
    "szext": _extend,
    "bmsk": _mask,
    "shf": _funnel,
    "prmt": _permute,
    "cnot": _is_zero,
    "slct": _choose,
    "dp4a": _dot(8),
    "dp2a": _dot(16),
    "vabsdiff2": _differences(16),
    "vabsdiff4": _differences(8),
}
"""The functions of their forms, of the type and what stands before it."""
