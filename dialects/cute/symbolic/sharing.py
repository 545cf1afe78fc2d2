"""Elements of a layout that lie in one place: through strides of 0, or strides that overlap.

A stride that is not known is taken for one that leads to other places: what is said here is sure.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod

from tilewright.dialects.cute.layout import Layout

_MOST = 1 << 16
"""The elements that are looked at: no thread moves more."""


def sharing(layout: Layout) -> Sequence[int] | None:
    """Of each element, in the order of coordinates, the first one that is sure to lie where it
    does; None where no two do, or there are more than any thread moves."""
    return _sharing(
        tuple(
            (extent, stride if isinstance(stride, int) else None)
            for extent, stride in layout.leaves
            if isinstance(extent, int) and extent != 1
        )
    )


@lru_cache(1 << 10)
def _sharing(leaves: tuple[tuple[int, int | None], ...]) -> tuple[int, ...] | None:
    if steps_over((extent, stride) for extent, stride in leaves if stride is not None):
        return None
    if prod(extent for extent, _ in leaves) > _MOST:
        return None
    # An image is the part that is known, and how far it goes along each stride that is not.
    images: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for extent, stride in leaves:
        steps = [(i * stride, ()) if stride is not None else (0, (i,)) for i in range(extent)]
        images = [(at + by, (*way, *on)) for by, on in steps for at, way in images]
    first: dict[tuple[int, tuple[int, ...]], int] = {}
    shared = tuple(first.setdefault(place, i) for i, place in enumerate(images))
    return None if len(first) == len(shared) else shared


def steps_over(leaves: Iterable[tuple[int, int]]) -> bool:
    """Each stride, of extents and strides, steps over all that the smaller ones reach, so that no
    two elements lie in one place."""
    reach = 0
    for stride, extent in sorted((abs(stride), extent) for extent, stride in leaves if extent > 1):
        if stride <= reach:
            return False
        reach += (extent - 1) * stride
    return True


def split(shared: Sequence[int], source: Layout) -> tuple[int, int] | None:
    """Two elements that lie in one place, as `sharing` says, and are not sure to be one element of
    a source; None where there are none."""
    same = sharing(source) or range(len(shared))
    return next(
        ((first, i) for i, first in enumerate(shared) if same[i] != same[first]),
        None,
    )
