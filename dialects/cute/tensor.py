"""Tensors: where elements are, and the layout that leads to them.

    Tensor        elements in a memory space       f16, gmem, align<16>, "(?,64):(?{div=8},1)"
    CoordTensor   the coordinates of elements      "(0,?)", "(128,32):(1@0,1@1)"

The layout of a tensor may be composed with a swizzle. A tensor's first element moves when it is
sliced: of a plain layout the pointer does, of a swizzled one the offset before the swizzle, because
the swizzle is a pattern of the whole allocation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import gcd
from typing import Any, cast

from tilewright.dialects.cute.int_tuple import LayoutError, ScaledBasis, flatten, is_tuple, to_text
from tilewright.dialects.cute.layout import Layout, make_unchecked
from tilewright.dialects.cute.swizzle import AnyLayout, ComposedLayout, Swizzle, compose_unchecked
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.check import why_not
from tilewright.dialects.cute.symbolic.composed import outer_of
from tilewright.dialects.cute.symbolic.evaluate import image
from tilewright.dialects.cute.symbolic.layouts import known
from tilewright.dialects.cute.symbolic.scalar import (
    Dynamic,
    Multiple,
    Scalar,
    divisor_of,
)
from tilewright.dialects.cute.symbolic.text import read_value
from tilewright.dialects.cute.symbolic.tuples import has_basis, tuple_sum
from tilewright.dialects.frozen import frozen

SPACES = ("gmem", "smem", "dsmem", "rmem", "tmem")
"""Where a tensor's elements may be: global, shared and tensor memory, and registers."""


def element_bits(element: str) -> int:
    """The width of an element type, by its MLIR spelling, in memory.

    Raises LayoutError for a type whose spelling names no width.
    """
    digits = re.match(r"[a-z]+(\d+)", element)
    if digits is None:
        raise LayoutError(f"expected an element type with a width, got {element}")
    return int(digits[1])


@frozen
class Tensor:
    """Elements of one type in one memory space.

    `align` is what divides the address of the first element, in bytes. `base` and `offset` say
    where that is when it is known: a memory of whoever computes with the tensor, and how many
    elements behind its start; a type has no base.
    """

    element: str
    space: str
    align: int
    layout: AnyLayout
    base: Any = None
    offset: Scalar = 0

    def __str__(self) -> str:
        align = "" if self.align == natural_alignment(self.element) else f" align<{self.align}>,"
        return f'{self.element}, {self.space},{align} "{self.layout}"'

    @property
    def bits(self) -> int:
        """The width of an element."""
        return element_bits(self.element)

    @property
    def modes(self) -> Layout:
        """The layout that has the modes."""
        return outer_of(self.layout)

    @property
    def why_no_argument(self) -> str | None:
        """Why a kernel takes no such tensor, or None where it does."""
        if self.space != "gmem" or not isinstance(self.layout, Layout):
            return f"expected a plain layout in gmem, got {self}"
        return None

    def with_layout(self, layout: AnyLayout) -> Tensor:
        """The same first element, seen through another layout."""
        return Tensor(self.element, self.space, self.align, layout, self.base, self.offset)

    def moved(self, by: Any, layout: AnyLayout) -> Tensor:
        """The tensor `by` elements on, an image of the layout's modes, seen through `layout`."""
        if isinstance(self.layout, ComposedLayout):
            offset = tuple_sum(self.layout.offset, by)
            return self.with_layout(compose_unchecked(self.layout.inner, offset, outer_of(layout)))
        align = gcd(8 * self.align, self.bits * divisor_of(by)) // 8
        offset = 0 if self.base is None else scalar.add(self.offset, by)
        return Tensor(self.element, self.space, max(align, 1), layout, self.base, offset)


@frozen
class CoordTensor:
    """Coordinates, from `start` on: its layout's strides are bases."""

    start: Any
    layout: Layout

    def __str__(self) -> str:
        return f'"{to_text(self.start)}", "{self.layout}"'

    @property
    def modes(self) -> Layout:
        """The layout that has the modes."""
        return self.layout

    def with_layout(self, layout: AnyLayout) -> CoordTensor:
        """The same first coordinate, the others through another layout."""
        assert isinstance(layout, Layout)
        return CoordTensor(self.start, layout)

    def moved(self, by: Any, layout: AnyLayout) -> CoordTensor:
        """The tensor from the coordinate `by` further on."""
        assert isinstance(layout, Layout)
        return CoordTensor(tuple_sum(self.start, by), layout)


AnyTensor = Tensor | CoordTensor


