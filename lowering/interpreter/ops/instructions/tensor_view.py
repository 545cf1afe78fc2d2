"""A memref in tensor memory at run time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.ops.base.lane_record import LaneRecord
from tilewright.lowering.interpreter.ops.base.memref import check_index
from tilewright.lowering.interpreter.values import Bits


@frozen
class TmemView(LaneRecord):
    """`address` is that of the cell where it begins, one a thread (or one for all); its `layout`
    counts elements of `bits`."""

    address: Bits
    bits: int
    layout: Layout

    @property
    def sizes(self) -> tuple[int, ...]:
        """The extent of each dimension."""
        return tuple(self.layout[mode].size() for mode in range(self.layout.rank()))

    def locate(self, indices: Sequence[Bits]) -> Bits:
        """The address of an element, which must begin a cell: uint64. Raises Fault where it does
        not, or out of bounds."""
        signed = [index.view(np.int64) for index in indices]
        for dimension, index in enumerate(signed):
            check_index(dimension, index, self.layout[dimension].size())
        offset = sum(self.layout[mode](index) for mode, index in enumerate(signed))
        cell, rest = np.divmod(offset * self.bits, CELL_BITS)
        if np.any(rest):
            lane = int(np.argmax(rest != 0))
            raise Fault(
                f"expected an element that begins a cell of {CELL_BITS} bits, got one "
                f"{int(np.ravel(rest)[lane])} bits behind",
                lane,
            )
        address: Bits = (self.address.astype(np.int64) + cell).astype(np.uint64)
        return address
