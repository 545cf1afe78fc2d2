"""Tensors in tensor memory: allocations, loads, and the `tcgen05.mma`s of a `cute.gemm`.

A tensor's offset counts cells then, lane * 65536 + column. Matrices in shared memory are read from
where the layouts of the partitions say that their elements are; no descriptor is made.
"""

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Literal

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cute.atoms import OPERAND_MODES, CopyTraits, Operand
from tilewright.dialects.cute.ops.memory import AllocOp, DeallocOp
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.tensor_memory import allocated_columns
from tilewright.dialects.cute.types.tensors import MemRefType
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.atoms.copy import CopyInstruction
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import SCALE_BITS
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.arithmetic.elements import packed, unpacked
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneInteger, LaneValue
from tilewright.lowering.interpreter.arithmetic.umma import UmmaOptions, umma_model
from tilewright.lowering.interpreter.arithmetic.umma_issue import Memories, UmmaIssue
from tilewright.lowering.interpreter.arithmetic.wgmma import chunk_elements
from tilewright.lowering.interpreter.array_types import (
    AnyArray,
    BoolArray,
    Int64Array,
    UInt8Array,
    UInt64Array,
)
from tilewright.lowering.interpreter.builder import Builder, runs
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.machine.tcgen05_streams import AsyncOperation
from tilewright.lowering.interpreter.machine.tensor_memory import LOAD, STORE
from tilewright.lowering.interpreter.ops.base.gpu import wait_at
from tilewright.lowering.interpreter.ops.instructions import cluster as cluster_steps
from tilewright.lowering.interpreter.ops.instructions.tcgen05_sync import (
    copy_to_cells,
    each_thread,
)
from tilewright.lowering.interpreter.ops.instructions.tensor_memory import load_tensor, store_tensor
from tilewright.lowering.interpreter.ops.instructions.umma import faulting, memories_of
from tilewright.lowering.interpreter.ops.tile.copy import Copying
from tilewright.lowering.interpreter.ops.tile.gemm import extents
from tilewright.lowering.interpreter.ops.tile.tensor_access import (
    bit_offsets,
    images,
    numbers,
    offsets,
)
from tilewright.lowering.interpreter.ops.tile.wgmma import CHUNK, chosen, chunks_at, elements_at
from tilewright.lowering.interpreter.values import spread

# Allocations


