"""Element-wise functions of several passes, on pieces that stay in a cache with all that is made
of them; and tiles that are computed where they are stored.

Like a NumPy ufunc, such a function puts its result into `out` where that is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_types import AnyDType, Float64Array
from tilewright.lowering.interpreter.cuda_tile.elements import Tile

PIECE = 1 << 14
"""Elements of a piece."""


@frozen
class Unstored:
    """A tile that nothing but a store needs: what would compute it."""

    function: InPieces | np.ufunc
    operands: list[Tile]

    @property
    def rows(self) -> int:
        """Of how many blocks it has tiles; one may stand for all."""
        return max(map(len, self.operands))

    def tile(self) -> Tile:
        """The tile itself."""
        return self.function(*self.operands)

    def store(self, place: Tile) -> None:
        """Compute it there."""
        self.function(*self.operands, out=place)


@frozen
class InPieces:
    """`piecewise(pieces, result, room)` over tiles that broadcast to the result's shape; `room` are
    `words` float64 an element to work in, the same for every piece."""

    piecewise: Callable[[list[Tile], Tile, Float64Array], None]
    dtype: AnyDType
    words: int = 0

    def __call__(self, *tiles: Tile, out: Tile | None = None) -> Tile:
        """The function of some tiles [blocks or 1, ...], in `out` or in a new tile."""
        shape = tiles[0].shape
        if any(tile.shape != shape for tile in tiles):
            shape = np.broadcast_shapes(*(tile.shape for tile in tiles))
        if out is not None and out.shape != shape:
            out[...] = self(*tiles)
            return out
        result = np.empty(shape, self.dtype) if out is None else out
        size = math.prod(shape[1:])
        if size <= PIECE:
            self._fill(list(tiles), result, PIECE // max(1, size))
        elif result.flags.c_contiguous:
            flat = [np.broadcast_to(tile, shape).reshape(-1) for tile in tiles]
            self._fill(flat, result.reshape(-1), PIECE)
        else:
            result[...] = self(*tiles)
        return result

    def _fill(self, tiles: list[Tile], result: Tile, count: int) -> None:
        """Fill the result `count` rows at a time."""
        room = np.empty((self.words, *result[:count].shape))
        for begin in range(0, len(result), count):
            piece = slice(begin, begin + count)
            part = result[piece]
            pieces = [tile if len(tile) == 1 else tile[piece] for tile in tiles]
            self.piecewise(pieces, part, room[:, : len(part)])


def in_pieces(function: Callable[..., Tile], dtype: AnyDType) -> InPieces:
    """A function of tiles whose result has a dtype, computed piece by piece."""

    def piecewise(pieces: list[Tile], result: Tile, _: Float64Array) -> None:
        result[...] = function(*pieces)

    return InPieces(piecewise, dtype)
