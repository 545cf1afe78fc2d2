"""Where the elements of a memref lie: layouts as functions of arrays of indices.

A set of cells, elements of shared memory or 32-bit cells of tensor memory, is an integer with a bit
for each: two sets meet where `a & b`.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import MemRefType

from tilewright.dialects.cute import ComposedLayout, Layout, Swizzle, flatten
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.types.memref import Space, layout_of, space_of
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS, LANE_STRIDE, LANES
from tilewright.dialects.cute_nvgpu.ops.memory_operand import bits_of, tmem_layout
from tilewright.dialects.frozen import frozen
from tilewright.dialects.once import once_each

Cells = NDArray[np.int64]

Steps = tuple[tuple[int, int], ...]
"""(extent, stride) of the leaves of a mode, fastest first."""


@frozen
class Placement:
    """The layout of a memref: its modes, its swizzle as (mask, shift), the bits of an element and
    how many elements there are."""

    modes: tuple[Steps, ...]
    swizzle: tuple[int, int]
    bits: int
    size: int

    @property
    def plain(self) -> bool:
        """Elements lie one behind the other."""
        return len(self.modes) == 1 and self.modes[0][-1][1] == 1 and len(self.modes[0]) == 1

    def cells(self, indices: Sequence[Any], extents: Sequence[tuple[int, int]]) -> Cells:
        """The elements from these indices on, [threads or 1, elements]."""
        lengths = dict(extents)
        total: Cells | None = None
        for dimension, (steps, index) in enumerate(zip(self.modes, indices, strict=True)):
            along = np.asarray(index, dtype=np.int64).reshape(-1, 1)
            along = along + np.arange(lengths.get(dimension, 1))
            offsets = _along(steps, along)
            if total is None:
                total = offsets
            else:
                both = total[:, :, None] + offsets[:, None, :]
                total = both.reshape(both.shape[0], -1)
        return self.through(np.zeros((1, 1), dtype=np.int64) if total is None else total)

    def through(self, offsets: Cells) -> Cells:
        """Offsets behind the swizzle."""
        mask, shift = self.swizzle
        if not mask:
            return offsets
        return offsets ^ ((offsets & mask) >> shift if shift > 0 else (offsets & mask) << -shift)


def _along(steps: Steps, index: Cells) -> Cells:
    """The offsets of indices into one mode."""
    if len(steps) == 1:
        return index * steps[0][1]
    total = np.zeros_like(index)
    for extent, stride in steps[:-1]:
        total += index % extent * stride
        index = index // extent
    return total + index * steps[-1][1]


_MOST_CELLS = 1 << 24
"""More elements than the shared memory of any target has bits."""


@once_each
def placement_of(type_: MemRefType[Any]) -> Placement | None:
    """The placement of a memref of static layout that some memory can hold, or None."""
    layout, bits = layout_of(type_), bits_of(type_.element_type)
    if layout is None or bits is None:
        return None
    plain, swizzle = layout, (0, 0)
    if isinstance(layout, ComposedLayout):
        plain, inner = layout.outer, layout.inner
        if not isinstance(inner, Swizzle) or layout.offset != 0:
            return None
        swizzle = swizzle_of(inner)
    assert isinstance(plain, Layout)
    modes = tuple(steps_of(plain[mode]) for mode in range(plain.rank()))
    size = int(plain.cosize())
    # Sets of tensor memory's cells are of its lanes and columns, however far its strides reach.
    fits = size <= _MOST_CELLS or is_tensor(type_)
    return Placement(modes, swizzle, bits, size) if fits else None


def swizzle_of(swizzle: Swizzle) -> tuple[int, int]:
    """The bits of an offset that are moved, and how far down."""
    low = swizzle.base + max(swizzle.shift, 0)
    return ((1 << swizzle.bits) - 1) << low, swizzle.shift


def steps_of(mode: Layout) -> Steps:
    """The leaves of a mode."""
    pairs = zip(flatten(mode.shape), flatten(mode.stride), strict=True)
    return tuple((int(extent), int(stride)) for extent, stride in pairs)  # type: ignore[call-overload]


@cache
def matrix_offsets(layout: AnyLayout, per_item: int) -> Cells:
    """The offsets of a matrix in a line of memory, before the swizzle, in elements of the line."""
    plain = layout.outer if isinstance(layout, ComposedLayout) else layout
    assert isinstance(plain, Layout)
    modes = tuple(steps_of(plain[mode]) for mode in range(plain.rank()))
    sizes = [(mode, int(plain[mode].size())) for mode in range(plain.rank())]
    cells = Placement(modes, (0, 0), 8, 0).cells([0] * len(modes), sizes)
    return np.unique(cells // per_item)[None]


def bits_set(cells: Cells) -> int:
    """A set of cells as an integer."""
    if not cells.size:
        return 0
    first = int(cells.min())
    flags = np.zeros(int(cells.max()) - first + 1, dtype=np.bool_)
    flags[cells.reshape(-1) - first] = True
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little") << first


HALF = 16
"""Lanes of tensor memory that one bit of a set stands for."""

COLUMNS = 512


@once_each
def tensor_cells(type_: MemRefType[Any]) -> tuple[tuple[int, ...], int]:
    """The cells of a whole tensor in tensor memory relative to its first: half windows of lanes,
    and columns, as a set."""
    layout, bits = tmem_layout(type_)
    per_cell = max(CELL_BITS // bits, 1)
    lane = LANE_STRIDE * per_cell
    lanes, columns = {0}, {0}
    for extent, stride in steps_of(layout):
        reach = range(extent)
        if stride and stride % lane == 0:
            lanes = {first + stride // lane * step for first in lanes for step in reach}
        else:
            columns = {first + stride * step for first in columns for step in reach}
    whole = {column // per_cell for column in columns}
    return tuple({first // HALF for first in lanes}), sum(1 << column for column in whole)


def tensor_offset(type_: MemRefType[Any], indices: Sequence[Any]) -> Any:
    """The cell of an element, lane * LANE_STRIDE + column, relative to the tensor's first."""
    placement = placement_of(type_)
    assert placement is not None
    total: Any = 0
    for steps, index in zip(placement.modes, indices, strict=True):
        if isinstance(index, int):
            rest = index
            for extent, stride in steps[:-1]:
                total, rest = total + rest % extent * stride, rest // extent
            total = total + rest * steps[-1][1]
        else:
            total = total + _along(steps, np.asarray(index, dtype=np.int64))
    return total * placement.bits // CELL_BITS


def tensor_set(first: int, halves: Sequence[int], columns: int) -> int:
    """A set of cells of tensor memory, from a first one on to the last lane."""
    lane, column = divmod(first, LANE_STRIDE)
    there = (lane // HALF + half for half in halves)
    return sum(columns << column + half * COLUMNS for half in there if half < LANES // HALF)


def is_tensor(type_: object) -> bool:
    """Of tensor memory."""
    return isinstance(type_, MemRefType) and space_of(type_.memory_space) is Space.TMEM
