"""Copies of tiles by the tensor memory accelerator.

Each thread that executes one copies the elements whose coordinates a coordinate tensor names, all
of them at once, however many boxes the instructions take for it. What lies outside of the tensor in
global memory reads as zeros and is not written.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tilewright.dialects.cute.atoms import SMEM_ALIGN
from tilewright.dialects.cute.int_tuple import flatten
from tilewright.dialects.cute.ops.copy import CopyOp
from tilewright.dialects.cute.ops.tma import MakeTmaCopyOp
from tilewright.dialects.cute.rules.tensors import make_identity_tensor
from tilewright.dialects.cute.tensor import CoordTensor, Tensor
from tilewright.dialects.cute.types.tma import TmaCopyType
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK
from tilewright.dialects.cute_nvgpu.types.copies import TmaInstructionAttr
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneValue
from tilewright.lowering.interpreter.arithmetic.reductions import combined
from tilewright.lowering.interpreter.array_types import (
    AnyArray,
    AnyDType,
    BoolArray,
    Int64Array,
    UInt8Array,
)
from tilewright.lowering.interpreter.builder import Effect, effects
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.issued_once import check_issued_once
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.tensor_map import check_written_apart, loaded
from tilewright.lowering.interpreter.ops.base.lane_record import LaneRecord
from tilewright.lowering.interpreter.ops.instructions.operands import every
from tilewright.lowering.interpreter.ops.instructions.tcgen05_sync import each_thread
from tilewright.lowering.interpreter.ops.instructions.tma import land
from tilewright.lowering.interpreter.ops.tile.tensor_access import (
    Places,
    byte_offsets,
    container,
    coordinates,
    numbers,
)
from tilewright.lowering.interpreter.values import Bits, spread


@frozen
class LaneTmaCopy(LaneRecord):
    """The value of a `!cute.tma_copy`: the tensor in global memory, and which of its
    modes is contiguous."""

    tensor: Any
    inner: int
    reduction: str | None

    @property
    def global_tensor(self) -> Tensor:
        """The tensor that it copies boxes of."""
        places: Tensor = self.tensor.typed.value
        return places


@frozen
class _Elements:
    """The elements of one copy, thread by thread: which are `inside` of the tensor, where they are
    in global memory, and the bytes of each in shared memory."""

    inside: BoolArray
    address: Places
    shared: Places
    width: int

    def places(self, machine: Machine, index: int, cta: int) -> Int64Array:
        """The bytes of a thread's elements in the shared memory of a CTA of the wave."""
        first, size = self.shared[index], machine.shared.size
        if int(first.min()) % SMEM_ALIGN:
            raise Fault(
                f"expected a tile that starts at a multiple of {SMEM_ALIGN} bytes of shared "
                f"memory, got byte {int(first.min())}"
            )
        if (end := int(first.max()) + self.width) > size:
            raise Fault(f"out of bounds: byte {end - 1} of shared memory, which has {size}")
        base = cta * machine.shared.stride
        places: Int64Array = (base + first[:, None] + np.arange(self.width)).ravel()
        return places


def _elements(gang: Gang, copy: LaneTmaCopy, coords: CoordTensor, shared: Tensor) -> _Elements:
    tensor = copy.global_tensor
    axes = coordinates(coords)
    shape, strides = flatten(tensor.modes.shape), flatten(tensor.modes.stride)
    inside = np.ones((1, 1), dtype=np.bool_)
    place = np.zeros((1, 1), dtype=np.int64)
    for axis, extent, stride in zip(axes, shape, strides, strict=True):
        inside = inside & (axis >= 0) & (axis < numbers(extent)[:, None])
        place = place + axis * numbers(stride)[:, None]
    width = container(tensor).itemsize
    _check_corner(spread(axes[copy.inner], gang.count)[:, 0], width)
    address = tensor.base.address + (numbers(tensor.offset)[:, None] + place) * width
    count = gang.count
    return _Elements(
        spread(inside, count), spread(address, count), spread(byte_offsets(shared), count), width
    )


def _check_corner(inner: Int64Array, width: int) -> None:
    """Raise Fault where the hardware traps (H100)."""
    if (inner * width % CHUNK).any():
        lane, per_chunk = int(np.argmax(inner * width % CHUNK != 0)), CHUNK // width
        raise Fault(
            f"expected an innermost coordinate that is a multiple of {per_chunk} ({CHUNK} bytes), "
            f"got {inner[lane]}; nearest legal: {round(inner[lane] / per_chunk) * per_chunk}",
            lane,
        )


