"""Coordinates: indices to coordinates and back, slicing, and layouts whose images are coordinates.

A shape (4, 8) has three kinds of coordinates for one element: the index 9, the natural coordinate
(1, 2), and whatever lies between when modes nest. Order is colexicographic, the left mode fastest.
"""

from typing import Any

from tilewright.dialects.cute.int_tuple import (
    Coord,
    IntTuple,
    LayoutError,
    ScaledBasis,
    Shape,
    Stride,
    compact_col_major,
    flatten,
    is_tuple,
    to_text,
    transform,
    unflatten,
)
from tilewright.dialects.cute.symbolic.scalar import is_scalar


def crd2idx(crd: Any, shape: Shape, stride: Stride | None = None) -> Any:
    """The inner product of a coordinate's leaves and the strides: crd2idx((1, 2), (4, 8)) = 9.

    An integer coordinate is first unfolded over the shape; what exceeds the shape stays with the
    last mode, so the function goes on beyond its domain. Integer NumPy arrays pass through as
    integers do. With `ScaledBasis` strides the value is a coordinate. None counts as 0.
    Raises LayoutError when the coordinate does not fit the shape's profile.
    """
    if stride is None:
        stride = compact_col_major(shape)
    flat_stride = flatten(stride)
    terms: list[tuple[Any, Any]] = []
    _unfold(crd, shape, stride, terms)
    if ScaledBasis in map(type, flat_stride):
        return _coordinate_sum(terms, coprofile(stride))
    total: Any = 0
    for c, d in terms:
        total = total + c * d
    return total


def check_rank(crd: tuple[Any, ...], shape: Any) -> None:
    """Raise LayoutError unless a shape has as many modes as a coordinate."""
    if not is_tuple(shape) or len(crd) != len(shape):
        raise LayoutError(f"expected a coordinate of {to_text(shape)}, got {to_text(crd)}")


def _unfold(crd: Any, shape: Any, stride: Any, terms: list[tuple[Any, Any]]) -> None:
    """Append (coordinate, stride) for every leaf."""
    if is_tuple(crd):
        check_rank(crd, shape)
        for c, s, d in zip(crd, shape, stride, strict=True):
            _unfold(c, s, d, terms)
        return
    if crd is None:
        return
    if type(shape) is int:
        terms.append((crd, stride))
        return
    extents, strides = flatten(shape), flatten(stride)
    if not extents:
        return
    for s, d in zip(extents[:-1], strides, strict=False):
        crd, c = divmod(crd, s)
        terms.append((c, d))
    terms.append((crd, strides[-1]))


def idx2crd(idx: Any, shape: Shape) -> Any:
    """The natural coordinate of an index: idx2crd(9, (4, 8)) = (1, 2).

    What exceeds the shape stays with the last mode. An index that is a tuple is taken mode by mode.
    Raises LayoutError when the ranks differ.
    """
    if is_tuple(idx):
        return transform(idx2crd, idx, shape)
    terms: list[tuple[Any, Any]] = []
    _unfold(idx, shape, shape, terms)
    return unflatten(tuple(c for c, _ in terms), shape)


def crd2crd(crd: Any, src_shape: Shape, dst_shape: Shape) -> Any:
    """The same element's coordinate in another shape: crd2crd((1, 2), (4, 8), 32) = 9.

    Raises LayoutError when the coordinate does not fit `src_shape`.
    """
    if is_tuple(crd) and isinstance(src_shape, tuple) and isinstance(dst_shape, tuple):
        return transform(crd2crd, crd, src_shape, dst_shape)
    return idx2crd(crd2idx(crd, src_shape), dst_shape)


def slice_(coord: Coord, t: Any) -> Any:
    """The part of `t` that stands opposite a None: slice_((None, 2), (4, 8)) = (4,).

    Nested survivors move up: slice_(((None, 0), None), ((2, 3), 4)) = (2, 4).
    Raises LayoutError when the coordinate does not fit.
    """
    return t if coord is None else _select(coord, t, keep_none=True)


def dice(coord: Any, t: Any) -> Any:
    """The part of `t` that stands opposite a number: dice((None, 2), (4, 8)) = (8,).

    Raises LayoutError when the coordinate does not fit.
    """
    return t if is_scalar(coord) else _select(coord, t, keep_none=False)


def _select(coord: Any, t: Any, keep_none: bool) -> tuple[Any, ...]:
    if not is_tuple(coord):
        return (t,) if (coord is None) == keep_none else ()
    check_rank(coord, t)
    chosen: list[Any] = []
    for c, x in zip(coord, t, strict=True):
        chosen += _select(c, x, keep_none)
    return tuple(chosen)


# --- coordinate layouts ---------------------------------------------------------------------------


def make_basis_like(shape: Shape) -> Stride:
    """The strides that map a coordinate to itself: (4, (2, 3)) -> (1@0, (1@0@1, 1@1@1)); 4 -> 1."""

    def basis(s: Shape, path: tuple[int, ...]) -> Stride:
        if isinstance(s, tuple):
            return tuple(basis(x, (*path, i)) for i, x in enumerate(s))
        return ScaledBasis(1, path) if path else 1

    return basis(shape, ())


