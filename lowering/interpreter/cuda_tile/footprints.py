"""Which elements of an allocation an operation touches, block by block.

A footprint is a list of parts: boxes (blocks, first element, extents, strides), which NumPy reads
and writes as strided arrays, or scattered elements (an array of offsets and a mask). Data, and what
the memory model remembers of every element, are reached through the same parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_spans import overlaps_itself
from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, Int64Array, UInt8Array
from tilewright.lowering.interpreter.cuda_tile.allocations import TileAllocation

Offsets: TypeAlias = Int64Array
Chosen: TypeAlias = BoolArray
_FEW_ELEMENTS = 64
"""Tiles of fewer elements are gathered, as a box each would cost more than its elements."""

_FURTHEST = 1 << 39
"""Elements: an allocation has fewer, and a tile of steps of so many does not wrap around."""


@frozen
class Box:
    """Elements `first + sum(i * stride)` for some blocks: one box, or `count` of them `step`
    apart. `rows` are the blocks, as a slice of the gang; `inside` what of the tile it covers."""

    rows: slice
    first: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    inside: tuple[slice, ...]

    @classmethod
    def of(
        cls, rows: slice, first: int, step: int, extents: Iterable[int], strides: Iterable[int]
    ) -> Box:
        """That of some blocks, `step` apart. Where there is one element, how far the next one would
        be says nothing, and may be further than NumPy counts."""
        extents = tuple(extents)
        shape = (rows.stop - rows.start, *extents)
        apart = [stride * (n > 1) for n, stride in zip(extents, strides, strict=True)]
        return cls(rows, first, shape, (step, *apart), tuple(slice(0, n) for n in extents))

    def on(self, elements: AnyArray) -> AnyArray:
        """These elements of a flat array, as [blocks, *extents], in place."""
        size = elements.itemsize
        return np.ndarray(
            self.shape,
            elements.dtype,
            elements.view(np.uint8).data,  # what ml_dtypes adds has no buffer of its own
            offset=self.first * size,
            strides=[stride * size for stride in self.strides],
        )

    def of_tiles(self, tiles: AnyArray) -> AnyArray:
        """The part of tiles [blocks or 1, *tile] that belongs to these elements."""
        return tiles[(self.rows if len(tiles) > 1 else slice(0, 1), *self.inside)]

    def get(self, elements: AnyArray) -> AnyArray:
        """The elements, in the shape of `of_tiles`."""
        return self.on(elements)

    def put(self, elements: AnyArray, values: Any, chosen: Any = ...) -> None:
        """Write all of the elements, or those that are chosen."""
        self.on(elements)[chosen] = values

    def whole(self, tile: tuple[int, ...]) -> bool:
        """True where every element of a tile is touched."""
        return self.shape[1:] == tile

    @property
    def meets_itself(self) -> bool:
        """True where elements of one block may be one in memory."""
        return overlaps_itself(self.shape[1:], self.strides[1:])

    def places(self) -> Offsets:
        """Where each element lies."""
        return self._places(self.first, self.shape, self.strides)

    def of_row(self, row: int) -> Offsets:
        """Where the elements of one block lie; none where it is none of these."""
        if not self.rows.start <= row < self.rows.stop:
            return np.empty(0, np.int64)
        first = self.first + (row - self.rows.start) * self.strides[0]
        return self._places(first, self.shape[1:], self.strides[1:]).ravel()

    @staticmethod
    def _places(first: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Offsets:
        places = np.asarray(np.int64(first))
        for extent, stride in zip(shape, strides, strict=True):
            places = places[..., None] + np.arange(extent) * stride
        return places

    def finer(self, factor: int) -> Box:
        """The same in parts of elements; each element has so many."""
        return Box(
            self.rows,
            self.first * factor,
            (*self.shape, factor),
            (*(stride * factor for stride in self.strides), 1),
            (*self.inside, slice(0, factor)),
        )


@frozen
class Scatter:
    """Elements anywhere, of all blocks: offsets [blocks, *tile], and which of them count (None: all
    do). `halves`: of elements of 4 bits 0 for the low half of the byte, 1 for the high one."""

    offsets: Offsets
    mask: Chosen | None
    halves: UInt8Array | None = None

    def of_tiles(self, tiles: AnyArray) -> AnyArray:
        """The part of tiles [blocks or 1, *tile] that belongs to these elements."""
        return tiles if self.mask is None else np.broadcast_to(tiles, self.offsets.shape)[self.mask]

    def get(self, elements: AnyArray) -> AnyArray:
        """The elements, in the shape of `of_tiles`."""
        return self._half(elements[self.places()], self.of_tiles)

    def put(self, elements: AnyArray, values: Any, chosen: Any = ...) -> None:
        """Write all of the elements, or those that are chosen."""
        places = self.places()[chosen]
        if self.halves is None:
            elements[places] = values
            return
        halves = self.of_tiles(self.halves)
        values = np.broadcast_to(values, halves.shape)
        for half in (0, 1):
            own = halves == half
            kept = elements[places[own]] & np.uint8(15 << 4 * (1 - half))
            elements[places[own]] = kept | values[own] << np.uint8(4 * half)

    def tiles(self, elements: AnyArray, padding: Any) -> AnyArray:
        """The elements as tiles, padded."""
        if self.mask is None:
            return self._half(elements.take(self.offsets), np.asarray)
        values = elements.take(np.where(self.mask, self.offsets, 0), mode="clip")
        return np.where(self.mask, self._half(values, np.asarray), padding)

    def _half(self, octets: AnyArray, of: Any) -> AnyArray:
        return octets if self.halves is None else (octets >> (of(self.halves) << 2)) & 15

    def whole(self, tile: tuple[int, ...]) -> bool:
        """True where every element of a tile is touched."""
        return self.mask is None

    @property
    def meets_itself(self) -> bool:
        """True where elements of one block may be one in memory."""
        return True

    def places(self) -> Offsets:
        """Where each element lies."""
        return self.of_tiles(self.offsets)

    def of_row(self, row: int) -> Offsets:
        """Where the elements of one block lie."""
        return self.offsets[row].ravel() if self.mask is None else self.offsets[row][self.mask[row]]

    def finer(self, factor: int) -> Scatter:
        """The same in parts of elements; each element has so many."""
        offsets = self.offsets[..., None]
        if factor > 1:
            offsets = offsets * factor + np.arange(factor)
        mask = None if self.mask is None else np.broadcast_to(self.mask[..., None], offsets.shape)
        return Scatter(offsets, mask)


@frozen
class Footprint:
    """The elements of one operation. `low`, `high` [blocks]: the first element of each block and
    the one behind its last (equal: none); `count` blocks, or 1 for all of them alike."""

    allocation: TileAllocation
    itemsize: int
    tile: tuple[int, ...]
    low: Offsets
    high: Offsets
    parts: tuple[Box | Scatter, ...]
    corner: tuple[Offsets, Offsets] | None = None
    """Start and extent of each block's box [blocks, rank], in the index space of `geometry`."""
    geometry: object = None

    @property
    def scatter(self) -> Scatter | None:
        """The scattered elements that it is; None for boxes."""
        (*_, part) = self.parts or (None,)
        return part if isinstance(part, Scatter) else None

    @property
    def whole(self) -> bool:
        """True where every element of every tile is touched."""
        return all(part.whole(self.tile) for part in self.parts)

    def partial(self) -> Offsets | None:
        """The blocks of whose tiles some elements are not touched; None where that is not known."""
        if self.corner is None:
            return None
        return np.flatnonzero((self.corner[1] < self.tile).any(axis=1))

    def inside(self, rows: Offsets | None = None) -> Chosen | None:
        """Which elements of the tiles of some blocks, or of all, are touched, as an array that
        broadcasts to [blocks, *tile]; None for all of them."""
        if self.corner is None:
            mask = None if self.scatter is None else self.scatter.mask
            return mask if mask is None or rows is None or len(mask) == 1 else mask[rows]
        extents, rank = self.corner[1], len(self.tile)
        if rows is not None and len(extents) > 1:
            extents = extents[rows]
        inside: Chosen | None = None
        for axis, size in enumerate(self.tile):
            if (extents[:, axis] < size).any():
                within = along(np.arange(size), axis, rank) < column(extents, axis)
                inside = within if inside is None else inside & within
        return inside

    def elements_of(self, row: int) -> Offsets:
        """The elements that one block touches, in any order."""
        for part in self.parts:
            if len(places := part.of_row(row)):
                return places
        return np.empty(0, np.int64)

    def finer(self, size: int) -> Footprint:
        """The same elements in parts of so many bytes; several are a last axis."""
        factor = self.itemsize // size
        if factor == 1 and (self.scatter is None or self.scatter.halves is None):
            return self
        return replace(
            self,
            itemsize=size,
            tile=(*self.tile, factor),
            low=self.low * factor,
            high=self.high * factor,
            parts=tuple(part.finer(factor) for part in self.parts),
            corner=None,
        )


