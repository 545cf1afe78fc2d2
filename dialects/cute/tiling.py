"""Division and product: taking a layout apart into tiles, and building one from tiles.

Both pair a layout with what its tiler leaves out:

    logical_divide(A, B)  = A o (B, complement(B))       (elements of a tile, tiles)
    logical_product(A, B) = (A, complement(A) o B)       (the tile A, its copies in the order of B)

The tiler may be a layout, which tiles the layout's indices, or a tuple, which tiles mode by mode.
The variants gather the halves differently. For a 2-D A tiled by (X, Y), what is left in lower case:

    logical  ((X, x), (Y, y))       zipped  ((X, Y), (x, y))
    tiled    ((X, Y), x, y)         flat    (X, Y, x, y)
    blocked  ((X, x), (Y, y))       raked   ((x, X), (y, Y))        products only
"""

from collections.abc import Callable
from typing import Any

from tilewright.dialects.cute.algebra import Tiler, coalesce, complement, composition
from tilewright.dialects.cute.int_tuple import (
    IntTuple,
    LayoutError,
    Shape,
    product_each,
    rank,
    to_text,
)
from tilewright.dialects.cute.layout import (
    Layout,
    append_to_rank,
    make_layout,
    make_ordered_layout,
    make_unchecked,
)
from tilewright.dialects.cute.swizzle import on_outer
from tilewright.dialects.cute.symbolic.tuples import ceil_div

# --- divide ---------------------------------------------------------------------------------------


@on_outer
def logical_divide(layout: Layout, tiler: Tiler) -> Layout:
    """(elements of a tile, tiles): A o (B, complement(B)), where B is the tiler.

    16:1 by 4:2 -> (4,(2,2)):(2,(1,8)). A tuple divides mode by mode, further modes stay; an integer
    n stands for n:1, None leaves its mode undivided. Raises LayoutError when the tiler has too many
    modes, is not injective, or does not compose with the layout.
    """
    if not isinstance(tiler, Layout):
        return _by_tiler(logical_divide, layout, tiler)
    rest = complement(tiler, coalesce(layout))
    return composition(
        layout, make_unchecked((tiler.shape, rest.shape), (tiler.stride, rest.stride))
    )


def _by_tiler(
    operation: Callable[..., Any], layout: Layout, tiler: int | tuple[Tiler, ...] | None
) -> Layout:
    """`operation` by what stands for layouts: n for n:1, a tuple for one a mode, None for none."""
    if tiler is None:
        return layout
    if not isinstance(tiler, tuple):
        return operation(layout, Layout(tiler, 1))
    modes = list(layout)
    if len(tiler) > len(modes):
        raise LayoutError(
            f"{operation.__name__}: expected at most {len(modes)} tilers for {layout}, "
            f"got {len(tiler)}"
        )
    return make_layout(*map(operation, modes, tiler), *modes[len(tiler) :])


@on_outer
def zipped_divide(layout: Layout, tiler: Tiler) -> Layout:
    """`logical_divide` with the tiles gathered in front: ((X, Y), (x, y)).

    (6,8):(8,1) by (3,4) -> ((3,4),(2,2)):((8,1),(24,4)). A None in the tiler takes its mode as
    already divided. Raises LayoutError as `logical_divide`, and where such a mode has not rank 2.
    """
    return _gather(logical_divide(layout, tiler), tiler)


@on_outer
def tiled_divide(layout: Layout, tiler: Tiler) -> Layout:
    """`zipped_divide` with the rest as modes of its own: ((X, Y), x, y). Raises as it does."""
    return tiled(zipped_divide(layout, tiler))


@on_outer
def flat_divide(layout: Layout, tiler: Tiler) -> Layout:
    """`zipped_divide` with all modes of their own: (X, Y, x, y). Raises as it does."""
    return flat(zipped_divide(layout, tiler))


def tiled(zipped: Layout) -> Layout:
    """((X, Y), (x, y)) -> ((X, Y), x, y). Raises LayoutError for what has no two halves."""
    tile, rest = _halves(zipped)
    return make_layout(tile, *rest)


def flat(zipped: Layout) -> Layout:
    """((X, Y), (x, y)) -> (X, Y, x, y). Raises LayoutError for what has no two halves."""
    tile, rest = _halves(zipped)
    return make_layout(*tile, *rest)


def _halves(layout: Layout) -> Layout:
    if layout.rank() != 2:
        raise LayoutError(f"expected a mode that is divided in two, got {layout}")
    return layout