def coprofile(stride: Stride) -> IntTuple:
    """The profile of a layout's images, with 0 at every leaf: (1@0, 4@1@2) -> (0, 0, (0, 0)).

    Raises LayoutError when the strides disagree: indices among coordinates, or a mode that is an
    integer to one and a tuple to another.
    """
    profile: IntTuple = 0
    leaves = flatten(stride)
    paths = [d.modes for d in leaves if isinstance(d, ScaledBasis)]
    if paths and any(not isinstance(d, ScaledBasis) and d != 0 for d in leaves):
        raise LayoutError(f"expected strides of one kind, got {to_text(stride)}")
    for path in paths:
        profile = _with_leaf(profile, path)
    # A longer path grows through a shorter one's leaf, so look at them again.
    for path in paths:
        at: IntTuple = profile
        for mode in path:
            at = at[mode] if isinstance(at, tuple) else at
        if isinstance(at, tuple):
            raise LayoutError(f"expected strides over one profile, got {to_text(stride)}")
    return profile


def _with_leaf(profile: IntTuple, path: tuple[int, ...]) -> IntTuple:
    if not path:
        return profile
    modes = list(profile) if isinstance(profile, tuple) else []
    modes += [0] * (path[0] + 1 - len(modes))
    modes[path[0]] = _with_leaf(modes[path[0]], path[1:])
    return tuple(modes)


def leaf_paths(profile: Any, path: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """Where the leaves are: (0, (0, 0)) -> [(0,), (1, 0), (1, 1)]."""
    if not is_tuple(profile):
        return [path]
    return [leaf for i, mode in enumerate(profile) for leaf in leaf_paths(mode, (*path, i))]


def _coordinate_sum(terms: list[tuple[Any, Any]], profile: IntTuple) -> Any:
    totals: dict[tuple[int, ...], Any] = dict.fromkeys(leaf_paths(profile), 0)
    for c, d in terms:
        if isinstance(d, ScaledBasis):
            totals[d.modes] = totals[d.modes] + c * d.value
    return unflatten(tuple(totals.values()), profile)


def coordinate_add(a: IntTuple, b: IntTuple) -> IntTuple:
    """Sum of two images, missing modes counting as 0: (1, 2) + (3, 4, 5) = (4, 6, 5).

    Raises LayoutError when an index meets a coordinate; the index 0 is any coordinate's zero.
    """
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    if isinstance(a, int) or isinstance(b, int):
        raise LayoutError(
            f"expected two indices or two coordinates, got {to_text(a)} and {to_text(b)}"
        )
    width = max(len(a), len(b))
    return tuple(map(coordinate_add, (*a, *[0] * (width - len(a))), (*b, *[0] * (width - len(b)))))


# A name of its own, or type checkers would see tuples of unknowns.
_TUPLE: Any = tuple


def pair_leaves(shape: Any, stride: Any) -> tuple[tuple[int, Any], ...]:
    """(extent, stride) for every leaf, checked to make a layout.

    Raises LayoutError unless the two are congruent, extents are at least 1, and strides are all
    integers or, 0 aside, all bases over one profile.
    """
    # Every layout that is built comes here. Most are integers nested at most once, and a call for
    # each mode would cost as much as its leaves.
    if type(shape) is not _TUPLE or type(stride) is not _TUPLE or len(shape) != len(stride):
        return _checked_leaves(shape, stride)
    leaves: list[tuple[int, Any]] = []
    for mode in zip(shape, stride):  # noqa: B905
        s, d = mode
        if type(s) is int:
            if type(d) is not int or s < 1:
                return _checked_leaves(shape, stride)
            leaves.append(mode)
        elif type(s) is _TUPLE and type(d) is _TUPLE and len(s) == len(d):
            for leaf in zip(s, d):  # noqa: B905
                s, d = leaf
                if type(s) is not int or type(d) is not int or s < 1:
                    return _checked_leaves(shape, stride)
                leaves.append(leaf)
        else:
            return _checked_leaves(shape, stride)
    return tuple(leaves)


def _checked_leaves(shape: Any, stride: Any) -> tuple[tuple[int, Any], ...]:
    """`pair_leaves` of any depth, and of strides that are bases."""
    if type(shape) is int and type(stride) is int and shape > 0:
        return ((shape, stride),)
    leaves: list[tuple[int, Any]] = []
    if _pair(shape, stride, leaves):
        coprofile(stride)
    return tuple(leaves)


def _pair(shape: Any, stride: Any, leaves: list[tuple[int, Any]]) -> bool:
    """Append the leaves; whether there are bases among the strides."""
    if is_tuple(shape):
        if not is_tuple(stride) or len(shape) != len(stride):
            raise LayoutError(
                f"expected a stride congruent to {to_text(shape)}, got {to_text(stride)}"
            )
        pairs = [_pair(s, d, leaves) for s, d in zip(shape, stride, strict=True)]
        return any(pairs)
    if type(shape) is not int or shape < 1:
        raise LayoutError(f"expected extents of at least 1, got {to_text(shape)}")
    if type(stride) is not int and not isinstance(stride, ScaledBasis):
        raise LayoutError(f"expected an integer stride for {shape}, got {to_text(stride)}")
    leaves.append((shape, stride))
    return type(stride) is not int
