"""The content of SSA values while a kernel runs: tiles, views, tokens.

Tiles are arrays [blocks, *shape], `Poisoned` where elements are undefined (poison.py), tokens whole
numbers (token_order.py). Every array may have one row for all blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from tilewright.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TileView,
)
from tilewright.dialects.frozen import frozen_entity
from tilewright.lowering.interpreter.array_types import AnyArray, Int64Array
from tilewright.lowering.interpreter.cuda_tile.elements import Element
from tilewright.lowering.interpreter.cuda_tile.poison import (
    AnyTile,
    Poisoned,
    Rows,
    tile_of,
    whole_marks,
    with_marks,
)


@frozen_entity
class TensorView:
    """A tensor in memory: addresses [blocks], sizes and strides [blocks, rank], in elements."""

    element: Element
    base: Int64Array
    shape: Int64Array
    strides: Int64Array

    def take(self, rows: Rows) -> TensorView:
        """The view of some blocks."""
        base, shape, strides = (_rows(array, rows) for array in self._arrays)
        return TensorView(self.element, base, shape, strides)

    @property
    def _arrays(self) -> tuple[Int64Array, ...]:
        return self.base, self.shape, self.strides

    @property
    def geometry(self) -> object:
        """The key that two views share if the same index means the same element and others
        others."""
        if any(len(array) != 1 for array in self._arrays):
            return None
        sizes = sorted(zip(self.strides[0].tolist(), self.shape[0].tolist(), strict=True))
        reach = 0
        for stride, size in sizes:
            if size > 1 and stride <= reach:
                return None
            reach += stride * (size - 1)
        return (int(self.base[0]), tuple(self.strides[0].tolist()))


@frozen_entity
class TiledView:
    """A tensor view cut into tiles as its type says."""

    type: TileView
    tensor: TensorView

    def take(self, rows: Rows) -> TiledView:
        """The view of some blocks."""
        return TiledView(self.type, self.tensor.take(rows))

    @property
    def dim_map(self) -> tuple[int, ...]:
        """The dimension of the tensor that each dimension of a tile lies along."""
        if isinstance(self.type, PartitionViewType | StridedViewType):
            return self.type.dim_map
        return tuple(range(self.type.index_rank))

    @property
    def steps(self) -> tuple[int, ...]:
        """Elements of the tensor from one index to the next, for each dimension of a tile."""
        if isinstance(self.type, StridedViewType):
            return self.type.traversal_strides
        if isinstance(self.type, GatherScatterViewType):
            return (1,) * self.type.index_rank
        return self.type.tile_shape

    @property
    def sparse_dim(self) -> int | None:
        """The dimension whose index is a tile of row numbers, or None."""
        return self.type.sparse_dim if isinstance(self.type, GatherScatterViewType) else None

    def along_tile(self, numbers: Int64Array) -> Int64Array:
        """Numbers of the tensor's dimensions [blocks, rank] for the dimensions of a tile."""
        columns = self.dim_map
        return numbers if columns == tuple(range(numbers.shape[1])) else numbers[:, columns]

    def index_space(self) -> Int64Array:
        """How many tiles there are along every dimension of a tile: [blocks, rank]."""
        return -(-self.along_tile(self.tensor.shape) // np.asarray(self.steps))


Value: TypeAlias = AnyTile | TensorView | TiledView | int


def _rows(array: AnyArray, rows: Rows) -> AnyArray:
    return array if len(array) == 1 else array[rows]


def taken(value: Value, rows: Rows) -> Value:
    """The content of a value for some blocks."""
    if isinstance(value, int):
        return value
    return _rows(value, rows) if isinstance(value, np.ndarray) else value.take(rows)


def merged(parts: Sequence[tuple[Rows, Value]], rows: Rows) -> Value:
    """One value of what groups of blocks have: `rows` are all of their blocks, ascending."""
    first = parts[0][1]
    if len(parts) == 1:
        return first
    if isinstance(first, int):
        token = 0
        for _, value in parts:
            assert isinstance(value, int)
            token |= value
        return token
    values: Any = [value for _, value in parts]
    places = [np.searchsorted(rows, some) for some, _ in parts]
    tiles = _merged([tile_of(value) for value in values], places, len(rows))
    if Poisoned not in map(type, values):
        return tiles
    return with_marks(tiles, _merged(whole_marks(*values), places, len(rows)))


def _merged(parts: Sequence[AnyArray], places: Sequence[Rows], count: int) -> AnyArray:
    """Parts, whose views stay within a region, in the rows that are their places."""
    merged = np.empty((count, *parts[0].shape[1:]), parts[0].dtype)
    for part, place in zip(parts, places, strict=True):
        merged[place] = part
    return merged
