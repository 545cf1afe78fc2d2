"""Rules of the ops on sizes, coordinates and indices."""

from collections.abc import Sequence
from typing import Any

from tilewright.dialects.cute.int_tuple import congruent, has_underscore, rank, weakly_congruent
from tilewright.dialects.cute.rules import RuleError, computed, required
from tilewright.dialects.cute.rules.accessors import LAYOUTS, mode_at, modes_of
from tilewright.dialects.cute.swizzle import Swizzle
from tilewright.dialects.cute.symbolic import evaluate, layouts, tuples
from tilewright.dialects.cute.symbolic.composed import evaluated, outer_of, through
from tilewright.dialects.cute.values import Typed


def _path_text(mode: Sequence[int]) -> str:
    return f"and mode [{', '.join(map(str, mode))}]"


def size(source: Typed, mode: Sequence[int]) -> Typed:
    """How many coordinates a shape or a layout has, or one of its modes."""
    wanted = modes_of(mode_at(source, mode))
    return computed(
        "int_tuple",
        lambda: tuples.size(wanted),
        f"unable to compute size for input {source.quoted} {_path_text(mode)}",
    )


def cosize(source: Typed, mode: Sequence[int]) -> Typed:
    """One more than the largest index of a layout, or of one of its modes."""
    if source.kind == "composed_layout" and not isinstance(source.value.inner, Swizzle):
        raise RuleError(
            "expects composed_layout inner to be a swizzle (cosize is undefined for affine "
            f"inner), but got {source.quoted}"
        )
    wanted = outer_of(mode_at(source, mode).value)
    return computed(
        "int_tuple",
        lambda: evaluate.cosize(wanted),
        f"unable to compute cosize for input {source.quoted} {_path_text(mode)}",
    )


def tuple_product(source: Typed) -> Typed:
    """The product of the leaves."""
    return computed(
        source.kind,
        lambda: tuples.product(source.value),
        f"unable to compute tuple_product for input {source.quoted}",
    )


def tuple_product_each(source: Typed) -> Typed:
    """The product of each mode's leaves."""
    return computed(
        source.kind,
        lambda: tuples.product_each(source.value),
        f"unable to compute tuple_product_each for input {source.quoted}",
    )


def layout_eval(coord: Typed, layout: Typed) -> Typed:
    """The image of a coordinate."""
    count, given = rank(modes_of(layout)), rank(coord.value)
    required(
        not isinstance(coord.value, tuple) or given == count,
        f"expects coordinate rank {count} (to match layout shape rank) or be a leaf, but got "
        f"{given}",
    )
    return computed(
        "int_tuple",
        lambda: evaluated(coord.value, layout.value),
        f"unable to compute layout_eval for coordinate {coord.quoted} and layout {layout.quoted}",
    )


def crd2idx(coord: Typed, shape: Typed) -> Typed:
    """The column-major index of a coordinate."""
    required(
        weakly_congruent(coord.value, shape.value),
        "expects coord and shape to be weakly congruent, but got coord "
        f"{coord.quoted} and shape {shape.quoted}",
    )
    return computed(
        "int_tuple",
        lambda: evaluate.crd2idx(coord.value, shape.value),
        f"unable to pack coordinate {coord.quoted} into shape {shape.quoted}",
    )


def idx2crd(index: Typed, shape: Typed) -> Typed:
    """The coordinate of an index."""
    count, given = rank(shape.value), rank(index.value)
    required(
        given in (1, count),
        f"expects index rank {count} (to match shape rank) or scalar, but got {given}",
    )
    return computed(
        "coord",
        lambda: evaluate.idx2crd(index.value, shape.value),
        f"unable to compute idx2crd for index {index.quoted} and shape {shape.quoted}",
    )


def increment_coord(coord: Typed, shape: Typed) -> Typed:
    """The next coordinate of a shape."""
    required(
        congruent(coord.value, shape.value),
        f"expects coord to be congruent with shape, but got {coord.quoted} and {shape.quoted}",
    )
    required(
        not has_underscore(coord.value),
        f"expects coord to be free of underscore wildcards, but got {coord.quoted}",
    )
    return computed(
        "coord",
        lambda: evaluate.increment_coord(coord.value, shape.value),
        f"unable to compute increment_coord for coord {coord.quoted} and shape {shape.quoted}",
    )


# --- ranks ----------------------------------------------------------------------------------------

_TUPLES = ("int_tuple", "coord", "stride", "shape")


def _check_rank(source: Typed, element: Typed, to_rank: int) -> None:
    required(to_rank > 0, f"expects rank to be a positive integer, but got {to_rank}")
    required(
        source.kind in (*LAYOUTS, *_TUPLES),
        "expects $input to be !cute.int_tuple, !cute.coord, !cute.stride, !cute.shape, "
        f"!cute.layout, or !cute.composed_layout, but got {source.quoted}",
    )
    if source.kind == "composed_layout":
        required(
            element.kind == "layout",
            "expects element to be !cute.layout when input is !cute.composed_layout, but got "
            f"{element.quoted}",
        )
    else:
        required(
            element.kind == source.kind,
            "expects input and element to have the same kind, but got "
            f"{source.quoted} and {element.quoted}",
        )


def _padded(source: Typed, element: Typed, to_rank: int, of_layout: Any, of_tuple: Any) -> Typed:
    _check_rank(source, element, to_rank)
    if source.kind in LAYOUTS:
        return Typed(source.kind, through(of_layout, source.value, to_rank, element.value))
    return Typed(source.kind, of_tuple(source.value, to_rank, element.value))


def append_to_rank(source: Typed, element: Typed, to_rank: int) -> Typed:
    """The element appended up to a rank."""
    return _padded(source, element, to_rank, layouts.append_layout, layouts.append_to_rank)


def prepend_to_rank(source: Typed, element: Typed, to_rank: int) -> Typed:
    """The element prepended up to a rank."""
    return _padded(source, element, to_rank, layouts.prepend_layout, layouts.prepend_to_rank)
