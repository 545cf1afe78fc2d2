"""Coalescing, composing, slicing and building layouts whose leaves may be dynamic."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

from tilewright.dialects.cute.coordinate import make_basis_like
from tilewright.dialects.cute.int_tuple import (
    LayoutError,
    ScaledBasis,
    depth,
    flatten,
    is_tuple,
    rank,
    repeat_like,
    to_text,
    transform_leaf,
)
from tilewright.dialects.cute.layout import Layout, make_unchecked, stacked
from tilewright.dialects.cute.layout import group_modes as group_modes
from tilewright.dialects.cute.layout import select as select
from tilewright.dialects.cute.layout import slice_layout as slice_layout
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.evaluate import coprofile
from tilewright.dialects.cute.symbolic.tuples import (
    ceil_div,
    compact_col_major,
    compact_order,
    flat,
    is_scalar,
    is_static,
    multiplied,
    part,
    unwrapped,
    wrapped,
)

Tile: TypeAlias = Layout | tuple["Tile", ...] | None
"""A tiler: a layout, an underscore, or one of these for each mode."""


def column_major(shape: Any) -> Layout:
    """The compact layout of a shape."""
    return make_unchecked(shape, compact_col_major(shape))


def modes(layout: Layout) -> Iterator[Layout]:
    """The modes as layouts; a layout of one leaf is its own."""
    return map(make_unchecked, wrapped(layout.shape), wrapped(layout.stride))


def mode(layout: Layout, path: Sequence[int]) -> Layout:
    """The layout of one mode."""
    where = tuple(path)
    return make_unchecked(part(layout.shape, where), part(layout.stride, where))


def joined(layouts: Iterable[Layout]) -> Layout:
    """The layouts as modes of one, those without modes left out."""
    return stacked([layout for layout in layouts if layout.shape != ()])


def known(layout: Layout) -> bool:
    """No leaf is dynamic."""
    return is_static(layout.shape) and is_static(layout.stride)


def tile_layouts(tile: Tile) -> list[Layout]:
    """The layouts of a tiler from left to right."""
    return [leaf for leaf in flatten(tile) if leaf is not None]


def shape_to_tile(shape: Any) -> Tile:
    """An extent as a column, a tuple mode by mode."""
    return tuple(map(shape_to_tile, shape)) if is_tuple(shape) else column_major(shape)


# --- coalesce -------------------------------------------------------------------------------------


def merged(shape: Any, stride: Any) -> tuple[list[Any], list[Any]]:
    """The leaves without inner extents of 1, neighbours joined where all of them are known."""
    extents: list[Any] = []
    strides: list[Any] = []
    for s, d in zip(flatten(shape), flatten(stride), strict=True):
        while extents and extents[-1] == 1:
            extents.pop()
            strides.pop()
        if (
            extents
            and is_static((extents[-1], s, strides[-1], d))
            and d == multiplied(extents[-1], strides[-1])
        ):
            extents[-1] = multiplied(extents[-1], s)
        else:
            extents.append(s)
            strides.append(d)
    return extents, strides


def _spelled(extents: list[Any], strides: list[Any]) -> Layout:
    return make_unchecked(unwrapped(tuple(extents)), unwrapped(tuple(strides)))


def coalesce(layout: Layout, profile: Any = None) -> Layout:
    """The same function with fewer modes, mode by mode where `profile` is a tuple.

    Raises LayoutError when the profile has more modes than the layout.
    """
    if is_tuple(profile):
        return _by_profile(coalesce, layout, profile)
    extents, strides = merged(layout.shape, layout.stride)
    if len(extents) > 1 and extents[-1] == 1:
        extents.pop()
        strides.pop()
    return _spelled(extents, strides)


def coalesce_open(layout: Layout, profile: Any = None) -> Layout:
    """`coalesce`, but a last extent of 1 stays: the function is meant to go on beyond it."""
    if is_tuple(profile):
        return _by_profile(coalesce_open, layout, profile)
    return _spelled(*merged(layout.shape, layout.stride))


def _by_profile(operation: Any, layout: Layout, profile: tuple[Any, ...]) -> Layout:
    parts = list(modes(layout))
    if len(profile) > len(parts):
        raise LayoutError(f"expected at most {len(parts)} modes, got {to_text(profile)}")
    return stacked([*map(operation, parts, profile), *parts[len(profile) :]])


def coalesce_shape(shape: Any) -> Any:
    """The leaves, neighbours multiplied where both are known, and where both are not."""
    extents: list[Any] = []
    for extent in flatten(shape):
        if extents and is_static(extents[-1]) == is_static(extent):
            extents[-1] = multiplied(extents[-1], extent)
        else:
            extents.append(extent)
    return unwrapped(tuple(extents))


def filter_zeros(profile: Any, shape: Any) -> Any:
    """The shape with 1 where the profile has a known 0."""
    if is_tuple(profile):
        return tuple(map(filter_zeros, profile, shape))
    return 1 if type(profile) is int and profile == 0 else shape


def filter_layout(layout: Layout) -> Layout:
    """`coalesce` without the modes of stride 0."""
    return coalesce(make_unchecked(filter_zeros(layout.stride, layout.shape), layout.stride))


# --- composition ----------------------------------------------------------------------------------


def composition(left: Layout, right: Tile) -> Layout:
    """left after right. A tuple composes mode by mode, dropping further modes of the left.

    Raises LayoutError where the function is no layout, as far as that is known.
    """
    if right is None:
        return left
    if isinstance(right, tuple):
        if len(right) > rank(left.shape):
            raise LayoutError(f"expected at most {rank(left.shape)} tilers, got {len(right)}")
        return joined(map(composition, modes(left), right))
    profile = coprofile(right)
    if depth(profile) > 0 and rank(profile) > rank(left.shape):
        raise LayoutError(f"expected images within {left}, got {right}")
    target = coalesce_open(left, profile)
    return _composed(target.shape, target.stride, right.shape, right.stride)


def _composed(shape: Any, stride: Any, rest: Any, step: Any) -> Layout:
    if is_tuple(rest):
        return stacked([_composed(shape, stride, s, d) for s, d in zip(rest, step, strict=True)])
    if isinstance(step, ScaledBasis):
        return _composed_through(shape, stride, rest, step)
    if step == 0:
        return make_unchecked(rest, step)
    if isinstance(shape, int):
        return make_unchecked(rest, multiplied(step, stride))
    if not (is_scalar(rest) and is_scalar(step)):
        raise LayoutError(f"expected numbers to compose with, got {rest}:{step}")
    return _stepped(wrapped(shape), wrapped(stride), rest, step)


def _composed_through(shape: Any, stride: Any, rest: Any, basis: ScaledBasis) -> Layout:
    if not isinstance(rest, int):
        raise LayoutError(f"expected a known extent along {basis}, got {rest}")
    for i in basis.modes:
        if not is_tuple(shape) or i >= len(shape):
            raise LayoutError(f"expected a mode for {basis}, got {to_text(shape)}")
        shape, stride = shape[i], stride[i]
    return _composed(shape, stride, rest, basis.value)


def _stepped(extents: tuple[Any, ...], strides: tuple[Any, ...], rest: Any, step: Any) -> Layout:
    """The flat target after rest:step: what each mode gives, until `rest` is used up."""
    taken: list[Any] = []
    results: list[Any] = []
    for extent, stride in zip(extents[:-1], strides, strict=False):
        _divisible(step, extent)
        magnitude = scalar.absolute(step)
        given = ceil_div(extent, magnitude)
        following = multiplied(ceil_div(magnitude, extent), scalar.sign(step))
        if given != 1 and rest != 1:
            count = scalar.minimum(given, rest)
            if isinstance(count, int) and isinstance(rest, int) and scalar.mod(rest, count) != 0:
                raise LayoutError(f"expected an extent that {count} divides, got {rest}")
            taken.append(count)
            results.append(multiplied(step, stride))
            rest = scalar.div(rest, count)
        step = following
    if not taken:
        return make_unchecked(rest, multiplied(step, strides[-1]))
    if rest != 1:
        taken.append(rest)
        results.append(multiplied(step, strides[-1]))
        return coalesce(make_unchecked(tuple(taken), tuple(results)))
    return _spelled(taken, results)


def _divisible(step: Any, extent: Any) -> None:
    known_pair = isinstance(step, int) and isinstance(extent, int)
    if known_pair and step >= extent and scalar.mod(step, extent) != 0:
        raise LayoutError(f"expected a step that {extent} divides, got {step}")


# --- parts and constructors -----------------------------------------------------------------------


def flatten_layout(layout: Layout) -> Layout:
    """The same leaves as one flat tuple."""
    return make_unchecked(flat(layout.shape), flat(layout.stride))


def append_to_rank(t: Any, to_rank: int, x: Any) -> Any:
    """`x` appended up to a rank; what has it stays as it is."""
    return t if rank(t) >= to_rank else (*wrapped(t), *[x] * (to_rank - rank(t)))


def prepend_to_rank(t: Any, to_rank: int, x: Any) -> Any:
    """`x` prepended up to a rank; what has it stays as it is."""
    return t if rank(t) >= to_rank else (*[x] * (to_rank - rank(t)), *wrapped(t))


def append_layout(layout: Layout, to_rank: int, x: Layout) -> Layout:
    """A layout appended as modes up to a rank."""
    return make_unchecked(
        append_to_rank(layout.shape, to_rank, x.shape),
        append_to_rank(layout.stride, to_rank, x.stride),
    )


def prepend_layout(layout: Layout, to_rank: int, x: Layout) -> Layout:
    """A layout prepended as modes up to a rank."""
    return make_unchecked(
        prepend_to_rank(layout.shape, to_rank, x.shape),
        prepend_to_rank(layout.stride, to_rank, x.stride),
    )


def make_ordered_layout(shape: Any, order: Any) -> Layout:
    """Compact, the modes laid out in the given order."""
    return make_unchecked(shape, compact_order(shape, order))


def make_layout_like(layout: Layout) -> Layout:
    """Compact, in the order of the layout's strides; stride 0 stays."""
    shape = filter_zeros(layout.stride, layout.shape)
    return make_unchecked(layout.shape, compact_order(shape, layout.stride))


def make_identity_layout(shape: Any) -> Layout:
    """Every coordinate is its own image."""
    return make_unchecked(shape, make_basis_like(shape))


def tiler_to_layout(tile: Tile) -> Layout:
    """The layout that maps a tiler's coordinates to coordinates of what it tiles."""
    return _scaled_tile(tile, make_basis_like(repeat_like(tile, 0)))


def _scaled_tile(tile: Tile, basis: Any) -> Layout:
    if isinstance(tile, Layout):
        return make_unchecked(tile.shape, transform_leaf(partial(multiplied, basis), tile.stride))
    assert tile is not None
    return joined(map(_scaled_tile, tile, basis))
