"""Every op of the `cute` dialect as the algebra on numbers computes it: on values without dynamic
leaves, from `tilewright.dialects.cute` wherever that has it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import add, eq, lt, sub
from typing import Any

from op_cases import CASES

from tilewright.dialects import cute
from tilewright.dialects.cute import (
    ComposedLayout,
    Layout,
    flatten,
)
from tilewright.dialects.cute.rules.accessors import tile_leaves


def _part(t: Any, path: tuple[int, ...]) -> Any:
    for i in path:
        t = t[i] if isinstance(t, tuple) else t
    return t


def _get(value: Any, path: tuple[int, ...]) -> Any:
    layout = isinstance(value, Layout | ComposedLayout)
    return value.mode(*path) if layout else _part(value, path)


def _outer(function: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """A function of layouts on the outer one of what is composed; `plain` of any other value."""

    def mapped(value: Any, *rest: Any) -> Any:
        if isinstance(value, ComposedLayout):
            return value.with_outer(function(value.outer, *rest))
        return (function if isinstance(value, Layout) else plain)(value, *rest)

    return mapped


def _slice(source: Any, coord: Any) -> Any:
    if isinstance(source, ComposedLayout):
        return source(coord)
    if isinstance(source, Layout):
        return cute.slice_layout(coord, source)
    return cute.slice_(coord, source)


def _dice(source: Any, coord: Any) -> Any:
    pick = cute.dice_layout if isinstance(source, Layout) else cute.dice
    return pick(coord, source)


def _padded(pad_layout: Any, first: bool) -> Callable[..., Any]:
    def pad(source: Any, element: Any, rank: int) -> Any:
        if isinstance(source, Layout):
            return pad_layout(source, rank, element)
        modes = source if isinstance(source, tuple) else (source,)
        rest = (element,) * (rank - len(modes))
        if not rest:
            return source
        return (*rest, *modes) if first else (*modes, *rest)

    return pad


def _size(source: Any, path: tuple[int, ...]) -> int:
    mode = _get(source, path)
    return mode.size() if isinstance(mode, Layout | ComposedLayout) else cute.size(mode)


def _shape(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_shape, value))
    return value.shape


PURE: dict[str, Callable[..., Any]] = {
    "make_layout": Layout,
    "make_composed_layout": ComposedLayout,
    "make_ordered_layout": cute.make_ordered_layout,
    "make_identity_layout": cute.make_identity_layout,
    "get_shape": _shape,
    "get_stride": lambda layout: layout.stride,
    "composed_get_inner": lambda layout: layout.inner,
    "composed_get_offset": lambda layout: layout.offset,
    "composed_get_outer": lambda layout: layout.outer,
    **dict.fromkeys(("to_int_tuple", "to_shape", "to_stride", "to_coord"), lambda value: value),
    "get": _get,
    "select": _outer(
        lambda layout, modes: cute.select(layout, *modes),
        lambda value, modes: tuple(_part(value, (i,)) for i in modes),
    ),
    "composition": cute.composition,
    "coalesce": lambda layout, profile=None: cute.coalesce(layout, profile),
    "complement": cute.complement,
    "flatten": _outer(
        Layout.flatten, lambda value: flatten(value) if isinstance(value, tuple) else value
    ),
    "right_inverse": cute.right_inverse,
    "left_inverse": cute.left_inverse,
    "group_modes": _outer(cute.group_modes, cute.group_modes),
    "recast_layout": lambda layout, new, old: cute.recast_layout(new, old, layout),
    "slice": _slice,
    "dice": _dice,
    "size": _size,
    "cosize": lambda layout, path: layout.cosize(),
    "tuple_product": cute.product,
    "tuple_product_each": cute.product_each,
    "layout_eval": lambda coord, layout: layout(coord),
    "crd2idx": cute.crd2idx,
    "idx2crd": cute.idx2crd,
    "increment_coord": lambda coord, shape: cute.idx2crd(cute.crd2idx(coord, shape) + 1, shape),
    "append_to_rank": _padded(cute.append_to_rank, first=False),
    "prepend_to_rank": _padded(cute.prepend_to_rank, first=True),
    "tuple_add": partial(cute.transform_leaf, add),
    "tuple_sub": partial(cute.transform_leaf, sub),
    "shape_div": cute.shape_div,
    "ceil_div": cute.ceil_div,
    "elem_less": lambda a, b: all(map(lt, flatten(a), flatten(b))),
    "equal": eq,
    **{
        name: getattr(cute, name)
        for name in CASES
        if name.endswith(("l_product", "d_product", "t_product", "_divide", "tile_to_shape"))
    },
}


def leaves_of(source: Any) -> list[Any]:
    """The leaves of a tuple, or the slots of a tile."""
    is_tile = any(isinstance(leaf, Layout) for leaf in flatten(source))
    return list(tile_leaves(source) if is_tile else flatten(source))


LESS_WHEN_DYNAMIC = {"recast_layout"}
"""Ops that do something else where a stride is not known to be 1."""

PURE |= {
    "get_leaves": leaves_of,
    "get_layouts_from_tile": lambda tile: [leaf for leaf in flatten(tile) if leaf is not None],
}
