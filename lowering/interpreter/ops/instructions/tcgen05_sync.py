"""Copies to tensor memory, shifts, commits and fences, at both levels."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import copy_lanes
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    CHUNK,
    ROWS,
    TCGEN05,
    DescriptorError,
    SmemDescriptor,
)
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import SOURCE_FORMATS
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANE_STRIDE, LANES, SHIFTED_COLUMNS
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import TmemCopyShape
from tilewright.dialects.cute_nvgpu.ops import tcgen05_sync, tmem_copy
from tilewright.dialects.ptx import tcgen05_memory as ptx
from tilewright.dialects.ptx import tcgen05_sync as ptx_sync
from tilewright.lowering.interpreter.builder import Builder, Step, runs
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.tcgen05_streams import AsyncOperation
from tilewright.lowering.interpreter.machine.tensor_memory import TensorAccess
from tilewright.lowering.interpreter.ops.instructions.matrix_copy import unpacked
from tilewright.lowering.interpreter.ops.instructions.tensor_memory import Locate, located
from tilewright.lowering.interpreter.values import spread


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
def copied_cells(shape: TmemCopyShape) -> NDArray[np.int64]:
    """Addresses of what is written, from the address on: [copies, rows, columns]."""
    lanes = copy_lanes(shape)
    copies = lanes[1].size()
    lane = np.array([[lanes(row + shape.rows * copy) for row in range(shape.rows)]
                     for copy in range(copies)], dtype=np.int64)  # fmt: skip
    return lane[..., None] * LANE_STRIDE + np.arange(shape.columns)


def _source_chunks(word: int, shape: TmemCopyShape) -> NDArray[np.int64]:
    """The addresses of a matrix's 16-byte chunks: [rows, chunks]. Raises Fault for what is no
    descriptor."""
    try:
        descriptor = SmemDescriptor.decode(word, TCGEN05)
        extents = max(shape.rows, ROWS), shape.bits // 8
        bits = descriptor.addresses("k", extents, 8)
    except DescriptorError as error:
        raise Fault(str(error)) from None
    return bits[: shape.rows, ::CHUNK] // 8


def _copy(
    op: Operation, builder: Builder, at: Locate, descriptor: int, shape: TmemCopyShape, group: int,
    source: str | None,
) -> Step:  # fmt: skip
    number = builder.number(op)
    format_ = None if source is None else SOURCE_FORMATS[source]

    def step(machine: Machine, gang: Gang) -> None:
        addresses = spread(at(gang), gang.count)
        words = spread(gang.regs[descriptor], gang.count)

        def run(index: int, lane: int) -> None:
            operation = AsyncOperation("cp", shape.name, number)
            access = machine.tensor.operation(lane, group, operation)
            chunks = _source_chunks(int(words[index]), shape)
            for cta in group_ctas(machine, lane, group):
                data = machine.shared.read_operand(lane, cta, chunks, access.stream, number)
                if format_ is not None:
                    data = unpacked(data[..., : format_.data_bytes], format_)
                row = np.ascontiguousarray(data).view(np.uint32).reshape(shape.rows, -1)
                places = int(addresses[index]) + copied_cells(shape)
                cells = machine.tensor.cells(cta, places, "write")
                machine.tensor.write(cta, cells, np.broadcast_to(row, cells.shape), access)

        each_thread(gang, run)

    return step


@runs(tmem_copy.CopyOp)
def _tmem_copy(op: tmem_copy.CopyOp, builder: Builder) -> Step:
    at = located(builder, op, op.dest)
    source = builder.slot(op.source)
    return _copy(op, builder, at, source, op.copy_shape, op.group, op.source_format)


@runs(ptx.CpOp)
def _cp(op: ptx.CpOp, builder: Builder) -> Step:
    at = located(builder, op, op.address)
    source = None if op.source_format is None else op.source_format.data
    return _copy(op, builder, at, builder.slot(op.descriptor), op.copy_shape, op.group, source)


# Shifts


@runs(tmem_copy.ShiftOp, ptx.ShiftOp)
def _shift(op: tmem_copy.ShiftOp | ptx.ShiftOp, builder: Builder) -> Step:
    at, number, group = located(builder, op, op.operands[0]), builder.number(op), op.group

    def step(machine: Machine, gang: Gang) -> None:
        addresses = spread(at(gang), gang.count)

        def run(index: int, lane: int) -> None:
            operation = AsyncOperation("shift", None, number)
            access = machine.tensor.operation(lane, group, operation)
            for cta in group_ctas(machine, lane, group):
                _shift_rows(machine, cta, int(addresses[index]), access)

        each_thread(gang, run)

    return step


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
    machine.tensor.write(cta, cells[1:], words[:-1], access)


# Commits and fences


@runs(tcgen05_sync.CommitOp, ptx_sync.CommitOp)
def _commit(op: tcgen05_sync.CommitOp | ptx_sync.CommitOp, builder: Builder) -> Step:
    barrier, group = located(builder, op, op.operands[0]), op.group
    mask = None if op.mask is None else builder.slot(op.mask)

    def step(machine: Machine, gang: Gang) -> None:
        addresses = spread(barrier(gang), gang.count)
        masks = None if mask is None else spread(gang.regs[mask], gang.count)

        def run(index: int, lane: int) -> None:
            mask = None if masks is None else int(masks[index])
            commit(machine, lane, int(addresses[index]), mask, group)

        each_thread(gang, run)

    return step


def commit(machine: Machine, lane: int, address: int, mask: int | None, group: int) -> None:
    """An mbarrier, or those of the CTAs of a mask, learn when what a thread started is complete."""
    if group == 2:
        machine.allocator.partner(lane // machine.slots)
    places = machine.mbarriers.places(lane, address, mask)
    phases = [machine.mbarriers.arrive_async(lane, place) for place in places]
    machine.tensor.commit(lane, group, phases)


@runs(tcgen05_sync.FenceBeforeThreadSyncOp, ptx_sync.FenceBeforeThreadSyncOp)
def _fence_before(op: Operation, builder: Builder) -> Step:
    return lambda machine, gang: machine.tensor.fence_before(gang.lanes)


@runs(tcgen05_sync.FenceAfterThreadSyncOp, ptx_sync.FenceAfterThreadSyncOp)
def _fence_after(op: Operation, builder: Builder) -> Step:
    return lambda machine, gang: machine.tensor.fence_after(gang.lanes)
