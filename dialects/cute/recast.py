"""The same bytes seen as elements of another width.

    (32,4):(1,32) of 8-bit elements is (8,4):(1,8) of 32-bit ones

Upcasting by n goes to elements n times as wide, downcasting to narrower ones. Widths are in bits.
`recast` takes dynamic leaves too; what is known it does not check, as the others do.
"""

from collections.abc import Callable, Sequence
from math import gcd
from operator import mul
from typing import Any, TypeVar, cast

from tilewright.dialects.cute.int_tuple import (
    IntTuple,
    LayoutError,
    ScaledBasis,
    flatten,
    unflatten,
)
from tilewright.dialects.cute.layout import Layout, make_unchecked
from tilewright.dialects.cute.swizzle import AnyLayout, ComposedLayout, Swizzle, compose_unchecked
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.tuples import shape_div

Recastable = TypeVar("Recastable", Layout, Swizzle, ComposedLayout)


def recast_layout(new_bits: int, old_bits: int, layout: Recastable) -> Recastable:
    """The layout of `new_bits`-wide elements over those of `old_bits`.

    Raises LayoutError where the elements of the two widths do not line up.
    """
    if new_bits < 1 or old_bits < 1:
        raise LayoutError(
            f"recast_layout: expected widths of at least 1, got {new_bits}, {old_bits}"
        )
    common = gcd(new_bits, old_bits)
    return downcast(old_bits // common, upcast(new_bits // common, layout))


def upcast(n: int, layout: Recastable) -> Recastable:
    """n elements become one: the images are those of the layout, divided by n.

    (32,4):(1,32) by 4 -> (8,4):(1,8); S<3,4,3> by 2 -> S<3,3,3>. Raises LayoutError when a stride
    and n do not divide, or n elements are neither whole modes nor whole parts of one; for swizzles
    when n is not a power of two, or wide elements would be torn apart.
    """
    _check_factor("upcast", n)
    if isinstance(layout, Swizzle):
        return _upcast_swizzle(n, layout)
    if isinstance(layout, ComposedLayout):
        inner = _recast_inner(upcast, n, layout.inner)
        return ComposedLayout(inner, _upcast_offset(n, layout.offset), upcast(n, layout.outer))
    for extent, stride in layout.leaves:
        _check_upcast(n, extent, stride)
    return _with_leaves(layout, [_upcast_leaf(n, s, d) for s, d in layout.leaves])


def downcast(n: int, layout: Recastable) -> Recastable:
    """An element becomes n: the mode of stride 1 grows by n, the other strides as well.

    (8,4):(1,8) by 4 -> (32,4):(1,32); S<3,3,3> by 2 -> S<3,4,3>. Raises LayoutError when no mode,
    or more than one, has stride 1: nothing says where the parts of an element go; for swizzles when
    n is not a power of two.
    """
    _check_factor("downcast", n)
    if n == 1:
        return layout
    if isinstance(layout, Swizzle):
        return Swizzle(layout.bits, layout.base + _log2("downcast", n), layout.shift)
    if isinstance(layout, ComposedLayout):
        offset = unflatten(tuple(o * n for o in flatten(layout.offset)), layout.offset)
        return ComposedLayout(
            _recast_inner(downcast, n, layout.inner), offset, downcast(n, layout.outer)
        )
    unit = _unit_mode(layout)
    modes = [(s * n, d) if i == unit else (s, d * n) for i, (s, d) in enumerate(layout.leaves)]
    return _with_leaves(layout, modes)


def _with_leaves(layout: Layout, leaves: Sequence[tuple[Any, Any]]) -> Layout:
    return make_unchecked(
        unflatten(tuple(s for s, _ in leaves), layout.shape),
        unflatten(tuple(d for _, d in leaves), layout.shape),
    )


def _check_factor(operation: str, n: int) -> None:
    if n < 1:
        raise LayoutError(f"{operation}: expected a factor of at least 1, got {n}")


def _log2(operation: str, n: int) -> int:
    if n & (n - 1):
        raise LayoutError(f"{operation}: expected a power of two for a swizzle, got {n}")
    return n.bit_length() - 1


def _check_upcast(n: int, extent: int, stride: int | ScaledBasis) -> None:
    """Raise LayoutError for a mode that elements n times as wide tear apart."""
    if isinstance(stride, ScaledBasis):
        raise LayoutError(f"upcast: expected integer strides, got {stride}")
    step = abs(stride)
    if step and step % n and n % step:
        raise LayoutError(
            f"upcast: stride {stride} of mode {extent}:{stride} and {n} do not divide"
        )
    merged = -(-n // step) if step else 1  # elements of this mode in one wide element
    if extent % merged and merged % extent:
        raise LayoutError(
            f"upcast: mode {extent}:{stride} does not fill elements {n} times as wide"
        )


def _recast_inner(recast: Any, n: int, inner: Swizzle | Layout) -> Swizzle | Layout:
    return recast(n, inner)


def _upcast_offset(n: int, offset: IntTuple) -> IntTuple:
    if any(o % n for o in flatten(offset)):
        raise LayoutError(f"upcast: expected an offset that is a multiple of {n}, got {offset}")
    return unflatten(tuple(o // n for o in flatten(offset)), offset)


def _upcast_swizzle(n: int, swizzle: Swizzle) -> Swizzle:
    base = swizzle.base - _log2("upcast", n)
    if base >= 0:
        return Swizzle(swizzle.bits, base, swizzle.shift)
    # The low bits of Z only permute within a wide element. With a negative shift it is the bits
    # of Y that are lost, and with them where the parts of an element went.
    if swizzle.shift < 0 and swizzle.bits:
        raise LayoutError(f"upcast: {swizzle} tears elements {n} times as wide apart")
    return Swizzle(max(swizzle.bits + base, 0), 0, swizzle.shift)


def _unit_mode(layout: Layout) -> int:
    """The leaf along which elements are adjacent; an extent of 1 counts if there is no other."""
    extents, strides = flatten(layout.shape), flatten(layout.stride)
    if ScaledBasis in map(type, strides):
        raise LayoutError(f"downcast: expected integer strides, got {layout}")
    units = [i for i, d in enumerate(cast("tuple[int, ...]", strides)) if abs(d) == 1]
    units = [i for i in units if extents[i] > 1] or units[:1]
    if len(units) != 1:
        raise LayoutError(f"downcast: expected one mode of stride 1, got {layout}")
    return units[0]


# --- dynamic leaves -------------------------------------------------------------------------------


def recast(new_bits: int, old_bits: int, layout: AnyLayout) -> AnyLayout:
    """The layout of `new_bits`-wide elements over those of `old_bits`, as far as it is known.

    Raises LayoutError where an offset, a swizzle or a stride does not divide.
    """
    common = gcd(new_bits, old_bits)
    wide, narrow = new_bits // common, old_bits // common
    if wide != 1:
        layout = _recast(wide, layout, _upcast_leaf, upcast, _divided_offset)
    if narrow != 1:
        layout = _recast(narrow, layout, _downcast_leaf, downcast, mul)
    return layout


def _recast(
    n: int,
    layout: AnyLayout,
    leaf: Callable[[int, Any, Any], tuple[Any, Any]],
    swizzle: Callable[[int, Swizzle], Swizzle],
    offset: Callable[[int, int], int],
) -> AnyLayout:
    if isinstance(layout, Layout):
        return _with_leaves(layout, [leaf(n, s, d) for s, d in layout.leaves])
    if not isinstance(layout.offset, int):
        raise LayoutError(f"recast: expected a known offset, got {layout.offset}")
    inner, outer = (
        swizzle(n, part) if isinstance(part, Swizzle) else _recast(n, part, leaf, swizzle, offset)
        for part in (layout.inner, layout.outer)
    )
    return compose_unchecked(inner, offset(n, layout.offset), cast("Layout", outer))


def _divided_offset(n: int, offset: int) -> int:
    if offset % n:
        raise LayoutError(f"recast: expected an offset that {n} divides, got {offset}")
    return offset // n


def _upcast_leaf(n: int, extent: Any, stride: Any) -> tuple[Any, Any]:
    if not isinstance(stride, int):
        return extent, shape_div(stride, n)
    if stride == 0:
        return extent, stride
    wide, merged = -(-abs(stride) // n), -(-n // abs(stride))
    return scalar.ceil_div(extent, merged), wide if stride > 0 else -wide


def _downcast_leaf(n: int, extent: Any, stride: Any) -> tuple[Any, Any]:
    if stride == 1 or stride == -1:
        return scalar.mul(extent, n), stride
    return extent, scalar.mul(stride, n)
