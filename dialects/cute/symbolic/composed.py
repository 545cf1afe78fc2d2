"""Layouts through `inner o offset o outer`: the operations work on `outer`, which has the modes."""

from collections.abc import Callable
from functools import partial
from itertools import combinations, starmap
from typing import Any

from tilewright.dialects.cute.coordinate import dice
from tilewright.dialects.cute.int_tuple import LayoutError, flatten, has_underscore, is_tuple
from tilewright.dialects.cute.layout import Layout, dice_layout, make_unchecked, slice_layout
from tilewright.dialects.cute.swizzle import AnyLayout, Swizzle, compose_unchecked
from tilewright.dialects.cute.swizzle import outer_of as outer_of
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.evaluate import image, layout_eval
from tilewright.dialects.cute.symbolic.layouts import (
    composition,
    known,
)
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.symbolic.tuples import (
    has_basis,
    is_scalar,
    is_static,
    product,
    tuple_sum,
)


def is_plain(layout: AnyLayout) -> bool:
    """Nothing but `outer`: a swizzle of no bits at offset 0."""
    return isinstance(layout, Layout) or (
        layout.offset == 0 and isinstance(layout.inner, Swizzle) and layout.inner.bits == 0
    )


def through(operation: Callable[..., Layout], layout: AnyLayout, *arguments: Any) -> AnyLayout:
    """The operation on the layout that has the modes."""
    if isinstance(layout, Layout):
        return operation(layout, *arguments)
    outer = operation(layout.outer, *arguments)
    return compose_unchecked(layout.inner, layout.offset, outer)


def swizzled(swizzle: Swizzle, index: Any) -> Scalar:
    """A swizzle's value. Raises LayoutError for what is no number."""
    if not is_scalar(index):
        raise LayoutError(f"expected a number to swizzle, got {index}")
    source = scalar.bit_and(index, swizzle.yyy_mask)
    return scalar.bit_xor(index, scalar.shift_right(source, swizzle.shift))


def evaluated(coord: Any, layout: AnyLayout) -> Any:
    """The image of a coordinate. Raises LayoutError for a misfit."""
    if isinstance(layout, Layout):
        return image(layout, coord)
    index = tuple_sum(layout.offset, image(layout.outer, coord))
    if isinstance(layout.inner, Swizzle):
        return swizzled(layout.inner, index)
    return layout_eval(index, layout.inner.shape, layout.inner.stride)


def dice_any(coord: Any, layout: AnyLayout) -> AnyLayout:
    """The modes opposite a number."""
    return through(partial(dice_layout, coord), layout)


# --- slices ---------------------------------------------------------------------------------------


def slice_any(coord: Any, layout: AnyLayout) -> AnyLayout:
    """The modes opposite an underscore, what the others fix going into the offset.

    Through a swizzle the slice is a plain layout where the bits it moves along are apart from those
    that the offset fixes. Raises LayoutError where that takes unknown strides, or for a misfit.
    """
    if isinstance(layout, Layout):
        return slice_layout(coord, layout)
    if is_plain(layout):
        return slice_layout(coord, layout.outer)
    if isinstance(layout.inner, Swizzle):
        return _slice_swizzled(coord, layout.inner, layout.offset, layout.outer)
    offset = tuple_sum(layout.offset, image(layout.outer, coord))
    return compose_unchecked(layout.inner, offset, slice_layout(coord, layout.outer))


def _slice_swizzled(coord: Any, swizzle: Swizzle, offset: Any, outer: Layout) -> AnyLayout:
    if not known(outer) or has_basis(outer.stride) or is_tuple(offset):
        raise LayoutError(f"slice: expected known integer strides, got {outer}")
    if not has_underscore(coord):
        raise LayoutError("slice: expected an underscore")
    sliced = slice_layout(coord, outer)
    if all(leaf is None for leaf in flatten(coord)):
        return compose_unchecked(swizzle, offset, sliced)
    diced, fixed = dice_layout(coord, outer), dice(coord, coord)
    at = image(diced, fixed)
    if not is_scalar(image(sliced, scalar.sub(product(sliced.shape), 1))):
        raise LayoutError(f"slice: expected a mode at every leaf, got {outer}")
    whole = compose_unchecked(swizzle, tuple_sum(offset, at), sliced)
    moved, apart = _bits(sliced), [at] if is_static(at) else _bits(diced)
    if any(one & other for one, other in combinations([*moved, *apart, _bits_of(offset)], 2)):
        return whole  # their sum carries
    fields = _Fields(swizzle)
    mask = swizzle.yyy_mask | swizzle.zzz_mask
    along = sum(moved) & mask
    try:
        swapped = (
            at & mask if isinstance(at, int) else image(composition(fields.swizzled, diced), fixed)
        )
        at = scalar.bit_xor(offset, swapped)
        if along & ~swizzle(along):
            return compose_unchecked(swizzle, at, sliced)
        return composition(fields.around(at), sliced)
    except LayoutError:
        return whole  # no whole fields


def _bits(layout: Layout) -> list[int]:
    """The bits that the numbers of each mode have, and perhaps more."""
    return list(starmap(_multiples, layout.leaves))


def _multiples(extent: int, stride: int) -> int:
    """The bits of 0, stride, ... (extent - 1) * stride."""
    if stride & (stride - 1):
        return _from_lowest(stride) if extent > 1 else 0
    return stride * ((1 << (extent - 1).bit_length()) - 1)


def _bits_of(number: Scalar) -> int:
    """The bits that a number has, or may have."""
    return number if isinstance(number, int) else _from_lowest(scalar.divisor_of(number))


def _from_lowest(bits: int) -> int:
    """All bits from the lowest on."""
    return -(bits & -bits)


class _Fields:
    """A swizzle's index, field by field: base, low field, between, high field, above."""

    def __init__(self, swizzle: Swizzle):
        self.swizzle = swizzle
        base, bits, gap = swizzle.base, swizzle.bits, abs(swizzle.shift) - swizzle.bits
        self.shape = (1 << base, 1 << bits, 1 << gap, 1 << bits, 1)
        self.low = 1 << base
        self.high = 1 << (base + abs(swizzle.shift))

    @property
    def swizzled(self) -> Layout:
        """The two fields of an index, all else 0."""
        return make_unchecked(self.shape, (0, self.low, 0, self.high, 0))

    def around(self, at: Scalar) -> Layout:
        """The swizzle as a layout, for indices whose fields meet those of `at` at most once."""
        bits = range(self.swizzle.bits)
        target, source = self.swizzle.zzz_mask, self.swizzle.yyy_mask
        z, y = target & -target, source & -source
        of_target = tuple(_signed(at, y << i, z << i, 0) for i in bits)
        of_source = tuple(_signed(at, z << i, z << i, y << i) for i in bits)
        low, high = (of_target, of_source) if z < y else (of_source, of_target)
        two = (2,) * len(bits)
        return make_unchecked(
            (self.shape[0], *two, self.shape[2], *two, 1),
            (1, *low, self.low << len(bits), *high, self.high << len(bits)),
        )


def _signed(at: Scalar, bit: int, step: int, base: int) -> Scalar:
    """base + step, or base - step where the bit is set: XOR as addition."""
    return scalar.choose(
        scalar.equal(scalar.bit_and(at, bit), 0), lambda: base + step, lambda: base - step
    )
