"""Rules of the divides and products."""

from collections.abc import Callable, Sequence
from typing import Any

from tilewright.dialects.cute.int_tuple import rank, to_text
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.rules import mode_path_text, required, valid_layout
from tilewright.dialects.cute.rules.accessors import modes_of
from tilewright.dialects.cute.symbolic import tiling
from tilewright.dialects.cute.symbolic.composed import outer_of, through
from tilewright.dialects.cute.symbolic.layouts import Tile, known, shape_to_tile
from tilewright.dialects.cute.symbolic.tuples import has_basis, is_static, wrapped
from tilewright.dialects.cute.values import Typed

Rule = Callable[[Typed, Typed], Typed]


def product_rule(product: Callable[[Layout, Layout], Layout]) -> Rule:
    """The rule of a product."""

    def rule(left: Typed, right: Typed) -> Typed:
        outer = outer_of(left.value)
        required(known(outer), f"expects lhs to be static, but got {left.quoted}")
        required(
            not has_basis(right.value.stride),
            "expects rhs stride to be integer-only (scaled-basis strides like `N@M` are not "
            f"supported), but got {right.quoted}",
        )
        required(
            known(right.value) or not has_basis(outer.stride),
            "expects rhs to be static when lhs has scaled-basis strides (`N@M`), but got rhs "
            f"{right.quoted}",
        )
        return valid_layout(
            lambda: through(product, left.value, right.value),
            "expects valid operands, but cannot compute product for "
            f"{left.quoted} and {right.quoted}",
        )

    return rule


def divide_rule(divide: Callable[[Layout, Tile], Layout]) -> Rule:
    """The rule of a divide."""

    def rule(source: Typed, tiler: Typed) -> Typed:
        _check_tiler(source, tiler)
        by = shape_to_tile(tiler.value) if tiler.kind == "shape" else tiler.value
        return valid_layout(
            lambda: through(divide, source.value, by),
            "expects valid operands, but cannot compute divide for "
            f"{source.quoted} and {tiler.quoted}",
        )

    return rule


def _check_tiler(source: Typed, tiler: Typed) -> None:
    if tiler.kind == "layout":
        _check_tiler_layout(tiler.value, ())
        return
    count, given = rank(modes_of(source)), rank(tiler.value)
    required(
        given <= count,
        f"expects rank(tiler) <= rank(input), but got rank {given} tiler and rank {count} input",
    )
    if tiler.kind == "tile":
        _check_tile(tiler.value, ())


def _check_tiler_layout(layout: Layout, path: Sequence[int]) -> None:
    required(
        is_static(layout.stride) or rank(layout.shape) == 1,
        f"expects tiler to have a static stride or to be rank-1, but got tiler {layout}"
        f"{mode_path_text(path)}",
    )


def _check_tile(tile: Tile, path: Sequence[int]) -> None:
    if isinstance(tile, tuple):
        for i, slot in enumerate(tile):
            _check_tile(slot, (*path, i))
    elif tile is not None:
        required(
            not has_basis(tile.stride),
            "expects layout components of a tile tiler to have integer-only strides "
            "(scaled-basis strides like `N@M` are not supported), but got tiler "
            f"{tile}{mode_path_text(path)}",
        )
        _check_tiler_layout(tile, path)


def tile_to_shape(block: Typed, shape: Typed, order: Typed | None = None) -> Typed:
    """The block repeated over a shape, in an order of modes."""
    count = rank(shape.value)
    if order is not None:
        _check_order(order.value, count)
    given = rank(modes_of(block))
    required(
        given <= count,
        "expects block layout rank <= target shape rank, but got rank "
        f"{given} block and rank {count} target shape",
    )
    wanted = None if order is None else order.value
    return valid_layout(
        lambda: through(tiling.tile_to_shape, block.value, shape.value, wanted),
        "expects valid operands, but cannot compute tile_to_shape for "
        f"{block.quoted} and {shape.quoted}",
    )


def _check_order(order: Any, count: int) -> None:
    required(is_static(order), f"expects static order, but got {to_text(order)}")
    required(
        rank(order) == count,
        f"expects order rank ({rank(order)}) to equal target-shape rank ({count})",
    )
    rule = f"expects $order to be a permutation of [0, {count}), but"
    seen: set[int] = set()
    for i, place in enumerate(wrapped(order)):
        required(isinstance(place, int), f"{rule} mode {i} is not a static integer")
        required(0 <= place < count, f"{rule} got out-of-range index {place} at mode {i}")
        required(place not in seen, f"{rule} index {place} appears more than once")
        seen.add(place)
