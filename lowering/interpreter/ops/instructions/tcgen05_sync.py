"""Copies to tensor memory, shifts, commits and fences, at both levels."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import copy_lanes
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    CHUNK,
    ROWS,
    TCGEN05,
    DescriptorError,
    SmemDescriptor,
)
from tilewright.dialects.cute_nvgpu.lattice import tmem as rows
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import SOURCE_FORMATS
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANE_STRIDE, LANES, SHIFTED_COLUMNS
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import TMEM_COPY, TmemCopyShape
from tilewright.dialects.ptx.instruction import content
from tilewright.dialects.ptx.tcgen05_memory import CpOp
from tilewright.lowering.interpreter.array_types import AnyArray, Int64Array, UInt8Array
from tilewright.lowering.interpreter.builder import Effect, accesses, effects, executes
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.tcgen05_streams import AsyncOperation
from tilewright.lowering.interpreter.machine.tensor_memory import TensorAccess
from tilewright.lowering.interpreter.ops.instructions.matrix_copy import unpacked
from tilewright.lowering.interpreter.ops.instructions.operands import located
from tilewright.lowering.interpreter.values import Bits, spread


def each_thread(gang: Gang, run: Callable[[int, int], None]) -> None:
    """Let every thread of the gang start its operation: its index, its lane."""
    for index, lane in enumerate(gang.lanes.tolist()):
        try:
            run(index, lane)
        except Fault as fault:
            raise Fault(fault.message, index) from None


def group_ctas(machine: Machine, lane: int, group: int) -> list[int]:
    """The CTAs of the wave that an operation of a thread works on: its own, or the pair, the one of
    even rank first. Raises Fault where there is no pair."""
    cta = lane // machine.slots
    return [cta] if group == 1 else sorted((cta, machine.allocator.partner(cta)))


# Copies


@cache
def copied_cells(shape: TmemCopyShape) -> Int64Array:
    """Addresses of what is written, from the address on: [copies, rows, columns]."""
    lanes = copy_lanes(shape)
    copies = lanes[1].size()
    lane = np.array([[lanes(row + shape.rows * copy) for row in range(shape.rows)]
                     for copy in range(copies)], dtype=np.int64)  # fmt: skip
    return lane[..., None] * LANE_STRIDE + np.arange(shape.columns)


def _source_chunks(word: int, shape: TmemCopyShape) -> Int64Array:
    """The addresses of a matrix's 16-byte chunks: [rows, chunks]. Raises Fault for what is no
    descriptor."""
    try:
        descriptor = SmemDescriptor.decode(word, TCGEN05)
        extents = max(shape.rows, ROWS), shape.bits // 8
        bits = descriptor.addresses("k", extents, 8)
    except DescriptorError as error:
        raise Fault(str(error)) from None
    return bits[: shape.rows, ::CHUNK] // 8


def copy_to_cells(
    machine: Machine, lane: int, group: int, access: TensorAccess, address: int,
    shape: TmemCopyShape, chunks: Int64Array,
    rows_of: Callable[[UInt8Array], AnyArray],
) -> None:  # fmt: skip
    """Copy chunks of shared memory to cells from an address on, in each CTA of a group: `rows_of`
    puts their bytes together, row by row."""
    for cta in group_ctas(machine, lane, group):
        data = machine.shared.read_operand(lane, cta, chunks, access.stream, access.number)
        rows = np.ascontiguousarray(rows_of(data)).view(np.uint32).reshape(shape.rows, -1)
        cells = machine.tensor.cells(cta, address + copied_cells(shape), "write")
        machine.tensor.write(cta, cells, np.broadcast_to(rows, cells.shape), access)


@accesses(TMEM_COPY)
def _copy(op: Any, number: int) -> Effect:
    shape, group = op.copy_shape, op.group
    source = content(op.source_format)
    format_ = None if source is None else SOURCE_FORMATS[source]

    def rows_of(data: UInt8Array) -> AnyArray:
        return data if format_ is None else unpacked(data[..., : format_.data_bytes], format_)

    def run(machine: Machine, gang: Gang, at: Bits, descriptor: Bits) -> None:
        addresses, words = spread(at, gang.count), spread(descriptor, gang.count)

        def copy(index: int, lane: int) -> None:
            operation = AsyncOperation(("cp", shape.name), number)
            access = machine.tensor.operation(lane, group, operation)
            chunks = _source_chunks(int(words[index]), shape)
            address = int(addresses[index])
            copy_to_cells(machine, lane, group, access, address, shape, chunks, rows_of)

        each_thread(gang, copy)

    descriptor = op.descriptor if isinstance(op, CpOp) else op.source
    return run, located, descriptor


# Shifts


@accesses(rows.TMEM_SHIFT)
def _shift(op: Any, number: int) -> Effect:
    group = op.group

    def run(machine: Machine, gang: Gang, at: Bits) -> None:
        addresses = spread(at, gang.count)

        def shift(index: int, lane: int) -> None:
            operation = AsyncOperation(("shift", None), number)
            access = machine.tensor.operation(lane, group, operation)
            for cta in group_ctas(machine, lane, group):
                _shift_rows(machine, cta, int(addresses[index]), access)

        each_thread(gang, shift)

    return run, located


def _shift_rows(machine: Machine, cta: int, address: int, access: TensorAccess) -> None:
    """Row i + 1 becomes what row i was, from the address's lane to the last one."""
    first, column = divmod(address, LANE_STRIDE)
    if first % 32:
        raise Fault(
            f"expected a lane that is a multiple of 32, got {first}; "
            f"nearest legal: {first // 32 * 32}"
        )
    lanes = np.arange(first, LANES, dtype=np.int64)[:, None] * LANE_STRIDE
    places = lanes + column + np.arange(SHIFTED_COLUMNS)
    cells = machine.tensor.cells(cta, places, "shift")
    words = machine.tensor.accumulate(cta, cells, access)
    machine.tensor.write(cta, cells, np.concatenate([words[:1], words[:-1]]), access)


# Commits and fences


@effects(rows.TMEM_COMMIT)
def _commit(op: Any) -> Effect:
    group = op.group

    def run(machine: Machine, gang: Gang, at: Bits, mask: Bits | None) -> None:
        addresses = spread(at, gang.count)
        masks = None if mask is None else spread(mask, gang.count)

        def start(index: int, lane: int) -> None:
            mask = None if masks is None else int(masks[index])
            commit(machine, lane, int(addresses[index]), mask, group)

        each_thread(gang, start)

    return run, located, op.mask


def commit(machine: Machine, lane: int, address: int, mask: int | None, group: int) -> None:
    """An mbarrier, or those of the CTAs of a mask, learn when what a thread started is complete."""
    if group == 2:
        machine.allocator.partner(lane // machine.slots)
    places = machine.mbarriers.places(lane, address, mask)
    phases = [machine.mbarriers.arrive_async(lane, place) for place in places]
    machine.tensor.commit(lane, group, phases)


@executes(rows.FENCE_BEFORE)
def _fence_before(machine: Machine, gang: Gang) -> None:
    machine.tensor.fence_before(gang.lanes)


@executes(rows.FENCE_AFTER)
def fence_after(machine: Machine, gang: Gang) -> None:
    """Order accesses to tensor memory behind what was waited for."""
    machine.tensor.fence_after(gang.lanes)
