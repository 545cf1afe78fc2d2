"""Copies between tensors: element by element as the TV layouts of a copy atom say.

A copy moves element i of its source to element i of its destination, counted colexicographically.
Where an atom's threads work together, as those of `ldmatrix` do, the elements of its source and of
its destination are numbered by the two layouts of the atom, and those with one number are the same.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tilewright.dialects.cute.atoms import CopyTraits
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.rules.copies import no_whole_bytes, not_first
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute_nvgpu.atoms.copy import CopyInstruction
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.arithmetic.elements import packed, unpacked
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array
from tilewright.lowering.interpreter.errors import Fault, faults_of
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.ops.instructions.cute_nvgpu import start_copy
from tilewright.lowering.interpreter.ops.tile.tensor_access import (
    Places,
    first_sharing,
    offsets,
    read,
    run_addresses,
    write,
)
from tilewright.lowering.interpreter.values import Bits, Lanes, spread

Chosen = BoolArray
"""Elements within bounds: [threads or 1, elements]."""


@frozen
class Copying:
    """One `cute.copy` of a running kernel: by an instruction, or None where each thread moves its
    elements one by one. `chosen` are those within bounds, `op` is the number of the op."""

    machine: Machine
    gang: Gang
    source: Tensor
    dest: Tensor
    op: int
    instruction: CopyInstruction | None
    chosen: Chosen | None

    @property
    def traits(self) -> CopyTraits:
        """The parts of source and destination that threads hold."""
        assert self.instruction is not None
        return self.instruction.traits

    def read(self, width: int = 1) -> Bits:
        """The elements of the source, `width` at each access; of global memory the chosen ones."""
        chosen = self.chosen if self.source.space == "gmem" else None
        return read(self.machine, self.gang, self.source, self.op, width=width, chosen=chosen)

    def write(self, values: Bits, width: int = 1) -> None:
        """The inverse for the destination."""
        chosen = self.chosen
        if (first := first_sharing(self.dest)) is not None:
            values, chosen = self._together(values, first)
        if self.dest.space != "gmem":
            chosen = None
        write(self.machine, self.gang, self.dest, values, self.op, width=width, chosen=chosen)

    def _together(self, values: Bits, first: Places) -> tuple[Bits, Chosen]:
        """Elements that lie in one place of the destination, `first` being the number of the first
        one, get the value of those of them that are chosen, and are chosen if one is."""
        shape = (self.gang.count, values.shape[1])
        values, first = np.broadcast_to(values, shape), np.broadcast_to(first, shape)
        chosen = np.broadcast_to(True if self.chosen is None else self.chosen, shape)
        last = np.full(shape, -1)
        rows, numbers = np.nonzero(chosen)
        np.maximum.at(last, (rows, first[rows, numbers]), numbers)
        last = np.take_along_axis(last, first, axis=1)
        together = np.where(last < 0, values, np.take_along_axis(values, last, axis=1))
        differs = chosen & (together != values)
        if differs.any():
            row, number = np.argwhere(differs)[0].tolist()
            raise Fault(
                f"expected one value for elements that lie in one place of the destination, got "
                f"two for elements {number} and {last[row, number]}",
                row,
            )
        return together, last >= 0


def copy_threads(copying: Copying) -> None:
    """Every thread copies for itself, so many elements at a time. Zeros arrive in place of those
    that are not read."""
    width = 1 if copying.instruction is None else copying.traits.values
    copying.write(copying.read(width), width)


def copy_async(copying: Copying) -> None:
    """`cp.async` by every thread: what it writes is there when its group is waited for."""
    gang, source, dest, chosen = copying.gang, copying.source, copying.dest, copying.chosen
    width = copying.traits.values
    elements = spread(offsets(dest), gang.count).size
    filled = np.ones((elements // width, width), dtype=np.bool_)
    if chosen is not None:
        filled = np.broadcast_to(chosen, (gang.count, elements // gang.count)).reshape(-1, width)
        holes = np.any(filled[:, 1:] > filled[:, :-1], axis=1)
        if holes.any():
            # A copy reads elements from the first on: others are copied one by one.
            whole = ~holes | (source.bits >= 32)
            _require(whole, len(holes) // gang.count, not_first(source.bits))
            filled, width = filled.reshape(-1, 1), 1
    above, below = (
        spread(run_addresses(tensor, width), gang.count).ravel().astype(np.uint64)
        for tensor in (source, dest)
    )
    threads = np.repeat(np.arange(gang.count), len(below) // gang.count)
    bits = filled.sum(axis=1, dtype=np.int64) * source.bits
    if source.bits < 8:
        _require(bits % 8 == 0, len(bits) // gang.count, no_whole_bytes(source.bits))
    counts = bits // 8
    size = width * source.bits // 8
    with faults_of(threads):
        start_copy(copying.machine, gang.lanes[threads], below, above, counts, size, copying.op)


def _require(holds: BoolArray, copies: int, fault: str) -> None:
    """Raise Fault at the first thread, each having so many `copies`, where bounds are wrong."""
    if not holds.all():
        raise Fault(fault, int(np.argmin(holds)) // copies)


# Atoms of a warp


def load_matrices(copying: Copying) -> None:
    """`ldmatrix`: threads name runs of the matrices, and get elements of all of them."""
    gang, traits, shared = copying.gang, copying.traits, copying.machine.shared
    runs = _Runs.of(gang, copying.source, traits.source, "ldmatrix")
    with faults_of(runs.threads):
        data = shared.load(gang.lanes[runs.threads], runs.address, runs.bytes, copying.op)
    elements = unpacked(data, copying.source.bits).reshape(runs.warps, runs.named, runs.atoms, -1)
    numbered = elements.swapaxes(1, 2).reshape(runs.warps, runs.atoms, -1)[
        ..., _order(traits.source)
    ]
    values = numbered[..., _numbers(traits.destination)]
    copying.write(values.swapaxes(1, 2).reshape(gang.count, -1))


def store_matrices(copying: Copying) -> None:
    """`stmatrix`: the inverse of `load_matrices`."""
    gang, traits = copying.gang, copying.traits
    runs = _Runs.of(gang, copying.dest, traits.destination, "stmatrix")
    by_atom = copying.read().reshape(runs.warps, WARP, runs.atoms, -1).swapaxes(1, 2)
    numbered = by_atom.reshape(runs.warps, runs.atoms, -1)[..., _order(traits.source)]
    # The elements of each run side by side, the runs as the threads name them.
    places = _numbers(traits.destination)[: runs.named]
    data = np.ascontiguousarray(numbered[..., places].swapaxes(1, 2))
    raw = packed(data.reshape(len(runs.threads), -1), copying.dest.bits)
    with faults_of(runs.threads):
        lanes = gang.lanes[runs.threads]
        copying.machine.shared.store(lanes, runs.address, raw, copying.op)


@frozen
class _Runs:
    """The runs of elements that the threads of whole warps name in shared memory: of each warp's
    first `named` threads one for each of `atoms` instructions; `bytes` of each run, the `threads`
    of the gang that name them and their addresses."""

    warps: int
    named: int
    atoms: int
    bytes: int
    threads: Lanes
    address: Bits

    @classmethod
    def of(cls, gang: Gang, tensor: Tensor, tv: Layout, what: str) -> _Runs:
        warps, length, named = gang.warps(what), tv[1].size(), _named(tv)
        address = spread(run_addresses(tensor, length), gang.count)
        atoms = address.shape[1]
        rows = (np.arange(warps)[:, None] * WARP + np.arange(named)).ravel()
        return cls(warps, named, atoms, length * tensor.bits // 8,
                   np.repeat(rows, atoms), address[rows].ravel().astype(np.uint64))  # fmt: skip


@cache
def _numbers(tv: Layout) -> Int64Array:
    """The number of each element that each thread has: [threads, values]."""
    indices = np.array([tv(i) for i in range(tv.size())], dtype=np.int64)
    return indices.reshape(-1, tv[0].size()).T


@cache
def _order(tv: Layout) -> Int64Array:
    """The first place in [threads, values] of each number: [elements]."""
    _, first = np.unique(_numbers(tv), return_index=True)
    return first


@cache
def _named(tv: Layout) -> int:
    """The number of threads, from the first, that name runs: the others repeat what those do."""
    return int(_order(tv).max()) // tv[1].size() + 1
