"""In which order CTAs take the tiles of a matrix."""

from tilewright.dialects.cute.int_tuple import is_tuple
from tilewright.dialects.cute.rules import required
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.tuples import only_scalars
from tilewright.dialects.cute.values import Typed


def check_tiles(tiles: Typed) -> None:
    """Raises RuleError unless there are tiles along two modes."""
    required(
        is_tuple(tiles.value) and len(tiles.value) == 2 and only_scalars(tiles.value),
        f"expected how many tiles there are along M and along N, got {tiles.quoted}",
    )


def tile_coord(index: Typed, tiles: Typed, swizzle: int) -> Typed:
    """The (m, n) of a tile: bands of `swizzle` tiles along M, in a band along M first, so that
    neighbours share rows and columns in the L2 cache."""
    check_tiles(tiles)
    required(swizzle >= 1, f"expected bands of at least one tile, got {swizzle}")
    rows, columns = tiles.value
    of_band = scalar.mul(columns, swizzle)
    band = scalar.div(index.value, of_band)
    within = scalar.mod(index.value, of_band)
    first = scalar.mul(band, swizzle)
    height = scalar.minimum(scalar.sub(rows, first), swizzle)
    m = scalar.add(first, scalar.mod(within, height))
    return Typed("coord", (m, scalar.div(within, height)))
