"""Coordinates to indices and back, where extents and strides may be dynamic."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import starmap
from typing import Any

from tilewright.dialects.cute.coordinate import check_rank, make_basis_like
from tilewright.dialects.cute.int_tuple import (
    LayoutError,
    congruent,
    flatten,
    is_tuple,
    to_text,
    transform_leaf,
    unflatten,
)
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.symbolic.tuples import (
    basis_image,
    compact_col_major,
    is_scalar,
    is_static,
    multiplied,
    product,
    tuple_sum,
    wrapped,
)


def layout_eval(coord: Any, shape: Any, stride: Any) -> Any:
    """The image of a coordinate, an underscore counting as 0.

    A coordinate of one mode stands for one with zeros behind it. Raises LayoutError for a misfit.
    """
    if not congruent(shape, stride):
        raise LayoutError(f"expected a stride of {to_text(shape)}, got {to_text(stride)}")
    if is_tuple(coord) and len(coord) == 1 and len(wrapped(shape)) != 1:
        coord = (*coord, *([0] * (len(wrapped(shape)) - 1)))
    return _image(coord, shape, stride)


def _image(coord: Any, shape: Any, stride: Any) -> Any:
    if shape == ():
        return ()
    if coord is None:
        coord = 0
    if is_tuple(coord):
        check_rank(coord, shape)
        return _summed(list(starmap(_image, zip(coord, shape, stride, strict=True))))
    if not is_scalar(coord):
        raise LayoutError(f"expected a number, got {to_text(coord)}")
    if not is_tuple(shape):
        return basis_image(multiplied(coord, stride))
    images: list[Any] = []
    for extent, step in zip(shape[:-1], stride, strict=False):
        count = product(extent)
        coord, rest = scalar.div(coord, count), scalar.mod(coord, count)
        images.append(_image(rest, extent, step))
    return _summed([*images, _image(coord, shape[-1], stride[-1])])


def _summed(images: list[Any]) -> Any:
    total: Any = ()
    for image in images:
        total = tuple_sum(total, image)
    return total


def image(layout: Layout, coord: Any) -> Any:
    """A layout's value at a coordinate."""
    return layout_eval(coord, layout.shape, layout.stride)


def images(layout: Layout) -> Sequence[Any]:
    """A layout's values at all its indices, whose number is known."""
    return (_known_images if is_static(layout.stride) else _images)(layout)


def _images(layout: Layout) -> list[Any]:
    return [image(layout, place) for place in range(layout.size())]


_known_images = lru_cache(1 << 8)(_images)


def coprofile(layout: Layout) -> Any:
    """The profile of a layout's images, with 0 at every leaf."""
    return 0 if layout.shape == () else image(layout, 0)


def coshape(layout: Layout) -> Any:
    """The smallest box from 0 that holds every image."""
    magnitudes = transform_leaf(_magnitude, layout.stride)
    last = scalar.add(product(layout.shape), -1)
    corner = layout_eval(last, layout.shape, magnitudes)
    return transform_leaf(_following, corner)


def _following(index: Scalar) -> Scalar:
    return scalar.add(index, 1)


def _magnitude(stride: Any) -> Any:
    if is_scalar(stride):
        return scalar.absolute(stride)
    return type(stride)(scalar.absolute(stride.value), stride.modes)


def cosize(layout: Layout) -> Scalar:
    """One more than the largest index."""
    return product(coshape(layout))


def crd2idx(coord: Any, shape: Any) -> Any:
    """The column-major index of a coordinate. Raises LayoutError for a misfit."""
    return layout_eval(coord, shape, compact_col_major(shape))


def idx2crd(index: Any, shape: Any) -> Any:
    """The coordinate of an index, a tuple of them mode by mode. Raises LayoutError for a misfit."""
    if not is_tuple(index):
        return layout_eval(index, shape, make_basis_like(shape)) if is_tuple(shape) else index
    if not is_tuple(shape) or len(index) != len(shape):
        raise LayoutError(f"expected an index of {to_text(shape)}, got {to_text(index)}")
    return tuple(map(idx2crd, index, shape))


def increment_coord(coord: Any, shape: Any) -> Any:
    """The next coordinate, carrying from left to right; the last mode goes on beyond its extent.

    The profiles must agree.
    """
    carry: Scalar = 1
    stepped: list[Scalar] = []
    extents = flatten(shape)
    counts = flatten(coord)
    for c, s in zip(counts[:-1], extents, strict=False):
        if s == 1:
            stepped.append(0)
            continue
        total = scalar.add(c, carry)
        stepped.append(scalar.choose(scalar.less(total, s), lambda t=total: t, lambda: 0))
        carry = scalar.choose(scalar.less(total, s), lambda: 0, lambda: 1)
    stepped.append(scalar.add(counts[-1], carry))
    return unflatten(tuple(stepped), coord)
