"""The demands of `cute.copy` on its operands: partitions that say the same elements, in memory that
the copy's instruction can reach."""

from math import gcd
from typing import Any

from tilewright.dialects.cute.atoms import SMEM_ALIGN, TmaAtom, TmaCopy
from tilewright.dialects.cute.int_tuple import ScaledBasis, congruent, flatten, rank
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.rules import attempted, required
from tilewright.dialects.cute.rules.gemm import extents
from tilewright.dialects.cute.rules.sharing import check_apart, check_scatter
from tilewright.dialects.cute.rules.tensors import make_identity_tensor
from tilewright.dialects.cute.swizzle import AnyLayout, ComposedLayout
from tilewright.dialects.cute.symbolic import layouts
from tilewright.dialects.cute.symbolic.check import why_not
from tilewright.dialects.cute.symbolic.scalar import divisor_of
from tilewright.dialects.cute.symbolic.tuples import is_static
from tilewright.dialects.cute.tensor import Tensor, alignment_of_runs, run_of
from tilewright.dialects.cute.tiled_copy import Side, TiledCopy
from tilewright.dialects.cute.values import Typed, is_known, tile_layouts

_REGISTER_BITS = 32

ROW_ALIGN = 16
"""A divisor of the address and the strides of a tensor in global memory that TMA copies."""


def check_copy(copy: Typed, source: Typed, destination: Typed) -> None:
    """Raises RuleError unless the copy's instruction moves one tensor to the other."""
    sides: tuple[tuple[Side, Typed], ...] = (("S", source), ("D", destination))
    for side, tensor in sides:
        _check_side(copy, side, tensor)
    shapes = [extents(tensor.value.modes) for _, tensor in sides]
    repeats = [
        sizes[0] // _values(copy, side) for sizes, (side, _) in zip(shapes, sides, strict=True)
    ]
    required(
        repeats[0] == repeats[1] and shapes[0][1:] == shapes[1][1:],
        "expected source and destination with the same instructions and tiles, got "
        f"{source.quoted} and {destination.quoted}",
    )
    if copy.value.traits.source_space is None:
        check_scatter(source, destination)
    else:
        check_apart("a destination", destination, f"{copy.quoted} writes them in no order")


def _values(copy: Typed, side: Side) -> int:
    return copy.value.traits.target(side)[1].size()


def _check_side(copy: Typed, side: Side, typed: Typed) -> None:
    tiled: TiledCopy = copy.value
    traits = tiled.traits
    name = "source" if side == "S" else "destination"
    required(typed.kind == "memref", f"expected a {name} that is a memref, got {typed.quoted}")
    tensor: Tensor = typed.value
    space = traits.source_space if side == "S" else traits.destination_space
    legal = (space,) if space is not None else ("gmem", "smem", "dsmem", "rmem")
    required(
        tensor.space in legal,
        f"expected a {name} in {' or '.join(legal)} for {copy.quoted}, got {typed.quoted}",
    )
    required(
        tensor.element == traits.element,
        f"expected a {name} of {traits.element} for {copy.quoted}, got {typed.quoted}",
    )
    required(
        is_static(tensor.modes.shape), f"expected a {name} of static shape, got {typed.quoted}"
    )
    count = _values(copy, side)
    required(
        extents(tensor.modes)[0] % count == 0,
        f"expected a {name} whose first mode is the values of whole instructions, {count} each, "
        f"for {copy.quoted}, got {typed.quoted}",
    )
    if tensor.space == "tmem":
        _check_lanes(copy, name, typed, count)
    else:
        _check_vector(copy, name, typed, count)


def _check_lanes(copy: Typed, name: str, typed: Typed, count: int) -> None:
    """The elements of one instruction lie in lanes and columns as it reads them."""
    tensor: Tensor = typed.value
    wanted = copy.value.traits.tmem
    path = (0,) if isinstance(tensor.modes.shape, tuple) else ()
    values = layouts.mode(tensor.modes, path)
    lanes = attempted(
        lambda: layouts.composition(values, Layout(count, 1)),
        f"expected a {name} of whole instructions for {copy.quoted}, got {typed.quoted}",
    )
    required(
        layouts.coalesce(lanes) == layouts.coalesce(wanted),
        f"expected a {name} in lanes and columns {wanted} of tensor memory for {copy.quoted}, got "
        f"{lanes} in {typed.quoted}",
    )


