"""Layouts as kernels have them: nested, compact in any order, padded, broadcast, of extent 1."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from tilewright.dialects.cute import Layout, flatten, unflatten

law = settings(deadline=None)
EXTENTS = st.sampled_from([1, 2, 2, 3, 4, 4, 5, 6, 8])


def shapes(
    max_leaves: int = 4, extents: st.SearchStrategy[int] = EXTENTS
) -> st.SearchStrategy[Any]:
    """Nested shapes of at most 600 elements."""
    nested = st.recursive(
        extents,
        lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple),
        max_leaves=max_leaves,
    )
    return nested.filter(lambda shape: Layout(shape).size() <= 600)


@st.composite
def injective_layouts(draw: st.DrawFn, max_leaves: int = 4, padded: bool = True) -> Layout:
    """Compact strides in some order of the modes, with gaps where `padded`."""
    shape = draw(shapes(max_leaves))
    extents = flatten(shape)
    strides = [0] * len(extents)
    reached = 1
    for i in draw(st.permutations(range(len(extents)))):
        if padded:
            reached *= draw(st.sampled_from([1, 1, 1, 2, 3]))
        strides[i] = reached
        reached *= extents[i]
    return Layout(shape, unflatten(tuple(strides), shape))


@st.composite
def layouts(draw: st.DrawFn, max_leaves: int = 4) -> Layout:
    """Any of the above, some modes broadcast (stride 0), or strides without a plan."""
    layout = draw(injective_layouts(max_leaves))
    strides = list(flatten(layout.stride))
    kind = draw(st.sampled_from(["injective", "broadcast", "free"]))
    for i in range(len(strides)):
        if kind == "broadcast" and draw(st.booleans()):
            strides[i] = 0
        if kind == "free":
            strides[i] = draw(st.integers(0, 40))
    return Layout(layout.shape, unflatten(tuple(strides), layout.shape))


@st.composite
def power_of_two_layouts(draw: st.DrawFn) -> Layout:
    """Compact layouts of power-of-two extents: any two compose."""
    shape = draw(shapes(4, st.sampled_from([1, 2, 4, 8])))
    extents = flatten(shape)
    strides = [0] * len(extents)
    reached = 1
    for i in draw(st.permutations(range(len(extents)))):
        strides[i] = reached
        reached *= extents[i]
    return Layout(shape, unflatten(tuple(strides), shape))


def values(layout: Any) -> list[Any]:
    """The function, written out over its domain."""
    return [layout(i) for i in range(layout.size())]
