"""Allocation of tensor memory, and what warps load from it and store there, at both levels."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import TmemAccess
from tilewright.dialects.cute_nvgpu.lattice import tmem as rows
from tilewright.dialects.cute_nvgpu.lattice import tmem_access
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANE_STRIDE, WINDOW
from tilewright.dialects.cute_nvgpu.ops import tmem
from tilewright.dialects.cute_nvgpu.ops.memory_operand import tmem_layout
from tilewright.dialects.ptx.instruction import content
from tilewright.dialects.row_ops import memory_operand
from tilewright.lowering.interpreter.arithmetic.reductions import least_or_greatest
from tilewright.lowering.interpreter.array_types import Int64Array
from tilewright.lowering.interpreter.builder import (
    Builder,
    Effect,
    accesses,
    effects,
    executes,
    notes,
    runs,
)
from tilewright.lowering.interpreter.errors import Fault, first_of
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.machine.tensor_memory import LOAD, STORE
from tilewright.lowering.interpreter.machine.wait import Wait
from tilewright.lowering.interpreter.ops.instructions.operands import (
    Locate,
    held_in,
    located,
    stored_registers,
    words_in,
)
from tilewright.lowering.interpreter.ops.instructions.smem_desc import check_begin
from tilewright.lowering.interpreter.ops.instructions.tensor_view import TmemView
from tilewright.lowering.interpreter.values import Bits, Lanes, Loading, spread


def _tile_at(op: Any, builder: Builder) -> Locate:
    """The address of the first element of a tile, which lies within its memref."""
    memory, indices, _ = memory_operand(op)
    locate = located(op, builder)
    if indices is None:
        return locate
    view, slots = builder.slot(memory), builder.slots(indices)
    tile: tuple[int, ...] = op.access.extents(op.fragment_type.element.bits)
    extents = dict(enumerate(tile, len(slots) - 2))

    def checked(regs: list[Any]) -> Bits:
        check_begin(regs[view], [regs[slot] for slot in slots], extents)
        return locate(regs)

    return checked


def _warps(machine: Machine, gang: Gang, what: str) -> list[Lanes]:
    """The lanes of each warp, as places in the gang."""
    gang.warps(what)
    return list(np.arange(gang.count).reshape(-1, WARP))


# Allocation


@runs(rows.TMEM_ALLOC)
def _alloc(op: Any, builder: Builder) -> None:
    slot, number = located(op, builder), builder.number(op)
    columns, group = op.columns.value.data, op.group

    def begin(machine: Machine, gang: Gang) -> Wait:
        gang.warps("tcgen05.alloc")
        address = spread(slot(gang.regs), gang.count)
        return machine.allocator.request(op, gang.lanes, address, columns, group, number)

    builder.suspend(op, begin)


@accesses
def _retrieve(op: tmem.RetrieveOp, number: int) -> Effect:
    (layout, bits) = tmem_layout(op.result.type)

    def run(machine: Machine, gang: Gang, slot: Bits) -> TmemView:
        word = machine.shared.load(gang.lanes, slot, 4, number).view(np.uint32)
        return TmemView(word[:, 0].astype(np.uint64), bits, layout)

    return run, located


@effects
def _slice(op: tmem.SliceOp) -> Effect:
    layout, bits = tmem_layout(op.result.type)

    def run(machine: Machine, gang: Gang, at: Bits) -> TmemView:
        return TmemView(at, bits, layout)

    return run, located


@accesses(rows.TMEM_DEALLOC)
def _dealloc(op: Any, number: int) -> Effect:
    columns = content(op.columns)

    def run(machine: Machine, gang: Gang, source: TmemView | Bits) -> None:
        gang.warps("tcgen05.dealloc")
        address = source.address if isinstance(source, TmemView) else source
        machine.allocator.free(gang.lanes, address, columns, op.group, number)

    return run


@notes(rows.TMEM_RELINQUISH)
def _relinquish(machine: Machine, gang: Gang, *, number: int) -> None:
    gang.warps("tcgen05.relinquish_alloc_permit")
    machine.allocator.relinquish(gang.lanes, number)


# Loads and stores


@cache
def _places(access: TmemAccess) -> Int64Array:
    """The cells of each register from the address on: [threads, registers], or [threads, registers,
    2] of two neighbouring cells where packed."""
    layout = access.cells()
    cells = np.array([layout(i) for i in range(WARP * access.registers)], dtype=np.int64)
    cells = cells.reshape(access.registers, WARP).T
    return np.stack([cells, cells + 1], axis=-1) if access.packed else cells


def _begin(machine: Machine, lanes: Lanes, address: Bits, access: TmemAccess) -> int:
    """The address that a warp gives. Raises Fault where its threads give several, or one whose
    lanes are not the warp's."""
    first = int(address[0])
    if (lane := first_of(address != first)) is not None:
        raise Fault(
            f"expected one address in all threads of a warp, got {first:#x} and "
            f"{int(address[lane]):#x}",
            lane,
        )
    warp = int(lanes[0]) % machine.slots // WARP
    window = WINDOW * (warp % 4)
    legal = range(window, window + WINDOW, access.shape.lanes)
    if (lane := first // LANE_STRIDE) not in legal:
        raise Fault(
            f"expected lane {' or '.join(map(str, legal))} for warp {warp} and shape "
            f"{access.shape.name}, got {lane} (a warp reaches the 32 lanes from 32 * (warp % 4) on)"
        )
    return first


def _tiles(
    machine: Machine, gang: Gang, address: Bits, access: TmemAccess, what: str, verb: str
) -> Iterator[tuple[Int64Array, Int64Array, int, Int64Array]]:
    """Of each warp its places in the gang, its lanes, its CTA, and the cells that it accesses."""
    given = spread(address, gang.count)
    for places in _warps(machine, gang, what):
        lanes = gang.lanes[places]
        begin, cta = _begin(machine, lanes, given[places], access), int(lanes[0]) // machine.slots
        yield places, lanes, cta, machine.tensor.cells(cta, begin + _places(access), verb)


def load_tensor(
    machine: Machine, gang: Gang, address: Bits, access: TmemAccess, op: int, what: str
) -> Bits:
    """`tcgen05.ld`: the words of every thread, uint32 [threads, registers]."""
    result = np.empty((gang.count, access.registers), dtype=np.uint32)
    for places, lanes, cta, cells in _tiles(machine, gang, address, access, what, "read"):
        words = machine.tensor.read(cta, cells, machine.tensor.warp_access(LOAD, lanes, op))
        if access.packed:
            low = words & np.uint32(0xFFFF)
            words = low[..., 0] | low[..., 1] << np.uint32(16)
        result[places] = words
    return result


def store_tensor(
    machine: Machine, gang: Gang, address: Bits, words: Bits, access: TmemAccess, op: int, what: str
) -> None:
    """`tcgen05.st`: the inverse of `load_tensor`. The upper half of an unpacked cell is zero."""
    data = spread(words, gang.count).astype(np.uint32, copy=False)
    if access.packed:
        data = np.stack([data & np.uint32(0xFFFF), data >> np.uint32(16)], axis=-1)
    for places, lanes, cta, cells in _tiles(machine, gang, address, access, what, "write"):
        by = machine.tensor.warp_access(STORE, lanes, op)
        machine.tensor.write(cta, cells, data[places], by)


def _loading(machine: Machine, gang: Gang, value: Bits, number: int) -> Loading:
    origin = machine.shared.op_names[number]
    return Loading(origin, value, np.zeros(gang.count, dtype=np.int64), number)


@accesses(tmem_access.TMEM_LOAD)
def _load(op: Any, number: int) -> Effect:
    access, result = op.access, held_in(op.results[0])

    def run(machine: Machine, gang: Gang, at: Bits) -> Loading:
        words = load_tensor(machine, gang, at, access, number, op.name)
        return _loading(machine, gang, result(words), number)

    return run, _tile_at


@accesses(tmem_access.TMEM_LOAD_REDUCE)
def _load_reduce(op: Any, number: int) -> Effect:
    access, form = op.access, content(op.form)

    def run(machine: Machine, gang: Gang, at: Bits) -> list[Loading]:
        words = load_tensor(machine, gang, at, access, number, op.name)
        values = words, least_or_greatest(words, form)
        return [_loading(machine, gang, value, number) for value in values]

    return run, _tile_at


@accesses(tmem_access.TMEM_STORE)
def _store(op: Any, number: int) -> Effect:
    access, stored = op.access, stored_registers(op)
    words = words_in(stored)

    def run(machine: Machine, gang: Gang, at: Bits, value: Bits) -> None:
        store_tensor(machine, gang, at, words(value), access, number, op.name)

    return run, _tile_at, stored


@executes(rows.TMEM_WAIT_LOAD)
def _wait_load(machine: Machine, gang: Gang) -> None:
    for places in _warps(machine, gang, "tcgen05.wait::ld"):
        machine.tensor.wait(LOAD, gang.lanes[places])
    for slot, value in enumerate(gang.regs):
        if isinstance(value, Loading):
            gang.regs[slot] = value.value


@executes(rows.TMEM_WAIT_STORE)
def _wait_store(machine: Machine, gang: Gang) -> None:
    for places in _warps(machine, gang, "tcgen05.wait::st"):
        machine.tensor.wait(STORE, gang.lanes[places])
