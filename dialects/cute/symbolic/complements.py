"""Complements and inverses of layouts, along every mode of the images' profile."""

from typing import Any

from tilewright.dialects.cute.coordinate import make_basis_like
from tilewright.dialects.cute.int_tuple import LayoutError, ScaledBasis, flatten, is_tuple, rank
from tilewright.dialects.cute.layout import Layout, make_unchecked
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


def _profiled(profile: Any, at_leaf: Any, path: _Path = ()) -> Any:
    """`at_leaf(path)` at every leaf of a profile."""
    if is_tuple(profile):
        return tuple(_profiled(x, at_leaf, (*path, i)) for i, x in enumerate(profile))
    return at_leaf(path)


# --- complement -----------------------------------------------------------------------------------


def complement(layout: Layout) -> Layout:
    """The indices below its largest that a layout leaves out, along every mode of its images.

    Raises LayoutError when it is not injective, strides of 0 aside, or has unknown strides besides
    others.
    """
    _checked(layout, "complement")
    extents: dict[_Path, list[Any]] = {}
    strides: dict[_Path, list[Any]] = {}
    leaves = zip(flatten(layout.stride), flatten(layout.shape), strict=True)
    for stride, extent in sorted(leaves, key=lambda leaf: _order(leaf[0])):
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

    return tiler_to_layout(_profiled(coprofile(layout), left_out))


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
        leaves.sort(key=lambda leaf: leaf[1])
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


def _profiled_leaves(profile: Any, leaves: dict[_Path, list[Any]], otherwise: int) -> Any:
    def at_leaf(path: _Path) -> Any:
        return tuple(leaves[path]) if path in leaves else otherwise

    return _profiled(profile, at_leaf)


def right_inverse(layout: Layout) -> Layout:
    """R with layout(R(i)) = i for as many i from 0 as there are.

    Raises LayoutError for unknown extents.
    """
    if not is_static(layout.shape):
        raise LayoutError(f"right_inverse: expected known extents, got {layout}")
    extents: dict[_Path, list[Any]] = {}
    strides: dict[_Path, list[Any]] = {}
    reached: dict[_Path, Any] = {}
    for stride, extent, place in _placed(layout, unknown=0):
        path, step = _path(stride), _value(stride)
        expected = reached.get(path, 1)
        if step == 0 or extent == 1:
            continue
        if isinstance(step, int) and isinstance(expected, int) and expected != step:
            continue
        extents.setdefault(path, []).append(extent)
        strides.setdefault(path, []).append(place)
        reached[path] = multiplied(extent, step)
    profile = coprofile(layout)
    shape, stride = _profiled_leaves(profile, extents, 1), _profiled_leaves(profile, strides, 0)
    return coalesce(make_unchecked(shape, stride), profile)


def left_inverse(layout: Layout) -> Layout:
    """L with L(layout(i)) = i. Raises LayoutError when the layout is not injective, or unknown."""
    _checked(layout, "left_inverse")
    if not is_static(layout.shape):
        raise LayoutError(f"left_inverse: expected known extents, got {layout}")
    profile = coprofile(layout)
    extents: dict[_Path, list[Any]] = {}
    strides: dict[_Path, list[Any]] = {}
    covered: dict[_Path, Any] = {}
    for stride, extent, place in _placed(layout, unknown=None):
        path, step = _path(stride), _value(stride)
        if step == 0 or extent == 1:
            continue
        below = covered.get(path, 1)
        if scalar.mod(step, below) != 0:
            raise LayoutError(f"left_inverse: expected an injective layout, got {layout}")
        gap = scalar.div(step, below)
        extents.setdefault(path, [1])[-1] = gap
        covered[path] = scalar.mul(below, gap)
        extents[path].append(extent)
        strides.setdefault(path, [0]).append(place)
    shape, stride = _profiled_leaves(profile, extents, 1), _profiled_leaves(profile, strides, 0)
    return coalesce_open(make_unchecked(shape, stride), profile)
