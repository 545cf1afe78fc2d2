"""Swizzles, and layouts that pass through one on their way to memory.

S<bits,base,shift> XORs one field of an index's bits into another:

    S<3,4,3>     ... 9 8 7  6 5 4  3 2 1 0
                     Y Y Y  Z Z Z  ^-----^ base: 4 bits stay as they are
                     |      ^
                     +-XOR--+  shift: Y lies 3 bits above Z; bits: each field has 3

In bytes S<3,4,3> is the 128-byte swizzle of shared memory: the 16-byte chunk within a 128-byte row
is XORed with the row's number modulo 8.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar, cast

from tilewright.dialects.cute.coordinate import coordinate_add
from tilewright.dialects.cute.int_tuple import (
    IntTuple,
    LayoutError,
    ScaledBasis,
    Shape,
    flatten,
    has_underscore,
    to_text,
)
from tilewright.dialects.cute.layout import Layout, Modes, read_layout, slice_and_offset
from tilewright.dialects.cute.text import LayoutParseError, LayoutReader
from tilewright.dialects.cute.value import FrozenValue, fields_setter

INDEX_BITS = 63
"""The bits of an index that is not negative."""


class Swizzle(FrozenValue):
    """The involution x -> x ^ ((x & Y) >> shift), a bijection of the integers below `size()`.

    A negative shift has the source field Y below the target field Z.
    Raises LayoutError for negative bits or base, for fields that overlap, and for fields beyond the
    bits of an index.
    """

    __slots__ = ("base", "bits", "shift")
    __match_args__ = ("bits", "base", "shift")
    bits: int
    base: int
    shift: int

    def __init__(self, bits: int, base: int, shift: int):
        if bits < 0 or base < 0 or abs(shift) < bits:
            raise LayoutError(
                f"expected bits and base >= 0 and |shift| >= bits, got S<{bits},{base},{shift}>"
            )
        if bits + base + abs(shift) > INDEX_BITS:
            raise LayoutError(
                f"expected the fields of a swizzle in the {INDEX_BITS} bits of an index, got "
                f"S<{bits},{base},{shift}>"
            )
        _set_swizzle(self, bits, base, shift)

    @staticmethod
    def parse(text: str) -> Swizzle:
        """The swizzle that prints as `text`. Raises LayoutParseError."""
        reader = LayoutReader(text)
        swizzle = _read_swizzle(reader)
        reader.read_end()
        return swizzle

    def __str__(self) -> str:
        return f"S<{self.bits},{self.base},{self.shift}>"

    @property
    def yyy_mask(self) -> int:
        """The bits that are read."""
        return ((1 << self.bits) - 1) << (self.base + max(0, self.shift))

    @property
    def zzz_mask(self) -> int:
        """The bits that change."""
        return ((1 << self.bits) - 1) << (self.base + max(0, -self.shift))

    def apply(self, index: Any) -> Any:
        """The swizzled index; an integer, or an integer NumPy array element by element."""
        source = index & self.yyy_mask
        return index ^ (source >> self.shift if self.shift >= 0 else source << -self.shift)

    __call__ = apply

    def size(self) -> int:
        """The smallest power of two whose indices the swizzle permutes among themselves."""
        return 1 << (self.bits + self.base + abs(self.shift))


_set_swizzle = fields_setter(Swizzle)


class ComposedLayout(Modes):
    """c -> inner(offset + outer(c)): a layout that need not be an inner product.

    `inner` is a Swizzle or a Layout, and `outer` gives the domain: shape, size and modes are its
    own. Printed `S<3,4,3> o 0 o (8,64):(64,1)`. Raises LayoutError when a swizzle would be handed
    coordinates, or indices and coordinates would be added.
    """

    __slots__ = ("inner", "offset", "outer")
    __match_args__ = ("inner", "offset", "outer")
    inner: Swizzle | Layout
    offset: IntTuple
    outer: Layout

    def __init__(self, inner: Swizzle | Layout, offset: IntTuple, outer: Layout):
        sum_ = coordinate_add(offset, outer.coshape())
        if isinstance(inner, Swizzle) and isinstance(sum_, tuple):
            raise LayoutError(f"expected indices to swizzle, got {to_text(offset)} o {outer}")
        _set_composed(self, inner, offset, outer)

    @staticmethod
    def parse(text: str) -> ComposedLayout:
        """The composed layout that prints as `text`. Raises LayoutParseError."""
        layout = parse_layout(text)
        if isinstance(layout, ComposedLayout):
            return layout
        raise LayoutParseError("expected ' o ', got the end", text, len(text))

    def __str__(self) -> str:
        return f"{self.inner} o {to_text(self.offset)} o {self.outer}"

    def __call__(self, *coord: Any) -> Any:
        """The image of a coordinate; a None in it slices, what it fixes going into the offset."""
        crd: Any = coord[0] if len(coord) == 1 else coord
        if (crd is None or type(crd) is tuple) and has_underscore(crd):
            sliced, offset = slice_and_offset(crd, self.outer)
            return ComposedLayout(self.inner, coordinate_add(self.offset, offset), sliced)
        image = self.outer(crd)
        if not isinstance(image, tuple) and isinstance(self.offset, int):
            return self.inner(self.offset + image)
        return self.inner(coordinate_add(self.offset, cast("IntTuple", image)))

    def with_outer(self, outer: Layout) -> ComposedLayout:
        """The same inner function over another domain."""
        return ComposedLayout(self.inner, self.offset, outer)

    def mode(self, *path: int) -> ComposedLayout:
        """One mode, with the same inner function and offset. Raises IndexError beyond the rank."""
        return self.with_outer(self.outer.mode(*path))

    @property
    def shape(self) -> Shape:
        return self.outer.shape

    def cosize(self) -> int:
        """The cosize of `outer`, as in CuTe.

        It bounds the images only where the swizzle permutes that range, as it does a multiple of
        its `size()`.
        """
        return self.outer.cosize()


_set_composed = fields_setter(ComposedLayout)

AnyLayout: TypeAlias = Layout | ComposedLayout


def outer_of(layout: AnyLayout) -> Layout:
    """The layout that has the modes."""
    return layout.outer if isinstance(layout, ComposedLayout) else layout


Same = TypeVar("Same", Layout, ComposedLayout)
Arguments = ParamSpec("Arguments")


def on_outer(
    operation: Callable[Concatenate[Layout, Arguments], Layout],
) -> Callable[Concatenate[Same, Arguments], Same]:
    """An operation on layouts that acts on the `outer` of a ComposedLayout, where its modes are."""

    @wraps(operation)
    def on_any(layout: Any, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Any:
        if isinstance(layout, ComposedLayout):
            return layout.with_outer(operation(layout.outer, *args, **kwargs))
        return operation(layout, *args, **kwargs)

    return on_any


def _read_swizzle(reader: LayoutReader) -> Swizzle:
    start = reader.end
    try:
        return Swizzle(*reader.read_swizzle())
    except LayoutError as error:
        raise LayoutParseError(str(error), reader.text, start) from error


def compose_unchecked(inner: Any, offset: Any, outer: Layout) -> ComposedLayout:
    """A ComposedLayout from parts that are known to fit, or are checked by who asks."""
    composed = object.__new__(ComposedLayout)
    _set_composed(composed, inner, offset, outer)
    return composed


def parse_layout(text: str) -> AnyLayout:
    """The layout or composed layout that prints as `text`.

    Raises LayoutParseError with the position where reading stopped.
    """
    reader = LayoutReader(text)
    if reader.token == "S":
        inner = _read_swizzle(reader)
    else:
        inner = read_layout(reader)
        if not reader.token:
            return inner
    reader.read("o")
    start = reader.end
    offset = reader.read_tuple()
    if ScaledBasis in map(type, flatten(offset)):
        raise LayoutParseError("expected an integer offset", text, start)
    reader.read("o")
    outer = read_layout(reader)
    reader.read_end()
    try:
        return ComposedLayout(inner, cast("IntTuple", offset), outer)
    except LayoutError as error:
        raise LayoutParseError(str(error), text, start) from error
