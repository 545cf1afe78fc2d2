"""Tensors in tensor memory: allocations, loads, and the `tcgen05.mma`s of a `cute.gemm`.

A tensor's offset counts cells then, lane * 65536 + column. Matrices in shared memory are read from
where the layouts of the partitions say that their elements are; no descriptor is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute.ops.memory import AllocOp, DeallocOp
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.tensor_memory import allocated_columns
from tilewright.dialects.cute.types.tensors import MemRefType
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.atoms.copy import CopyInstruction
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneInteger, LaneValue
from tilewright.lowering.interpreter.arithmetic.umma import (
    UmmaOptions,
    elements_of_cells,
    multiply,
    tensor_addresses,
    umma_model,
)
from tilewright.lowering.interpreter.builder import Builder, runs
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.machine.tensor_memory import LOAD
from tilewright.lowering.interpreter.ops.base.gpu import wait_at
from tilewright.lowering.interpreter.ops.instructions.tcgen05_sync import each_thread
from tilewright.lowering.interpreter.ops.instructions.tensor_memory import load_tensor
from tilewright.lowering.interpreter.ops.instructions.umma import faulting, memories_of
from tilewright.lowering.interpreter.ops.tile.gemm import extents
from tilewright.lowering.interpreter.ops.tile.tensor_access import (
    byte_offsets,
    container,
    images,
    numbers,
    offsets,
    write,
)
from tilewright.lowering.interpreter.ops.tile.wgmma import CHUNK, chosen
from tilewright.lowering.interpreter.values import Bits, spread

# Allocations


@dataclass(frozen=True, slots=True)
class TensorBase:
    """An allocation in tensor memory, by the number of the op that made it."""

    op: int


def allocate(op: AllocOp, builder: Builder) -> None:
    """Columns of each CTA, known to all of its threads behind a barrier."""
    assert isinstance(op.result.type, MemRefType)
    tensor, number, dest = op.result.type.tensor, builder.number(op), builder.slot(op.result)
    columns, automatic = allocated_columns(tensor), not _is_given_back(op)

    def request(machine: Machine, gang: Gang) -> None:
        for lane in gang.lanes[gang.lanes % machine.slots == 0].tolist():
            machine.allocator.grant(lane, columns, number, automatic=automatic)

    def retrieve(machine: Machine, gang: Gang) -> None:
        first = machine.allocator.columns_of(gang.lanes // machine.slots, number)
        start = LaneInteger(first.astype(np.uint64))
        columns_there = Tensor(
            tensor.element, "tmem", tensor.align, tensor.layout, TensorBase(number), start
        )
        gang.regs[dest] = LaneValue(Typed("memref", columns_there))

    builder.add(op, request, (), ())
    wait_at(op, builder, 0, None)
    builder.add(op, retrieve, (), (dest,))


def _is_given_back(op: AllocOp) -> bool:
    return any(isinstance(use.operation, DeallocOp) for use in op.result.uses)


@runs(DeallocOp)
def _dealloc(op: DeallocOp, builder: Builder) -> None:
    assert isinstance(op.source.type, MemRefType)
    columns, number = allocated_columns(op.source.type.tensor), builder.number(op)
    source = builder.slot(op.source)

    def free(machine: Machine, gang: Gang) -> None:
        warp = np.flatnonzero(gang.lanes % machine.slots < WARP)
        if len(warp):
            machine.tensor.fence_after(gang.lanes[warp])
            first = spread(numbers(gang.regs[source].typed.value.offset), gang.count)[warp]
            machine.allocator.free(gang.lanes[warp], first.astype(np.uint64), columns, 1, number)

    builder.add(op, lambda machine, gang: machine.tensor.fence_before(gang.lanes), (), ())
    wait_at(op, builder, 0, None)
    builder.add(op, free, (source,), ())


# Loads


def load_cells(
    machine: Machine,
    gang: Gang,
    source: Tensor,
    dest: Tensor,
    op: int,
    instruction: CopyInstruction,
) -> None:
    """`tcgen05.ld` by whole warps, and the wait for it."""
    traits = instruction.traits
    named, kept = traits.source[1].size(), traits.destination[1].size()
    starts = numbers(source.offset)[:, None] + images(source.modes)[:, ::named]
    words: list[Bits] = []
    for first in starts.T:
        address = first.astype(np.uint64)
        words.append(load_tensor(machine, gang, address, instruction.access, op, "tcgen05.ld"))
    write(machine, gang, dest, np.concatenate(words, axis=1), op)
    assert len(words) * kept == dest.modes.size()
    for warp in gang.lanes.reshape(-1, WARP):
        machine.tensor.wait(LOAD, warp)


# Gemms


@dataclass(frozen=True, slots=True)
class TensorGemm:
    """The MMAs of one `cute.gemm`, issued by each thread that executes it."""

    atom: UmmaAtom
    number: int
    a: Tensor
    b: Tensor
    d: Tensor
    accumulate: NDArray[np.bool_] | None

    def run(self, machine: Machine, gang: Gang) -> None:
        """Issue them."""
        places = [spread(byte_offsets(tensor), gang.count) for tensor in (self.a, self.b)]
        cells = spread(offsets(self.d), gang.count)
        adds = None if self.accumulate is None else spread(self.accumulate, gang.count)
        _, m, steps = extents(self.a)
        _, n, _ = extents(self.b)

        def issue(index: int, lane: int) -> None:
            for k in range(steps):
                for column in range(n):
                    for row in range(m):
                        where = (
                            places[0][index, chosen(self.a, row, k)],
                            places[1][index, chosen(self.b, column, k)],
                            int(cells[index, chosen(self.d, row, column)][0]),
                        )
                        added = bool(k) or adds is None or bool(adds[index])
                        self._one(machine, lane, where, added)

        each_thread(gang, lambda index, lane: faulting(lambda: issue(index, lane)))

    def _one(
        self,
        machine: Machine,
        lane: int,
        where: tuple[NDArray[np.int64], NDArray[np.int64], int],
        added: bool,
    ) -> None:
        """D of one atom, at an address; A and B at the bytes of their elements."""
        atom = self.atom
        model = umma_model(atom, machine.launch.arch, machine.launch.numerics)
        memories = memories_of(machine, lane, atom, self.number)
        cells = tensor_addresses(atom, "D", where[2])

        def matrix(which: Literal["A", "B"], tensor: Tensor, at: NDArray[np.int64]) -> Any:
            starts = np.unique(at // CHUNK) * CHUNK
            data = memories.chunks(0, starts)
            elements = data.view(container(tensor)).ravel()
            chunk, width = np.searchsorted(starts, at // CHUNK * CHUNK), tensor.bits // 8
            index = chunk * (CHUNK // width) + at % CHUNK // width
            rows, columns = atom.extents(which)
            matrix = np.ascontiguousarray(elements[index].reshape(columns, rows).T)
            return matrix.view(atom.element(which).container)

        a, b = matrix("A", self.a, where[0]), matrix("B", self.b, where[1])
        d = elements_of_cells(atom, "D", memories.accumulate(0, cells)) if added else None
        words = multiply(atom, a, b, d, model, UmmaOptions(accumulate=added))
        memories.write(0, cells[0], words.astype(np.uint32))
