"""Which elements of an allocation an operation touches, block by block.

A footprint is a list of pieces: boxes (blocks, first element, extents, strides), which NumPy reads
and writes as strided arrays, or scattered elements (an array of offsets and a mask). Data, and what
the memory model remembers of every element, are reached through the same pieces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.cuda_tile.allocations import Allocation

Offsets: TypeAlias = NDArray[np.int64]
_FEW_ELEMENTS = 64
"""Tiles of fewer elements are gathered, as a box each would cost more than its elements."""


@dataclass(frozen=True, slots=True)
class Box:
    """Elements `first + sum(i * stride)` for some blocks: one box, or `count` of them `step`
    apart. `rows` are the blocks, as a slice of the gang; `part` what of the tile it covers."""

    rows: slice
    first: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    part: tuple[slice, ...]

    def on(self, elements: NDArray[Any]) -> NDArray[Any]:
        """These elements of a flat array, as [blocks, *extents]."""
        size = elements.itemsize
        return np.ndarray(
            self.shape,
            elements.dtype,
            elements.view(np.uint8).data,  # what ml_dtypes adds has no buffer of its own
            offset=self.first * size,
            strides=[stride * size for stride in self.strides],
        )


@dataclass(frozen=True, slots=True)
class Footprint:
    """The elements of one operation. `low`, `high` [blocks]: the first element of each block and
    the one behind its last (equal: none); `count` blocks, or 1 for all of them alike."""

    allocation: Allocation
    itemsize: int
    tile: tuple[int, ...]
    low: Offsets
    high: Offsets
    boxes: tuple[Box, ...] | None
    offsets: Offsets | None = None
    mask: NDArray[np.bool_] | None = None
    corner: tuple[Offsets, Offsets] | None = None
    """Start and extent of each block's box [blocks, rank], in the index space of `geometry`."""
    geometry: object = None
    halves: NDArray[np.uint8] | None = None
    """Where elements have 4 bits: 0 for the low half of the byte, 1 for the high one."""

    @property
    def whole(self) -> bool:
        """True where every element of every tile is touched."""
        if self.boxes is not None:
            return all(box.shape[1:] == self.tile for box in self.boxes)
        return self.mask is None

    def partial(self) -> Offsets | None:
        """The blocks of whose tiles some elements are not touched; None where that is not known."""
        if self.corner is None:
            return None
        return np.flatnonzero((self.corner[1] < self.tile).any(axis=1))

    def inside(self, rows: Offsets | None = None) -> NDArray[np.bool_] | None:
        """Which elements of the tiles of some blocks, or of all, are touched, as an array that
        broadcasts to [blocks, *tile]; None for all of them."""
        if self.corner is None:
            some = self.mask is not None and rows is not None and len(self.mask) > 1
            return self.mask[rows] if self.mask is not None and some else self.mask
        extents, rank = self.corner[1], len(self.tile)
        if rows is not None and len(extents) > 1:
            extents = extents[rows]
        inside: NDArray[np.bool_] | None = None
        for axis, size in enumerate(self.tile):
            if (extents[:, axis] < size).any():
                steps = np.arange(size).reshape([-1 if i == axis else 1 for i in range(rank)])
                within = steps < extents[:, axis].reshape(-1, *[1] * rank)
                inside = within if inside is None else inside & within
        return inside

    def elements_of(self, row: int) -> Offsets:
        """The elements that one block touches, in any order."""
        if self.offsets is not None:
            inside = self.offsets[row]
            return inside.ravel() if self.mask is None else inside[self.mask[row]]
        assert self.boxes is not None
        for box in self.boxes:
            start, stop, _ = box.rows.indices(len(self.low))
            if start <= row < stop:
                index = np.int64(
                    box.first + (row - start) * box.strides[0] if box.shape[0] > 1 else box.first
                )
                grid = np.asarray(index)
                for extent, stride in zip(box.shape[1:], box.strides[1:], strict=True):
                    grid = grid[..., None] + np.arange(extent) * stride
                return grid.ravel()
        return np.empty(0, np.int64)


def scattered(
    allocation: Allocation, itemsize: int, offsets: Offsets, mask: NDArray[np.bool_] | None
) -> Footprint:
    """A footprint of elements anywhere: offsets [blocks, *tile] and which of them count."""
    flat = offsets.reshape(len(offsets), -1)
    if mask is None:
        low, high = flat.min(axis=1), flat.max(axis=1) + 1
    else:
        inside = np.broadcast_to(mask, offsets.shape).reshape(flat.shape)
        low = np.where(inside, flat, np.iinfo(np.int64).max).min(axis=1)
        high = np.where(inside, flat, -1).max(axis=1) + 1
        low = np.minimum(low, high)
        mask = np.broadcast_to(mask, offsets.shape)
    return Footprint(allocation, itemsize, offsets.shape[1:], low, high, None, offsets, mask)