@frozen
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
            machine.allocator.grant(lane, columns, number, automatic=automatic, group=op.cta_group)

    def retrieve(machine: Machine, gang: Gang) -> None:
        first = machine.allocator.columns_of(gang.lanes // machine.slots, number)
        start = LaneInteger(first.astype(np.uint64) * np.uint64(CELL_BITS // tensor.bits))
        columns_there = Tensor(
            tensor.element, "tmem", tensor.align, tensor.layout, TensorBase(number), start
        )
        gang.regs[dest] = LaneValue(Typed("memref", columns_there))

    builder.add(op, request, (), ())
    synchronise(op, builder, op.cta_group)
    builder.add(op, retrieve, (), (dest,))


def synchronise(op: Operation, builder: Builder, ctas: int) -> None:
    """Wait for all threads of a CTA, or of a cluster of them."""
    if ctas == 1:
        wait_at(op, builder, 0, None)
    else:
        builder.add(op, cluster_steps.arrive, (), ())
        cluster_steps.wait(op, builder)


def _is_given_back(op: AllocOp) -> bool:
    return any(isinstance(use.operation, DeallocOp) for use in op.result.uses)


@runs
def _dealloc(op: DeallocOp, builder: Builder) -> None:
    assert isinstance(op.source.type, MemRefType)
    columns, number = allocated_columns(op.source.type.tensor), builder.number(op)
    source = builder.slot(op.source)
    assert isinstance(op.source.owner, AllocOp)
    group = op.source.owner.cta_group

    def free(machine: Machine, gang: Gang) -> None:
        warp = np.flatnonzero(gang.lanes % machine.slots < WARP)
        if len(warp):
            machine.tensor.fence_after(gang.lanes[warp])
            tensor = gang.regs[source].typed.value
            cells = numbers(tensor.offset) // (CELL_BITS // tensor.bits)
            first = spread(cells, gang.count)[warp]
            machine.allocator.free(
                gang.lanes[warp], first.astype(np.uint64), columns, group, number
            )

    builder.add(op, lambda machine, gang: machine.tensor.fence_before(gang.lanes), (), ())
    synchronise(op, builder, group)
    builder.add(op, free, (source,), ())


# Loads and stores


def _addresses(tensor: Tensor, named: int) -> UInt64Array:
    """The address of each instruction, which names so many elements: [threads or 1, number]."""
    starts = numbers(tensor.offset)[:, None] + images(tensor.modes)[:, ::named]
    return (starts * tensor.bits // CELL_BITS).astype(np.uint64)


def _parts(copying: Copying) -> tuple[Machine, Gang, CopyTraits, CopyInstruction]:
    assert copying.instruction is not None
    return copying.machine, copying.gang, copying.traits, copying.instruction


def load_cells(copying: Copying) -> None:
    """`tcgen05.ld` by whole warps, and the wait for it."""
    machine, gang, traits, instruction = _parts(copying)
    named, kept = traits.source[1].size(), traits.destination[1].size()
    words = [
        load_tensor(machine, gang, address, instruction.access, copying.op, "tcgen05.ld")
        for address in _addresses(copying.source, named).T
    ]
    copying.write(unpacked(np.concatenate(words, axis=1), copying.dest.bits))
    assert len(words) * kept == copying.dest.modes.size()
    for warp in gang.lanes.reshape(-1, WARP):
        machine.tensor.wait(LOAD, warp)


def store_cells(copying: Copying) -> None:
    """`tcgen05.st` by whole warps, and the wait for it."""
    machine, gang, traits, instruction = _parts(copying)
    access = instruction.access
    words = packed(copying.read(), copying.source.bits).view(np.uint32)
    addresses = _addresses(copying.dest, traits.destination[1].size())
    for i, address in enumerate(addresses.T):
        part = words[:, i * access.registers : (i + 1) * access.registers]
        store_tensor(machine, gang, address, part, access, copying.op, "tcgen05.st")
    for warp in gang.lanes.reshape(-1, WARP):
        machine.tensor.wait(STORE, warp)


def copy_cells(copying: Copying) -> None:
    """`tcgen05.cp` by each thread that executes it."""
    machine, gang, traits, instruction = _parts(copying)
    source, op = copying.source, copying.op
    shape, count = instruction.copy_shape, traits.source[1].size()
    addresses = spread(_addresses(copying.dest, count), gang.count)
    places = spread(bit_offsets(source), gang.count)

    def run(index: int, lane: int) -> None:
        operation = AsyncOperation(("cp", shape.name), op)
        access = machine.tensor.operation(lane, instruction.cta_group, operation)
        for i, address in enumerate(addresses[index].tolist()):
            at = places[index, i * count : (i + 1) * count]
            starts = chunks_at(at)
            rows_of = partial(_rows_of, at, starts, source.bits)
            copy_to_cells(
                machine, lane, instruction.cta_group, access, address, shape, starts, rows_of
            )

    each_thread(gang, run)


def _rows_of(at: Int64Array, starts: Int64Array, bits: int, data: UInt8Array) -> AnyArray:
    """The elements that start at these bits of chunks, put together."""
    return packed(elements_at(at, starts, data, bits)[None], bits)


# Gemms


@frozen
class TensorGemm:
    """The MMAs of one `cute.gemm`, issued by each thread that executes it."""

    atom: UmmaAtom
    number: int
    tensors: Mapping[Operand, Tensor]
    d: Tensor
    accumulate: BoolArray | None

    def run(self, machine: Machine, gang: Gang) -> None:
        """Issue them."""
        atom = self.atom
        model = umma_model(atom, machine.launch.arch, machine.launch.numerics)
        places = {
            which: spread(_places(tensor), gang.count) for which, tensor in self.tensors.items()
        }
        adds = None if self.accumulate is None else spread(self.accumulate, gang.count)
        _, m, n = extents(self.d)
        steps = range(extents(self.tensors["A"])[2])

        def one(index: int, lane: int, row: int, column: int, k: int) -> None:
            at: dict[Operand, Int64Array] = {
                which: places[which][index, chosen(tensor, *self._block(which, row, column, k))]
                for which, tensor in self.tensors.items()
            }
            cells = {which: at[which][0] for which, t in self.tensors.items() if t.space == "tmem"}
            ids = {which: int(cell % CELL_BITS) // SCALE_BITS for which, cell in cells.items()}
            first = {which: int(cell) // CELL_BITS for which, cell in cells.items()}
            first["D"] = first.pop("C")
            # Metadata in the second column of a pair is told by the selector.
            selector = first.get("E", 0) % max(len(atom.row.selectors), 1)
            if "E" in first:
                first["E"] -= selector
            options = UmmaOptions(
                accumulate=bool(k) or adds is None or bool(adds[index]),
                selector=selector,
                sfa_id=ids.get("SFA", 0),
                sfb_id=ids.get("SFB", 0),
            )
            a_desc = None if "A" in first else 0
            issue = _TileIssue(atom, model, options, a_desc, 0, first, self.tensors, at)
            issue.run(memories_of(machine, lane, atom, first["D"], self.number))

        def issue(index: int, lane: int) -> None:
            for k, column, row in product(steps, range(n), range(m)):
                one(index, lane, row, column, k)

        each_thread(gang, lambda index, lane: faulting(lambda: issue(index, lane)))

    @staticmethod
    def _block(which: Operand, row: int, column: int, k: int) -> tuple[int, int]:
        """Which of an operand's atoms an MMA reads."""
        return (row, column)[OPERAND_MODES[which][0]], column if which == "C" else k


def _places(tensor: Tensor) -> Int64Array:
    """The bit where each element of a partition starts, in shared memory or tensor memory."""
    if tensor.space == "smem":
        return bit_offsets(tensor)
    return offsets(tensor) * tensor.bits


@frozen
class _TileIssue(UmmaIssue):
    """An MMA whose matrices in shared memory are at the bits `at`, the same in each CTA."""

    tensors: Mapping[Operand, Tensor]
    at: Mapping[Operand, Int64Array]

    def _matrix(
        self, memories: Memories, rank: int, operand: Literal["A", "B"], word: int
    ) -> AnyArray:
        at, element = self.at[operand], self.atom.element(operand)
        starts = chunks_at(at)
        values = elements_at(at, starts, memories.chunks(rank, starts), self.tensors[operand].bits)
        rows, columns = self.atom.shared_extents(operand)
        matrix = np.ascontiguousarray(values.reshape(columns, rows).T)
        if not element.padded:
            return matrix.view(element.container)
        # 16 elements lie in the first bytes of 16.
        along_k = self.atom.majors["AB".index(operand)] == "k"
        lines = matrix if along_k else np.ascontiguousarray(matrix.T)
        chunks = chunk_elements(lines.reshape(len(lines), -1, CHUNK).view(np.uint8), element)
        lines = chunks.reshape(lines.shape)
        return lines if along_k else np.ascontiguousarray(lines.T)