def _gather(layout: Layout, tiler: Tiler) -> Layout:
    """((X, x), (Y, y), z) -> ((X, Y), (x, y, z)), the pairs standing where the tiler has leaves."""
    if not isinstance(tiler, tuple):
        return _halves(layout)
    modes = list(layout)
    pairs = list(map(_gather, modes, tiler))
    return make_layout(
        make_layout(*(pair.mode(0) for pair in pairs)),
        make_layout(*(pair.mode(1) for pair in pairs), *modes[len(pairs) :]),
    )


# --- product --------------------------------------------------------------------------------------


@on_outer
def logical_product(block: Layout, tiler: Tiler) -> Layout:
    """(the block, its copies): (A, complement(A) o B), where B is the tiler.

    (2,2):(1,2) by (3,3):(3,1) -> ((2,2),(3,3)):((1,2),(12,4)). A tuple multiplies mode by mode; an
    integer n stands for n:1, None leaves its mode alone. Raises LayoutError when the tiler has too
    many modes, or the block is not injective.
    """
    if not isinstance(tiler, Layout):
        return _by_tiler(logical_product, block, tiler)
    copies = composition(complement(block, block.size() * tiler.cosize()), tiler)
    return make_unchecked((block.shape, copies.shape), (block.stride, copies.stride))


@on_outer
def zipped_product(block: Layout, tiler: Tiler) -> Layout:
    """`logical_product` with the blocks gathered in front: ((X, Y), (x, y)).

    Raises LayoutError as `logical_product`, and where a None meets a mode not of rank 2.
    """
    return _gather(logical_product(block, tiler), tiler)


@on_outer
def tiled_product(block: Layout, tiler: Tiler) -> Layout:
    """`zipped_product` with the copies as modes of their own: ((X, Y), x, y). Raises as it does."""
    return tiled(zipped_product(block, tiler))


@on_outer
def flat_product(block: Layout, tiler: Tiler) -> Layout:
    """`zipped_product` with all modes of their own: (X, Y, x, y). Raises as it does."""
    return flat(zipped_product(block, tiler))


@on_outer
def blocked_product(block: Layout, tiler: Layout) -> Layout:
    """The block at every element of the tiler, mode by mode, block after block: ((X, x), (Y, y)).

    (3,4):(4,1) by (2,5):(1,2) -> ((3,2),(4,5)):((4,12),(1,24)). Raises LayoutError when the block
    is not injective.
    """
    inside, copies = _same_rank_product(block, tiler)
    return make_layout(*map(make_layout, inside, copies))


@on_outer
def raked_product(block: Layout, tiler: Layout) -> Layout:
    """As `blocked_product`, but the blocks interleaved element by element: ((x, X), (y, Y)).

    (3,4):(4,1) by (2,5):(1,2) -> ((2,3),(5,4)):((12,4),(24,1)). Raises LayoutError as it does.
    """
    inside, copies = _same_rank_product(block, tiler)
    return make_layout(*map(make_layout, copies, inside))


def _same_rank_product(block: Layout, tiler: Layout) -> Layout:
    common = max(block.rank(), tiler.rank())
    return logical_product(*(append_to_rank(_as_tuple(x), common) for x in (block, tiler)))


def _as_tuple(layout: Layout) -> Layout:
    """4:1 -> (4):(1), so that modes pair up."""
    return layout if isinstance(layout.shape, tuple) else make_layout(layout)


@on_outer
def tile_to_shape(block: Layout, target: Shape, order: IntTuple | None = None) -> Layout:
    """The block repeated to fill the target shape, along the modes in the given order.

    (8,64):(64,1) to (128,64) -> ((8,16),(64,1)):((64,512),(1,0)); by default from the left.
    Raises LayoutError when the block does not divide the target mode by mode.
    """
    extents = product_each(target)
    padded = append_to_rank(_as_tuple(block), rank(target))
    tile = product_each(padded.shape)
    for i, (t, x) in enumerate(zip(tile, extents, strict=True)):
        if x % t:
            raise LayoutError(
                f"tile_to_shape: expected mode {i} of {to_text(target)} to be a multiple of {t},"
                f" got {x}"
            )
    order = tuple(range(len(extents))) if order is None else order
    order = order if isinstance(order, tuple) else (order,)
    return blocked_product(padded, make_ordered_layout(ceil_div(extents, tile), order))