def boxed(
    allocation: Allocation,
    itemsize: int,
    tile: tuple[int, ...],
    first: Offsets,
    extents: Offsets,
    strides: Offsets,
    corner: Offsets,
    geometry: object,
) -> Footprint:
    """A footprint of boxes. first [blocks], extents and strides [blocks or 1, rank], all in
    elements; corner [blocks, rank]: where the box starts in the index space of `geometry`."""
    count = len(first)
    whole = bool((extents == tile).all())
    uniform = len(strides) == 1 or bool((strides == strides[0]).all())
    high = first + ((extents - 1) * strides).sum(axis=1) + 1
    extents, strides = (
        steps if len(steps) == count else np.repeat(steps, count, axis=0)
        for steps in (extents, strides)
    )
    empty = np.zeros(count, np.bool_)
    if not whole:
        empty = (extents == 0).any(axis=1)
        high = np.where(empty, first, high)
    boxes: tuple[Box, ...] | None = None
    offsets: Offsets | None = None
    mask: NDArray[np.bool_] | None = None
    if whole and uniform and (regular := _regular(first)):
        step = regular
        boxes = (
            Box(
                slice(0, count),
                int(first[0]),
                (count, *tile),
                (step[0], *strides[0].tolist()),
                tuple(slice(0, size) for size in tile),
            ),
        )
    elif int(np.prod(tile)) < _FEW_ELEMENTS and count > 1:
        offsets, mask = _spread(tile, first, extents, strides, whole)
    else:
        boxes = tuple(_box(row, first, extents, strides) for row in range(count) if not empty[row])
    return Footprint(
        allocation, itemsize, tile, first, high, boxes, offsets, mask, (corner, extents), geometry
    )


def _regular(first: Offsets) -> tuple[int] | None:
    """The distance between blocks whose boxes lie evenly apart, or None."""
    if len(first) == 1:
        return (0,)
    steps = np.diff(first)
    return (int(steps[0]),) if (steps == steps[0]).all() and steps[0] >= 0 else None


def _box(row: int, first: Offsets, extents: Offsets, strides: Offsets) -> Box:
    shape = tuple(extents[row].tolist())
    part = tuple(slice(0, extent) for extent in shape)
    return Box(slice(row, row + 1), int(first[row]), (1, *shape), (0, *strides[row].tolist()), part)


def _spread(
    tile: Sequence[int], first: Offsets, extents: Offsets, strides: Offsets, whole: bool
) -> tuple[Offsets, NDArray[np.bool_] | None]:
    """Offsets [blocks, *tile] and which lie inside the extents (None: all)."""
    rank = len(tile)
    offsets = first.reshape(-1, *[1] * rank)
    mask: NDArray[np.bool_] | None = None
    for i, size in enumerate(tile):
        index = np.arange(size).reshape(1, *(size if j == i else 1 for j in range(rank)))
        stride = strides[:, i].reshape(-1, *[1] * rank)
        offsets = offsets + index * stride
        if not whole:
            inside = index < extents[:, i].reshape(-1, *[1] * rank)
            mask = inside if mask is None else mask & inside
    if mask is not None:
        mask = np.broadcast_to(mask, offsets.shape)
        offsets = np.where(mask, offsets, first.reshape(-1, *[1] * rank))
    return offsets, mask


def read(footprint: Footprint, elements: NDArray[Any], padding: Any, copy: bool) -> NDArray[Any]:
    """The touched elements as tiles [blocks, *tile]; `padding` elsewhere (a scalar of the dtype, or
    tiles). Unless `copy`, the result may be a view of memory."""
    if footprint.boxes is None:
        assert footprint.offsets is not None
        if footprint.mask is None:
            return elements.take(footprint.offsets)
        values = elements.take(np.where(footprint.mask, footprint.offsets, 0), mode="clip")
        return np.where(footprint.mask, values, padding)
    if len(footprint.boxes) == 1 and footprint.whole:
        box = footprint.boxes[0]
        view = box.on(elements)
        # Blocks that lie closer than the rows of a tile would stay so in all that is computed.
        in_order = box.strides[0] >= max(box.strides[1:], default=0) or box.shape[0] == 1
        return view if in_order and not copy else view.copy()
    shape = (len(footprint.low), *footprint.tile)
    tiles = np.empty(shape, elements.dtype)
    if not footprint.whole or len(footprint.boxes) < shape[0]:
        tiles[...] = padding
    for box in footprint.boxes:
        tiles[(box.rows, *box.part)] = box.on(elements)
    return tiles


def write(footprint: Footprint, elements: NDArray[Any], tiles: NDArray[Any]) -> None:
    """Store tiles [blocks or 1, *tile] into the touched elements."""
    if footprint.boxes is None:
        assert footprint.offsets is not None
        if footprint.mask is None:
            elements[footprint.offsets] = tiles
            return
        values = np.broadcast_to(tiles, footprint.offsets.shape)
        elements[footprint.offsets[footprint.mask]] = values[footprint.mask]
        return
    for box in footprint.boxes:
        rows = box.rows if len(tiles) > 1 else slice(0, 1)
        box.on(elements)[...] = tiles[(rows, *box.part)]


def mark(footprint: Footprint, octets: NDArray[np.bool_]) -> None:
    """Set the flags of the touched bytes."""
    size = footprint.itemsize
    elements = octets[: len(octets) - len(octets) % size].reshape(-1, size)
    if footprint.boxes is None:
        assert footprint.offsets is not None
        chosen = footprint.offsets if footprint.mask is None else footprint.offsets[footprint.mask]
        elements[chosen] = True
        return
    for box in footprint.boxes:
        strides = [stride * size for stride in box.strides]
        shape, first = (*box.shape, size), box.first * size
        np.ndarray(shape, np.bool_, octets.data, first, (*strides, 1))[...] = True
