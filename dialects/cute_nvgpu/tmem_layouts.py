"""How matrices lie in tensor memory, as CuTe layouts: coordinates -> offset in elements.

An element of `b` bits at offset x starts at bit x * b of the address space: cell x * b / 32, whose
bits 31 to 16 are the lane and 15 to 0 the column. So a lane is 65536 * 32 / b elements after its
neighbour, a column 32 / b. Where two CTAs hold a matrix, the second one's elements are
`PAIR_STRIDE` cells after the first one's, beyond the 32 bits of an address. Offsets count from the
operand's address. PTX ISA, tcgen05 data path layouts.
"""

from __future__ import annotations

from typing import Literal

from tilewright.dialects.cute import Layout, flatten
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS, LANE_STRIDE

PAIR_STRIDE = 1 << 32
"""Cells between the same address in the two CTAs of a pair."""


def lane_stride(bits: int) -> int:
    """Elements of `bits` from a lane to the next."""
    return LANE_STRIDE * CELL_BITS // bits


def column_stride(bits: int) -> int:
    """Elements of `bits` from a column to the next."""
    return CELL_BITS // bits


def span(layout: Layout, bits: int) -> tuple[int, int]:
    """(lanes, columns) from the first element of a layout to its last, both included.

    Raises ValueError for a layout that is none of one CTA's tensor memory.
    """
    lanes = columns = 0
    for extent, stride in zip(flatten(layout.shape), flatten(layout.stride), strict=True):
        assert isinstance(extent, int)
        if not isinstance(stride, int) or stride < 0:
            raise ValueError(f"expected a layout of strides of 0 or more, got {layout}")
        lane, rest = divmod(stride, lane_stride(bits))
        lanes += (extent - 1) * lane
        columns += (extent - 1) * rest
    return lanes + 1, columns * bits // CELL_BITS + 1
