"""Layouts: functions from coordinates to indices, written shape:stride.

    (4,8):(1,4)     column-major 4 x 8: element (m, n) lies at m + 4 n
    (4,8):(8,1)     row-major
    ((4,8),2):((32,1),16)
                    the mode (4,8) is itself a layout; its index m unfolds to (m % 4, m // 4)
    (4,8):(1@0,1@1) a coordinate layout: its image at (m, n) is (m, n)

A layout takes an index, a coordinate, or anything between, and a None in a coordinate slices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self, cast

from tilewright.dialects.cute.coordinate import (
    coprofile,
    crd2idx,
    dice,
    make_basis_like,
    pair_leaves,
    slice_,
)
from tilewright.dialects.cute.drawing import Drawable, html
from tilewright.dialects.cute.int_tuple import (
    IntTuple,
    LayoutError,
    ScaledBasis,
    Shape,
    Stride,
    compact_col_major,
    depth,
    flatten,
    has_underscore,
    product,
    rank,
    to_text,
    unflatten,
    weakly_congruent,
)
from tilewright.dialects.cute.symbolic.tuples import compact_order
from tilewright.dialects.cute.text import LayoutParseError, LayoutReader
from tilewright.dialects.cute.value import FrozenValue, slot_setter


class Modes(FrozenValue):
    """Modes of a `shape`, which `mode` leads to one by one."""

    __slots__ = ()

    @property
    def shape(self) -> Shape:
        raise NotImplementedError

    def mode(self, *path: int) -> Self:
        """One mode, or a mode within a mode: mode(0, 1). Raises IndexError beyond the rank."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}.parse({str(self)!r})"

    def _repr_html_(self) -> str:
        return html(cast("Drawable", self))

    def __len__(self) -> int:
        return rank(self.shape)

    def __iter__(self) -> Iterator[Self]:
        return map(self.mode, range(len(self)))

    def __getitem__(self, i: int) -> Self:
        return self.mode(i)

    def size(self) -> int:
        """The number of coordinates."""
        return product(self.shape)

    def rank(self) -> int:
        """The number of modes."""
        return rank(self.shape)

    def depth(self) -> int:
        """The nesting of the shape."""
        return depth(self.shape)


