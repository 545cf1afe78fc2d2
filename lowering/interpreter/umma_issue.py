"""One `tcgen05.mma` for all of its CTAs, wherever shared memory and tensor memory are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute_nvgpu.lattice.tmem import LANE_STRIDE, LANES
from tilewright.dialects.cute_nvgpu.umma_atom import UmmaAtom
from tilewright.lowering.interpreter.numerics import Model
from tilewright.lowering.interpreter.umma import (
    UmmaOptions,
    accumulator_container,
    check_halves,
    elements_of_cells,
    matrix_addresses,
    matrix_of_chunks,
    multiply,
    tensor_addresses,
)


class Memories(Protocol):
    """Shared memory and tensor memory of the CTAs of an MMA, by their rank in the pair."""

    def chunks(self, rank: int, addresses: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The 16 bytes at each of these addresses of shared memory: [..., 16]."""
        ...

    def read(self, rank: int, addresses: NDArray[np.int64]) -> NDArray[np.uint32]:
        """What cells of tensor memory hold."""
        ...

    def accumulate(self, rank: int, addresses: NDArray[np.int64]) -> NDArray[np.uint32]:
        """What cells of tensor memory hold that are about to be written."""
        ...

    def write(self, rank: int, addresses: NDArray[np.int64], words: NDArray[np.uint32]) -> None:
        """Write cells of tensor memory."""
        ...


@dataclass(frozen=True, slots=True)
class UmmaIssue:
    """One MMA: its descriptors (of A, where A is in shared memory), and the addresses of D and
    whatever else is in tensor memory, by operand."""

    atom: UmmaAtom
    model: Model | Literal["exact"]
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

    def _run(self, memories: Memories, rank: int, b: NDArray[Any]) -> None:
        """What one CTA computes."""
        atom, options = self.atom, self.options
        cells = tensor_addresses(atom, "D", self.addresses["D"])
        e = self._tensor(memories, rank, "E", options.selector) if atom.row.sparse else None
        scales = None
        if atom.row.scale is not None:
            scales = (
                self._tensor(memories, rank, "SFA", options.sfa_id),
                self._tensor(memories, rank, "SFB", options.sfb_id),
            )
        a = self._a(memories, rank)
        written = self._written(rank, cells[0])
        d = None
        if options.accumulate:
            d = np.zeros(cells.shape, dtype=np.uint32)
            d[:, written] = memories.accumulate(rank, cells[:, written])
            d = elements_of_cells(atom, "D", d).astype(accumulator_container(atom))
        found = multiply(atom, a, b, d, self.model, options, e=e, scales=scales)
        memories.write(rank, cells[0, written], found.astype(np.uint32)[written])

    def _written(self, rank: int, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which elements of D are written: [rows, N]."""
        kept = self.options.kept_lanes
        if kept is None:
            return np.ones(cells.shape, dtype=np.bool_)
        return ~kept[rank * LANES + cells // LANE_STRIDE]

    def _a(self, memories: Memories, rank: int) -> NDArray[Any]:
        if self.a_desc is None:
            return self._tensor(memories, rank, "A")
        return self._matrix(memories, rank, "A", self.a_desc)

    def _matrix(
        self, memories: Memories, rank: int, operand: Literal["A", "B"], word: int
    ) -> NDArray[Any]:
        addresses = matrix_addresses(self.atom, operand, word)
        return matrix_of_chunks(self.atom, operand, memories.chunks(rank, addresses))

    def _tensor(self, memories: Memories, rank: int, operand: str, first: int = 0) -> NDArray[Any]:
        addresses = tensor_addresses(self.atom, operand, self.addresses[operand], first)
        return elements_of_cells(self.atom, operand, memories.read(rank, addresses), first)
