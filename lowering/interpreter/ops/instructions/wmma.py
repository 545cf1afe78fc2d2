"""`wmma.load` and `wmma.store` on whole warps, at both levels.

Which thread holds which element is what the row's layout says; PTX leaves it open, and on which
thread's behalf a byte is accessed. To find races it counts as thread i % 32 for the i-th piece of
the matrix, a read as the next thread too: so whoever else accessed the piece is another thread.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess
from tilewright.dialects.cute_nvgpu.lattice.wmma import WmmaSpace
from tilewright.dialects.cute_nvgpu.ops import wmma
from tilewright.dialects.cute_nvgpu.ops.wmma_memory import elements_per_item, extents_of
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx import wmma as ptx_wmma
from tilewright.dialects.row_ops import memory_operand
from tilewright.lowering.interpreter.arithmetic.elements import elements_of, words_of
from tilewright.lowering.interpreter.array_types import AnyArray, Int64Array, UInt64Array
from tilewright.lowering.interpreter.builder import Builder, Step, effect, runs
from tilewright.lowering.interpreter.errors import Fault, faults_of
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.ops.base.memref import View
from tilewright.lowering.interpreter.ops.instructions.matrix_copy import numbers_of
from tilewright.lowering.interpreter.ops.instructions.operands import (
    held_in,
    moved,
    stored_registers,
    windows,
    words_in,
)
from tilewright.lowering.interpreter.values import Bits, Lanes, spread

# Where a fragment's elements lie


@cache
def _places(access: WmmaAccess) -> NDArray[np.intp]:
    """The element of the matrix, in the order of memory without gaps, each value of the
    fragment is: [32 threads, values]."""
    row, index = access.row, numbers_of(access.tv_layout)
    rows, columns = row.extents
    if row.operand == "B":
        column, line = index % columns, index // columns
    else:
        line, column = index % rows, index // rows
    return line * columns + column if access.major == "row" else column * rows + line


@cache
def _inverse(access: WmmaAccess) -> NDArray[np.intp]:
    """The value, among those of a warp, that each element of the matrix is."""
    return np.argsort(_places(access), axis=None)


# Pieces of aligned memory


@frozen
class _WarpMatrices:
    """The matrix of every warp of a gang, in pieces of as many bytes as its alignment.

    `address` says where the pieces are: [warps, pieces].
    """

    access: WmmaAccess
    space: WmmaSpace
    address: UInt64Array

    @property
    def alignment(self) -> int:
        """The bytes of a piece."""
        return self.access.alignment(self.space)

    @property
    def shared(self) -> bool:
        """True where they lie in shared memory."""
        return self.space == "shared"

    @property
    def threads(self) -> Lanes:
        """The thread of the gang on whose behalf each piece is accessed."""
        warps = len(self.address)
        pieces = np.arange(self.address.size // warps)
        return (np.arange(warps)[:, None] * WARP + pieces % WARP).ravel()

    @property
    def word(self) -> int:
        """The bytes of the words that global memory takes."""
        return min(self.alignment, 8)

    def load(self, machine: Machine, gang: Gang, op: int) -> AnyArray:
        """Elements of every thread in containers: [threads, values]."""
        address, size = self.address.ravel(), self.alignment
        threads = self.threads
        with faults_of(threads):
            if self.shared:
                data = machine.shared.load(gang.lanes[threads], address, size, op)
            else:
                lanes, count = gang.lanes[threads], size // self.word
                data = machine.accesses.load(lanes, address, self.word, count, op)
        if self.shared:
            others = threads // WARP * WARP + (threads + 1) % WARP
            with faults_of(others):
                machine.shared.load(gang.lanes[others], address, size, op)
        raw = np.ascontiguousarray(data).view(np.uint8).reshape(len(self.address), -1)
        values = elements_of(raw, self.access.element)[:, _places(self.access)]
        return values.reshape(gang.count, -1)

    def store(self, machine: Machine, gang: Gang, elements: Bits, op: int) -> None:
        """The inverse of `load`."""
        access = self.access
        values = spread(elements, gang.count).reshape(len(self.address), -1)[:, _inverse(access)]
        raw = words_of(values, access.element).view(np.uint8).reshape(-1, self.alignment)
        address, threads = self.address.ravel(), self.threads
        with faults_of(threads):
            if self.shared:
                machine.shared.store(gang.lanes[threads], address, raw, op)
            else:
                words = raw.view(f"uint{8 * self.word}")
                lanes, count = gang.lanes[threads], words.shape[1]
                machine.accesses.store(lanes, address, words, self.word, count, op)


def _matrices(
    gang: Gang, access: WmmaAccess, space: WmmaSpace | None, address: Bits, stride: Bits, what: str
) -> _WarpMatrices:
    """The matrices at a byte address, `stride` in elements of theirs.

    Raises Fault where the threads of a warp do not agree on them, or the stride is illegal.
    """
    if space is None:
        [(is_shared, address, _), *others] = windows(address, None, True, False)
        if others:
            raise Fault("expected the matrices of all warps in one memory, got global and shared")
        space = "shared" if is_shared else "global"
    warps = gang.warps(what)
    first = _one_a_warp(address, gang, warps, "address", access)
    between = _one_a_warp(stride, gang, warps, "stride", access)
    for distance in np.unique(between).tolist():
        if (why := access.why_stride(distance, space)) is not None:
            raise Fault(why, WARP * int(np.argmax(between == distance)))
    lines, length = access.lines
    bits = access.element.bits
    line = np.arange(lines)[:, None] * (between * bits // 8)[:, None, None]
    inside = np.arange(0, length * bits // 8, access.alignment(space))
    place = first[:, None, None] + line + inside
    return _WarpMatrices(access, space, place.reshape(warps, -1).astype(np.uint64))


def _one_a_warp(value: Bits, gang: Gang, warps: int, name: str, access: WmmaAccess) -> Int64Array:
    """One value of each warp, the same in all of its threads: [warps]."""
    every = spread(value, gang.count).astype(np.int64).reshape(warps, WARP)
    other = every != every[:, :1]
    if other.any():
        raise Fault(
            f"expected one {name} in all threads of a warp (PTX ISA {access.row.section})",
            int(np.argmax(other)),
        )
    return every[:, 0]


Locator = Callable[[Gang], _WarpMatrices]


def _locator(op: Any, builder: Builder) -> Locator:
    """The place of an op's matrices, once it runs."""
    memory, indices, offset = memory_operand(op)
    source, access = builder.slot(memory), op.access
    if indices is None:
        apart = builder.slot(op.stride)
        return lambda gang: _matrices(
            gang, access, op.space, moved(gang.regs[source], offset), gang.regs[apart], op.name
        )
    slots, type_ = builder.slots(indices), op.memory_type
    stride: int | None = op.stride
    leading: int = op.leading_dimension
    several = elements_per_item(access.element, type_)
    rows, columns = extents_of(access, type_)
    corner = [*[0] * (len(slots) - 2), rows - 1, columns - 1]

    def locate(gang: Gang) -> _WarpMatrices:
        view: View = gang.regs[source]
        first = [gang.regs[slot] for slot in slots]
        address = view.locate(first)
        view.locate([index + np.uint64(more) for index, more in zip(first, corner, strict=True)])
        step = view.strides[leading] if stride is None else stride
        elements = np.atleast_1d(np.asarray(step, dtype=np.int64)) * several
        space: WmmaSpace = "shared" if view.space is Space.SMEM else "global"
        return _matrices(gang, access, space, address, elements, op.name)

    return locate


@runs(wmma.LoadOp, ptx_wmma.LoadOp)
def _load(op: Any, builder: Builder) -> Step:
    locate, number, element = _locator(op, builder), builder.number(op), op.access.element
    result = held_in(op.results[0])

    def run(machine: Machine, gang: Gang, *operands: Any) -> Bits:
        return result(words_of(locate(gang).load(machine, gang, number), element))

    return effect(op, builder, run)


@runs(wmma.StoreOp, ptx_wmma.StoreOp)
def _store(op: Any, builder: Builder) -> Step:
    locate, number, element = _locator(op, builder), builder.number(op), op.access.element
    stored = stored_registers(op)
    words = words_in(stored)

    def run(machine: Machine, gang: Gang, value: Bits) -> None:
        locate(gang).store(machine, gang, elements_of(words(value), element), number)

    return effect(op, builder, (run, stored))
