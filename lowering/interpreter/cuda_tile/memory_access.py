"""The common part of memory operations: where they go, what the memory model says, what faults."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.enums import MemoryOrderingSemantics
from tilewright.dialects.integers import integer_of
from tilewright.lowering.interpreter.address_windows import window_of
from tilewright.lowering.interpreter.array_spans import why_read_only
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array
from tilewright.lowering.interpreter.cuda_tile.accesses import Access, Kind
from tilewright.lowering.interpreter.cuda_tile.allocations import TileAllocation
from tilewright.lowering.interpreter.cuda_tile.elements import Element, Tile
from tilewright.lowering.interpreter.cuda_tile.fault_state import OutsideAllocation
from tilewright.lowering.interpreter.cuda_tile.footprints import (
    Footprint,
    Scatter,
    mark,
    read,
    scattered,
    write,
)
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.pieces import Unstored
from tilewright.lowering.interpreter.cuda_tile.token_order import Token
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.program import named
from tilewright.lowering.interpreter.share import refuse
from tilewright.lowering.interpreter.values import spread

_SEMANTICS = list(MemoryOrderingSemantics)
_ATOMIC_OPS = frozenset(
    {"atomic_rmw_tko", "atomic_cas_tko", "atomic_red_view_tko", "multimem_reduce_view_tko"}
)
_ACQUIRING = (MemoryOrderingSemantics.ACQUIRE, MemoryOrderingSemantics.ACQ_REL)
_RELEASING = (MemoryOrderingSemantics.RELEASE, MemoryOrderingSemantics.ACQ_REL)


class Ordering:
    """How an op takes part in the memory model: read off it once."""

    def __init__(self, op: Operation, plain: Kind):
        semantics = semantics_of(op)
        self.op = op
        self.kind = plain if semantics is MemoryOrderingSemantics.WEAK else Kind.ATOMIC
        self.acquires = semantics in _ACQUIRING
        self.releases = semantics in _RELEASING

    def note(self, frame: Frame, footprint: Footprint, token: Token) -> Token:
        """Tell the memory model of an access that is within bounds. Returns the op's own token."""
        machine = frame.gang.machine
        if self.kind is Kind.ATOMIC:
            frame.gang.poll = self.op, frame, footprint
        if machine.races == "ignore" or not footprint.allocation.written:
            return token
        if self.kind is Kind.ATOMIC and machine.launch.share is not None:
            refuse(f"{named(self.op)}, which is atomic")
        order = frame.gang.order
        access = Access(self.op, self.kind, frame.blocks, footprint)
        synchronises = order.synchronising and (self.acquires or self.releases)
        addresses = _addresses(footprint) if synchronises else None
        if addresses is not None and self.acquires:
            # What the releasing block had seen is behind the reader and what takes its token.
            token |= order.acquired(addresses)
        token, conflict = order.add(access, token)
        if conflict is None and not order.synchronising and machine.block_count > 1:
            conflict = machine.conflicts_of(footprint.allocation).add(access)
        if addresses is not None and self.releases:
            order.release(addresses, token)
        if conflict is not None:
            machine.report(conflict)
        return token


def semantics_of(op: Operation) -> MemoryOrderingSemantics:
    """The memory ordering of an op."""
    return _SEMANTICS[integer_of(op.properties["memory_ordering_semantics"])]


def polls_memory(op: Operation) -> bool:
    """True where a loop may wait for other blocks: it reads what they may write meanwhile."""
    for inner in op.walk():
        if inner.name.removeprefix("cuda_tile.") in _ATOMIC_OPS:
            return True
        ordered = "memory_ordering_semantics" in inner.properties
        if ordered and semantics_of(inner) is not MemoryOrderingSemantics.WEAK:
            return True
    return False


def _addresses(footprint: Footprint) -> Int64Array:
    rows = [footprint.elements_of(row) for row in range(len(footprint.low))]
    return footprint.allocation.base + np.concatenate(rows) * footprint.itemsize


def check_bounds(footprint: Footprint) -> None:
    """Raise a fault where a footprint leaves its allocation, naming the element."""
    allocation, size = footprint.allocation, footprint.itemsize
    elements = len(allocation) // size
    filled = footprint.high > footprint.low
    wrong = filled & ((footprint.low < 0) | (footprint.high > elements))
    if not wrong.any():
        return
    row = int(np.argmax(wrong))
    touched = footprint.elements_of(row)
    outside = touched[(touched < 0) | (touched >= elements)]
    element = int(outside[0]) if len(outside) else int(footprint.low[row])
    raise OutsideAllocation(allocation, element, size, row if len(footprint.low) > 1 else None)


