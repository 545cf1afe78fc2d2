"""A run watched for the page: bank conflicts by line, the columns of tensor memory over time, and
how much was multiplied and moved."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cute_nvgpu.descriptors.bank_conflicts import VECTOR_BYTES, ways
from tilewright.dialects.frozen import factory, frozen
from tilewright.dialects.ptx.bulk_copy import TensorCopyOp
from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.ptx.matrix import WarpMmaOp
from tilewright.dialects.ptx.matrix_copy import MatrixCopyOp
from tilewright.dialects.ptx.tcgen05_access import AccessOp
from tilewright.dialects.ptx.tcgen05_mma import Tcgen05MmaOp
from tilewright.dialects.ptx.wgmma import WgmmaOp
from tilewright.lowering.interpreter.builder import Builder
from tilewright.lowering.interpreter.machine.launch import Launch
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.tensor_allocation import TensorAllocator
from tilewright.lowering.interpreter.program import Program, Step
from tilewright.lowering.interpreter.values import spread
from tilewright.source.diagnostic import at

WARP = 32
MOST = 64
"""Accesses of a line whose conflicts are counted: they repeat."""
COLUMN = 0xFFFF
"""The bits of an address of tensor memory that are its column."""


Note = Callable[[Machine, Gang], None]
"""A note taken behind a step."""


@dataclass
class LineConflicts:
    """The accesses of a line to shared memory: their op, how many there were, and how many ways the
    slowest of them conflicted."""

    op: str
    accesses: int = 0
    ways: int = 1


@frozen
class ColumnAccess:
    """An access to tensor memory, or a product into it: at which step, which columns, by which op,
    of which line."""

    step: int
    first: int
    columns: int
    op: str
    line: int | None


@dataclass(slots=True)
class ColumnLifetime:
    """Columns that the first CTA has allocated: from which step on to which (None: to the end of
    the run), and the lines that allocate and free them."""

    begin: int
    end: int | None
    first: int
    columns: int
    line: int | None
    freed: int | None = None


@dataclass
class RunWatch:
    """The results of a run: conflicts by line, allocations of and accesses to tensor memory,
    multiply-adds by bits, bytes of global memory. A step is what happens to tensor memory."""

    conflicts: dict[int, LineConflicts] = factory(dict)
    columns: list[ColumnAccess] = factory(list)
    lifetimes: list[ColumnLifetime] = factory(list)
    products: Counter[int] = factory(Counter)
    octets: int = 0
    level: str | None = "ptx"
    _steps: int = 0
    _allocator: TensorAllocator | None = None
    _read: int = 0
    _lines: dict[int, int | None] = factory(dict)

    def watch(self, program: Program, builder: Builder, launch: Launch) -> None:
        """Wrap the steps of a program that access memory or multiply."""
        ops = enumerate(program.ops, 1)
        self._lines = {number: at(op.location, "").line for number, op in ops}
        for block in program.blocks:
            block.steps[:] = [
                (op, self._watched(op, step, builder), writes) for op, step, writes in block.steps
            ]

    def _watched(self, op: Operation, step: Step, builder: Builder) -> Step:
        note = self._access(op, builder) or self._product(op, builder)
        if note is None:
            return step

        def watched(machine: Machine, gang: Gang) -> None:
            step(machine, gang)
            note(machine, gang)

        return watched

    def _access(self, op: Operation, builder: Builder) -> Note | None:
        """The note of an access to shared or global memory."""
        any_op: Any = op
        space = any_op.space.data if isinstance(op, LdOp | StOp) else ""
        if isinstance(op, MatrixCopyOp) or space == "shared":
            slot, offset = builder.slot(any_op.address), any_op.offset.value.data
            width = VECTOR_BYTES if isinstance(op, MatrixCopyOp) else any_op.thread_bytes
            conflicts = self._conflicts_of(at(op.location, "").line, op)
            return lambda machine, gang: self._conflict(
                conflicts, gang, gang.regs[slot], offset, width
            )
        if isinstance(op, TensorCopyOp):
            map_ = builder.slot(any_op.map)

            def copy(machine: Machine, gang: Gang) -> None:
                image = machine.memory.tensor_map(int(np.ravel(gang.regs[map_])[0]))
                self.octets += gang.count * prod(image.box.shape) * image.box.element.bytes

            return copy
        if space == "global" or op.name == "ptx.cp.async":
            size: int = any_op.thread_bytes if space else any_op.size.value.data

            def move(machine: Machine, gang: Gang) -> None:
                self.octets += gang.count * size

            return move
        return None

    def _product(self, op: Operation, builder: Builder) -> Note | None:
        """The note of an MMA, or of an access to tensor memory."""
        any_op: Any = op
        line = at(op.location, "").line
        if isinstance(op, WarpMmaOp | WgmmaOp):
            atom, group = op.mma_atom, 128 if isinstance(op, WgmmaOp) else WARP

            def multiply(machine: Machine, gang: Gang) -> None:
                self.products[atom.element("A").bits] += gang.count // group * prod(atom.shape)

            return multiply
        if isinstance(op, Tcgen05MmaOp):
            d, idesc = builder.slots((op.d, op.idesc))

            def umma(machine: Machine, gang: Gang) -> None:
                atom = op.atom_of(int(np.ravel(gang.regs[idesc])[0]))
                self.products[atom.element("A").bits] += gang.count * prod(atom.shape)
                self._column(machine, gang.regs[d], atom.shape[1], op, line)

            return umma
        if isinstance(op, AccessOp):
            slot, offset = builder.slot(any_op.address), np.uint32(op.offset.value.data)
            values: list[Any] = [*op.results, *op.operands[1:]]
            count = max((value.type.count.data for value in values), default=1)
            return lambda machine, gang: self._column(
                machine, gang.regs[slot] + offset, count, op, line
            )
        return None

    def _conflicts_of(self, line: int | None, op: Operation) -> LineConflicts:
        own = LineConflicts(op.name.removeprefix("ptx."))
        return self.conflicts.setdefault(line or 0, own)

    def _conflict(
        self, conflict: LineConflicts, gang: Gang, address: Any, offset: int, width: int
    ) -> None:
        conflict.accesses += 1
        if conflict.accesses > MOST:
            return
        places = spread(address, gang.count).astype(np.int64) + offset
        first = gang.lanes // WARP == gang.lanes[0] // WARP
        conflict.ways = max(conflict.ways, ways(places[first].tolist(), width))

    def allocations(self) -> None:
        """Take down what has been allocated and freed since the last time, in the first wave."""
        journal = [] if self._allocator is None else self._allocator.journal
        for cta, allocation, op in journal[self._read :]:
            self._read += 1
            if cta:
                continue
            self._steps += 1
            live = [own for own in self.lifetimes if own.end is None]
            freed = next((own for own in live if own.first == allocation.first), None)
            if freed is None:
                line = self._lines.get(op)
                span = allocation.first, allocation.columns
                self.lifetimes.append(ColumnLifetime(self._steps, None, *span, line))
            else:
                freed.end, freed.freed = self._steps, self._lines.get(op)

    def _column(
        self, machine: Machine, address: Any, count: int, op: Operation, line: int | None
    ) -> None:
        self._allocator = self._allocator or machine.allocator
        self.allocations()
        self._steps += 1
        first = int(np.ravel(address)[0]) & COLUMN
        name = op.name.removeprefix("ptx.")
        if len(self.columns) < 5000:
            self.columns.append(ColumnAccess(self._steps, first, count, name, line))
