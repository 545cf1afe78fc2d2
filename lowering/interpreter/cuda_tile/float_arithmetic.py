"""Element-wise floating-point arithmetic with rounding modes and flush-to-zero.

To the nearest, NumPy's own f32 and f64 are IEEE 754's; f16 and bf16 are computed in f32, whose 24
bits make the second rounding harmless (2p + 2, Figueroa 1995). Towards a direction the value goes
through a float64 that is exact or lies on the right side of every boundary of the format.
"""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.array_types import AnyDType, Float64Array
from tilewright.lowering.interpreter.cuda_tile.elements import Element, Tile
from tilewright.lowering.interpreter.cuda_tile.pieces import InPieces, in_pieces
from tilewright.lowering.interpreter.numerics import Rounding, encode, fma32, fma64, odd_sum
from tilewright.lowering.interpreter.numerics.directed import directed
from tilewright.lowering.interpreter.numerics.flush import flushing

Function = Callable[..., Tile]
Binary = Callable[[Tile, Tile], Tile]
Ternary = Callable[[Tile, Tile, Tile], Tile]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_SUBNORMAL_HALVES = np.float32(2.0**-125)
_ABOVE_28 = np.uint64(64 - 28)
ROUNDINGS: dict[str, Rounding] = {
    "nearest_even": "rn",
    "zero": "rz",
    "negative_inf": "rm",
    "positive_inf": "rp",
}
_UFUNCS: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sqrt": np.sqrt,
}


def arithmetic(name: str, element: Element, rounding: str, *, flush: bool = False) -> Function:
    """The function of an operation (add, sub, mul, div, sqrt, fma) on tiles of one element type."""
    mode = ROUNDINGS[rounding]
    if name == "fma":
        function = _fused(element, mode)
    elif mode == "rn":
        function = in_float32(_UFUNCS[name], element.dtype)
    else:
        function = _directed(name, element, mode)
    return flushing(function, name) if flush else function


def widened(tile: Tile) -> NDArray[np.float32]:
    """f16 or bf16 as f32, exactly."""
    if tile.dtype != BFLOAT16:
        return tile.astype(np.float32, order="C")
    words = tile.view(np.uint16).astype(np.uint32, order="C")
    words <<= 16
    return words.view(np.float32)


def narrowed(tile: NDArray[np.float32], dtype: AnyDType) -> Tile:
    """f32 rounded to f16 or bf16, to nearest even."""
    if dtype != BFLOAT16:
        return tile.astype(dtype)
    words = np.ascontiguousarray(tile).view(np.uint32)
    nan = np.isnan(tile)
    rounded = words >> 16
    rounded &= 1
    rounded += words
    rounded += 0x7FFF
    rounded >>= 16
    narrow = rounded.astype(np.uint16)
    if nan.any():
        narrow[nan] = 0x7FFF
    return narrow.view(BFLOAT16)


def in_float32(function: Function, dtype: AnyDType) -> Function:
    """A function of f32 on f16 or bf16: widened, computed, rounded."""
    if dtype.itemsize >= 4:
        return function
    return in_pieces(lambda *tiles: narrowed(function(*map(widened, tiles)), dtype), dtype)


def _directed(name: str, element: Element, mode: Rounding) -> Function:
    if element.name in ("f32", "f64"):
        return directed(name, element.name, mode)
    assert element.format is not None
    fmt, dtype, ufunc = element.format, element.dtype, _UFUNCS[name]

    def run(*tiles: Tile) -> Tile:
        wide = [tile.astype(np.float64) for tile in tiles]
        if name in ("add", "sub"):
            other = wide[1] if name == "add" else -wide[1]
            return encode(fma64(wide[0], np.ones(1), other, mode), fmt, mode).view(dtype)
        return encode(np.asarray(ufunc(*wide)), fmt, mode).view(dtype)

    return run


def _fused(element: Element, mode: Rounding) -> Ternary:
    dtype = element.dtype
    if dtype == np.float32 and mode == "rn":
        return _FUSED32
    if element.name in ("f32", "f64"):
        return directed("fma", element.name, mode)
    fmt = element.format
    assert fmt is not None

    def narrow(x: Tile, y: Tile, z: Tile) -> Tile:
        # Rounded to odd in f32, the exact sum still knows its side of every 16-bit boundary.
        wide = [tile.astype(np.float64) for tile in (x, y, z)]
        product = wide[0] * wide[1]
        total = odd_sum(product, wide[2])
        if mode == "rm":
            # Terms that cancel make -0.
            cancel = (total == 0) & (np.signbit(product) | np.signbit(wide[2]))
            total = np.where(cancel, -0.0, total)
        return encode(total, fmt, mode).view(dtype)

    return narrow


def _fuse_piece(tiles: list[Tile], result: Tile, room: Float64Array) -> None:
    """x * y + z in f32, to the nearest: by float64, and again where the two roundings may differ.

    They can only where the float64 sum is inexact and lies halfway between two f32: its low 29
    bits are 1 and zeros, or more of them zeros below the normal range.
    """
    total, other = room
    np.copyto(total, tiles[0])
    np.copyto(other, tiles[1])
    np.multiply(total, other, total)
    np.copyto(other, tiles[2])
    np.add(total, other, total)
    np.copyto(result, total, casting="same_kind")
    # Zeros in the low 28 bits are all that a piece is asked for at first.
    lowest = np.left_shift(total.view(np.uint64), _ABOVE_28, other.view(np.uint64))
    if not lowest.min(initial=1):
        _fuse_again(tiles, result, total)


def _fuse_again(tiles: list[Tile], result: Tile, total: Float64Array) -> None:
    halfway = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    # A zero is exact: products of f32 do not underflow in float64.
    halfway |= (np.abs(result) < _SUBNORMAL_HALVES) & (total != 0)
    if halfway.any():
        x, y, z = (np.broadcast_to(tile, halfway.shape)[halfway] for tile in tiles)
        result[halfway] = fma32(x, y, z)


_FUSED32 = InPieces(_fuse_piece, np.dtype(np.float32), words=2)
