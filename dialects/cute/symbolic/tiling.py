"""Divides and products of layouts whose leaves may be dynamic."""

from itertools import starmap
from typing import Any

from tilewright.dialects.cute.int_tuple import LayoutError, is_tuple, rank
from tilewright.dialects.cute.layout import Layout, make_unchecked, stacked
from tilewright.dialects.cute.symbolic.complements import (
    complement,
    complement_in,
    complement_within,
)
from tilewright.dialects.cute.symbolic.layouts import (
    Tile,
    append_layout,
    coalesce,
    composition,
    joined,
    make_ordered_layout,
    mode,
    modes,
)
from tilewright.dialects.cute.symbolic.tuples import (
    ceil_div,
    is_static,
    product,
    product_each,
    size,
    wrapped,
)
from tilewright.dialects.cute.tiling import flat, tiled


def logical_divide(layout: Layout, tiler: Tile) -> Layout:
    """(tile, rest of the tiles), mode by mode for a tuple; further modes stay as they are.

    Raises LayoutError where the tiler has more modes, or does not divide, as far as that is known.
    """
    if tiler is None:
        return layout
    if isinstance(tiler, Layout):
        return composition(layout, stacked([tiler, complement_within(tiler, layout.shape)]))
    return joined([*map(logical_divide, modes(layout), tiler), *_beyond(layout, tiler)])


def _beyond(layout: Layout, tiler: tuple[Tile, ...]) -> list[Layout]:
    if len(tiler) > rank(layout.shape):
        raise LayoutError(f"expected at most {rank(layout.shape)} tilers, got {len(tiler)}")
    return list(modes(layout))[len(tiler) :]


def zipped_divide(layout: Layout, tiler: Tile) -> Layout:
    """((tile, ...), (rest, ...)): the tiles of all modes first."""
    if not isinstance(tiler, tuple):
        return logical_divide(layout, tiler)
    beyond = _beyond(layout, tiler)
    parts = list(starmap(zipped_divide, zip(modes(layout), tiler, strict=False)))
    if any(rank(part.shape) != 2 for part in parts):
        raise LayoutError("expected every mode to be tiled")
    tiles = joined(mode(part, (0,)) for part in parts)
    return joined([tiles, joined([*(mode(part, (1,)) for part in parts), *beyond])])


def zipped_product(layout: Layout, tiler: Layout) -> Layout:
    """The layout, and then its repetitions."""
    return stacked([layout, composition(complement(layout), tiler)])


logical_product = zipped_product


def tiled_divide(layout: Layout, tiler: Tile) -> Layout:
    """((tile, ...), rest, ...)."""
    return tiled(zipped_divide(layout, tiler))


def flat_divide(layout: Layout, tiler: Tile) -> Layout:
    """(tile, ..., rest, ...)."""
    return flat(zipped_divide(layout, tiler))


def tiled_product(layout: Layout, tiler: Layout) -> Layout:
    """(layout, repetition, ...)."""
    return tiled(zipped_product(layout, tiler))


def flat_product(layout: Layout, tiler: Layout) -> Layout:
    """(mode of the layout, ..., repetition, ...)."""
    return flat(zipped_product(layout, tiler))


_ONE = make_unchecked(1, 0)


def _padded_product(layout: Layout, tiler: Layout) -> Layout:
    ranks = rank(layout.shape), rank(tiler.shape)
    if ranks[0] != ranks[1]:
        layout, tiler = (append_layout(operand, max(ranks), _ONE) for operand in (layout, tiler))
    return logical_product(layout, tiler)


def _zipped(t: tuple[Any, ...]) -> tuple[Any, ...]:
    """((a, b), (c, d)) -> ((a, c), (b, d)); leaves become one mode."""
    if not is_tuple(t[0]):
        return (t,)
    if any(not is_tuple(x) or len(x) != len(t[0]) for x in t):
        raise LayoutError("expected modes of one rank")
    return tuple(zip(*t, strict=True))


def blocked_product(layout: Layout, tiler: Layout) -> Layout:
    """Mode by mode (layout, repetition): copies stand beside each other."""
    whole = _padded_product(layout, tiler)
    return make_unchecked(_zipped(wrapped(whole.shape)), _zipped(wrapped(whole.stride)))


def raked_product(layout: Layout, tiler: Layout) -> Layout:
    """Mode by mode (repetition, layout): copies interleave."""
    whole = _padded_product(layout, tiler)
    shape, stride = wrapped(whole.shape), wrapped(whole.stride)
    raked = make_unchecked(_zipped(shape[::-1]), _zipped(stride[::-1]))
    return coalesce(raked, (1,) * max(rank(layout.shape), rank(tiler.shape)))


def tile_to_shape(block: Layout, shape: Any, order: Any = None) -> Layout:
    """The block repeated over a shape, column-major or in an order of modes.

    Raises LayoutError when the block has more modes than the shape, or for an unknown order.
    """
    count = rank(shape)
    order = tuple(range(count)) if order is None else order
    if rank(block.shape) > count or not is_static(order):
        raise LayoutError(f"expected a shape of rank {rank(block.shape)} or more, got rank {count}")
    padded = append_layout(block, count, _ONE)
    repeats = ceil_div(product_each(shape), product_each(padded.shape))
    return blocked_product(padded, make_ordered_layout(repeats, order))


def ceil_div_by_tile(shape: Any, tiler: Tile) -> Any:
    """How many tiles cover a shape, mode by mode. Raises LayoutError for an underscore."""
    if is_tuple(shape) and isinstance(tiler, tuple):
        if len(shape) < len(tiler):
            raise LayoutError(f"expected at most {len(shape)} tilers, got {len(tiler)}")
        return (*map(ceil_div_by_tile, shape, tiler), *shape[len(tiler) :])
    if isinstance(tiler, tuple):
        return ceil_div(shape, product(tile_shape(tiler)))
    if tiler is None:
        raise LayoutError("expected a layout to divide by, got _")
    return complement_in(tiler, size(shape)).shape


def tile_shape(tile: Tile) -> Any:
    """The shapes of a tiler's layouts. Raises LayoutError for an underscore."""
    if isinstance(tile, tuple):
        return tuple(map(tile_shape, tile))
    if tile is None:
        raise LayoutError("expected a layout, got _")
    return tile.shape
