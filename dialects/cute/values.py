"""Values of the `cute` dialect with their kind: what its types stand for.

!cute.shape<"(4,?)">    Typed("shape", (4, Dynamic()))
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, NamedTuple

from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.swizzle import AnyLayout, ComposedLayout, Swizzle
from tilewright.dialects.cute.symbolic.check import why_not
from tilewright.dialects.cute.symbolic.composed import is_plain
from tilewright.dialects.cute.symbolic.layouts import known, tile_layouts
from tilewright.dialects.cute.symbolic.scalar import Dynamic, Scalar, width_of
from tilewright.dialects.cute.symbolic.text import KINDS, read_value, tile_text, value_text
from tilewright.dialects.cute.symbolic.tuples import is_static
from tilewright.dialects.cute.tensor import (
    read_coord_tensor,
    read_tensor,
    why_no_coord_tensor,
    why_no_tensor,
    with_leaves,
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


def typed_layout(layout: AnyLayout) -> Typed:
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
    following = iter(leaves)

    def replaced(leaf: Scalar) -> Scalar:
        return next(following) if isinstance(leaf, Dynamic) else leaf

    return Typed(typed.kind, with_leaves(typed.value, replaced, lambda _: None))


def with_numbers(typed: Typed, leaves: Iterable[Scalar]) -> Typed:
    """The value with all its numbers replaced, from left to right, as `get_scalars` gives them: a
    basis is its value and then its modes, which stay, as the numbers of a swizzle do."""
    following = iter(leaves)

    def skip(count: int) -> None:
        for _ in range(count):
            next(following)

    return Typed(typed.kind, with_leaves(typed.value, lambda _: next(following), skip))
