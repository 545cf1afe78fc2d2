"""Allocation of tensor memory, and what warps load from it and store there, at both levels."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.types.memref import layout_of
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import TmemAccess
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANE_STRIDE, WINDOW
from tilewright.dialects.cute_nvgpu.ops import tmem, tmem_access
from tilewright.dialects.cute_nvgpu.ops.memory_operand import bits_of
from tilewright.dialects.cute_nvgpu.ops.tmem_access import TmemAccessOp
from tilewright.dialects.cute_nvgpu.ops.tmem_reduce import LoadReduceOp
from tilewright.dialects.ptx import tcgen05_access as ptx_access
from tilewright.dialects.ptx import tcgen05_memory as ptx
from tilewright.dialects.ptx import tcgen05_sync as ptx_sync
from tilewright.dialects.ptx.instruction import content
from tilewright.lowering.interpreter.arithmetic.reductions import least_or_greatest
from tilewright.lowering.interpreter.builder import Builder, Step, effect, runs
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.machine.tensor_allocation import AllocationWait
from tilewright.lowering.interpreter.machine.tensor_memory import LOAD, STORE
from tilewright.lowering.interpreter.ops.base.arith import pure
from tilewright.lowering.interpreter.ops.base.memref import View
from tilewright.lowering.interpreter.ops.instructions.ptx import held_in, moved, words_in
from tilewright.lowering.interpreter.ops.instructions.smem_desc import check_begin
from tilewright.lowering.interpreter.ops.instructions.tensor_view import TmemView
from tilewright.lowering.interpreter.values import Bits, Lanes, Loading, spread

Locate = Callable[[Gang], Bits]
"""An address of tensor or shared memory in each thread."""


def located(builder: Builder, op: Any, memory: SSAValue) -> Locate:
    """The address of what an op names: of an element of a memref, or in a register plus a
    constant."""
    source = builder.slot(memory)
    if not hasattr(op, "indices"):
        offset = op.offset.value.data
        return lambda gang: moved(gang.regs[source], offset)
    slots = builder.slots(op.indices)
    return lambda gang: gang.regs[source].locate([gang.regs[slot] for slot in slots])


def _tile_at(op: TmemAccessOp | ptx_access.AccessOp, builder: Builder) -> Locate:
    """The address of the first element of a tile, which lies within its memref."""
    if isinstance(op, ptx_access.AccessOp):
        return located(builder, op, op.operands[0])
    memory, indices = op.tile_operand
    view, slots = builder.slot(memory), builder.slots(indices)
    extents = dict(enumerate(op.access.extents(op.fragment_type.element.bits), len(slots) - 2))

    def locate(gang: Gang) -> Bits:
        tile, coordinate = gang.regs[view], [gang.regs[slot] for slot in slots]
        check_begin(tile, coordinate, extents)
        return tile.locate(coordinate)

    return locate


def _warps(machine: Machine, gang: Gang, what: str) -> list[Lanes]:
    """The lanes of each warp, as places in the gang."""
    gang.warps(what)
    return list(np.arange(gang.count).reshape(-1, WARP))


# Allocation


@runs(tmem.AllocOp, ptx.AllocOp)
def _alloc(op: tmem.AllocOp | ptx.AllocOp, builder: Builder) -> None:
    slot, number = located(builder, op, op.slot), builder.number(op)
    columns, group = op.columns.value.data, op.group

    def begin(machine: Machine, gang: Gang) -> AllocationWait:
        gang.warps("tcgen05.alloc")
        address = spread(slot(gang), gang.count)
        return machine.allocator.request(op, gang.lanes, address, columns, group, number)

    builder.suspend(op, begin)


@runs(tmem.RetrieveOp)
def _retrieve(op: tmem.RetrieveOp, builder: Builder) -> Step:
    number, (layout, bits) = builder.number(op), _layout(op.result)

    def run(machine: Machine, gang: Gang, slot: View, *indices: Bits) -> TmemView:
        word = machine.shared.load(gang.lanes, slot.locate(indices), 4, number).view(np.uint32)
        return TmemView(word[:, 0].astype(np.uint64), bits, layout)

    return effect(op, builder, run)


def _layout(value: SSAValue) -> tuple[Layout, int]:
    """The layout of a memref in tensor memory, and the bits of its elements."""
    layout, bits = layout_of(value.type), bits_of(value.type.element_type)  # type: ignore[attr-defined]
    assert isinstance(layout, Layout) and bits is not None
    return layout, bits


@runs(tmem.SliceOp)
def _slice(op: tmem.SliceOp, builder: Builder) -> Step:
    layout, bits = _layout(op.result)

    def compute(view: TmemView, *indices: Bits) -> TmemView:
        return TmemView(view.locate(indices), bits, layout)

    return pure(op, builder, compute)


@runs(tmem.DeallocOp, ptx.DeallocOp)
def _dealloc(op: tmem.DeallocOp | ptx.DeallocOp, builder: Builder) -> Step:
    number, columns = builder.number(op), content(op.columns)

    def run(machine: Machine, gang: Gang, source: TmemView | Bits) -> None:
        gang.warps("tcgen05.dealloc")
        address = source.address if isinstance(source, TmemView) else source
        machine.allocator.free(gang.lanes, address, columns, op.group, number)

    return effect(op, builder, run)


@runs(tmem.RelinquishAllocPermitOp, ptx.RelinquishAllocPermitOp)
def _relinquish(
    op: tmem.RelinquishAllocPermitOp | ptx.RelinquishAllocPermitOp, builder: Builder
) -> Step:
    number = builder.number(op)

    def step(machine: Machine, gang: Gang) -> None:
        gang.warps("tcgen05.relinquish_alloc_permit")
        machine.allocator.relinquish(gang.lanes, number)

    return step


# Loads and stores


@cache
def _places(access: TmemAccess) -> NDArray[np.int64]:
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
    if (address != first).any():
        lane = int(np.argmax(address != first))
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


def load_tensor(
    machine: Machine, gang: Gang, address: Bits, access: TmemAccess, op: int, what: str
) -> Bits:
    """`tcgen05.ld`: the words of every thread, uint32 [threads, registers]."""
    result = np.empty((gang.count, access.registers), dtype=np.uint32)
    given = spread(address, gang.count)
    for places in _warps(machine, gang, what):
        lanes = gang.lanes[places]
        begin = _begin(machine, lanes, given[places], access)
        cta = int(lanes[0]) // machine.slots
        cells = machine.tensor.cells(cta, begin + _places(access), "read")
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
    given = spread(address, gang.count)
    data = spread(words, gang.count).astype(np.uint32, copy=False)
    if access.packed:
        data = np.stack([data & np.uint32(0xFFFF), data >> np.uint32(16)], axis=-1)
    for places in _warps(machine, gang, what):
        lanes = gang.lanes[places]
        begin = _begin(machine, lanes, given[places], access)
        cta = int(lanes[0]) // machine.slots
        cells = machine.tensor.cells(cta, begin + _places(access), "write")
        by = machine.tensor.warp_access(STORE, lanes, op)
        machine.tensor.write(cta, cells, data[places], by)


def _loading(machine: Machine, gang: Gang, value: Bits, number: int) -> Loading:
    origin = machine.shared.op_names[number]
    return Loading(origin, value, np.zeros(gang.count, dtype=np.int64), number)


@runs(tmem_access.LoadOp, ptx_access.LdOp)
def _load(op: tmem_access.LoadOp | ptx_access.LdOp, builder: Builder) -> Step:
    at, number, access = _tile_at(op, builder), builder.number(op), op.access
    dest, result = builder.slot(op.results[0]), held_in(op.results[0])

    def step(machine: Machine, gang: Gang) -> None:
        words = load_tensor(machine, gang, at(gang), access, number, op.name)
        gang.regs[dest] = _loading(machine, gang, result(words), number)

    return step


@runs(LoadReduceOp, ptx_access.LdRedOp)
def _load_reduce(op: LoadReduceOp | ptx_access.LdRedOp, builder: Builder) -> Step:
    at, number = _tile_at(op, builder), builder.number(op)
    dests, access = builder.slots(op.results), op.access
    form = op.form if isinstance(op, LoadReduceOp) else op.form.data

    def step(machine: Machine, gang: Gang) -> None:
        words = load_tensor(machine, gang, at(gang), access, number, op.name)
        for dest, value in zip(dests, (words, least_or_greatest(words, form)), strict=True):
            gang.regs[dest] = _loading(machine, gang, value, number)

    return step


@runs(tmem_access.StoreOp, ptx_access.StOp)
def _store(op: tmem_access.StoreOp | ptx_access.StOp, builder: Builder) -> Step:
    at, number, access = _tile_at(op, builder), builder.number(op), op.access
    stored = op.fragment if isinstance(op, tmem_access.StoreOp) else op.value
    source, words = builder.slot(stored), words_in(stored)

    def step(machine: Machine, gang: Gang) -> None:
        store_tensor(machine, gang, at(gang), words(gang.regs[source]), access, number, op.name)

    return step


@runs(tmem_access.WaitLoadOp, ptx_sync.WaitLdOp)
def _wait_load(op: Operation, builder: Builder) -> Step:
    def step(machine: Machine, gang: Gang) -> None:
        for places in _warps(machine, gang, "tcgen05.wait::ld"):
            machine.tensor.wait(LOAD, gang.lanes[places])
        for slot, value in enumerate(gang.regs):
            if isinstance(value, Loading):
                gang.regs[slot] = value.value

    return step


@runs(tmem_access.WaitStoreOp, ptx_sync.WaitStOp)
def _wait_store(op: Operation, builder: Builder) -> Step:
    def step(machine: Machine, gang: Gang) -> None:
        for places in _warps(machine, gang, "tcgen05.wait::st"):
            machine.tensor.wait(STORE, gang.lanes[places])

    return step
