"""Rules of the ops that rework a layout."""

from collections.abc import Callable, Sequence
from typing import Any

from tilewright.dialects.cute.coordinate import dice, slice_
from tilewright.dialects.cute.int_tuple import has_underscore, rank, weakly_congruent
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.recast import recast
from tilewright.dialects.cute.rules import attempted, mode_path_text, required, valid_layout
from tilewright.dialects.cute.rules.accessors import LAYOUTS, modes_of, tile_leaves
from tilewright.dialects.cute.swizzle import AnyLayout, ComposedLayout, Swizzle
from tilewright.dialects.cute.symbolic import complements, layouts
from tilewright.dialects.cute.symbolic.composed import dice_any, outer_of, slice_any, through
from tilewright.dialects.cute.symbolic.layouts import known
from tilewright.dialects.cute.symbolic.tuples import flat, is_static, only_scalars, wrapped
from tilewright.dialects.cute.values import Typed


def composition(left: Typed, right: Typed) -> Typed:
    """left after right."""
    tiler = layouts.shape_to_tile(right.value) if right.kind == "shape" else right.value
    return valid_layout(
        lambda: through(layouts.composition, left.value, tiler),
        "expects a valid composition result, but construction failed",
    )


def coalesce(source: Typed, profile: Typed | None = None) -> Typed:
    """The same function with fewer modes."""
    wanted = None
    if profile is not None:
        wanted = profile.value
        _check_profile(modes_of(source), wanted, ())
    return valid_layout(
        lambda: through(layouts.coalesce, source.value, wanted),
        "expects a valid coalesce result, but construction failed",
    )


def _check_profile(shape: Any, profile: Any, path: Sequence[int]) -> None:
    if not isinstance(profile, tuple):
        return
    count: int = rank(profile)
    required(
        count <= rank(shape),
        f"expects target_profile rank ({count}) to not exceed the layout rank ({rank(shape)})"
        f"{mode_path_text(path)}",
    )
    for i in range(count):
        _check_profile(wrapped(shape)[i], profile[i], (*path, i))


def flatten_modes(source: Typed) -> Typed:
    """The same leaves as one flat tuple."""
    if source.kind == "tile":
        nested = isinstance(source.value, tuple)
        return Typed("tile", tuple(tile_leaves(source.value)) if nested else source.value)
    if source.kind not in LAYOUTS:
        return Typed(source.kind, flat(source.value))
    return valid_layout(
        lambda: through(layouts.flatten_layout, source.value),
        "expects a valid flatten result, but construction failed",
    )


def complement(source: Typed, cotarget: Typed | None = None) -> Typed:
    """The indices that a layout leaves out, of a cotarget's where there is one."""
    layout: Layout = source.value
    if cotarget is None:
        required(
            known(layout),
            f"expects input with static layout, but got {source.quoted} with dynamic layout",
        )
        return valid_layout(
            lambda: complements.complement(layout),
            "expects a valid intrinsic complement result, but construction failed for input "
            f"{source.quoted}",
        )
    required(
        only_scalars(layout.stride),
        f"expects input with integer strides, but {source.quoted} has non-integer strides",
    )
    count = rank(layout.shape)
    required(
        is_static(layout.stride) or count == 1,
        "expects input with static strides for layouts with more than one mode, but "
        f"{source.quoted} has dynamic strides with rank {count}",
    )
    extent = cotarget.value.shape if cotarget.kind == "layout" else cotarget.value
    return valid_layout(
        lambda: complements.complement_in(layout, extent),
        f"expects a valid complement result, but construction failed for input {source.quoted} "
        f"with cotarget {cotarget.quoted}",
    )


def group_modes(source: Typed, begin: int, end: int) -> Typed:
    """Modes begin to end - 1 become one."""
    count = rank(modes_of(source))
    required(begin >= 0, f"expects 0 <= begin, but got begin={begin}")
    required(end > begin, f"expects begin < end, but got begin={begin}, end={end}")
    required(end <= count, f"expects end <= rank(input)={count}, but got end={end}")
    return valid_layout(
        lambda: through(layouts.group_modes, source.value, begin, end),
        f"expects a valid group_modes result, but construction failed for input {source.quoted} "
        f"with [begin={begin}, end={end})",
    )