def along(numbers: Offsets, axis: int, rank: int) -> Offsets:
    """Numbers [n] or [blocks, n] along an axis of tiles."""
    shape = [1] * rank
    shape[axis] = -1
    return numbers.reshape(len(numbers) if numbers.ndim > 1 else 1, *shape)


def column(numbers: Offsets, axis: int) -> Offsets:
    """A column of numbers [blocks, rank], for each block's tile."""
    return numbers[:, axis].reshape(-1, *[1] * numbers.shape[1])


def offsets_of(
    first: Offsets, strides: Offsets, index: Iterable[tuple[Offsets, Chosen]]
) -> tuple[Offsets, Chosen]:
    """Where the elements of tiles lie, from `first` [blocks] on, and which of them count: `index`
    are, for each axis, the indices along it and which of those count."""
    offsets, mask = first.reshape(-1, *[1] * strides.shape[1]), np.ones((), bool)
    for axis, (steps, inside) in enumerate(index):
        mask = mask & inside
        offsets = offsets + np.where(inside, steps, 0) * column(strides, axis)
    return offsets, np.broadcast_to(mask, np.broadcast_shapes(offsets.shape, mask.shape))


def scattered(
    allocation: TileAllocation,
    itemsize: int,
    offsets: Offsets,
    mask: Chosen | None,
    halves: UInt8Array | None = None,
) -> Footprint:
    """A footprint of elements anywhere: see `Scatter`."""
    flat = offsets.reshape(len(offsets), -1)
    if mask is None:
        low, high = flat.min(axis=1), flat.max(axis=1) + 1
    else:
        mask = np.broadcast_to(mask, offsets.shape)
        inside = mask.reshape(flat.shape)
        low = np.where(inside, flat, np.iinfo(np.int64).max).min(axis=1)
        high = np.where(inside, flat, -1).max(axis=1) + 1
        low = np.minimum(low, high)
    parts = (Scatter(offsets, mask, halves),)
    return Footprint(allocation, itemsize, offsets.shape[1:], low, high, parts)


