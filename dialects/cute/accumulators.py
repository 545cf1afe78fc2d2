"""Accumulators: which registers of a thread hold which rows and columns of a tile.

Two MMAs in a row, as attention chains them, with a reduction between them:

    along            the registers (V,M,N), one for each row: strides of 0 along columns
    lanes_along      with which lanes a thread shares its rows
    as_operand_a     where the second MMA's A is among the accumulators of the first

The 16x8 accumulators of `mma.sync` on a tile of 16x16, two atoms along N, and the 16x16 A that
they are for the next one, are in the same registers, though not numbered so:

    C   ((2,2),1,2):((1,2),4,4)        A   ((2,2,2),1,1)      order   ((2,2,2),1,1):((1,2,4),4,8)
"""

from collections.abc import Collection

from tilewright.dialects.cute.algebra import composition, equivalent
from tilewright.dialects.cute.int_tuple import LayoutError, unflatten
from tilewright.dialects.cute.inverse import left_inverse
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.tiled_mma import TiledMma

WARP = 32


def along(mma: TiledMma, extents: tuple[int, int], modes: Collection[int]) -> Layout:
    """The registers of a thread's part of C, a tile of these extents, as (V,M,N): one for each
    place along the modes (0 rows, 1 columns), side by side, shared along the other.

    Raises LayoutError where the tiled MMA does not divide the tile.
    """
    places = mma.partition("C", Layout(extents))
    strides: list[int] = []
    count = 1
    for extent, step in places.leaves:
        kept = int(step >= extents[0]) in modes
        strides.append(count if kept else 0)
        count *= extent if kept else 1
    return Layout(places.shape, unflatten(tuple(strides), places.shape))


def lanes_along(mma: TiledMma, mode: int) -> list[int]:
    """The bits of a lane's number that lead along a mode of C (0 rows, 1 columns): a reduction
    along it goes on over these.

    Raises LayoutError where other warps have some of that mode, too.
    """
    tv, rows = mma.tv_layout("C"), mma.tile_of("C")[0]
    lanes: list[int] = []
    for bit in (1 << i for i in range((mma.threads - 1).bit_length())):
        place = tv((bit, 0))
        if (place % rows, place // rows)[mode]:
            lanes.append(bit)
    if lanes and lanes[-1] >= WARP:
        raise LayoutError(
            f"expected each warp to have all of mode {mode} of C, got atoms {mma.atom_layout}"
        )
    return lanes


def as_operand_a(first: TiledMma, second: TiledMma, extents: tuple[int, int]) -> Layout:
    """The accumulators of one tiled MMA on a tile of these extents, numbered as `along` does, as
    the A (V,M,K) of another.

    Raises LayoutError unless every thread has the same elements of both.
    """
    c, a = first.partition("C", Layout(extents)), second.partition("A", Layout(extents))
    threads = first.tv_layout("C")[0], second.tv_layout("A")[0]
    order = composition(left_inverse(c), a)
    if not (equivalent(*threads) and equivalent(composition(c, order), a)):
        raise LayoutError(
            "expected accumulators that are where A is read, got "
            f"C {first.tv_layout('C')} and A {second.tv_layout('A')}"
        )
    return order
