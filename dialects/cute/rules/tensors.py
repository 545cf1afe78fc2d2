"""Rules of the ops on tensors.

What an op does to a layout it does to a tensor's: `on_tensors` lifts the rule. An op that fixes
coordinates moves the tensor's first element as well.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from tilewright.dialects.cute.int_tuple import has_underscore, is_tuple, rank, weakly_congruent
from tilewright.dialects.cute.layout import Layout, make_unchecked
from tilewright.dialects.cute.recast import recast as recast_leaves
from tilewright.dialects.cute.rules import RuleError, attempted, required
from tilewright.dialects.cute.rules.accessors import LAYOUTS, check_mode_path
from tilewright.dialects.cute.symbolic import layouts, scalar, tiling
from tilewright.dialects.cute.symbolic.check import why_not
from tilewright.dialects.cute.symbolic.evaluate import coprofile, image, images
from tilewright.dialects.cute.symbolic.layouts import Tile
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.symbolic.tuples import (
    compact_col_major,
    is_static,
    part,
    product_each,
    tuple_sum,
    wrapped,
)
from tilewright.dialects.cute.tensor import (
    AnyTensor,
    CoordTensor,
    Tensor,
    element_bits,
    multiples,
    natural_alignment,
)
from tilewright.dialects.cute.tiled_mma import coord_along
from tilewright.dialects.cute.values import TENSORS, Typed, typed_layout

Rule = Callable[..., Typed]


def tensor_of(source: Typed) -> Any:
    """The tensor of an operand, with all that is known of its divisors."""
    required(source.kind in TENSORS, f"expected a tensor, got {source.quoted}")
    return multiples(source.value)


def typed_tensor(tensor: AnyTensor) -> Typed:
    """A tensor with its kind."""
    return Typed("memref" if isinstance(tensor, Tensor) else "coord_tensor", tensor)


def on_tensors(rule: Rule) -> Rule:
    """The rule of an op on a layout, for tensors as well: the layout's part by that rule."""

    @wraps(rule)
    def lifted(source: Typed, *others: Any) -> Typed:
        if source.kind not in TENSORS:
            return rule(source, *others)
        tensor = tensor_of(source)
        exact = (Typed(x.kind, multiples(x.value)) if isinstance(x, Typed) else x for x in others)
        layout = rule(typed_layout(tensor.layout), *exact)
        if layout.kind in LAYOUTS:
            return typed_tensor(tensor.with_layout(layout.value))
        return layout

    return lifted


def map_shared(source: Typed, rank: Typed) -> Typed:
    """The same place in the shared memory of another CTA."""
    tensor = tensor_of(source)
    required(tensor.space == "smem", f"expected a tensor in smem, got {source.quoted}")
    return typed_tensor(
        Tensor(tensor.element, "dsmem", tensor.align, tensor.layout, tensor.base, tensor.offset)
    )


def recast(source: Typed, element: str | None) -> Typed:
    """Bytes as elements of less than a byte, or the other way round."""
    tensor = tensor_of(source)
    required(element is not None, "expected an element type: cute.recast<f4E2M1FN>")
    assert element is not None
    old, new = tensor.bits, element_bits(element)
    required(
        tensor.space in ("gmem", "smem")
        and "i8" in (tensor.element, element)
        and min(old, new) < 8,
        "expected bytes, i8, and elements of less in gmem or smem, "
        f"got {source.quoted} as {element}",
    )
    layout = attempted(
        lambda: recast_leaves(new, old, tensor.layout),
        f"unable to recast {source.quoted} to {element}",
    )
    offset = scalar.div(scalar.mul(tensor.offset, old), new)
    return typed_tensor(Tensor(element, tensor.space, tensor.align, layout, tensor.base, offset))


def sliced(tensor: AnyTensor, coord: Any, whole: Layout) -> Typed:
    """The part of a tensor that a coordinate with underscores leaves open, the tensor's modes
    being seen through `whole`."""
    return typed_tensor(tensor.moved(image(whole, coord), layouts.slice_layout(coord, whole)))