def load(
    machine: Machine,
    gang: Gang,
    copy: LaneTmaCopy,
    coords: CoordTensor,
    shared: Tensor,
    barrier: Bits,
    mask: Bits | None,
    op: int,
) -> None:
    """Copy to shared memory, of each CTA of the mask where there is one; the mbarrier at `barrier`
    there is told of the bytes."""
    elements = _elements(gang, copy, coords, shared)
    barriers = every(gang, barrier)
    masks = [None] * gang.count if mask is None else every(gang, mask)
    dtype = container(shared)

    def start(index: int, lane: int) -> None:
        inside = elements.inside[index]
        address = elements.address[index, inside].astype(np.uint64)
        read = partial(_read, machine, dtype, inside, address, str(shared.element))
        places = partial(elements.places, machine, index)
        source = machine.accesses.begin_async(lane, address, elements.width, op)
        land(machine, lane, barriers[index], masks[index], source, read, places, op)

    each_thread(gang, start)


def _read(
    machine: Machine, dtype: AnyDType, inside: BoolArray, address: Bits, element: str
) -> UInt8Array:
    """The content of global memory now, zeros where it lies outside."""
    values = np.zeros(len(inside), dtype=dtype)
    if len(address):
        values[inside] = loaded(machine.memory.load(address, dtype.itemsize), element)
    return values.view(np.uint8)


def store(
    machine: Machine, gang: Gang, copy: LaneTmaCopy, shared: Tensor, coords: CoordTensor, op: int
) -> None:
    """Copy from shared memory, or combine it with what is there; a bulk group completes it."""
    elements = _elements(gang, copy, coords, shared)
    pairs = zip(elements.address, elements.shared, strict=True)
    boxes = ((to.tobytes(), source.tobytes()) for to, source in pairs)
    check_issued_once(machine, gang, boxes, copy.reduction)

    def start(index: int, lane: int) -> None:
        inside = elements.inside[index]
        address = elements.address[index, inside].astype(np.uint64)
        box = _Box(machine, address, inside, container(shared), shared.element, copy.reduction)
        check_written_apart(address)
        places = elements.places(machine, index, lane // machine.slots)
        data = machine.bulk_stores.begin(lane, places, op)
        machine.memory.check_writable(address, elements.width)
        if len(address) and machine.accesses.are_checked:
            changed = machine.memory.load(address, elements.width) != box.values(data)
            group, number = machine.bulk_stores.group(lane), -op if copy.reduction else op
            machine.accesses.write_words(lane, address, elements.width, changed, number, group)
        if len(address):
            machine.bulk_stores.land(lane, places, box.put)

    each_thread(gang, start)


@frozen
class _Box:
    """The elements that a copy writes in global memory, or combines as a reduction."""

    machine: Machine
    address: Bits
    inside: BoolArray
    dtype: AnyDType
    element: Any
    reduction: str | None

    def values(self, data: UInt8Array) -> AnyArray:
        """The content after these bytes have been copied."""
        values = np.ascontiguousarray(data).view(self.dtype)[self.inside]
        if self.reduction is None:
            return values
        before = self.machine.memory.load(self.address, self.dtype.itemsize)
        return combined(self.element, self.reduction, before, values)

    def put(self, data: UInt8Array) -> None:
        """Copy these bytes."""
        self.machine.memory.store(self.address, self.values(data), self.dtype.itemsize)


# Steps


@effects
def _make_tma_copy(op: MakeTmaCopyOp) -> Effect:
    atom, type_ = op.atom, op.copy.type
    assert isinstance(atom, TmaInstructionAttr) and isinstance(type_, TmaCopyType)
    inner, reduction = type_.box.modes[-1], atom.data.reduction

    def run(machine: Machine, gang: Gang, tensor: LaneValue) -> list[Any]:
        shape = Typed("shape", tensor.typed.value.modes.shape)
        return [LaneTmaCopy(tensor, inner, reduction), LaneValue(make_identity_tensor(shape))]

    return run, op.source


def copy_effect(op: CopyOp, number: int) -> Effect:
    """The effect of a `cute.copy` by TMA."""
    assert op.tiled is not None

    def run(
        machine: Machine, gang: Gang, copy: LaneTmaCopy, source: LaneValue, dest: LaneValue,
        pipeline: Any, use: Any, mask: Bits | None,
    ) -> None:  # fmt: skip
        whence, to = source.typed.value, dest.typed.value
        if pipeline is None:
            store(machine, gang, copy, whence, to, number)
        else:
            barrier = pipeline.full_barrier(use)
            load(machine, gang, copy, whence, to, barrier, mask, number)

    return run, op.tiled, op.source, op.destination, op.pipeline, op.use, op.mask
