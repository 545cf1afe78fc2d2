"""Inverses: from an index back to the coordinate, and what two layouts have in common.

right_inverse  L(R(i)) = i      where to find index i: what vector loads ask for
left_inverse   L'(L(i)) = i     which element lies at an index
"""

from collections.abc import Callable
from typing import Any

from tilewright.dialects.cute.algebra import coalesce, composition, from_modes, merge_modes
from tilewright.dialects.cute.coordinate import coprofile, leaf_paths
from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute.layout import Layout, make_unchecked, unflatten_layout


def right_inverse(layout: Layout) -> Layout:
    """The longest R with L(R(i)) = i for all i < size(R), as far as L reaches without a gap.

    (2,4):(4,1) -> (4,2):(2,1). Of a coordinate layout: a mode for each leaf of its coprofile, and
    L(R(c)) = c. Never fails: where L skips 1, R is 1:0.
    """
    modes = _number(layout)
    if not modes or type(modes[0][0]) is not int:
        return _invert_by_basis(layout, modes, _right_inverse_modes)
    return _right_inverse_modes(modes)


def left_inverse(layout: Layout) -> Layout:
    """L'(L(i)) = i for an injective L, and L(L'(L(i))) = L(i) if only modes of stride 0 repeat.

    (4,2):(1,10) -> (10,2):(1,4). Of a coordinate layout: a mode for each leaf of its coprofile.
    Raises LayoutError when strides are negative or the sorted ones do not divide each other.
    """
    modes = _number(coalesce(layout))
    if not modes or type(modes[0][0]) is not int:
        return _invert_by_basis(layout, modes, _left_inverse_modes)
    return _left_inverse_modes(modes)


def _number(layout: Layout) -> list[tuple[Any, int, int]]:
    """(stride, index of the first step, extent) of the modes along which the image moves."""
    modes: list[tuple[Any, int, int]] = []
    index = 1
    for s, d in layout.leaves:
        if s != 1:
            if d:
                modes.append((d, index, s))
            index *= s
    return modes


def _invert_by_basis(
    layout: Layout, modes: list[tuple[Any, int, int]], invert: Callable[..., Layout]
) -> Layout:
    """Each basis has its own modes, and its own mode of the inverse."""
    profile = coprofile(layout.stride)
    inverses = [
        invert([(d.value, i, s) for d, i, s in modes if d.value and d.modes == path])
        for path in leaf_paths(profile)
    ]
    return unflatten_layout(inverses, profile)


def _right_inverse_modes(modes: list[tuple[int, int, int]]) -> Layout:
    modes.sort()
    extents: list[int] = []
    strides: list[int] = []
    covered = 1
    reached = 0
    for d, index, s in modes:
        if d == covered:
            if index == reached:
                extents[-1] *= s
            else:
                extents.append(s)
                strides.append(index)
            reached = index * s
            covered *= s
    return from_modes(extents, strides)


def _left_inverse_modes(modes: list[tuple[int, int, int]]) -> Layout:
    modes.sort()
    leaves: list[tuple[int, int]] = []
    covered = 1
    step = last = 0
    for d, index, s in modes:
        if d < 0 or d % covered:
            raise LayoutError(
                f"left_inverse: expected strides that divide each other, got {d} after {covered}"
            )
        leaves.append((d // covered, step))
        covered, step, last = d, index, s
    if modes:
        leaves.append((last, step))
    return from_modes(*merge_modes(leaves))


def max_common_layout(a: Layout, b: Layout) -> Layout:
    """The longest R with A(R(i)) = B(R(i)) = i: the vector that both store contiguously.

    (4,8):(1,4) and (4,8):(1,8) -> 4:1. Raises LayoutError when A does not compose with B's inverse.
    """
    inverse = right_inverse(b)
    common = coalesce(composition(a, inverse))
    first = common.mode(0)
    return composition(inverse, first) if first.stride == 1 else make_unchecked(1, 0)


def max_common_vector(a: Layout, b: Layout) -> int:
    """The size of `max_common_layout`. Raises LayoutError as it does."""
    return max_common_layout(a, b).size()


def nullspace(layout: Layout) -> Layout:
    """The indices along modes of stride 0: L(N(i)) = 0. (2,4,8):(1,0,2) -> 4:2."""
    extents: list[int] = []
    strides: list[int] = []
    index = 1
    for s, d in layout.leaves:
        if d == 0:
            extents.append(s)
            strides.append(index)
        index *= s
    return from_modes(extents, strides)
