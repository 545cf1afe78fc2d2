"""Copies of boxes by the tensor memory accelerator, at both levels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute import ComposedLayout
from tilewright.dialects.cute.atoms import SMEM_ALIGN
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK
from tilewright.dialects.cute_nvgpu.ops import tma as atom
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.dialects.ptx import bulk_copy as ptx
from tilewright.lowering.interpreter.builder import Builder, Step, effect, runs
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.issued_once import check_issued_once
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.tensor_map import TensorImage, chunk_addresses
from tilewright.lowering.interpreter.ops.base.memref import View
from tilewright.lowering.interpreter.ops.instructions.cluster import remote
from tilewright.lowering.interpreter.ops.instructions.smem_desc import check_begin
from tilewright.lowering.interpreter.values import Bits, spread

Locate = Callable[[Gang], Bits]


# Where boxes are


def _box_start(map_: TmaDescriptorType, memory: int, indices: Sequence[int]) -> Locate:
    """The address of a box's first element before the swizzle, which is the hardware's own."""
    extents = map_.box.extents(len(indices))

    def locate(gang: Gang) -> Bits:
        view: View = gang.regs[memory]
        check_begin(view, [gang.regs[slot] for slot in indices], extents)
        plain = view.layout.outer if isinstance(view.layout, ComposedLayout) else view.layout
        unswizzled = View(
            view.space, view.base, view.address, view.width, view.sizes, view.strides, plain,  # type: ignore[arg-type]
        )  # fmt: skip
        return unswizzled.locate([gang.regs[slot] for slot in indices])

    return locate


def _type_of(op: atom.TmaLoadOp | atom.TmaStoreOp | atom.TmaReduceOp) -> TmaDescriptorType:
    assert isinstance(op.map.type, TmaDescriptorType)
    return op.map.type


def _register(slot: int) -> Locate:
    return lambda gang: gang.regs[slot]


def _each(gang: Gang, value: Bits) -> list[int]:
    """The value in every thread of the gang."""
    return spread(value, gang.count).tolist()


def _corners(gang: Gang, coordinates: Sequence[int]) -> NDArray[np.int64]:
    """The coordinates of each thread's box, [threads, dimensions], signed 32 bits each."""
    columns = [spread(gang.regs[slot], gang.count).astype(np.uint32) for slot in coordinates]
    return np.stack(columns, axis=1).view(np.int32).astype(np.int64)


