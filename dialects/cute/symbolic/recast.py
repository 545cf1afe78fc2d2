"""The same bytes as elements of another width, where leaves may be dynamic."""

from math import gcd
from typing import Any

from tilewright.dialects.cute.int_tuple import LayoutError, is_tuple
from tilewright.dialects.cute.layout import Layout, make_unchecked
from tilewright.dialects.cute.recast import downcast as downcast_swizzle
from tilewright.dialects.cute.recast import upcast as upcast_swizzle
from tilewright.dialects.cute.swizzle import Swizzle, compose_unchecked
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.composed import AnyLayout
from tilewright.dialects.cute.symbolic.tuples import shape_div


def recast(new_bits: int, old_bits: int, layout: AnyLayout) -> AnyLayout:
    """The layout of `new_bits`-wide elements over those of `old_bits`.

    Raises LayoutError where an offset, a swizzle or a stride does not divide.
    """
    common = gcd(new_bits, old_bits)
    wide, narrow = new_bits // common, old_bits // common
    if wide != 1:
        layout = _recast(wide, layout, _upcast, upcast_swizzle, _upcast_offset)
    if narrow != 1:
        layout = _recast(narrow, layout, _downcast, downcast_swizzle, _downcast_offset)
    return layout


def _recast(n: int, layout: AnyLayout, plain: Any, swizzle: Any, offset: Any) -> AnyLayout:
    if isinstance(layout, Layout):
        return make_unchecked(*plain(n, layout.shape, layout.stride))
    if not isinstance(layout.offset, int):
        raise LayoutError(f"recast: expected a known offset, got {layout.offset}")
    inner = swizzle(n, layout.inner) if isinstance(layout.inner, Swizzle) else None
    if inner is None:
        assert isinstance(layout.inner, Layout)
        inner = make_unchecked(*plain(n, layout.inner.shape, layout.inner.stride))
    outer = make_unchecked(*plain(n, layout.outer.shape, layout.outer.stride))
    return compose_unchecked(inner, offset(n, layout.offset), outer)


def _upcast_offset(n: int, offset: int) -> int:
    if offset % n:
        raise LayoutError(f"recast: expected an offset that {n} divides, got {offset}")
    return offset // n


def _downcast_offset(n: int, offset: int) -> int:
    return offset * n


def _by_mode(recast_leaf: Any, n: int, shape: Any, stride: Any) -> tuple[Any, Any]:
    done = [recast_leaf(n, s, d) for s, d in zip(shape, stride, strict=True)]
    return tuple(s for s, _ in done), tuple(d for _, d in done)


def _upcast(n: int, shape: Any, stride: Any) -> tuple[Any, Any]:
    if is_tuple(shape):
        return _by_mode(_upcast, n, shape, stride)
    if not isinstance(stride, int):
        return shape, shape_div(stride, n)
    if stride == 0:
        return shape, stride
    step = abs(stride)
    wide = scalar.ceil_div(step, n)
    merged = scalar.ceil_div(n, step)
    return scalar.ceil_div(shape, merged), wide if stride > 0 else scalar.sub(0, wide)


def _downcast(n: int, shape: Any, stride: Any) -> tuple[Any, Any]:
    if is_tuple(shape):
        return _by_mode(_downcast, n, shape, stride)
    if stride == 1 or stride == -1:
        return scalar.mul(shape, n), stride
    return shape, scalar.mul(stride, n)
