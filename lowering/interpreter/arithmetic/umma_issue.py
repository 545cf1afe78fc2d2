"""One `tcgen05.mma` for all of its CTAs, wherever shared memory and tensor memory are."""

from collections.abc import Mapping
from typing import Literal, Protocol

import numpy as np

from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANE_STRIDE, LANES
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.arithmetic.umma import (
    UmmaOptions,
    check_halves,
    elements_of_cells,
    matrix_addresses,
    multiply,
    tensor_addresses,
)
from tilewright.lowering.interpreter.arithmetic.wgmma import matrix_of_chunks
from tilewright.lowering.interpreter.array_types import (
    AnyArray,
    BoolArray,
    Int64Array,
    UInt8Array,
    UInt32Array,
)
from tilewright.lowering.interpreter.numerics.models import AnyModel


class Memories(Protocol):
    """Shared memory and tensor memory of the CTAs of an MMA, by their rank in the pair."""

    def chunks(self, rank: int, addresses: Int64Array) -> UInt8Array:
        """The 16 bytes at each of these addresses of shared memory: [..., 16]."""
        ...

    def read(self, rank: int, addresses: Int64Array) -> UInt32Array:
        """The words in cells of tensor memory."""
        ...

    def accumulate(self, rank: int, addresses: Int64Array) -> UInt32Array:
        """The words in cells of tensor memory that are about to be written."""
        ...

    def write(self, rank: int, addresses: Int64Array, words: UInt32Array) -> None:
        """Write cells of tensor memory."""
        ...


@frozen
class UmmaIssue:
    """One MMA: its descriptors (of A, where A is in shared memory), and the addresses of D and
    whatever else is in tensor memory, by operand."""

    atom: UmmaAtom
    model: AnyModel
    options: UmmaOptions
    a_desc: int | None
    b_desc: int
    addresses: Mapping[str, int]

    def run(self, memories: Memories) -> None:
        """Compute D. Raises Fault for operands that cannot be there, DescriptorError for words that
        are no descriptors."""
        check_halves(self.atom, self.addresses)
        ranks = range(self.atom.cta_group)
        b = np.concatenate([self._matrix(memories, rank, "B", self.b_desc) for rank in ranks])
        for rank in ranks:
            self._run(memories, rank, b)

    def _run(self, memories: Memories, rank: int, b: AnyArray) -> None:
        """One CTA's part of D."""
        atom, options = self.atom, self.options
        cells = tensor_addresses(atom, "D", self.addresses["D"])
        e = self._tensor(memories, rank, "E", options.selector) if atom.row.sparse else None
        scales = None
        if atom.row.scale is not None:
            scales = (
                self._tensor(memories, rank, "SFA", options.sfa_id),
                self._tensor(memories, rank, "SFB", options.sfb_id),
            )
        a, kept = self._a(memories, rank), self._kept(rank, cells[0])
        d = None
        if options.accumulate:
            d = elements_of_cells(atom, "D", self._accumulator(memories, rank, cells, kept))
        words = multiply(atom, a, b, d, self.model, options, e=e, scales=scales).astype(np.uint32)
        if kept is None:
            memories.write(rank, cells[0], words)
        else:
            memories.write(rank, cells[0, ~kept], words[~kept])

    def _kept(self, rank: int, cells: Int64Array) -> BoolArray | None:
        """The elements of D that are not written, [rows, N]; None where all are."""
        lanes = self.options.kept_lanes
        return None if lanes is None else lanes[rank * LANES + cells // LANE_STRIDE]

    def _accumulator(
        self,
        memories: Memories,
        rank: int,
        cells: Int64Array,
        kept: BoolArray | None,
    ) -> UInt32Array:
        """The cells of D before: zeros where they are not written."""
        if kept is None:
            return memories.accumulate(rank, cells)
        words = np.zeros(cells.shape, dtype=np.uint32)
        words[:, ~kept] = memories.accumulate(rank, cells[:, ~kept])
        return words

    def _a(self, memories: Memories, rank: int) -> AnyArray:
        if self.a_desc is None:
            return self._tensor(memories, rank, "A")
        return self._matrix(memories, rank, "A", self.a_desc)

    def _matrix(
        self, memories: Memories, rank: int, operand: Literal["A", "B"], word: int
    ) -> AnyArray:
        addresses = matrix_addresses(self.atom, operand, word)
        return matrix_of_chunks(self.atom, operand, memories.chunks(rank, addresses))

    def _tensor(self, memories: Memories, rank: int, operand: str, first: int = 0) -> AnyArray:
        addresses = tensor_addresses(self.atom, operand, self.addresses[operand], first)
        return elements_of_cells(self.atom, operand, memories.read(rank, addresses), first)