class Layout(Modes):
    """A function from the coordinates of `shape` to the inner product with `stride`.

    Layout((4, 8)) is (4,8):(1,4), the compact column-major layout. Equality is of spelling; see
    `equivalent` for equality as functions. `leaves` pairs extents and strides from left to right:
    what the algebra works on. Raises LayoutError for a stride that is not congruent to the shape,
    an extent below 1, or strides of both kinds.
    """

    __slots__ = ("leaves", "shape", "stride")  # pyright: ignore[reportIncompatibleMethodOverride]
    __match_args__ = ("shape", "stride")
    shape: Shape
    stride: Stride
    leaves: tuple[tuple[Any, Any], ...]

    def __init__(self, shape: Shape, stride: Stride | None = None):
        stride = compact_col_major(shape) if stride is None else stride
        _set_leaves(self, pair_leaves(shape, stride))
        _set_shape(self, shape)
        _set_stride(self, stride)

    def __getattr__(self, name: str) -> Any:
        # Reached only while a slot is empty: `make_unchecked` leaves the leaves to their first use.
        if name != "leaves":
            raise AttributeError(f"Layout has no attribute {name!r}")
        leaves = tuple(zip(flatten(self.shape), flatten(self.stride), strict=True))
        _set_leaves(self, leaves)
        return leaves

    @staticmethod
    def parse(text: str) -> Layout:
        """The layout that prints as `text`.

        Raises LayoutParseError with the position where reading stopped.
        """
        reader = LayoutReader(text)
        layout = read_layout(reader)
        reader.read_end()
        return layout

    def __str__(self) -> str:
        return f"{to_text(self.shape)}:{to_text(self.stride)}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self.shape == other.shape and self.stride == other.stride

    def __hash__(self) -> int:
        return hash((self.shape, self.stride))

    def __call__(self, *coord: Any) -> Any:
        """The image of a coordinate: an index, or a coordinate where the strides are bases.

        A None in the coordinate slices: the layout of what it leaves open, without the offset of
        what it fixes (see `slice_and_offset`). Raises LayoutError for a misfit.
        """
        crd: Any = coord[0] if len(coord) == 1 else coord
        if type(crd) is int:
            index, rest, beyond = 0, crd, 0
            for extent, stride in self.leaves:
                if type(stride) is not int:
                    break
                rest, c = divmod(rest, extent)
                index, beyond = index + c * stride, extent * stride
            else:
                return index + rest * beyond
        if (crd is None or type(crd) is tuple) and has_underscore(crd):
            return slice_layout(crd, self)
        return crd2idx(crd, self.shape, self.stride)

    def mode(self, *path: int) -> Layout:
        """The layout of one mode, or of a mode within a mode: mode(0, 1).

        Raises IndexError beyond the rank. Mode 0 of a layout without modes is the layout.
        """
        shape, stride = self.shape, self.stride
        for i in path:
            if isinstance(shape, tuple):
                shape, stride = shape[i], cast("tuple[Stride, ...]", stride)[i]
            elif i not in (0, -1):
                raise IndexError(f"mode {i} of {self}")
        return make_unchecked(shape, stride)

    def flatten(self) -> Layout:
        """The same leaves as one flat tuple: (3,(4,5)):(8,(1,4)) -> (3,4,5):(8,1,4)."""
        return make_unchecked(flatten(self.shape), flatten(self.stride))

    def coshape(self) -> IntTuple:
        """The smallest box from 0 that holds every image; strides count by their magnitude."""
        bounds: list[tuple[int, int | ScaledBasis]] = []
        for s, d in self.leaves:
            bounds.append((s, d if isinstance(d, ScaledBasis) else abs(d)))
        last = tuple(s - 1 for s, _ in bounds)
        corner = crd2idx(last, tuple(s for s, _ in bounds), tuple(d for _, d in bounds))
        return unflatten(tuple(c + 1 for c in flatten(corner)), corner)

    def cosize(self) -> int:
        """One more than the largest index; of a coordinate layout the size of its box."""
        return product(self.coshape())


_set_shape = slot_setter(Layout, "shape")
_set_stride = slot_setter(Layout, "stride")
_set_leaves = slot_setter(Layout, "leaves")
_new = object.__new__


def make_unchecked(shape: Any, stride: Any) -> Layout:
    """A Layout from parts that are congruent by construction: the algebra's own way in."""
    layout = _new(Layout)
    _set_shape(layout, shape)
    _set_stride(layout, stride)
    return layout


def read_layout(reader: LayoutReader) -> Layout:
    """A layout at the reader's position."""
    start = reader.end
    shape, stride = reader.read_modes()
    try:
        return Layout(cast("Shape", shape), stride)
    except LayoutError as error:
        raise LayoutParseError(str(error), reader.text, start) from error


# --- construction ---------------------------------------------------------------------------------


def make_layout(*layouts: Layout) -> Layout:
    """The layouts as modes of one: 4:1 and 8:4 -> (4,8):(1,4).

    Raises LayoutError when indices would be added to coordinates.
    """
    layout = stacked(layouts)
    coprofile(layout.stride)
    return layout


def stacked(layouts: Sequence[Layout]) -> Layout:
    """`make_layout` of layouts whose images are of one kind."""
    return make_unchecked(
        tuple(layout.shape for layout in layouts), tuple(layout.stride for layout in layouts)
    )


def unflatten_layout(layouts: Sequence[Layout], profile: Any) -> Layout:
    """The layouts as what stands at the leaves of a profile: as many as it has."""
    return make_unchecked(
        unflatten(tuple(layout.shape for layout in layouts), profile),
        unflatten(tuple(layout.stride for layout in layouts), profile),
    )


def make_identity_layout(shape: Shape) -> Layout:
    """Every coordinate is its own image: (4, 2) -> (4,2):(1@0,1@1)."""
    return Layout(shape, make_basis_like(shape))


def make_ordered_layout(shape: Shape, order: IntTuple) -> Layout:
    """Compact, the modes laid out in the given order: (4, 2) ordered (1, 0) -> (4,2):(2,1).

    Raises LayoutError when `order` is not a profile of `shape`.
    """
    if not weakly_congruent(order, shape):
        raise LayoutError(f"expected an order for {to_text(shape)}, got {to_text(order)}")
    return Layout(shape, compact_order(shape, order))