def natural_alignment(element: str) -> int:
    """The bytes of one element, at least one: the alignment that a tensor has by itself."""
    return max(element_bits(element) // 8, 1)


# --- leaves ---------------------------------------------------------------------------------------


def with_leaves(value: Any, leaf: Callable[[Scalar], Scalar], keep: Callable[[int], None]) -> Any:
    """A value of the algebra, or a tensor, with what `leaf` makes of its numbers, in the order of
    `get_scalars`. The modes of a basis and the numbers of a swizzle stay: `keep` gets how many."""
    if is_tuple(value):
        return tuple([with_leaves(part, leaf, keep) for part in value])
    if type(value) is int or isinstance(value, Dynamic):
        return leaf(value)
    match value:
        case ScaledBasis():
            number = with_leaves(value.value, leaf, keep)
            keep(len(value.modes))
            return ScaledBasis(number, value.modes)
        case Swizzle():
            keep(3)
            return value
        case Layout():
            shape = with_leaves(value.shape, leaf, keep)
            return make_unchecked(shape, with_leaves(value.stride, leaf, keep))
        case ComposedLayout():
            outer = with_leaves(value.outer, leaf, keep)
            offset = with_leaves(value.offset, leaf, keep)
            return compose_unchecked(with_leaves(value.inner, leaf, keep), offset, outer)
        case Tensor():
            return value.with_layout(with_leaves(value.layout, leaf, keep))
        case CoordTensor():
            start = with_leaves(value.start, leaf, keep)
            return CoordTensor(start, with_leaves(value.layout, leaf, keep))
        case _:
            return value


def multiples(t: Any) -> Any:
    """A value of the algebra with leaves whose every factor counts: tensors keep what proves
    the alignment of their elements."""
    return with_leaves(t, _multiple, lambda _: None)


def _multiple(leaf: Scalar) -> Scalar:
    return Multiple(leaf.width, leaf.divisor) if type(leaf) is Dynamic else leaf


# --- divisibility ---------------------------------------------------------------------------------


def run_of(tensor: Tensor, path: tuple[int, ...]) -> int:
    """How many elements from the first of a mode lie side by side, whatever the swizzle.

    A swizzle keeps runs of 2 to the power of its base in place.
    """
    run = 1
    for extent, stride in tensor.modes.mode(*path).leaves:
        if extent == 1:
            continue
        if stride != run or not isinstance(extent, int):
            break
        run *= extent
    if isinstance(tensor.layout, ComposedLayout) and isinstance(tensor.layout.inner, Swizzle):
        run = gcd(run, 1 << tensor.layout.inner.base) if tensor.layout.inner.bits else run
    return run


def alignment_of_runs(tensor: Tensor, run: int) -> int:
    """A divisor of the addresses, in bytes, of all elements that start a run of `run` elements."""
    known = 8 * tensor.align
    if isinstance(tensor.layout, ComposedLayout):
        known = gcd(known, tensor.bits * divisor_of(cast("Scalar", tensor.layout.offset)))
        if isinstance(tensor.layout.inner, Swizzle) and tensor.layout.inner.bits:
            known = gcd(known, tensor.bits << tensor.layout.inner.base)
    reached = 1
    for extent, stride in tensor.modes.leaves:
        if stride == reached and reached < run and isinstance(extent, int):
            # Within a run; where the mode goes on beyond it, from one run to the next.
            reached *= extent
            step = run if reached > run else 0
        else:
            step = divisor_of(stride) if extent != 1 else 0
        known = gcd(known, tensor.bits * step)
    return max(known // 8, 1)


# --- text -----------------------------------------------------------------------------------------

_TENSOR = re.compile(r'(\S+), (\w+),(?: align<(\d+)>,)? "([^"]*)"')
_COORD_TENSOR = re.compile(r'"([^"]*)", "([^"]*)"')


def read_layout(text: str) -> AnyLayout:
    """A layout, or one composed with a swizzle. Raises LayoutParseError."""
    return read_value("composed_layout" if "o" in text else "layout", text)


def read_tensor(text: str) -> Tensor:
    """The tensor that prints as `text`. Raises LayoutParseError for its layout."""
    match = _TENSOR.fullmatch(text)
    assert match is not None, text
    element, space, align, layout = match.groups()
    bytes_ = int(align) if align is not None else natural_alignment(element)
    return Tensor(element, space, bytes_, read_layout(layout))


def read_coord_tensor(text: str) -> CoordTensor:
    """The tensor of coordinates that prints as `text`. Raises LayoutParseError."""
    match = _COORD_TENSOR.fullmatch(text)
    assert match is not None, text
    return CoordTensor(read_value("int_tuple", match[1]), read_value("layout", match[2]))


def why_no_tensor(tensor: Tensor) -> str | None:
    """Why a tensor is none, or None where it is one."""
    if tensor.space not in SPACES:
        return f"expected a memory space of {', '.join(SPACES)}, got {tensor.space}"
    if tensor.align < 1 or tensor.align & (tensor.align - 1):
        return f"expected a power of two as alignment, got {tensor.align}"
    layout = tensor.layout
    if isinstance(layout, ComposedLayout) and not isinstance(layout.inner, Swizzle):
        return f"expected a layout, or one through a swizzle, got {layout}"
    kind = "layout" if isinstance(layout, Layout) else "composed_layout"
    if (fault := why_not(kind, layout)) is not None:
        return fault
    if has_basis(tensor.modes.stride):
        return f"expected integer strides, got {layout}"
    if tensor.space == "rmem" and not known(tensor.modes):
        return f"expected a static layout in rmem, got {layout}"
    return None


def why_no_coord_tensor(tensor: CoordTensor) -> str | None:
    """Why a tensor of coordinates is none, or None where it is one."""
    if (fault := why_not("layout", tensor.layout)) is not None:
        return fault
    leaves = flatten(tensor.layout.stride)
    if not all(isinstance(leaf, ScaledBasis) or leaf == 0 for leaf in leaves):
        return f"expected strides that are bases, such as 1@0, got {tensor.layout}"
    try:
        tuple_sum(tensor.start, image(tensor.layout, 0))
    except LayoutError as error:
        return f"expected a start of the layout's images, got {to_text(tensor.start)} ({error})"
    return None