def boxed(
    allocation: TileAllocation,
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
    high = first + ((extents - 1) * np.minimum(strides, _FURTHEST)).sum(axis=1) + 1
    extents, strides = (
        steps if len(steps) == count else np.repeat(steps, count, axis=0)
        for steps in (extents, strides)
    )
    empty = np.zeros(count, np.bool_)
    if not whole:
        empty = (extents == 0).any(axis=1)
        high = np.where(empty, first, high)
    parts: tuple[Box | Scatter, ...]
    if whole and uniform and (step := _step(first)) is not None:
        parts = (Box.of(slice(0, count), int(first[0]), step, tile, strides[0].tolist()),)
    elif int(np.prod(tile)) < _FEW_ELEMENTS and count > 1:
        steps = [along(np.arange(size), axis, len(tile)) for axis, size in enumerate(tile)]
        index = [(own, own < column(extents, axis)) for axis, own in enumerate(steps)]
        offsets, mask = offsets_of(first, strides, index)
        parts = (Scatter(offsets, None if whole else mask),)
    else:
        boxes = zip(first.tolist(), extents.tolist(), strides.tolist(), empty.tolist(), strict=True)
        parts = tuple(
            Box.of(slice(row, row + 1), begin, 0, shape, steps)
            for row, (begin, shape, steps, none) in enumerate(boxes)
            if not none
        )
    corners = corner, extents
    return Footprint(allocation, itemsize, tile, first, high, parts, corners, geometry)


def _step(first: Offsets) -> int | None:
    """The distance between blocks whose boxes lie evenly apart, or None."""
    if len(first) == 1:
        return 0
    steps = np.diff(first)
    return int(steps[0]) if (steps == steps[0]).all() and steps[0] >= 0 else None


def read(footprint: Footprint, elements: AnyArray, padding: Any, copy: bool) -> AnyArray:
    """The touched elements as tiles [blocks, *tile]; `padding` elsewhere (a scalar of the dtype, or
    tiles). Unless `copy`, the result may be a view of memory."""
    if footprint.scatter is not None:
        return footprint.scatter.tiles(elements, padding)
    view = footprint.parts[0].get(elements) if len(footprint.parts) == 1 else None
    # A block that touches nothing is in no part.
    if view is not None and footprint.whole and len(view) == len(footprint.low):
        # Blocks that lie closer than the rows of a tile would stay so in all that is computed.
        in_order = view.strides[0] >= max(view.strides[1:], default=0) or len(view) == 1
        return view if in_order and not copy else view.copy()
    shape = (len(footprint.low), *footprint.tile)
    tiles = np.empty(shape, elements.dtype)
    if not footprint.whole or len(footprint.parts) < shape[0]:
        tiles[...] = padding
    for box in footprint.parts:
        box.of_tiles(tiles)[...] = box.get(elements)
    return tiles


def write(footprint: Footprint, elements: AnyArray, tiles: AnyArray) -> None:
    """Store tiles [blocks or 1, *tile] into the touched elements."""
    for part in footprint.parts:
        part.put(elements, part.of_tiles(tiles))


def mark(footprint: Footprint, octets: BoolArray) -> None:
    """Set the flags of the touched bytes."""
    for part in footprint.finer(1).parts:
        part.put(octets, True)