def slice_tensor(rule: Rule) -> Rule:
    """The rule of `slice`, for tensors as well; of coordinates one that leaves nothing open is an
    element."""

    @wraps(rule)
    def lifted(source: Typed, coord: Typed) -> Typed:
        if source.kind not in TENSORS:
            return rule(source, coord)
        if source.kind == "coord_tensor" and not has_underscore(coord.value):
            return element_at(source, coord)
        tensor = tensor_of(source)
        required(
            weakly_congruent(coord.value, tensor.modes.shape) and has_underscore(coord.value),
            "expected coord with an underscore, weakly congruent with the tensor's shape, got "
            f"{source.quoted} and {coord.quoted}",
        )
        return sliced(tensor, multiples(coord.value), tensor.modes)

    return lifted


# --- coordinates ----------------------------------------------------------------------------------


def element_at(source: Typed, coord: Typed) -> Typed:
    """An element of a tensor of coordinates: the coordinate that it is."""
    tensor = tensor_of(source)
    required(
        weakly_congruent(coord.value, tensor.modes.shape) and not has_underscore(coord.value),
        f"expected a coordinate of an element of {source.quoted}, got {coord.quoted}",
    )
    there = image(tensor.modes, multiples(coord.value))
    return Typed("coord", tuple_sum(tensor.start, there))


def layout_eval_tensor(rule: Rule) -> Rule:
    """The rule of `layout_eval`, for the layouts of tensors as well; coordinates count from where
    they start."""

    @wraps(rule)
    def lifted(coord: Typed, layout: Typed) -> Typed:
        if layout.kind == "coord_tensor":
            return Typed("int_tuple", element_at(layout, coord).value)
        return rule(coord, typed_layout(layout.value.layout) if layout.kind == "memref" else layout)

    return lifted


def coords(source: Typed, mode: Sequence[int]) -> list[Scalar]:
    """The elements of a tensor of coordinates along one dimension, in order."""
    tensor = tensor_with_coords(source, mode)
    there = (tuple_sum(tensor.start, place) for place in images(tensor.modes))
    return [part(at, tuple(mode)) for at in there]


def tensor_with_coords(source: Typed, mode: Sequence[int]) -> CoordTensor:
    """A tensor of coordinates whose elements are known to have that dimension."""
    tensor = tensor_of(source)
    if not (isinstance(tensor, CoordTensor) and is_static(tensor.modes.shape)):
        raise RuleError(f"expected a !cute.coord_tensor of static shape, got {source.quoted}")
    start = Typed("coord", tensor.start)
    check_mode_path(start, mode)
    required(
        not is_tuple(part(tensor.start, tuple(mode))),
        f"expected mode indices down to a leaf of {start.quoted}, got {list(mode)}",
    )
    return tensor


# --- views ----------------------------------------------------------------------------------------


def make_view(source: Typed, layout: Typed) -> Typed:
    """The tensor's elements through another layout, from its first element on."""
    tensor = tensor_of(source)
    required(isinstance(tensor, Tensor), f"expected a memref, got {source.quoted}")
    return typed_tensor(tensor.with_layout(layout.value))


def get_layout(source: Typed) -> Typed:
    """The layout of a tensor."""
    required(source.kind in TENSORS, f"expected a tensor, got {source.quoted}")
    return typed_layout(source.value.layout)


def make_identity_tensor(shape: Typed) -> Typed:
    """The tensor whose elements are their own coordinates."""
    layout = layouts.make_identity_layout(shape.value)
    return typed_tensor(CoordTensor(coprofile(layout), layout))


def make_fragment_like(source: Typed, element: str | None = None) -> Typed:
    """Registers for the elements of a tensor, or for as many of another type: column-major, modes
    of stride 0 sharing theirs."""
    tensor = tensor_of(source)
    modes = tensor.modes
    required(is_static(modes.shape), f"expected a static shape, got {source.quoted}")
    wanted = element or getattr(tensor, "element", None)
    required(wanted is not None, f"expected an element type beside {source.quoted}")
    stored = layouts.filter_zeros(modes.stride, modes.shape)
    return in_registers(wanted, make_unchecked(modes.shape, compact_col_major(stored)))


