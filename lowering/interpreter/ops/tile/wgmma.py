"""`cute.gemm` of warpgroups: the `wgmma`s of a tile.

They are issued one by one, and complete with their group. Matrices are read from where the layouts
of the partitions say that their elements are; no descriptor is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Literal

import numpy as np

from tilewright.dialects.cute.atoms import Operand
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.arithmetic.elements import unpacked
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneValue
from tilewright.lowering.interpreter.arithmetic.sparse import check_metadata
from tilewright.lowering.interpreter.arithmetic.wgmma import (
    fragment_matrix,
    multiply_matrices,
    wgmma_model,
)
from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, Int64Array, UInt8Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.register_tensor import OPERAND
from tilewright.lowering.interpreter.ops.instructions.wgmma import WARPGROUP, warpgroups
from tilewright.lowering.interpreter.ops.tile.gemm import extents, registers
from tilewright.lowering.interpreter.ops.tile.tensor_access import bit_offsets, container, offsets
from tilewright.lowering.interpreter.values import Bits, Lanes, spread

CHUNK = 16
"""The bytes of shared memory that wgmma reads at once."""


@frozen
class SharedOperand:
    """A and B in shared memory: the bit where each element of a partition starts, [warpgroups,
    elements]."""

    which: Literal["A", "B"]
    tensor: Tensor
    places: Int64Array

    @classmethod
    def of(cls, gang: Gang, which: Literal["A", "B"], tensor: Tensor) -> SharedOperand:
        """The matrix that all threads of each warpgroup name. Raises Fault where they differ."""
        value = LaneValue(Typed("memref", tensor))
        for leaf in value.leaves():
            every = spread(leaf, gang.count).reshape(-1, WARPGROUP)
            other = (every != every[:, :1]).ravel()
            if other.any():
                raise Fault(
                    f"expected one matrix {which} in all threads of a warpgroup",
                    int(np.argmax(other)),
                )
        first: Tensor = value.take(np.arange(0, gang.count, WARPGROUP)).typed.value
        return cls(which, tensor, spread(bit_offsets(first), gang.count // WARPGROUP))

    def at(self, row: int, column: int) -> Int64Array:
        """The bits of one atom's matrix, its rows fastest: [warpgroups, elements]."""
        return self.places[:, chosen(self.tensor, row, column)]

    def matrix(
        self,
        atom: WgmmaAtom,
        places: Int64Array,
        starts: Int64Array,
        data: UInt8Array,
    ) -> AnyArray:
        """The matrix whose elements start at the bits `places` of the 16-byte chunks at
        `starts`."""
        values = elements_at(places, starts, data, self.tensor.bits)
        rows, columns = atom.extents(self.which)
        values = np.ascontiguousarray(values.reshape(columns, rows).T)
        return values.view(atom.element(self.which).container)


