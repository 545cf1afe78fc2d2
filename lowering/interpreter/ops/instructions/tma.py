"""Copies of boxes, and of bytes, by the tensor memory accelerator, at both levels."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tilewright.dialects.cute import ComposedLayout
from tilewright.dialects.cute.atoms import SMEM_ALIGN
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorBox
from tilewright.dialects.cute_nvgpu.lattice import tma as rows
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK
from tilewright.dialects.ptx import bulk_copy
from tilewright.dialects.ptx.instruction import content
from tilewright.dialects.row_ops import box_corner, memory_operand
from tilewright.lowering.interpreter.array_types import Int64Array, UInt8Array
from tilewright.lowering.interpreter.builder import (
    Builder,
    Effect,
    accesses,
    effects,
    executes,
    nothing,
)
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.issued_once import check_issued_once
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.tcgen05_streams import Stream
from tilewright.lowering.interpreter.machine.tensor_map import (
    Corner,
    ElementRun,
    TensorImage,
    chunk_addresses,
)
from tilewright.lowering.interpreter.ops.base.memref import View
from tilewright.lowering.interpreter.ops.instructions.cluster import remote
from tilewright.lowering.interpreter.ops.instructions.operands import (
    Locate,
    as_columns,
    every,
    located,
)
from tilewright.lowering.interpreter.ops.instructions.smem_desc import check_begin
from tilewright.lowering.interpreter.ops.instructions.tcgen05_sync import each_thread
from tilewright.lowering.interpreter.values import Bits, spread

# Where boxes are


def _box_start(op: Any, builder: Builder, name: str) -> Locate:
    """The address of a box's first element before the swizzle, which is the hardware's own."""
    memory, indices, _ = memory_operand(op, name)
    if indices is None:
        return located(op, builder, name)
    source, slots = builder.slot(memory), builder.slots(indices)
    extents = op.map.type.box.extents(len(slots))

    def locate(regs: list[Any]) -> Bits:
        view: View = regs[source]
        at = [regs[slot] for slot in slots]
        check_begin(view, at, extents)
        plain = view.layout.outer if isinstance(view.layout, ComposedLayout) else view.layout
        return replace(view, layout=plain).locate(at)

    return locate


def _corners(gang: Gang, coordinates: Sequence[Bits]) -> Int64Array:
    """The coordinates of each thread's box, [threads, dimensions], signed 32 bits each."""
    columns = [spread(value, gang.count).astype(np.uint32) for value in coordinates]
    return np.stack(columns, axis=1).view(np.int32).astype(np.int64)


Boxes = Callable[[int], tuple[TensorImage, Corner]]
"""The tensor of a thread's copy, and the corner of its box there."""


def _mode(op: Any) -> str:
    """The mode of a copy."""
    mode: str = content(getattr(op, "mode", bulk_copy.TILE))
    return mode


def _boxes(
    machine: Machine, gang: Gang, maps: Bits, coordinates: Sequence[Bits], mode: str,
    offsets: Bits | None = None,
) -> Boxes:  # fmt: skip
    images, corners = every(gang, maps), _corners(gang, coordinates)
    columns = np.zeros((1, rows.MAX_RANK)) if offsets is None else as_columns(offsets)
    moved = spread(columns[:, ::-1].astype(np.int64), gang.count).tolist()

    def box(index: int) -> tuple[TensorImage, Corner]:
        image = machine.memory.tensor_map(images[index])
        if not machine.memory.is_argument(images[index]):
            machine.accesses.read_map(int(gang.lanes[index]), images[index])
        _check_mode(image.box, mode, len(coordinates))
        corner = _corner(corners[index], image)
        if mode in rows.FOUR_ROWS:
            return image, [[row, corner[-1]] for row in corner[-2::-1]]
        if (pixels := image.box.im2col) is None:
            return image, corner
        if (
            mode == "im2col_no_offs"
            and min(corner[0], *pixels.lower, *(-up for up in pixels.upper)) < 0
        ):
            raise Fault(
                f"expected pixels of the tensor for {mode}, got image {corner[0]} of {pixels} "
                "(an H200 traps)"
            )
        if mode in rows.OF_A_ROW:
            return image, image.pixels_of_a_row(corner, *moved[index])
        return image, image.pixels(corner, moved[index][2 - image.box.rank :])

    return box