def in_registers(element: Any, layout: Layout) -> Typed:
    """A register tensor."""
    return typed_tensor(Tensor(element, "rmem", natural_alignment(element), layout))


# --- tiles ----------------------------------------------------------------------------------------


def _as_tile(tiler: Typed) -> Tile:
    """The tiler's layouts. Raises RuleError where one of them is none."""
    tile = layouts.shape_to_tile(tiler.value) if tiler.kind == "shape" else tiler.value
    for leaf in layouts.tile_layouts(tile):
        reason = why_not("layout", leaf)
        required(reason is None, f"expected a tiler of layouts, got {tiler.quoted} ({reason})")
    return tile


def _check_inside(source: Typed, tensor: AnyTensor, tile: tuple[Tile, ...], tiler: Typed) -> None:
    """Tiles may reach over an edge of what is copied under bounds: nobody bounds an access to
    shared memory or registers."""
    if isinstance(tensor, CoordTensor) or tensor.space == "gmem":
        return
    for mode, slot in zip(layouts.modes(tensor.modes), tile, strict=False):
        if isinstance(slot, Layout) and layouts.known(mode) and layouts.known(slot):
            required(
                mode.size() % slot.size() == 0,
                f"expected tiles that divide {source.quoted}, got {tiler.quoted}",
            )


def local_tile(source: Typed, tiler: Typed, coord: Typed, proj: Typed | None = None) -> Typed:
    """The tile of a tensor at a coordinate of tiles, `_` keeping all of them as modes behind the
    tile's: (128,32,k). Of the modes of tiler and coordinate those count that are not `_` in `proj`.
    """
    tensor = tensor_of(source)
    tile: tuple[Tile, ...] = wrapped(_as_tile(tiler))
    at = wrapped(multiples(coord.value))
    if proj is not None:
        required(is_tuple(proj.value), f"expected a tuple of 1 and _ as proj, got {proj.text}")
        count = len(proj.value)
        required(
            len(tile) == len(at) == count,
            f"expected tiler and coord with the {count} modes of proj, got "
            f"{tiler.quoted} and {coord.quoted}",
        )
        kept = [i for i, slot in enumerate(proj.value) if slot is not None]
        tile, at = tuple(tile[i] for i in kept), tuple(at[i] for i in kept)
    required(
        len(tile) <= rank(tensor.modes.shape) and rank(at) <= rank(tensor.modes.shape),
        f"expected a tile and a coord of the tensor's modes, got {source.quoted}, "
        f"{tiler.quoted} and {coord.quoted}",
    )
    otherwise = f"expected tiles of {source.quoted}, but cannot divide it by {tiler.quoted}"
    _check_inside(source, tensor, tile, tiler)
    whole = attempted(lambda: tiling.zipped_divide(tensor.modes, tile), otherwise)
    inside, rest = whole.shape
    at = (*at, *[None] * (rank(rest) - rank(at)))
    return sliced(tensor, ((None,) * rank(inside), at), whole)


def local_partition(source: Typed, threads: Typed, index: Typed) -> Typed:
    """The part of a tensor that one thread of a layout of threads has: every one of its tiles
    at that thread's place."""
    tensor, layout = tensor_of(source), threads.value
    required(layouts.known(layout), f"expected a static layout of threads, got {threads.quoted}")
    tile = tuple(make_unchecked(extent, 1) for extent in product_each(layout.shape))
    otherwise = f"expected tiles of {source.quoted}, but cannot divide it by {threads.quoted}"
    required(len(tile) <= rank(tensor.modes.shape), otherwise)
    _check_inside(source, tensor, tile, threads)
    whole = attempted(lambda: tiling.zipped_divide(tensor.modes, tile), otherwise)
    at = tuple(coord_along(mode, multiples(index.value)) for mode in layouts.modes(layout))
    return sliced(tensor, (at, (None,) * rank(whole.shape[1])), whole)