def recast_layout(source: Typed, new_type_bits: int, old_type_bits: int) -> Typed:
    """The same bytes as elements of another width."""
    for name, bits in (("new_type_bits", new_type_bits), ("old_type_bits", old_type_bits)):
        required(bits > 0, f"expects {name} to be positive, but got {bits}")
    required(
        only_scalars(outer_of(source.value).stride),
        f"expects integer or dynamic strides, but {source.quoted} has scaled-basis strides",
    )
    return valid_layout(
        lambda: recast(new_type_bits, old_type_bits, source.value),
        f"unable to recast {source.quoted} from {old_type_bits} bits to {new_type_bits} bits",
    )


# --- slices ---------------------------------------------------------------------------------------

_SLICEABLE = (
    "expects $input to be !cute.shape, !cute.stride, !cute.int_tuple, !cute.coord, !cute.layout, "
    "or !cute.composed_layout, but got "
)
_TUPLES = ("shape", "stride", "int_tuple", "coord")


def _check_coord(source: Typed, coord: Typed) -> None:
    required(source.kind in (*LAYOUTS, *_TUPLES), f"{_SLICEABLE}{source.quoted}")
    required(
        weakly_congruent(coord.value, modes_of(source)),
        "expects coord to be weakly congruent with input shape, but got "
        f"{source.quoted} and {coord.quoted}",
    )


def slice_modes(source: Typed, coord: Typed) -> Typed:
    """The modes opposite an underscore."""
    _check_coord(source, coord)
    if isinstance(source.value, ComposedLayout) and isinstance(source.value.inner, Swizzle):
        required(
            known(source.value.outer),
            "expects swizzle-A composed slice's outer layout to be static, but got "
            f"{source.quoted}",
        )
        required(
            has_underscore(coord.value),
            "expects swizzle-A composed slice's coord to contain at least one underscore, but got "
            f"{coord.quoted}",
        )
    return _kept(source, coord, "slice", slice_any, slice_)


def dice_modes(source: Typed, coord: Typed) -> Typed:
    """The modes opposite a number."""
    required(is_static(coord.value), f"expects coord to be static, but got {coord.quoted}")
    _check_coord(source, coord)
    return _kept(source, coord, "dice", dice_any, dice)


def _kept(
    source: Typed,
    coord: Typed,
    name: str,
    of_layout: Callable[[Any, AnyLayout], AnyLayout],
    of_tuple: Callable[[Any, Any], Any],
) -> Typed:
    otherwise = f"unable to {name} {source.quoted} with {coord.quoted}"
    if source.kind in LAYOUTS:
        return valid_layout(lambda: of_layout(coord.value, source.value), otherwise)
    kept = attempted(lambda: of_tuple(coord.value, source.value), otherwise)
    return Typed(source.kind, kept)


# --- inverses -------------------------------------------------------------------------------------


def _check_static_shape(source: Typed) -> None:
    required(
        is_static(source.value.shape),
        f"expects a static-shape input layout, but got {source.quoted}",
    )


def right_inverse(source: Typed) -> Typed:
    """R with layout(R(i)) = i."""
    _check_static_shape(source)
    return valid_layout(
        lambda: complements.right_inverse(source.value),
        f"unable to compute a right inverse for {source.quoted}",
    )


def left_inverse(source: Typed) -> Typed:
    """L with L(layout(i)) = i."""
    _check_static_shape(source)
    required(
        is_static(source.value.stride),
        f"expects a static-stride input layout for left inverse, but got {source.quoted}",
    )
    return valid_layout(
        lambda: complements.left_inverse(source.value),
        f"unable to compute a left inverse for {source.quoted}",
    )