def _check_mode(box: TensorBox, mode: str, rank: int) -> None:
    """Raise Fault where a tensor map is for copies of another mode, or of another rank."""
    plain = "im2col" if mode.startswith("im2col") else "tile"
    legal = mode if mode in rows.OF_A_ROW else plain
    if ("tile" if box.im2col is None else box.im2col.mode) != legal:
        raise Fault(f"expected a tensor map for {legal}, got one of {box}")
    if mode in rows.FOUR_ROWS and (box.rank != 2 or box.shape[0] != 1):
        raise Fault(f"expected a tensor map of one row for {mode}, got one of {box}")
    if mode not in rows.FOUR_ROWS and box.rank != rank:
        raise Fault(f"expected a tensor map of {rank} dimensions, got one of {box}")


def _runs(
    machine: Machine, gang: Gang, address: Bits, size: Bits, element: str, *sides: Bits,
    mask: Bits | None = None,
) -> Boxes:  # fmt: skip
    """Bytes, all or without so many on either side, or those of a mask."""
    starts, sizes, of = every(gang, address), every(gang, size), rows.TENSOR_ELEMENTS[element]
    left, right = (every(gang, side) for side in sides or (np.zeros(1, np.uint32),) * 2)
    masks = None if mask is None else every(gang, mask)

    def box(index: int) -> tuple[TensorImage, Corner]:
        around = left[index], right[index]
        image = machine.memory.run_of(starts[index], sizes[index], of, around)
        return image if masks is None else replace(image, mask=masks[index]), [-left[index]]

    return box