def _check_vector(copy: Typed, name: str, typed: Typed, count: int) -> None:
    """The values of one instruction lie side by side: in memory on their size, in registers as
    whole ones."""
    tensor: Tensor = typed.value
    path = (0,) if rank(tensor.modes.shape) > 1 or isinstance(tensor.modes.shape, tuple) else ()
    run = run_of(tensor, path)
    if tensor.space == "rmem":
        wanted = min(count, max(_REGISTER_BITS // tensor.bits, 1))
        required(
            run % wanted == 0,
            f"expected a {name} with {wanted} neighbours to a register for {copy.quoted}, got "
            f"{typed.quoted}",
        )
        return
    vector = copy.value.traits.vector
    count = min(count, 8 * vector // tensor.bits)
    required(
        run % count == 0,
        f"expected a {name} with {count} elements side by side for {copy.quoted}, got {run} in "
        f"{typed.quoted}",
    )
    aligned = alignment_of_runs(tensor, count)
    required(
        aligned % vector == 0,
        f"expected a {name} aligned to {vector} bytes for {copy.quoted}, got {aligned} in "
        f"{typed.quoted} (align and div say what is known)",
    )


def check_plain_copy(source: Typed, destination: Typed) -> None:
    """Raises RuleError unless a thread can copy one tensor to the other by itself."""
    for typed in (source, destination):
        required(typed.kind == "memref", f"expected a memref, got {typed.quoted}")
        required(typed.value.space != "tmem", f"expected no tensor in tmem, got {typed.quoted}")
    a, b = source.value, destination.value
    required(
        a.element == b.element,
        f"expected elements of one type, got {source.quoted} and {destination.quoted}",
    )
    required(
        is_static(a.modes.shape) and extents(a.modes) == extents(b.modes),
        "expected source and destination of one static shape, got "
        f"{source.quoted} and {destination.quoted}",
    )
    check_scatter(source, destination)


def check_bounds(memory: Typed, coords: Typed, limits: Typed) -> None:
    """Raises RuleError unless every element of a tensor has its coordinate, and that its limit."""
    required(
        memory.value.space == "gmem",
        f"expected bounds of a copy from or to gmem, got {memory.quoted}; nearest legal: bounds "
        "where registers go to gmem",
    )
    required(
        coords.kind == "coord_tensor",
        f"expected the elements' coordinates as a coord_tensor, got {coords.quoted}",
    )
    shape: tuple[Any, ...] = extents(coords.value.modes)
    required(
        shape == extents(memory.value.modes),
        f"expected a coordinate for each element, got {memory.quoted} and {coords.quoted}",
    )
    required(
        congruent(coords.value.start, limits.value),
        f"expected a limit for each part of a coordinate, got {coords.quoted} and {limits.quoted}",
    )


# --- TMA ------------------------------------------------------------------------------------------


def make_tma_copy(gmem: Typed, atom: TmaAtom, tile: Typed, memory: Typed) -> list[Typed]:
    """The copy of tiles of a tensor, and the coordinates of the tensor's elements."""
    tensor = gmem.value
    required(
        gmem.kind == "memref" and tensor.space == "gmem",
        f"expected a tensor in gmem, got {gmem.quoted}",
    )
    _check_rows(gmem, tensor)
    if not atom.loads:
        _check_written(gmem, tensor)
    layout = memory.value.outer if memory.kind == "composed_layout" else memory.value
    required(
        is_known(memory) and is_known(tile) and isinstance(layout.shape, tuple),
        f"expected a static layout for each mode, got {tile.quoted} and {memory.quoted}",
    )
    tiles = tile_layouts(tile.value)
    for kind, part in ((memory.kind, memory.value), *(("layout", tile) for tile in tiles)):
        reason = why_not(kind, part)
        required(reason is None, f"expected layouts of a tile, got {part} ({reason})")
    sizes = tuple(tile.size() for tile in tiles)
    box = attempted(
        lambda: atom.box_for(tensor.modes, sizes, memory.value, tensor.element),
        f"expected boxes of {gmem.quoted} for tiles {tile.quoted} in {memory.quoted}",
    )
    return [
        Typed("tma_copy", TmaCopy(atom, box)),
        make_identity_tensor(Typed("shape", tensor.modes.shape)),
    ]


def _check_rows(gmem: Typed, tensor: Tensor) -> None:
    """A tensor map counts rows in multiples of 16 bytes."""
    strides = [step for step in flatten(tensor.modes.stride) if step != 1]
    known = gcd(8 * tensor.align, *(tensor.bits * divisor_of(step) for step in strides)) // 8
    required(
        known % ROW_ALIGN == 0,
        f"expected a tensor and rows aligned to {ROW_ALIGN} bytes, got {known} in {gmem.quoted} "
        "(align and div say what is known)",
    )


def _check_written(gmem: Typed, tensor: Tensor) -> None:
    """A box is written in no order."""
    leaves = zip(flatten(tensor.modes.shape), flatten(tensor.modes.stride), strict=True)
    required(
        all(stride != 0 or not isinstance(extent, int) or extent == 1 for extent, stride in leaves),
        f"expected a tensor whose elements lie apart, as TMA writes it, got {gmem.quoted}; nearest "
        "legal: strides other than 0, or a copy of one of the elements that lie in one place",
    )


def check_tma_copy(copy: Typed, source: Typed, destination: Typed, with_pipeline: bool) -> None:
    """Raises RuleError unless the copy's boxes are those of a tile in shared memory."""
    tma: TmaCopy = copy.value
    loads = tma.atom.loads
    coords, memory = (source, destination) if loads else (destination, source)
    name, other = ("destination", "source") if loads else ("source", "destination")
    required(
        coords.kind == "coord_tensor",
        f"expected coordinates of the tensor as {other} of {copy.quoted}, got {coords.quoted}",
    )
    required(
        memory.kind == "memref" and memory.value.space == "smem",
        f"expected a {name} in smem for {copy.quoted}, got {memory.quoted}",
    )
    required(
        with_pipeline == loads,
        "expected a pipeline with a TMA load, and none with a store or a reduction",
    )
    required(
        memory.value.element == tma.box.element,
        f"expected a {name} of {tma.box.element} for {copy.quoted}, got {memory.quoted}",
    )
    tile = extents(coords.value.modes)
    required(
        is_static(tile) and tile == extents(memory.value.modes),
        f"expected {other} and {name} of one static shape, got {coords.quoted} and {memory.quoted}",
    )
    if loads:
        check_apart("shared memory", memory, f"{copy.quoted} writes them in no order")
    _check_boxes(copy, tma, coords, memory)


def check_multicast(copy: Typed, with_mask: bool) -> None:
    """Raises RuleError unless a copy has a mask of CTAs where it is multicast, and there alone."""
    required(
        with_mask == copy.value.atom.multicast,
        f"expected {'no mask' if with_mask else 'a mask of CTAs'} for {copy.quoted}",
    )


def _check_boxes(copy: Typed, tma: TmaCopy, coords: Typed, memory: Typed) -> None:
    tensor: Tensor = memory.value
    places = [_mode_along(coords, mode) for mode in tma.box.modes]
    modes = list(layouts.modes(tensor.modes))
    ordered = [Layout(1, 0) if place is None else modes[place] for place in places]
    required(
        len([place for place in places if place is not None])
        == len([mode for mode in modes if mode.size() > 1 or mode.shape != 1]),
        f"expected modes that run along those of {copy.quoted}, got {coords.quoted}",
    )
    layout: AnyLayout = layouts.joined(ordered)
    if isinstance(tensor.layout, ComposedLayout):
        layout = ComposedLayout(tensor.layout.inner, 0, layout)
    reason = tma.atom.why_not_memory(tma.box, layout)
    required(
        reason is None,
        f"expected shared memory as {copy.quoted} lays it down, got {memory.quoted} ({reason})",
    )
    pattern = max(SMEM_ALIGN, 8 * tma.box.swizzle)
    required(
        tensor.align % pattern == 0,
        f"expected shared memory aligned to {pattern} bytes for {copy.quoted}, got {memory.quoted}",
    )
    offset: Any = getattr(tensor.layout, "offset", 0)
    required(
        tensor.bits * divisor_of(offset) % (8 * SMEM_ALIGN) == 0,
        f"expected boxes from multiples of {SMEM_ALIGN} bytes on for {copy.quoted}, got "
        f"{memory.quoted}",
    )


def _mode_along(coords: Typed, wanted: int) -> int | None:
    """Which mode of a tile of coordinates runs along a mode of the tensor, step by step."""
    tile: Layout = coords.value.layout
    for place, mode in enumerate(layouts.modes(tile)):
        stride = layouts.coalesce(mode).stride
        if isinstance(stride, ScaledBasis) and stride == ScaledBasis(1, (wanted,)):
            return place
    return None


def not_first(bits: int) -> str:
    """The fault of a cp.async of elements of so many bits of which others than the first ones are
    within bounds."""
    return (
        f"expected bounds within which elements of {bits} bits are the first ones of each "
        "cp.async; nearest legal: a universal copy"
    )


def no_whole_bytes(bits: int) -> str:
    """The fault of a cp.async with a part of a byte within bounds."""
    return (
        f"expected bounds within which elements of {bits} bits fill whole bytes; nearest legal: "
        f"limits that are multiples of {8 // bits}"
    )