def chunks_at(places: Int64Array) -> Int64Array:
    """The first bytes of the chunks in which elements that start at these bits lie."""
    return np.unique(places // (8 * CHUNK)) * CHUNK


def elements_at(places: Int64Array, starts: Int64Array, data: UInt8Array, bits: int) -> AnyArray:
    """The elements that start at these bits of the chunks at the bytes `starts`."""
    chunk, inside = np.searchsorted(starts, places // (8 * CHUNK) * CHUNK), places % (8 * CHUNK)
    return unpacked(data, bits).ravel()[(chunk * 8 * CHUNK + inside) // bits]


def chosen(tensor: Tensor, row: int, column: int) -> slice:
    """The elements of one atom in a partition."""
    v, rows, _ = extents(tensor)
    first = (column * rows + row) * v
    return slice(first, first + v)


@frozen
class WarpgroupGemm:
    """The wgmmas of one `cute.gemm`: they are issued one by one, and complete with their group."""

    atom: WgmmaAtom
    number: int
    tensors: Mapping[Operand, Tensor]
    d: Tensor
    accumulate: BoolArray | None

    def run(self, machine: Machine, gang: Gang) -> None:
        """Issue them for every warpgroup of the gang."""
        lanes = warpgroups(machine, gang, self.atom.mnemonic)
        machine.shared.wgmmas.check_fenced(gang.lanes, "the first wgmma")
        a, b = self.tensors["A"], self.tensors["B"]
        _, m, steps = extents(a)
        _, n, _ = extents(b)
        shared = [SharedOperand.of(gang, "B", b)]
        if self.atom.frag_kind == "ss":
            shared.insert(0, SharedOperand.of(gang, "A", a))
        places = list(product(range(n), range(m)))
        # C may be another view of the registers that are written.
        before = [self._accumulators(gang, *at, first=True) for at in places]
        for k in range(steps):
            for (column, row), c in zip(places, before, strict=True):
                if k:
                    c = self._accumulators(gang, column, row, first=False)
                self._issue(machine, gang, lanes, shared, (row, column, k), c)

    def _issue(
        self,
        machine: Machine,
        gang: Gang,
        lanes: Lanes,
        shared: list[SharedOperand],
        at: tuple[int, int, int],
        c: Bits,
    ) -> None:
        row, column, k = at
        group, shape = machine.shared.wgmmas.committed[gang.lanes], (len(lanes), WARPGROUP, -1)
        where = [operand.at(row if operand.which == "A" else column, k) for operand in shared]
        if self.atom.frag_kind == "rs":
            fragment = self._registers(gang, row, k, group)
            a = fragment_matrix(self.atom, fragment.reshape(shape))
            (b,) = self._matrices(machine, lanes, shared, where)
        else:
            a, b = self._matrices(machine, lanes, shared, where)
        e = self._metadata(gang, row, k)
        e = None if e is None else e.reshape(shape)
        if e is not None:
            check_metadata(self.atom, e, 0)
        model = wgmma_model(self.atom, machine.launch.arch, machine.launch.numerics)
        values = multiply_matrices(self.atom, a, b, c.reshape(shape), model, e=e)
        places = offsets(self.d)[:, chosen(self.d, row, column)]
        kind = (self.atom.shape, self.atom.types[2])
        registers(self.d).write_result(
            gang.lanes, places, values.reshape(gang.count, -1), group, self.number, kind
        )

    def _accumulators(self, gang: Gang, column: int, row: int, *, first: bool) -> Bits:
        """C of one wgmma: [threads, values]. After the first step it is what the last one left."""
        tensor = self.tensors["C"] if first else self.d
        places = offsets(tensor)[:, chosen(tensor, row, column)]
        wanted = None if self.accumulate is None else spread(self.accumulate, gang.count)
        if first and wanted is not None and not wanted.any():
            values = np.zeros((gang.count, places.shape[1]), dtype=container(tensor))
        else:
            values = registers(tensor).accumulators(gang.lanes, places)
        shape = (self.atom.shape, self.atom.types[2])
        registers(tensor).take_over(gang.lanes, places, shape, self.number)
        if first and wanted is not None:
            values = np.where(wanted[:, None], values, values.dtype.type(0))
        return values

    def _registers(self, gang: Gang, row: int, k: int, group: Int64Array) -> Bits:
        """A from registers, which it holds until it is complete: [threads, values]."""
        a = self.tensors["A"]
        places = offsets(a)[:, chosen(a, row, k)]
        registers(a).check_ordered(gang.lanes, places, "A")
        values = registers(a).read(gang.lanes, places)
        registers(a).issue(gang.lanes, places, OPERAND, group, self.number)
        return values

    def _metadata(self, gang: Gang, row: int, k: int) -> Bits | None:
        """E from registers, [threads, values], of a sparse atom."""
        e = self.tensors.get("E")
        if e is None:
            return None
        return registers(e).read(gang.lanes, offsets(e)[:, chosen(e, row, k)])

    def _matrices(
        self,
        machine: Machine,
        lanes: Lanes,
        shared: list[SharedOperand],
        where: list[Int64Array],
    ) -> list[AnyArray]:
        """Matrices from shared memory: [warpgroups, rows, columns] each."""
        by_warpgroup: list[list[AnyArray]] = []
        for index, warpgroup in enumerate(lanes):
            starts = [chunks_at(places[index]) for places in where]
            try:
                data = machine.shared.read_async(warpgroup, starts, self.number)
            except Fault as fault:
                raise Fault(fault.message, index * WARPGROUP) from None
            by_warpgroup.append([
                operand.matrix(self.atom, places[index], begin, chunks)
                for operand, places, begin, chunks in zip(shared, where, starts, data, strict=True)
            ])  # fmt: skip
        return [np.stack(matrices) for matrices in zip(*by_warpgroup, strict=True)]