def _places(
    machine: Machine, lane: int, image: TensorImage, corner: Corner, start: int,
    cta: int | None = None,
) -> Int64Array:  # fmt: skip
    """The bytes of a box in the wave's shared memory, in the thread's CTA or another one. Raises
    Fault where it may not be there."""
    what, align = ("a copy", CHUNK) if isinstance(image.box, ElementRun) else ("a box", SMEM_ALIGN)
    if start % align:
        raise Fault(
            f"expected {what} that starts at a multiple of {align} bytes of shared memory, "
            f"got byte {start}; nearest legal: byte {round(start / align) * align}"
        )
    addresses = chunk_addresses(start, image.box, image.size(corner))
    size = machine.shared.size
    if (end := int(addresses.max()) + CHUNK) > size:
        raise Fault(f"out of bounds: bytes {start} to {end - 1} of shared memory, which has {size}")
    base = (lane // machine.slots if cta is None else cta) * machine.shared.stride
    return (base + addresses[:, None] + np.arange(CHUNK)).ravel()


def _corner(corner: Int64Array, image: TensorImage) -> list[int]:
    """The corner of a box in its tensor. Raises Fault where the hardware traps (H100)."""
    if image.box.interleaved:
        return [*corner.tolist(), 0]
    size = image.box.element.bytes
    if (inner := int(corner[-1])) * size % CHUNK:
        per_chunk = CHUNK // size
        raise Fault(
            f"expected an innermost coordinate that is a multiple of {per_chunk} ({CHUNK} bytes), "
            f"got {inner}; nearest legal: {round(inner / per_chunk) * per_chunk}"
        )
    return corner.tolist()


# Loads


def land(
    machine: Machine, lane: int, barrier: int, mask: int | None, source: Any,
    read: Callable[[], UInt8Array], places: Callable[[int], Int64Array], op: int, *,
    pair: bool = False, change: Callable[..., Bits] | None = None, generic: bool = False,
    needs_fence: bool = True,
) -> None:  # fmt: skip
    """Copy what is read of a source, None being registers, to the places in each CTA of a mask, or
    combine what is there with it as a `change`; the mbarriers there, or in the other CTAs of a
    `pair`, are told of the bytes."""
    data = read()
    for cta, place in machine.mbarriers.receivers(lane, barrier, mask, pair=pair):
        phase = machine.mbarriers.land(
            lane, place, places(cta), data, read, op, change, generic=generic,
            needs_fence=needs_fence,
        )  # fmt: skip
        if isinstance(source, Stream):
            source.commit([phase])
        elif source is not None:
            machine.accesses.until_phase(lane, source, *phase)


@accesses(rows.TENSOR_LOAD)
def _load(op: Any, number: int) -> Effect:
    """Of a pair the mbarrier may be in the other CTA."""
    mode, is_pair = _mode(op), ".cta_group::2" in op.row.suffix

    def run(
        machine: Machine, gang: Gang, maps: Bits, coordinates: list[Bits], dest: Bits,
        barrier: Bits, mask: Bits | None, rank: Bits | None, offsets: Bits | None,
    ) -> None:  # fmt: skip
        at = barrier if rank is None else remote(barrier, rank)
        boxes = _boxes(machine, gang, maps, coordinates, mode, offsets)
        _start_loads(machine, gang, boxes, dest, at, mask, number, is_pair=is_pair)

    dest, barrier = partial(_box_start, name="dest"), partial(located, name="barrier")
    is_ptx = isinstance(op, bulk_copy.TensorLoadOp)
    rank, offsets = (None, op.offsets) if is_ptx else (op.rank, None)
    return run, op.map, box_corner(op), dest, barrier, op.mask, rank, offsets


@accesses(rows.BULK_LOAD)
def _bulk_load(op: Any, number: int) -> Effect:
    """Bytes on the sides are zeros."""
    element = op.row.element if op.left is None else "ui8"

    def run(
        machine: Machine, gang: Gang, dest: Bits, source: Bits, size: Bits, barrier: Bits,
        mask: Bits | None, left: Bits | None, right: Bits | None,
    ) -> None:  # fmt: skip
        sides = () if left is None or right is None else (left, right)
        boxes = _runs(machine, gang, source, size, element, *sides)
        _start_loads(machine, gang, boxes, dest, barrier, mask, number)

    return run, op.dest, op.source, op.size, op.barrier, op.mask, op.left, op.right


def _start_loads(
    machine: Machine, gang: Gang, boxes: Boxes, dest: Bits, barrier: Bits, mask: Bits | None,
    number: int, *, is_pair: bool = False,
) -> None:  # fmt: skip
    """Start a copy of each thread. That of bytes to its own CTA needs no fence behind the init of
    its mbarrier: libcu++'s `memcpy_async` has none."""
    barriers, starts = every(gang, barrier), every(gang, dest)
    masks = [None] * gang.count if mask is None else every(gang, mask)

    def copy(index: int, lane: int) -> None:
        image, corner = boxes(index)

        def places(cta: int) -> Int64Array:
            if is_pair and masks[index] is None:
                cta = _of_pair(cta, lane // machine.slots)
            return _places(machine, lane, image, corner, starts[index], cta)

        source = machine.accesses.begin_box(lane, image, corner, number)
        read = partial(image.read, corner)
        own = isinstance(image.box, ElementRun) and masks[index] is None
        land(machine, lane, barriers[index], masks[index], source, read, places, number,
             pair=is_pair, needs_fence=not own)  # fmt: skip

    each_thread(gang, copy)


def _of_pair(cta: int, own: int) -> int:
    """The CTA whose copy counts its bytes at another one's mbarrier."""
    if cta // 2 != own // 2:
        raise Fault(
            f"expected an mbarrier of the pair of CTAs that copies, got one of CTA {cta}; nearest "
            f"legal: CTA {own & ~1} or {own | 1}"
        )
    return own


# Stores and reductions


@accesses(rows.TENSOR_STORE, *rows.TENSOR_REDUCE.values())
def _store(op: Any, number: int) -> Effect:
    mode = _mode(op)
    kind = str(op.kind.data) if hasattr(op, "kind") else None

    def run(
        machine: Machine, gang: Gang, maps: Bits, coordinates: list[Bits], source: Bits
    ) -> None:
        places: list[list[int]] = _corners(gang, coordinates).tolist()
        named = zip(every(gang, maps), map(tuple, places), every(gang, source), strict=True)
        check_issued_once(machine, gang, named, kind)
        boxes = _boxes(machine, gang, maps, coordinates, mode)

        def stored(index: int) -> tuple[TensorImage, Corner]:
            image, corner = boxes(index)
            _check_stored(image.box, kind, mode, places[index])
            return image, corner

        _start_stores(machine, gang, stored, source, number, kind)

    return run, op.map, box_corner(op), partial(_box_start, name="source")


def _check_stored(box: TensorBox, kind: str | None, mode: str, corner: Sequence[int]) -> None:
    """Raise Fault where an H200 traps: in front of a tensor, and where it does not combine elements
    of the type."""
    if mode == "tile" and min(corner) < 0:
        raise Fault(f"expected coordinates from 0 on of a box that is stored, got {corner[::-1]}")
    element = box.element.mlir.removeprefix("t").removesuffix(".ftz")
    if kind is not None and (why := rows.why_not_reduced(kind, element)) is not None:
        raise Fault(why)


@accesses(
    rows.BULK_STORE, rows.MULTIMEM_STORE, *rows.BULK_REDUCE.values(),
    *rows.MULTIMEM_REDUCE.values(),
)  # fmt: skip
def _bulk_store(op: Any, number: int) -> Effect:
    """Of a multicast object the one copy that this GPU has."""
    element = op.row.element
    form = getattr(op, "form", None)
    kind = None if form is None else form.data.partition(".")[0]

    def run(
        machine: Machine, gang: Gang, dest: Bits, source: Bits, size: Bits, mask: Bits | None
    ) -> None:
        named = zip(*(every(gang, value) for value in (dest, source, size)), strict=True)
        check_issued_once(machine, gang, named, kind)
        boxes = _runs(machine, gang, dest, size, element if mask is None else "ui8", mask=mask)
        _start_stores(machine, gang, boxes, source, number, kind)

    return run, op.dest, op.source, op.size, getattr(op, "mask", None)


def _start_stores(
    machine: Machine, gang: Gang, boxes: Boxes, source: Bits, number: int, kind: str | None
) -> None:
    starts = every(gang, source)

    def copy(index: int, lane: int) -> None:
        image, corner = boxes(index)
        places = _places(machine, lane, image, corner, starts[index])
        data = machine.bulk_stores.begin(lane, places, number)
        image.check_writable(corner)
        if machine.accesses.are_checked:
            changed = image.changes(kind, corner, data)
            group, op = machine.bulk_stores.group(lane), number if kind is None else -number
            machine.accesses.write_box(lane, image, corner, changed, op, group)
        machine.bulk_stores.land(lane, places, partial(image.put, kind, corner))

    each_thread(gang, copy)


executes(rows.BULK_PREFETCH, rows.TENSOR_PREFETCH)(nothing)


@executes(rows.BULK_COMMIT_GROUP)
def _commit(machine: Machine, gang: Gang) -> None:
    machine.bulk_stores.commit(gang.lanes)


@effects(rows.BULK_WAIT_GROUP)
def _wait(op: Any) -> Effect:
    pending, reads = op.pending.value.data, op.read is not None
    return lambda machine, gang: machine.bulk_stores.wait(gang.lanes, pending, reads=reads)
