"""`cute.gemm`: the atoms of a tile, in the arithmetic of single instructions.

Operands are partitions (V,M,K), (V,N,K) and (V,M,N), values of one atom first. All atoms of one K
step are computed together; along K they accumulate one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute.symbolic.layouts import modes
from tilewright.dialects.cute.symbolic.tuples import product
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute_nvgpu.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.wgmma_atom import WgmmaAtom
from tilewright.lowering.interpreter.cute_nvgpu import multiply
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.numerics import NumericsError
from tilewright.lowering.interpreter.register_tensor import OPERAND, RegisterTensor
from tilewright.lowering.interpreter.tensor_access import byte_offsets, container, offsets
from tilewright.lowering.interpreter.values import Bits, Lanes, spread
from tilewright.lowering.interpreter.warpgroup import WARPGROUP, warpgroups
from tilewright.lowering.interpreter.wgmma import fragment_matrix, multiply_matrices, wgmma_model

CHUNK = 16
"""What wgmma reads of shared memory at once, in bytes."""


def extents(tensor: Tensor) -> tuple[int, int, int]:
    """How many elements a partition has along V and the two modes behind it."""
    sizes = [product(mode.shape) for mode in modes(tensor.modes)]
    v, rows, columns = (*sizes, 1, 1)[:3]
    assert isinstance(v, int) and isinstance(rows, int) and isinstance(columns, int)
    return v, rows, columns


def registers(tensor: Tensor) -> RegisterTensor:
    """Where a fragment is."""
    assert isinstance(tensor.base, RegisterTensor)
    return tensor.base


# mma.sync


def multiply_registers(
    machine: Machine,
    gang: Gang,
    atom: MmaAtom,
    d: Tensor,
    a: Tensor,
    b: Tensor,
    c: Tensor,
    accumulate: NDArray[np.bool_] | None = None,
) -> None:
    """D = A B + C of every warp, C being zeros where a thread's `accumulate` is false."""
    warps = gang.warps(atom.mnemonic)
    a_held, b_held = (_fragments(gang, each, warps) for each in (a, b))
    held = _accumulators(gang, c, warps, accumulate)
    m, n, steps = a_held.shape[2], b_held.shape[2], a_held.shape[1]
    for k in range(steps):
        pairs = np.broadcast_shapes((warps, n, m, WARP, 1))
        inputs = [
            np.broadcast_to(each, (*pairs[:-1], each.shape[-1])).reshape(-1, WARP, each.shape[-1])
            for each in (a_held[:, k, None, :], b_held[:, k, :, None], held)
        ]
        held = multiply(machine, atom, inputs, ()).reshape(warps, n, m, WARP, -1)
    values = held.transpose(0, 3, 1, 2, 4).reshape(gang.count, -1)
    registers(d).write(gang.lanes, offsets(d), values)


def _fragments(gang: Gang, tensor: Tensor, warps: int) -> Bits:
    """The fragments of a multiplicand: [warps, K, rows, threads, values]."""
    v, rows, steps = extents(tensor)
    held = registers(tensor).read(gang.lanes, offsets(tensor))
    return held.reshape(warps, WARP, steps, rows, v).transpose(0, 2, 3, 1, 4)


def _accumulators(gang: Gang, c: Tensor, warps: int, accumulate: NDArray[np.bool_] | None) -> Bits:
    """The fragments of C: [warps, N, M, threads, values]."""
    v, m, n = extents(c)
    shape = (warps, WARP, n, m, v)
    if accumulate is not None and not accumulate.any():
        return np.zeros(shape, dtype=container(c)).transpose(0, 2, 3, 1, 4)
    held = registers(c).read(gang.lanes, offsets(c))
    if accumulate is not None:
        held = np.where(spread(accumulate, gang.count)[:, None], held, held.dtype.type(0))
    return held.reshape(shape).transpose(0, 2, 3, 1, 4)


# wgmma


