"""The demands of each kind of value on its parts. The words are those of CuTe IR's diagnostics."""

from fractions import Fraction
from typing import Any

from tilewright.dialects.cute.int_tuple import (
    LayoutError,
    ScaledBasis,
    congruent,
    flatten,
    to_text,
    weakly_congruent,
)
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.swizzle import ComposedLayout, Swizzle
from tilewright.dialects.cute.symbolic.composed import is_plain
from tilewright.dialects.cute.symbolic.evaluate import image
from tilewright.dialects.cute.symbolic.layouts import tile_layouts
from tilewright.dialects.cute.symbolic.scalar import MISSING
from tilewright.dialects.cute.symbolic.tuples import is_scalar, tuple_sum


def why_not(kind: str, value: Any) -> str | None:
    """Why a value is none of its kind, or None where it is one."""
    match kind:
        case "stride":
            return _stride_fault(value)
        case "layout":
            return _layout_fault(value)
        case "tile":
            return next(filter(None, (_stride_fault(x.stride) for x in tile_layouts(value))), None)
        case "composed_layout":
            return _composed_fault(value)
        case _:
            return None


def _stride_fault(stride: Any) -> str | None:
    leaves = flatten(stride)
    bases = [leaf for leaf in leaves if isinstance(leaf, ScaledBasis)]
    got = f'but got "{to_text(stride)}"'
    if bases and any(not isinstance(leaf, ScaledBasis) and leaf != 0 for leaf in leaves):
        return (
            "expects strides to be either all-integer or all-scaled-basis "
            f"(zero integers allowed when mixed), {got}"
        )
    if any(isinstance(leaf.value, Fraction) for leaf in bases):
        return f"expects scaled-basis strides to have integer values, not ratios, {got}"
    if _one_path_continues_another([leaf.modes for leaf in bases]):
        return (
            "expects scaled-basis paths to agree on mode-index depth "
            f"(no path may terminate at a node that another path continues through), {got}"
        )
    return None


def _one_path_continues_another(paths: list[tuple[int, ...]]) -> bool:
    ends = set(paths)
    return any(path[:length] in ends for path in ends for length in range(1, len(path)))


def _has_extent_below_one(layout: Layout) -> bool:
    return any(isinstance(leaf, int) and leaf <= 0 for leaf in flatten(layout.shape))


def _is_missing(layout: Layout) -> bool:
    return MISSING in (*flatten(layout.shape), *flatten(layout.stride))


def _layout_fault(layout: Layout) -> str | None:
    if not congruent(layout.shape, layout.stride) or _is_missing(layout):
        return f'expects no error(`x`) in layout, but got "x:x" (no layout is written {layout})'
    if _has_extent_below_one(layout):
        return f'expects positive shape mode, but got "{layout}"'
    return _stride_fault(layout.stride)


def _composed_fault(composed: ComposedLayout) -> str | None:
    inner = composed.inner if isinstance(composed.inner, Layout) else None
    parts = [composed.outer] if inner is None else [composed.outer, inner]
    if not all(congruent(part.shape, part.stride) and not _is_missing(part) for part in parts):
        return f'expects no error(`x`) in layout, but got "{composed}"'
    if is_plain(composed):
        return (
            "expects a non-trivial composed layout (with swizzle bits or non-zero offset); "
            f'use `!cute.layout` for trivial wraps, but got "{composed}"'
        )
    if any(map(_has_extent_below_one, parts)):
        return f'expects positive shape mode, but got "{composed}"'
    for part in parts:
        if (fault := _stride_fault(part.stride)) is not None:
            return fault
    return _sum_fault(composed, inner)


def _sum_fault(composed: ComposedLayout, inner: Layout | None) -> str | None:
    origin = image(composed.outer, 0)
    try:
        total = tuple_sum(composed.offset, origin)
    except LayoutError:
        return (
            "expects offset and `layout_eval(0, outer)` to be addable, but got "
            f"{to_text(composed.offset)} and {to_text(origin)}"
        )
    if is_scalar(total):
        return None
    if isinstance(composed.inner, Swizzle):
        return (
            "swizzle layout expects scalar `offset` and `outer` without scaled basis, but got "
            f"{to_text(composed.offset)} and {composed.outer}"
        )
    if inner is not None and not weakly_congruent(total, inner.shape):
        return (
            "expects arith sum of `layout_eval(0, outer)` and `offset` to be scalar or weakly "
            f"congruent to inner shape, but got sum {to_text(total)} and inner shape "
            f"{to_text(inner.shape)}"
        )
    return None


def is_valid_layout(layout: Layout) -> bool:
    """Refuse results of an operation with an extent that is not positive."""
    return congruent(layout.shape, layout.stride) and not _has_extent_below_one(layout)