def make_layout_like(layout: Layout) -> Layout:
    """Compact, in the order of the layout's strides: (4,2):(9,1) -> (4,2):(2,1). Stride 0 stays.

    Raises LayoutError for a coordinate layout.
    """
    extents, strides = flatten(layout.shape), flatten(layout.stride)
    if ScaledBasis in map(type, strides):
        raise LayoutError(f"make_layout_like: expected integer strides, got {layout}")
    stored = tuple(1 if d == 0 else s for s, d in zip(extents, strides, strict=True))
    return Layout(layout.shape, unflatten(flatten(compact_order(stored, strides)), layout.shape))


# --- modes ----------------------------------------------------------------------------------------


def append(layout: Layout, x: Layout) -> Layout:
    """`x` as a further last mode: (4,8):(1,4) and 2:32 -> (4,8,2):(1,4,32)."""
    return make_layout(*layout, x)


def prepend(layout: Layout, x: Layout) -> Layout:
    """`x` as a further first mode."""
    return make_layout(x, *layout)


def append_to_rank(layout: Layout, to_rank: int, x: Layout | None = None) -> Layout:
    """`x`, by default 1:0, appended up to the rank: 4:1 to rank 2 -> (4,1):(1,0).

    Raises LayoutError when the layout has a higher rank already.
    """
    return (
        make_layout(*layout, *_padding(layout, to_rank, x)) if layout.rank() != to_rank else layout
    )


def prepend_to_rank(layout: Layout, to_rank: int, x: Layout | None = None) -> Layout:
    """`x`, by default 1:0, prepended up to the rank.

    Raises LayoutError when the layout has a higher rank already.
    """
    return (
        make_layout(*_padding(layout, to_rank, x), *layout) if layout.rank() != to_rank else layout
    )


def _padding(layout: Layout, to_rank: int, x: Layout | None) -> list[Layout]:
    if to_rank < layout.rank():
        raise LayoutError(f"expected a layout of rank at most {to_rank}, got {layout}")
    return [make_unchecked(1, 0) if x is None else x] * (to_rank - layout.rank())


def group_modes(layout: Layout, begin: int, end: int) -> Layout:
    """Modes begin to end - 1 become one: (2,3,4):(1,2,6) from 0 to 2 -> ((2,3),4):((1,2),6).

    Raises LayoutError for a range that is empty or beyond the rank.
    """
    if not 0 <= begin < end <= layout.rank():
        raise LayoutError(f"expected a range within rank {layout.rank()}, got [{begin}, {end})")
    modes = list(layout)
    return make_layout(*modes[:begin], make_layout(*modes[begin:end]), *modes[end:])


def select(layout: Layout, *modes: int) -> Layout:
    """The named modes in the named order: (2,3,4):(1,2,6) by 2, 0 -> (4,2):(6,1).

    Raises IndexError beyond the rank.
    """
    return make_layout(*(layout.mode(i) for i in modes))


def slice_layout(coord: Any, layout: Layout) -> Layout:
    """The modes opposite a None: (None, 2) of (4,8):(1,4) -> (4):(1).

    Raises LayoutError when the coordinate does not fit the shape.
    """
    return make_unchecked(slice_(coord, layout.shape), slice_(coord, layout.stride))


def dice_layout(coord: Any, layout: Layout) -> Layout:
    """The modes opposite an integer: (None, 2) of (4,8):(1,4) -> (8):(4).

    Raises LayoutError when the coordinate does not fit the shape.
    """
    return make_unchecked(dice(coord, layout.shape), dice(coord, layout.stride))


def slice_and_offset(coord: Any, layout: Layout) -> tuple[Layout, Any]:
    """The slice and where it starts: L(c with None filled in by i) = offset + slice(i).

    (None, 2) of (4,8):(1,4) -> (4):(1), 8. Raises LayoutError when the coordinate does not fit.
    """
    return slice_layout(coord, layout), crd2idx(coord, layout.shape, layout.stride)
