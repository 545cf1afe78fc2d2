"""ldmatrix, stmatrix and movmatrix on whole warps, at both levels.

Where each element goes is what the row's layout says: `(thread, value) -> place in memory`.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import MatrixCopy
from tilewright.dialects.cute_nvgpu.lattice import MOVMATRIX
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import (
    RUN_BYTES,
    WANTS_ALL_ADDRESSES,
    SourceFormat,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.cute_nvgpu.ops import address, matrix_copy
from tilewright.dialects.ptx import matrix_copy as ptx
from tilewright.dialects.row_ops import memory_operand
from tilewright.lowering.interpreter.array_types import UInt8Array
from tilewright.lowering.interpreter.builder import Builder, Effect, accesses, effects
from tilewright.lowering.interpreter.errors import Fault, faults_of, first_of
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.ops.instructions.operands import (
    Locate,
    held_in,
    located,
    stored_registers,
    words_in,
)
from tilewright.lowering.interpreter.values import Bits, Lanes, spread

Index = NDArray[np.intp]

# From runs of 16 bytes to registers and back


@cache
def _places(copy: MatrixCopy) -> Index:
    """The element of the runs, in the order of the threads that name them, of each register value:
    [32 threads, values]."""
    row, layout = copy.row, copy.tv_layout
    runs, places = row.runs(copy.trans), row.run(copy.trans)
    matrix, inside = np.divmod(numbers_of(layout), runs * places)
    place, run = np.divmod(inside, runs)
    return (matrix * runs + run) * places + place


@cache
def _inverse(copy: MatrixCopy) -> Index:
    """The value, among those of a warp, that each element of the runs is: [elements]."""
    return np.argsort(_places(copy), axis=None)


def unpacked(data: UInt8Array, source: SourceFormat) -> UInt8Array:
    """16 packed elements each, low bits first, as 16 bytes: [..., data bytes] to [..., 16]."""
    bits = np.unpackbits(data, axis=-1, bitorder="little")
    elements = bits.reshape(*data.shape[:-1], 16, source.bits)
    return np.packbits(elements, axis=-1, bitorder="little")[..., 0]


def load_matrices(
    machine: Machine, gang: Gang, address: Bits, copy: MatrixCopy, op: int, what: str
) -> Bits:
    """`ldmatrix`: the 32-bit words of every thread, uint32 [threads, registers]."""
    rows, warps = _run_threads(gang, copy, what)
    address = spread(address, gang.count)[rows]
    source = copy.row.source
    used = None if source is None else source.data_bytes
    with faults_of(rows):
        data = machine.shared.load(gang.lanes[rows], address, RUN_BYTES, op, used)
    if source is not None:
        data = unpacked(data, source)
    elements = data.view(f"uint{copy.row.bits}").reshape(warps, -1)
    values = np.ascontiguousarray(elements[:, _places(copy)])
    return values.view(np.uint32).reshape(gang.count, copy.registers)


def store_matrices(
    machine: Machine, gang: Gang, address: Bits, words: Bits, copy: MatrixCopy, op: int, what: str
) -> None:
    """`stmatrix`: the inverse of `load_matrices`."""
    rows, warps = _run_threads(gang, copy, what)
    address = spread(address, gang.count)[rows]
    values = np.ascontiguousarray(spread(words, gang.count)).view(f"uint{copy.row.bits}")
    elements = np.ascontiguousarray(values.reshape(warps, -1)[:, _inverse(copy)])
    data = elements.view(np.uint8).reshape(-1, RUN_BYTES)
    with faults_of(rows):
        machine.shared.store(gang.lanes[rows], address, data, op)


def transpose_matrices(gang: Gang, words: Bits, what: str) -> Bits:
    """`movmatrix`: uint32 [threads] to uint32 [threads]."""
    warps = gang.warps(what)
    values = np.ascontiguousarray(spread(words, gang.count)).view(f"uint{MOVMATRIX.bits}")
    turned = values.reshape(warps, -1)[:, _turned()]
    return np.ascontiguousarray(turned).view(np.uint32).reshape(gang.count)


@cache
def _turned() -> Index:
    """The value of the source, among those of a warp, that each value of the result is."""
    source, wanted = (
        numbers_of(layout).ravel() for layout in (MOVMATRIX.source_layout, MOVMATRIX.result_layout)
    )
    return np.argsort(source)[wanted]


def numbers_of(layout: Layout) -> Index:
    """The layout's numbers of the values: [32 threads, values]."""
    places = np.array([layout(i) for i in range(layout.size())], dtype=np.intp)
    return places.reshape(-1, WARP).T


def _run_threads(gang: Gang, copy: MatrixCopy, what: str) -> tuple[Lanes, int]:
    """The threads of the gang whose addresses count, the first of every warp; and the warps."""
    warps = gang.warps(what)
    rows = np.arange(warps)[:, None] * WARP + np.arange(copy.runs)
    return rows.ravel(), warps


def _check_addresses(machine: Machine, address: Lanes) -> None:
    """Raise Fault for a thread whose address is none of 16 bytes of shared memory, though it names
    no row. PTX ISA 9.7.14.5.15."""
    bad = (address % RUN_BYTES != 0) | (address + RUN_BYTES > machine.shared.size)
    if (thread := first_of(bad)) is not None:
        raise Fault(
            f"expected valid addresses from all threads on {machine.launch.arch}, got byte "
            f"{address[thread]} of shared memory, which has {machine.shared.size} (PTX ISA "
            "9.7.14.5.15); nearest legal: those of the threads that name rows",
            thread,
        )


# Ops


def _runs_at(op: Any, builder: Builder) -> Locate:
    """The address that each thread gives; threads beyond the matrices' runs may name anything."""
    memory, indices, _ = memory_operand(op)
    if indices is None:
        return located(op, builder)
    view, slots, runs = builder.slot(memory), builder.slots(indices), op.matrix_copy.runs

    def locate(regs: list[Any]) -> Bits:
        named = [
            np.where(np.arange(len(regs[slot])) % WARP < runs, regs[slot], np.uint64(0))
            for slot in slots
        ]
        return regs[view].locate(named)

    return locate


@accesses(matrix_copy.LdmatrixOp, address.LdmatrixOp, ptx.LdmatrixOp)
def _ldmatrix(op: Any, number: int) -> Effect:
    copy, result = op.matrix_copy, held_in(op.results[0])
    by_address = memory_operand(op).indices is None

    def run(machine: Machine, gang: Gang, at: Bits) -> Bits:
        if by_address and target(machine.launch.arch).number <= WANTS_ALL_ADDRESSES:
            _check_addresses(machine, spread(at, gang.count))
        return result(load_matrices(machine, gang, at, copy, number, op.name))

    return run, _runs_at


@accesses(matrix_copy.StmatrixOp, ptx.StmatrixOp)
def _stmatrix(op: Any, number: int) -> Effect:
    copy, stored = op.matrix_copy, stored_registers(op)
    words = words_in(stored)

    def run(machine: Machine, gang: Gang, at: Bits, value: Bits) -> None:
        store_matrices(machine, gang, at, words(value), copy, number, op.name)

    return run, _runs_at, stored


@effects(MOVMATRIX)
def _movmatrix(op: Operation) -> Effect:
    words, result = words_in(op.operands[0]), held_in(op.results[0])

    def run(machine: Machine, gang: Gang, value: Bits) -> Bits:
        return result(transpose_matrices(gang, words(value)[:, 0], op.name)[:, None])

    return run
