"""Values of the `cute` dialect with their kind: what its types stand for.

!cute.shape<"(4,?)">    Typed("shape", (4, Dynamic()))
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from tilewright.dialects.cute.int_tuple import ScaledBasis, is_tuple
from tilewright.dialects.cute.layout import Layout, make_unchecked
from tilewright.dialects.cute.swizzle import ComposedLayout, Swizzle, compose_unchecked
from tilewright.dialects.cute.symbolic.check import why_not
from tilewright.dialects.cute.symbolic.composed import is_plain
from tilewright.dialects.cute.symbolic.layouts import known, tile_layouts
from tilewright.dialects.cute.symbolic.scalar import Dynamic, Scalar, width_of
from tilewright.dialects.cute.symbolic.text import KINDS, read_value, tile_text, value_text
from tilewright.dialects.cute.symbolic.tuples import is_static
from tilewright.dialects.cute.tensor import (
    CoordTensor,
    Tensor,
    read_coord_tensor,
    read_tensor,
    why_no_coord_tensor,
    why_no_tensor,
)

TENSORS = ("memref", "coord_tensor")
"""The kinds of values that are tensors: a `Tensor`, a `CoordTensor`."""


_LEAF = re.compile(r"\?(?:\{(i64)?[^}]*\})?")


class Typed(NamedTuple):
    """A value and its kind: int_tuple, shape, stride, coord, layout, composed_layout, tile or
    swizzle; a tensor, memref or coord_tensor; a scalar, which is an integer by itself; or what
    works on tensors: tiled_mma, tiled_copy, tma_copy or pipeline."""

    kind: str
    value: Any

    def __str__(self) -> str:
        if self.kind == "scalar":
            return f"i{width_of(self.value)}"
        if self.kind in KINDS:
            return f'!cute.{self.kind}<"{self.text}">'
        return f"!cute.{self.kind}<{self.text}>"

    @property
    def text(self) -> str:
        """How the value is written."""
        # Most values are asked for again as they are, for messages that nobody reads.
        known = _texts.get((self.kind, id(self.value)))
        if known is None:
            if len(_texts) >= _MOST:
                _texts.clear()
            known = _texts[self.kind, id(self.value)] = self.value, _text(self.kind, self.value)
        return known[1]

    @property
    def printf_format(self) -> str:
        """The C format that prints it, its dynamic leaves given in the order of its text."""
        return _LEAF.sub(lambda leaf: "%lld" if leaf[1] else "%d", self.text) + "\n"

    @property
    def quoted(self) -> str:
        """The type as diagnostics name it."""
        return f"'{self}'"


_MOST = 1 << 12
_texts: dict[tuple[str, int], tuple[Any, str]] = {}


@lru_cache(_MOST)
def _text(kind: str, value: Any) -> str:
    """How a value is written; equal ones are written alike."""
    return tile_text(value) if kind == "tile" else value_text(value)


_TENSOR_READERS = {"memref": read_tensor, "coord_tensor": read_coord_tensor}
_TENSOR_FAULTS = {"memref": why_no_tensor, "coord_tensor": why_no_coord_tensor}


@cache
def read_typed(kind: str, text: str) -> Typed:
    """The value of a kind that is written as `text`. Raises LayoutParseError."""
    if kind in _TENSOR_READERS:
        return Typed(kind, _TENSOR_READERS[kind](text))
    return Typed(kind, read_value(kind, text))


@cache
def fault(kind: str, text: str) -> str | None:
    """Why the text of a value is none of its kind, or None where it is."""
    value = read_typed(kind, text).value
    if kind in _TENSOR_FAULTS:
        return _TENSOR_FAULTS[kind](value)
    return why_not(kind, value)


def typed_layout(layout: Layout | ComposedLayout) -> Typed:
    """A layout with its kind, plain where only `outer` does anything."""
    if isinstance(layout, Layout):
        return Typed("layout", layout)
    if is_plain(layout):
        return Typed("layout", layout.outer)
    return Typed("composed_layout", layout)


def is_known(typed: Typed) -> bool:
    """No leaf is dynamic; an underscore is known."""
    match typed.kind:
        case "layout":
            return known(typed.value)
        case "tile":
            return all(map(known, tile_layouts(typed.value)))
        case "swizzle":
            return True
        case "composed_layout":
            return _composed_known(typed.value)
        case "memref" | "coord_tensor":
            layout = typed_layout(typed.value.layout)
            return is_known(layout) and is_static(getattr(typed.value, "start", ()))
        case _:
            return is_static(typed.value)


def _composed_known(composed: ComposedLayout) -> bool:
    inner = isinstance(composed.inner, Swizzle) or known(composed.inner)
    return inner and is_static(composed.offset) and known(composed.outer)


def with_dynamic_leaves(typed: Typed, leaves: Iterable[Scalar]) -> Typed:
    """The value with its dynamic leaves replaced, in the order of `get_scalars`."""
    return Typed(typed.kind, _refilled(typed.value, iter(leaves), Dynamic))


def with_numbers(typed: Typed, leaves: Iterable[Scalar]) -> Typed:
    """The value with all its numbers replaced, from left to right, as `get_scalars` gives them: a
    basis is its value and then its modes, which stay, as the numbers of a swizzle do."""
    return Typed(typed.kind, _refilled(typed.value, iter(leaves), int | Dynamic))


def _refilled(value: Any, leaves: Iterator[Scalar], replaced: Any) -> Any:
    if is_tuple(value):
        return tuple(_refilled(item, leaves, replaced) for item in value)
    if isinstance(value, replaced):
        return next(leaves)
    match value:
        case ScaledBasis():
            number = _refilled(value.value, leaves, replaced)
            _skip(leaves, 0 if replaced is Dynamic else len(value.modes))
            return ScaledBasis(number, value.modes)
        case Swizzle():
            _skip(leaves, 0 if replaced is Dynamic else 3)
            return value
        case Layout():
            shape = _refilled(value.shape, leaves, replaced)
            return make_unchecked(shape, _refilled(value.stride, leaves, replaced))
        case ComposedLayout():
            outer = _refilled(value.outer, leaves, replaced)
            offset = _refilled(value.offset, leaves, replaced)
            return compose_unchecked(_refilled(value.inner, leaves, replaced), offset, outer)
        case Tensor():
            return value.with_layout(_refilled(value.layout, leaves, replaced))
        case CoordTensor():
            start = _refilled(value.start, leaves, replaced)
            return CoordTensor(start, _refilled(value.layout, leaves, replaced))
        case _:
            return value


def _skip(leaves: Iterator[Scalar], count: int) -> None:
    for _ in range(count):
        next(leaves)