def _places(
    machine: Machine, lane: int, image: TensorImage, start: int, cta: int | None = None
) -> NDArray[np.int64]:
    """The bytes of a box in the wave's shared memory, in the thread's CTA or another one. Raises
    Fault where it may not be there."""
    if start % SMEM_ALIGN:
        raise Fault(
            f"expected a box that starts at a multiple of {SMEM_ALIGN} bytes of shared memory, "
            f"got byte {start}; nearest legal: byte {round(start / SMEM_ALIGN) * SMEM_ALIGN}"
        )
    addresses, size = chunk_addresses(start, image.box), machine.shared.size
    if (end := int(addresses.max()) + CHUNK) > size:
        raise Fault(f"out of bounds: bytes {start} to {end - 1} of shared memory, which has {size}")
    base = (lane // machine.slots if cta is None else cta) * machine.shared.stride
    return (base + addresses[:, None] + np.arange(CHUNK)).ravel()


def _corner(corner: NDArray[np.int64], image: TensorImage) -> list[int]:
    """The corner of a box in its tensor. Raises Fault where the hardware traps (H100)."""
    size = image.box.element.bytes
    if (inner := int(corner[-1])) * size % CHUNK:
        per_chunk = CHUNK // size
        raise Fault(
            f"expected an innermost coordinate that is a multiple of {per_chunk} ({CHUNK} bytes), "
            f"got {inner}; nearest legal: {round(inner / per_chunk) * per_chunk}"
        )
    return corner.tolist()


def _for_each_thread(
    machine: Machine, gang: Gang, maps: Bits, copy: Callable[[int, int, TensorImage], None]
) -> None:
    """Let every thread start its copy: its index in the gang, its lane, its tensor map."""
    for index, (lane, address) in enumerate(
        zip(gang.lanes.tolist(), _each(gang, maps), strict=True)
    ):
        try:
            copy(index, lane, machine.memory.tensor_map(address))
        except Fault as fault:
            raise Fault(fault.message, index) from None


# Loads


@dataclass(frozen=True, slots=True)
class _Load:
    """The operands of a load, by register or place; coordinates outermost first, and the mask
    where it has one; of a `pair` the mbarrier may be in the other CTA."""

    number: int
    map: int
    coordinates: Sequence[int]
    dest: Locate
    barrier: Locate
    mask: int | None
    pair: bool


def _load_boxes(load: _Load) -> Step:
    def step(machine: Machine, gang: Gang) -> None:
        corners, starts = _corners(gang, load.coordinates), _each(gang, load.dest(gang))
        barriers = _each(gang, load.barrier(gang))
        masks = [None] * gang.count if load.mask is None else _each(gang, gang.regs[load.mask])

        def copy(index: int, lane: int, image: TensorImage) -> None:
            corner = _corner(corners[index], image)
            source = machine.accesses.begin_box(lane, image, corner, load.number)
            read = partial(image.read, corner)
            data = read()
            for cta, barrier in machine.mbarriers.receivers(lane, barriers[index], masks[index]):
                if load.pair:
                    cta = _of_pair(cta, lane // machine.slots)
                places = _places(machine, lane, image, starts[index], cta)
                phase = machine.mbarriers.land(lane, barrier, places, data, read, load.number)
                machine.accesses.until_phase(lane, source, *phase)

        _for_each_thread(machine, gang, gang.regs[load.map], copy)

    return step


def _of_pair(cta: int, own: int) -> int:
    """The CTA whose copy counts its bytes at another one's mbarrier."""
    if cta // 2 != own // 2:
        raise Fault(
            f"expected an mbarrier of the pair of CTAs that copies, got one of CTA {cta}; nearest "
            f"legal: CTA {own & ~1} or {own | 1}"
        )
    return own


@runs(atom.TmaLoadOp)
def _tma_load(op: atom.TmaLoadOp, builder: Builder) -> Step:
    barrier, barrier_indices = builder.slot(op.barrier), builder.slots(op.barrier_indices)
    rank = None if op.rank is None else builder.slot(op.rank)

    def locate(gang: Gang) -> Bits:
        address = gang.regs[barrier].locate([gang.regs[slot] for slot in barrier_indices])
        return address if rank is None else remote(address, gang.regs[rank])

    load = _Load(
        builder.number(op),
        builder.slot(op.map),
        builder.slots(op.coordinates),
        _box_start(_type_of(op), builder.slot(op.dest), builder.slots(op.dest_indices)),
        locate,
        None if op.mask is None else builder.slot(op.mask),
        rank is not None,
    )
    return _load_boxes(load)


@runs(ptx.TensorLoadOp)
def _tensor_load(op: ptx.TensorLoadOp, builder: Builder) -> Step:
    load = _Load(
        builder.number(op),
        builder.slot(op.map),
        builder.slots(op.coordinates)[::-1],
        _register(builder.slot(op.dest)),
        _register(builder.slot(op.barrier)),
        None if op.mask is None else builder.slot(op.mask),
        op.pair is not None,
    )
    return _load_boxes(load)


# Stores and reductions


def _store_boxes(
    number: int, map_: int, coordinates: Sequence[int], source: Locate, kind: str | None
) -> Step:
    """The step of a store, or of a reduction of a kind; coordinates outermost first."""

    def step(machine: Machine, gang: Gang) -> None:
        corners, starts = _corners(gang, coordinates), _each(gang, source(gang))
        places: list[list[int]] = corners.tolist()
        boxes = zip(_each(gang, gang.regs[map_]), map(tuple, places), starts, strict=True)
        check_issued_once(machine, gang, boxes, kind)

        def copy(index: int, lane: int, image: TensorImage) -> None:
            places = _places(machine, lane, image, starts[index])
            data = machine.bulk_stores.begin(lane, places, number)
            corner = _corner(corners[index], image)
            image.check_writable(corner)
            if machine.accesses.are_checked:
                changed = image.changes(kind, corner, data)
                group, op = machine.bulk_stores.group(lane), number if kind is None else -number
                machine.accesses.write_box(lane, image, corner, changed, op, group)
            machine.bulk_stores.land(lane, places, partial(image.put, kind, corner))

        _for_each_thread(machine, gang, gang.regs[map_], copy)

    return step


@runs(atom.TmaStoreOp, atom.TmaReduceOp)
def _tma_store(op: atom.TmaStoreOp | atom.TmaReduceOp, builder: Builder) -> Step:
    return _store_boxes(
        builder.number(op),
        builder.slot(op.map),
        builder.slots(op.coordinates),
        _box_start(_type_of(op), builder.slot(op.source), builder.slots(op.source_indices)),
        op.kind.data.value if isinstance(op, atom.TmaReduceOp) else None,
    )


@runs(ptx.TensorStoreOp, ptx.TensorReduceOp)
def _tensor_store(op: ptx.TensorStoreOp | ptx.TensorReduceOp, builder: Builder) -> Step:
    return _store_boxes(
        builder.number(op),
        builder.slot(op.map),
        builder.slots(op.coordinates)[::-1],
        _register(builder.slot(op.source)),
        op.kind.data if isinstance(op, ptx.TensorReduceOp) else None,
    )


@runs(atom.BulkCommitGroupOp, ptx.BulkCommitGroupOp)
def _commit(op: Any, builder: Builder) -> Step:
    return lambda machine, gang: machine.bulk_stores.commit(gang.lanes)


@runs(atom.BulkWaitGroupOp, ptx.BulkWaitGroupOp)
def _wait(op: atom.BulkWaitGroupOp | ptx.BulkWaitGroupOp, builder: Builder) -> Step:
    pending, reads = op.pending.value.data, op.read is not None
    return lambda machine, gang: machine.bulk_stores.wait(gang.lanes, pending, reads=reads)


@runs(atom.PrefetchTensormapOp, ptx.PrefetchTensormapOp)
def _prefetch(op: atom.PrefetchTensormapOp | ptx.PrefetchTensormapOp, builder: Builder) -> Step:
    def run(machine: Machine, gang: Gang, map_: Bits) -> None:
        for address in set(_each(gang, map_)):
            machine.memory.tensor_map(address)

    return effect(op, builder, run)