@dataclass(frozen=True, slots=True)
class WarpgroupGemm:
    """The wgmmas of one `cute.gemm`: they are issued one by one, and complete with their group."""

    atom: WgmmaAtom
    number: int
    a: Tensor
    b: Tensor
    c: Tensor
    d: Tensor
    accumulate: NDArray[np.bool_] | None

    def run(self, machine: Machine, gang: Gang) -> None:
        """Issue them for every warpgroup of the gang."""
        lanes = warpgroups(machine, gang, self.atom.mnemonic)
        self._check_fenced(machine, gang)
        _, m, steps = extents(self.a)
        _, n, _ = extents(self.b)
        for k in range(steps):
            for column in range(n):
                for row in range(m):
                    self._issue(machine, gang, lanes, (row, column, k))

    def _check_fenced(self, machine: Machine, gang: Gang) -> None:
        fenced = machine.shared.wgmmas.fenced[gang.lanes]
        if not fenced.all():
            raise Fault(
                "is the first wgmma of its warpgroup, and no wgmma.fence came before it "
                "(PTX ISA 9.7.15.7.1)",
                int(np.argmin(fenced)),
            )

    def _issue(self, machine: Machine, gang: Gang, lanes: Lanes, at: tuple[int, int, int]) -> None:
        row, column, k = at
        group = machine.shared.wgmmas.committed[gang.lanes]
        c = self._accumulators(gang, row, column, first=k == 0)
        a_chosen, b_chosen = _chosen(self.a, row, k), _chosen(self.b, column, k)
        if self.atom.frag_kind == "rs":
            held = self._registers(gang, a_chosen, group)
            a = fragment_matrix(self.atom, held.reshape(len(lanes), WARPGROUP, -1))
            (b,) = self._matrices(machine, gang, lanes, [("B", self.b, b_chosen)])
        else:
            operands = [("A", self.a, a_chosen), ("B", self.b, b_chosen)]
            a, b = self._matrices(machine, gang, lanes, operands)
        values = self._multiply(machine, a, b, c.reshape(len(lanes), WARPGROUP, -1))
        places = offsets(self.d)[:, _chosen(self.d, row, column)]
        shape = (self.atom.shape, self.atom.types[2])
        registers(self.d).write_result(
            gang.lanes, places, values.reshape(gang.count, -1), group, self.number, shape
        )

    def _accumulators(self, gang: Gang, row: int, column: int, *, first: bool) -> Bits:
        """C of one wgmma: [threads, values]. After the first step it is what the last one left."""
        tensor = self.c if first else self.d
        places = offsets(tensor)[:, _chosen(tensor, row, column)]
        wanted = None if self.accumulate is None else spread(self.accumulate, gang.count)
        if first and wanted is not None and not wanted.any():
            registers(tensor).check_ordered(gang.lanes, places, "C")
            return np.zeros((gang.count, places.shape[1]), dtype=container(tensor))
        shape = (self.atom.shape, self.atom.types[2])
        held = registers(tensor).accumulators(gang.lanes, places, shape)
        if first and wanted is not None:
            held = np.where(wanted[:, None], held, held.dtype.type(0))
        return held

    def _registers(self, gang: Gang, chosen: slice, group: NDArray[np.int64]) -> Bits:
        """A from registers, which it holds until it is complete: [threads, values]."""
        places = offsets(self.a)[:, chosen]
        registers(self.a).check_ordered(gang.lanes, places, "A")
        held = registers(self.a).read(gang.lanes, places)
        registers(self.a).issue(gang.lanes, places, OPERAND, group, self.number)
        return held

    def _matrices(
        self,
        machine: Machine,
        gang: Gang,
        lanes: Lanes,
        operands: list[tuple[Any, Tensor, slice]],
    ) -> list[NDArray[Any]]:
        """Matrices from shared memory: [warpgroups, rows, columns] each."""
        places = [
            _of_warpgroups(gang, byte_offsets(tensor)[:, chosen], which)
            for which, tensor, chosen in operands
        ]
        found: list[list[NDArray[Any]]] = []
        for index, warpgroup in enumerate(lanes):
            chunks = [np.unique(each[index] // CHUNK) * CHUNK for each in places]
            data = machine.shared.read_async(warpgroup, chunks, self.number)
            found.append([
                self._matrix(which, tensor, each[index], starts, held)
                for (which, tensor, _), each, starts, held in
                zip(operands, places, chunks, data, strict=True)
            ])  # fmt: skip
        return [np.stack(each) for each in zip(*found, strict=True)]

    def _matrix(
        self,
        which: Literal["A", "B"],
        tensor: Tensor,
        places: NDArray[np.int64],
        starts: NDArray[np.int64],
        data: NDArray[np.uint8],
    ) -> NDArray[Any]:
        """The matrix whose elements are at `places`, rows fastest, of 16-byte chunks."""
        dtype = container(tensor)
        elements = data.view(dtype).ravel()
        inside = places % CHUNK // dtype.itemsize
        index = (
            np.searchsorted(starts, places // CHUNK * CHUNK) * (CHUNK // dtype.itemsize) + inside
        )
        rows, columns = self.atom.extents(which)
        held = np.ascontiguousarray(elements[index].reshape(columns, rows).T)
        return held.view(self.atom.element(which).container)

    def _multiply(self, machine: Machine, a: NDArray[Any], b: NDArray[Any], c: Bits) -> Bits:
        try:
            model = wgmma_model(self.atom, machine.launch.arch, machine.launch.numerics)
        except NumericsError as error:
            raise Fault(str(error)) from error
        return multiply_matrices(self.atom, a, b, c, model)


def _chosen(tensor: Tensor, row: int, column: int) -> slice:
    """The elements of one atom in a partition."""
    v, rows, _ = extents(tensor)
    first = (column * rows + row) * v
    return slice(first, first + v)


def _of_warpgroups(gang: Gang, places: NDArray[np.int64], which: str) -> NDArray[np.int64]:
    """What all threads of each warpgroup name: [warpgroups, elements]."""
    every = spread(places, gang.count).reshape(gang.count // WARPGROUP, WARPGROUP, -1)
    if len(places) > 1:
        other = (every != every[:, :1]).any(axis=2)
        if other.any():
            lane = int(np.argmax(other))
            raise Fault(f"expected one matrix {which} in all threads of a warpgroup", lane)
    return every[:, 0]
