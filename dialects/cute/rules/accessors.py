"""Rules of the ops that take values apart."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tilewright.dialects.cute.int_tuple import ScaledBasis, flatten, is_tuple, rank
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.rules import required
from tilewright.dialects.cute.swizzle import Swizzle
from tilewright.dialects.cute.symbolic import layouts
from tilewright.dialects.cute.symbolic.composed import outer_of, through
from tilewright.dialects.cute.symbolic.scalar import MISSING, Dynamic, width_of
from tilewright.dialects.cute.symbolic.tiling import tile_shape
from tilewright.dialects.cute.symbolic.tuples import has_basis, part, wrapped
from tilewright.dialects.cute.values import Typed, typed_layout

LAYOUTS = ("layout", "composed_layout")


def modes_of(typed: Typed) -> Any:
    """The nested tuple that mode numbers lead through."""
    return outer_of(typed.value).shape if typed.kind in LAYOUTS else typed.value


def has_tile_underscore(tile: Any) -> bool:
    """True where some slot of a tile is an underscore."""
    return any(map(has_tile_underscore, tile)) if is_tuple(tile) else tile is None


def get_shape(source: Typed) -> Typed:
    """The shape of a layout, or of the layouts of a tile."""
    if source.kind in LAYOUTS:
        return Typed("shape", outer_of(source.value).shape)
    required(
        not has_tile_underscore(source.value),
        f"expects a tile operand with no underscore slots, but got {source.quoted}",
    )
    return Typed("shape", tile_shape(source.value))


def get_stride(source: Typed) -> Typed:
    """The stride of a layout."""
    return Typed("stride", source.value.stride)


def composed_get_inner(source: Typed) -> Typed:
    """The part of a composed layout that is applied last."""
    inner = source.value.inner
    return Typed("swizzle" if isinstance(inner, Swizzle) else "layout", inner)


def composed_get_offset(source: Typed) -> Typed:
    """The offset of a composed layout."""
    return Typed("int_tuple", source.value.offset)


def composed_get_outer(source: Typed) -> Typed:
    """The layout of a composed layout that has the modes."""
    return Typed("layout", source.value.outer)


def tile_leaves(tile: Any) -> Iterator[Layout | None]:
    """The slots of a tile from left to right."""
    if is_tuple(tile):
        for slot in tile:
            yield from tile_leaves(slot)
    else:
        yield tile


_TUPLES = ("shape", "stride", "coord", "int_tuple", "tile")


def get_leaves(source: Typed) -> list[Typed]:
    """One value for each leaf."""
    required(
        source.kind in _TUPLES,
        "expects $input to be !cute.shape, !cute.stride, !cute.coord, !cute.int_tuple, or "
        f"!cute.tile, but got {source.quoted}",
    )
    if source.kind == "tile":
        return [
            Typed("tile" if leaf is None else "layout", leaf) for leaf in tile_leaves(source.value)
        ]
    return [Typed(source.kind, leaf) for leaf in flatten(source.value)]


def get_layouts_from_tile(tile: Typed) -> list[Typed]:
    """The layouts of a tile, without its underscores."""
    typed = [Typed("layout", leaf) for leaf in tile_leaves(tile.value) if leaf is not None]
    required(
        bool(typed), f"expects $tile to contain at least one layout slot, but got {tile.quoted}"
    )
    return typed


# --- scalars --------------------------------------------------------------------------------------


def scalar_leaves(typed: Typed) -> Iterator[int | Dynamic]:
    """Every number of a value in order: a basis is its value and then its modes, a composed layout
    its outer layout, offset and inner layout."""
    value = typed.value
    match typed.kind:
        case "swizzle":
            yield from (value.bits, value.base, value.shift)
        case "layout":
            yield from _numbers(value.shape)
            yield from _numbers(value.stride)
        case "tile":
            for layout in get_leaves(typed):
                if layout.value is not None:
                    yield from scalar_leaves(layout)
        case "composed_layout":
            yield from scalar_leaves(composed_get_outer(typed))
            yield from _numbers(value.offset)
            yield from scalar_leaves(composed_get_inner(typed))
        case "memref":
            yield from scalar_leaves(typed_layout(value.layout))
        case "coord_tensor":
            yield from _numbers(value.start)
            yield from scalar_leaves(Typed("layout", value.layout))
        case _:
            yield from _numbers(value)


def _numbers(t: Any) -> Iterator[int | Dynamic]:
    for leaf in flatten(t):
        if isinstance(leaf, ScaledBasis):
            yield leaf.value
            yield from leaf.modes
        elif leaf is not None:
            yield leaf


def dynamic_leaves(typed: Typed) -> list[Dynamic]:
    """The numbers that are known only at run time."""
    return [leaf for leaf in scalar_leaves(typed) if isinstance(leaf, Dynamic)]


def get_scalars(source: Typed, only_dynamic: bool) -> list[int | Dynamic]:
    """The numbers of a value, or only those that are not in its type."""
    return list(dynamic_leaves(source)) if only_dynamic else list(scalar_leaves(source))


def scalar_widths(source: Typed, only_dynamic: bool) -> list[int]:
    """How wide the results of `get_scalars` are: at least 32 bits."""
    return [max(32, width_of(leaf)) for leaf in get_scalars(source, only_dynamic)]


# --- modes ----------------------------------------------------------------------------------------


def check_mode_path(source: Typed, path: Sequence[int]) -> None:
    """Raises RuleError where a path of modes leaves the value."""
    t = modes_of(source)
    for depth, i in enumerate(path):
        count = rank(t)
        required(
            0 <= i < count, f"expects mode index in [0, {count}) at depth {depth}, but got {i}"
        )
        t = wrapped(t)[i]
        extra = len(path) - depth - 1
        required(
            not extra or isinstance(t, tuple),
            f"expects mode indices to stop at a scalar leaf, but got {extra} extra "
            f"{'index' if extra == 1 else 'indices'} after depth {depth + 1}",
        )


def mode_at(source: Typed, path: Sequence[int]) -> Typed:
    """The mode at a path. Raises RuleError where there is none."""
    check_mode_path(source, path)
    if source.kind in LAYOUTS:
        return Typed(source.kind, through(layouts.mode, source.value, path))
    return Typed(source.kind, part(source.value, tuple(path)))


def select(source: Typed, mode: Sequence[int]) -> Typed:
    """The named top-level modes."""
    count = rank(modes_of(source))
    for i in mode:
        required(0 <= i < count, f"expects mode index in [0, {count}), but got {i}")
    if source.kind not in LAYOUTS:
        modes = wrapped(source.value)
        return Typed(source.kind, tuple(modes[i] for i in mode))
    return Typed(source.kind, through(layouts.select, source.value, *mode))


# --- casts ----------------------------------------------------------------------------------------


def to_int_tuple(source: Typed) -> Typed:
    """A tuple of numbers as an int_tuple."""
    required(
        MISSING not in flatten(source.value),
        f"expects source without errors (x), but got {source.quoted}",
    )
    required(
        None not in flatten(source.value),
        f"expects source without underscores (_), but got {source.quoted}",
    )
    required(
        not has_basis(source.value),
        f"expects source without scaled-basis strides, but got {source.quoted}",
    )
    return Typed("int_tuple", source.value)


def cast_to(kind: str) -> Callable[[Typed], Typed]:
    """The rule that makes an int_tuple a value of another kind."""

    def cast(source: Typed) -> Typed:
        required(
            MISSING not in flatten(source.value),
            f"expects source without errors, but got {source.quoted}",
        )
        return Typed(kind, source.value)

    return cast