def pointed(
    frame: Frame, addresses: Tile, element: Element, mask: Tile | None
) -> Iterator[tuple[Footprint, BoolArray | None]]:
    """The footprints of a tile of pointers, one for each allocation: with the elements [blocks or
    1, *tile] of it that count, None for all. Raises a fault for pointers to nothing."""
    memory = frame.gang.machine.memory
    if mask is not None:
        addresses, mask = _same_rows(addresses, mask)
        if not mask.any():
            return
    windows = window_of(addresses)
    counted = windows if mask is None else windows[mask]
    first = int(counted.flat[0])
    numbers = [first] if (counted == first).all() else np.unique(counted).tolist()
    for number in numbers:
        allocation = memory.at(number)
        part = mask
        if len(numbers) > 1:
            part = windows == number if mask is None else mask & (windows == number)
        if allocation is None:
            chosen = addresses if part is None else addresses[part]
            raise Fault(f"expected pointers into memory, got address {int(chosen.flat[0]):#x}")
        distance = addresses - allocation.base
        if part is not None:
            distance = np.where(part, distance, 0)
        size = element.bytes
        if size > 1:
            astray = distance & (size - 1)
            if astray.any():
                byte = int(distance[astray != 0].flat[0])
                raise Fault(
                    f"expected addresses that are multiples of {size}, got byte {byte} of "
                    f"{allocation.name}"
                )
            distance = distance >> (size.bit_length() - 1)
        footprint = scattered(allocation, size, distance, part)
        check_bounds(footprint)
        yield footprint, part


def _same_rows(addresses: Tile, mask: Tile) -> tuple[Tile, Tile]:
    """Addresses and mask with as many rows; a mask may differ between blocks, addresses not."""
    rows = max(len(addresses), len(mask))
    return spread(addresses, rows), spread(mask, rows)


def unwritten(footprint: Footprint) -> BoolArray | None:
    """Which elements of the tiles of a footprint nothing has written; None where all hold
    something."""
    filled, size = footprint.allocation.filled, footprint.itemsize
    if filled is None:
        return None
    words = filled[: len(filled) - len(filled) % size].view(f"u{size}")
    all_filled = words.dtype.type(int.from_bytes(bytes([1] * size), "little"))
    return read(footprint, words, all_filled, copy=True) != all_filled


def load(footprint: Footprint, element: Element, padding: Any) -> Tile:
    """The elements of a footprint as a tile in the dtype that it is held in."""
    allocation = footprint.allocation
    if element.dtype == np.bool_:
        octets = read(footprint, allocation.octets, np.asarray(padding, np.uint8), copy=False)
        return octets != 0
    if element.packed:
        octets = read(footprint, allocation.octets, padding.view(np.uint8), copy=False)
        return octets.view(element.dtype)
    elements = allocation.elements(element.dtype)
    return read(footprint, elements, padding, copy=allocation.written)


def store(footprint: Footprint, element: Element, tile: Tile) -> None:
    """Write a tile into a footprint."""
    allocation = writable(footprint)
    if element.packed:
        write(footprint, allocation.octets, tile.view(np.uint8) & 15)
    elif element.dtype == np.bool_:
        write(footprint, allocation.octets, tile.view(np.uint8))
    else:
        write(footprint, allocation.elements(element.dtype), tile)


def store_computed(footprint: Footprint, element: Element, tile: Unstored) -> bool:
    """Compute a tile where it belongs. Returns whether that is possible: for whole tiles of all
    blocks, evenly apart."""
    rows, allocation = len(footprint.low), writable(footprint)
    if len(footprint.parts) > 1 or not footprint.whole or tile.rows not in (1, rows):
        return False
    for box in footprint.parts:
        if element.dtype == np.bool_ or box.meets_itself or isinstance(box, Scatter):
            return False
        if box.shape[0] != rows:
            return False
        tile.store(box.on(allocation.elements(element.dtype)))
    return bool(footprint.parts)


def writable(footprint: Footprint) -> TileAllocation:
    """The allocation of a footprint that is about to be written. Raises a fault where it may not
    be."""
    allocation = footprint.allocation
    if allocation.constant:
        raise Fault(f"expected memory that may be written, got constant {allocation.name}")
    if allocation.read_only is not None:
        touched = np.zeros(len(allocation), np.bool_)
        mark(footprint, touched)
        wrong = touched & allocation.read_only
        if wrong.any():
            raise Fault(why_read_only(int(np.argmax(wrong)), allocation.name))
    for flags in (allocation.filled, allocation.stored):
        if flags is not None:
            mark(footprint, flags)
    return allocation
