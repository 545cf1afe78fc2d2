"""Where the tiles of a view lie in memory: the footprints of a load or store of a view."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.views import ANYWHERE
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.address_windows import window_of
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array
from tilewright.lowering.interpreter.cuda_tile.allocations import TileAllocation
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, as_unsigned
from tilewright.lowering.interpreter.cuda_tile.footprints import (
    Footprint,
    along,
    boxed,
    column,
    offsets_of,
    scattered,
)
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.memory_access import check_bounds
from tilewright.lowering.interpreter.cuda_tile.poison import (
    AnyTile,
    Poisoned,
    determined,
    of_rows,
    tile_of,
)
from tilewright.lowering.interpreter.cuda_tile.values import TensorView, TiledView
from tilewright.lowering.interpreter.errors import Fault

Numbers = Int64Array


@frozen
class Place:
    """A footprint of some rows of an access (None: all of them), in the access' order."""

    footprint: Footprint
    rows: Int64Array | None

    def of(self, frame: Frame) -> Frame:
        """The frame of these rows."""
        return frame if self.rows is None else frame.narrowed(frame.rows[self.rows])

    def part_of(self, tile: AnyTile, use: str, blocks: int) -> Tile:
        """These rows of the tiles of all blocks; what they touch of them has to be determined."""
        if self.rows is None or len(tile) == 1:
            return determined(tile, use, self.footprint.inside)
        if isinstance(tile, Poisoned):
            inside = self.footprint.inside()
            touched = np.zeros((blocks, *self.footprint.tile), bool)
            touched[self.rows] = True if inside is None else inside
            determined(tile, use, of_rows(touched))
        return tile_of(tile)[self.rows]


def places(
    frame: Frame, op: Operation, view: TiledView, index: tuple[Tile, ...]
) -> Iterator[Place]:
    """Where a tile of a view lies for every block, by allocation. Reports an index outside of the
    view as undefined; raises a fault for elements outside of the tensor along a dimension of
    `inbounds`."""
    memory, tensor = frame.gang.machine.memory, view.tensor
    starts, gathered = _starts(view, index)
    anywhere = ANYWHERE in op.attributes
    if not anywhere and (fault := _outside(view, index, starts)) is not None:
        frame.gang.machine.undefined(op, frame, fault)
    sizes, strides = (view.along_tile(numbers) for numbers in (tensor.shape, tensor.strides))
    tile = view.type.tile_shape
    extents = np.minimum(np.maximum(sizes - starts, 0), np.array(tile, np.int64))
    if gathered is not None:
        extents[:, view.sparse_dim] = tile[view.sparse_dim or 0]
    _check_inbounds(view, extents, sizes, starts, inbounds_of(op))
    rows = max(len(starts), len(sizes), len(strides), len(tensor.base))
    offset = (starts * strides).sum(axis=1)
    windows = window_of(tensor.base)
    for number in sorted(set(windows.tolist())):
        allocation = memory.at(number)
        if allocation is None:
            address = int(tensor.base[windows == number][0])
            raise Fault(f"expected a tensor in memory, got address {address:#x}")
        chosen = None
        if len(windows) > 1 and not (windows == number).all():
            chosen = np.flatnonzero(windows == number)
        first = _first(tensor, allocation, windows == number) + offset
        if len(first) < rows:
            first = np.repeat(first, rows)
        parts: list[Any] = [sizes, first, extents, strides, starts, gathered]
        if chosen is not None:
            parts = [part if part is None or len(part) == 1 else part[chosen] for part in parts]
        yield Place(_footprint(view, allocation, *parts), chosen)


def _first(tensor: TensorView, allocation: TileAllocation, own: BoolArray) -> Numbers:
    """The element of the allocation where the tensor begins."""
    size = tensor.element.bytes
    distance = tensor.base - allocation.base
    if (distance[own] % size).any():
        byte = int(distance[own][distance[own] % size != 0][0])
        raise Fault(f"expected a multiple of {size}, got byte {byte} of {allocation.name}")
    return distance * 2 if tensor.element.packed else distance // size


def _starts(view: TiledView, index: tuple[Tile, ...]) -> tuple[Numbers, Numbers | None]:
    """Where tiles begin in the tensor [blocks, rank], and the rows [blocks, tile] to gather."""
    sparse = view.sparse_dim
    gathered: Numbers | None = None
    starts = np.zeros((max(map(len, index), default=1), len(index)), np.int64)
    for i, number in enumerate(index):
        if i == sparse:
            gathered = as_unsigned(number).astype(np.int64)
        else:
            starts[:, i] = as_unsigned(number)
    starts *= np.array(view.steps, np.int64)
    return starts, gathered


def _outside(view: TiledView, index: tuple[Tile, ...], starts: Numbers) -> Fault | None:
    """The fault of an index that names no tile of the view: no element is touched then."""
    outside = starts >= view.along_tile(view.tensor.shape)
    if view.sparse_dim is not None:
        outside[:, view.sparse_dim] = False
    if not outside.any():
        return None
    row, axis = (int(number) for number in np.argwhere(outside)[0])
    space, number = view.index_space(), index[axis]
    space = space[row if len(space) > 1 else 0]
    return Fault(
        f"expected index {axis} below {space[axis]} ({'x'.join(map(str, space))} tiles), got "
        f"{number[row if len(number) > 1 else 0]}",
        row if len(outside) > 1 else None,
    )


def _check_inbounds(
    view: TiledView, extents: Numbers, sizes: Numbers, starts: Numbers, inbounds: tuple[bool, ...]
) -> None:
    if not any(inbounds):
        return
    beyond = (extents < np.asarray(view.type.tile_shape)) & np.asarray(inbounds)
    if beyond.any():
        row, axis = (int(number) for number in np.argwhere(beyond)[0])
        size = sizes[row if len(sizes) > 1 else 0, axis]
        start = starts[row if len(starts) > 1 else 0, axis]
        raise Fault(
            f"expected a tile within the tensor along dimension {axis} (inbounds), got elements "
            f"{start} to {start + view.type.tile_shape[axis] - 1} of {size}",
            row if len(beyond) > 1 else None,
        )


def _footprint(
    view: TiledView,
    allocation: TileAllocation,
    sizes: Numbers,
    first: Numbers,
    extents: Numbers,
    strides: Numbers,
    starts: Numbers,
    gathered: Numbers | None,
) -> Footprint:
    tile, size = view.type.tile_shape, view.tensor.element.bytes
    if gathered is None and not view.tensor.element.packed:
        footprint = boxed(
            allocation, size, tile, first, extents, strides, starts, view.tensor.geometry
        )
    else:
        index: list[tuple[Numbers, BoolArray]] = []
        for axis, extent in enumerate(tile):
            if axis == view.sparse_dim and gathered is not None:
                steps = along(gathered, axis, len(tile))
                index.append((steps, (steps >= 0) & (steps < column(sizes, axis))))
            else:
                steps = along(np.arange(extent), axis, len(tile))
                index.append((steps, steps < column(extents, axis)))
        offsets, mask = offsets_of(first, strides, index)
        if view.tensor.element.packed:
            halves = (offsets & 1).astype(np.uint8)
            footprint = scattered(allocation, size, offsets >> 1, mask, halves)
        else:
            footprint = scattered(allocation, size, offsets, mask)
    check_bounds(footprint)
    return footprint


def inbounds_of(op: Operation) -> tuple[bool, ...]:
    """The dimensions along which an op says that its tile lies within the tensor."""
    attribute = op.properties.get("inbounds")
    return () if attribute is None else tuple(map(bool, attribute.get_values()))  # type: ignore[attr-defined]
