"""Complements and inverses of layouts, along every mode of the images' profile."""

import operator
from collections.abc import Callable
from typing import Any

from tilewright.dialects.cute.coordinate import leaf_paths, make_basis_like
from tilewright.dialects.cute.int_tuple import (
    LayoutError,
    ScaledBasis,
    flatten,
    is_tuple,
    rank,
    unflatten,
)
from tilewright.dialects.cute.layout import Layout, make_unchecked, unflatten_layout
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.evaluate import coprofile
from tilewright.dialects.cute.symbolic.layouts import (
    Tile,
    coalesce,
    coalesce_open,
    coalesce_shape,
    column_major,
    filter_layout,
    joined,
    merged,
    tiler_to_layout,
)
from tilewright.dialects.cute.symbolic.scalar import Dynamic
from tilewright.dialects.cute.symbolic.tuples import (
    ceil_div,
    compact_col_major,
    has_basis,
    is_static,
    multiplied,
    only_scalars,
    prefix_products,
    product,
    unwrapped,
    wrapped,
)

_Path = tuple[int, ...]


def _path(stride: Any) -> _Path:
    return stride.modes if isinstance(stride, ScaledBasis) else ()


def _value(stride: Any) -> Any:
    return stride.value if isinstance(stride, ScaledBasis) else stride


def _order(stride: Any) -> tuple[Any, ...]:
    """Where a mode stands among the others: by path and value, unknown ones last."""
    if isinstance(_value(stride), Dynamic):
        return (1,)
    return (0, _path(stride), _value(stride))


def _checked(layout: Layout, what: str) -> None:
    strides = flatten(layout.stride)
    if not is_static(strides) and len(strides) != 1:
        raise LayoutError(f"{what}: expected known strides, got {layout}")
    if has_basis(strides) and any(type(d) is not ScaledBasis and d != 0 for d in strides):
        raise LayoutError(f"{what}: expected strides of one kind, got {layout}")


# --- complement -----------------------------------------------------------------------------------


def complement(layout: Layout) -> Layout:
    """The indices below its largest that a layout leaves out, along every mode of its images.

    Raises LayoutError when it is not injective, strides of 0 aside, or has unknown strides besides
    others.
    """
    _checked(layout, "complement")
    extents: dict[_Path, list[Any]] = {}
    strides: dict[_Path, list[Any]] = {}
    for extent, stride in sorted(layout.leaves, key=lambda leaf: _order(leaf[1])):
        step = _value(stride)
        if step == 0 or extent == 1:
            continue
        covered = strides.setdefault(_path(stride), [1])
        if isinstance(covered[-1], int) and isinstance(step, int) and step < covered[-1]:
            raise LayoutError(f"complement: expected an injective layout, got {layout}")
        extents.setdefault(_path(stride), []).append(scalar.div(step, covered[-1]))
        covered.append(scalar.mul(step, extent))

    def left_out(path: _Path) -> Tile:
        if path not in extents:
            return make_unchecked(1, 1)
        return coalesce_open(make_unchecked((*extents[path], 1), tuple(strides[path])))

    profile = coprofile(layout)
    return tiler_to_layout(unflatten(tuple(map(left_out, leaf_paths(profile))), profile))


def complement_within(layout: Layout, extent: Any) -> Layout:
    """The complement that reaches over a whole shape, mode by mode where images are coordinates.

    Raises LayoutError as `complement` does.
    """
    inside = complement(layout)
    basis = make_basis_like(extent)
    return _extended(coprofile(layout), inside.shape, inside.stride, extent, basis)


def _extended(profile: Any, shape: Any, stride: Any, extent: Any, basis: Any) -> Layout:
    if is_tuple(profile) and profile:
        count = max(map(rank, (profile, shape, stride, extent, basis)))
        return joined(
            _extended(*(_mode_or_empty(t, i) for t in (profile, shape, stride, extent, basis)))
            for i in range(count)
        )
    if shape == ():
        return make_unchecked(extent, basis)
    step: Any = _value(wrapped(stride)[-1])
    rests: list[Any] = []
    for count in flatten(extent):
        rests.append(scalar.ceil_div(count, step))
        step = scalar.ceil_div(step, count)
    reaching: Any = (*shape[:-1], tuple(rests)) if is_tuple(shape) else tuple(rests)
    return coalesce(make_unchecked(reaching, prefix_products(reaching, stride)))


def _mode_or_empty(t: Any, i: int) -> Any:
    modes = wrapped(t)
    return modes[i] if i < len(modes) else ()


def complement_in(layout: Layout, cotarget: Any) -> Layout:
    """The indices of a shape that a layout leaves out.

    Raises LayoutError for strides that are bases, or unknown besides others.
    """
    if not only_scalars(layout.stride):
        return _complement_in_modes(layout, cotarget)
    flat = filter_layout(layout)
    if flat.stride == 0 or (is_static(flat.shape) and product(flat.shape) == 1):
        full = coalesce(column_major(cotarget))
        one = is_static(full.shape) and product(full.shape) == 1
        return make_unchecked(1, 1) if one else full
    leaves = list(zip(wrapped(flat.shape), wrapped(flat.stride), strict=True))
    if len(leaves) > 1:
        if not is_static(flat.stride):
            raise LayoutError(f"complement: expected known strides, got {layout}")
        leaves.sort(key=operator.itemgetter(1))
    extents: list[Any] = []
    strides: list[Any] = [1]
    for extent, stride in leaves[:-1]:
        extents.append(scalar.div(stride, strides[-1]))
        strides.append(scalar.mul(extent, stride))
    extent, stride = leaves[-1]
    extents.append(scalar.div(stride, strides[-1]))
    return _with_rest(extents, strides, scalar.mul(stride, extent), cotarget)


def _with_rest(extents: list[Any], strides: list[Any], covered: Any, cotarget: Any) -> Layout:
    rest = coalesce_shape(ceil_div(cotarget, covered))
    rest = 1 if rest == () else rest
    step = compact_col_major(rest, covered)
    if is_static(rest) and product(rest) == 1:
        step = covered
    return coalesce(make_unchecked((*extents, *flatten(rest)), (*strides, *flatten(step))))


def _complement_in_modes(layout: Layout, cotarget: Any) -> Layout:
    inside = complement(layout)
    covered = rank(coprofile(layout))
    if is_tuple(cotarget) and len(cotarget) < covered:
        raise LayoutError(f"complement: expected {covered} modes to cover, got {len(cotarget)}")
    basis = make_basis_like(cotarget)
    parts: list[Layout] = []
    for i in range(max(covered, rank(cotarget))):
        extent, step = _own_mode(cotarget, i), _own_mode(basis, i)
        if i < covered:
            own = make_unchecked(_own_mode(inside.shape, i), _own_mode(inside.stride, i))
            parts.append(_reaching(own, extent))
        else:
            parts.append(make_unchecked(extent, step))
    return joined(parts)


def _own_mode(t: Any, i: int) -> Any:
    return t[i] if is_tuple(t) else t


def _reaching(layout: Layout, extent: Any) -> Layout:
    step = _value(wrapped(layout.stride)[-1])
    if not isinstance(step, int) or step == 0 or not is_static(extent):
        raise LayoutError(f"complement: expected known strides, got {layout}")
    count = scalar.ceil_div(product(extent), step)
    shape = (*layout.shape[:-1], count) if isinstance(layout.shape, tuple) else count
    return coalesce(make_unchecked(shape, layout.stride))


# --- inverses -------------------------------------------------------------------------------------


def _placed(layout: Layout, unknown: Any) -> list[tuple[Any, Any, Any]]:
    """The coalesced leaves in order of stride: (stride, extent, index of one step)."""
    known = tuple(unknown if isinstance(d, Dynamic) else d for d in flatten(layout.stride))
    extents, strides = merged(flatten(layout.shape), known)
    places = prefix_products(tuple(extents))
    return sorted(zip(strides, extents, places, strict=True), key=lambda leaf: _order(leaf[0]))


_Modes = list[tuple[Any, Any, Any]]


def _inverted(layout: Layout, unknown: Any, invert: Callable[[_Modes], Layout]) -> Layout:
    """The inverse of the modes that move along each path of the images' profile."""
    moving: dict[_Path, _Modes] = {}
    for stride, extent, place in _placed(layout, unknown):
        if _value(stride) != 0 and extent != 1:
            moving.setdefault(_path(stride), []).append((_value(stride), extent, place))
    profile = coprofile(layout)
    return unflatten_layout([invert(moving.get(path, [])) for path in leaf_paths(profile)], profile)


def right_inverse(layout: Layout) -> Layout:
    """R with layout(R(i)) = i for as many i from 0 as there are.

    Raises LayoutError for unknown extents.
    """
    if not is_static(layout.shape):
        raise LayoutError(f"right_inverse: expected known extents, got {layout}")

    def invert(modes: _Modes) -> Layout:
        extents: list[Any] = []
        strides: list[Any] = []
        expected: Any = 1
        for step, extent, place in modes:
            if isinstance(step, int) and isinstance(expected, int) and expected != step:
                continue
            extents.append(extent)
            strides.append(place)
            expected = multiplied(extent, step)
        return make_unchecked(tuple(extents) or 1, tuple(strides) or 0)

    return coalesce(_inverted(layout, 0, invert), coprofile(layout))


def left_inverse(layout: Layout) -> Layout:
    """L with L(layout(i)) = i. Raises LayoutError when the layout is not injective, or unknown."""
    _checked(layout, "left_inverse")
    if not is_static(layout.shape):
        raise LayoutError(f"left_inverse: expected known extents, got {layout}")

    def invert(modes: _Modes) -> Layout:
        extents: list[Any] = [1]
        strides: list[Any] = [0]
        below: Any = 1
        for step, extent, place in modes:
            if scalar.mod(step, below) != 0:
                raise LayoutError(f"left_inverse: expected an injective layout, got {layout}")
            extents[-1] = gap = scalar.div(step, below)
            below = scalar.mul(below, gap)
            extents.append(extent)
            strides.append(place)
        return make_unchecked(unwrapped(tuple(extents)), unwrapped(tuple(strides)))

    return coalesce_open(_inverted(layout, None, invert), coprofile(layout))
