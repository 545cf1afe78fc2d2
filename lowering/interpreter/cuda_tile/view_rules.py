"""Rules of views: tensors in memory, the tiles they are cut into, loads and stores of those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.ops.multimem import (
    MultimemLoadReduceViewTkoOp,
    MultimemStoreViewTkoOp,
)
from tilewright.dialects.cuda_tile.ops.views import (
    LoadViewTkoOp,
    MakeTensorViewOp,
    StoreViewTkoOp,
)
from tilewright.dialects.cuda_tile.types import DYNAMIC, TensorViewType, TileView
from tilewright.lowering.interpreter.cuda_tile.accesses import Kind
from tilewright.lowering.interpreter.cuda_tile.allocations import Allocation
from tilewright.lowering.interpreter.cuda_tile.blocks import (
    Preparation,
    Rule,
    Step,
    acting,
    computing,
)
from tilewright.lowering.interpreter.cuda_tile.elements import (
    Element,
    Tile,
    as_unsigned,
    element_of,
)
from tilewright.lowering.interpreter.cuda_tile.footprints import Footprint, boxed, scattered
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.memory_access import (
    Ordering,
    check_bounds,
    load,
    store,
)
from tilewright.lowering.interpreter.cuda_tile.pointwise_rules import result_element
from tilewright.lowering.interpreter.cuda_tile.values import TensorView, TiledView
from tilewright.lowering.interpreter.errors import Fault

Numbers = NDArray[np.int64]


def _make_tensor_view(op: Operation, _: Preparation) -> Step:
    assert isinstance(op, MakeTensorViewOp) and isinstance(op.result.type, TensorViewType)
    type_ = op.result.type
    element = element_of(type_.element_type)
    shapes = len(op.dynamic_shape)

    def run(base: Tile, *dynamic: Tile) -> TensorView:
        shape = _filled(type_.shape, dynamic[:shapes])
        return TensorView(element, base, shape, _filled(type_.strides, dynamic[shapes:]))

    return computing(op, run)


def _filled(static: tuple[int, ...], dynamic: tuple[Tile, ...]) -> Numbers:
    """Numbers [blocks or 1, rank]: the static ones, and in place of `?` the dynamic, unsigned."""
    rest = iter(dynamic)
    columns = [
        as_unsigned(next(rest)).astype(np.int64) if number == DYNAMIC else np.full(1, number)
        for number in static
    ]
    if not columns:
        return np.zeros((1, 0), np.int64)
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def _make_view(op: Operation, _: Preparation) -> Step:
    type_ = op.results[0].type
    assert isinstance(type_, TileView)

    def run(tensor: TensorView) -> TiledView:
        return TiledView(type_, tensor)

    return computing(op, run)


def _tensor_shape(op: Operation, _: Preparation) -> Step:
    dtype = result_element(op).dtype if op.results else np.dtype(np.int32)

    def run(tensor: TensorView) -> Any:
        return _columns(tensor.shape, dtype)

    return computing(op, run)


def _index_space(op: Operation, _: Preparation) -> Step:
    dtype = result_element(op).dtype if op.results else np.dtype(np.int32)

    def run(view: TiledView) -> Any:
        return _columns(view.index_space(), dtype)

    return computing(op, run)


def _columns(numbers: Numbers, dtype: np.dtype[Any]) -> Any:
    columns = tuple(numbers[:, i].astype(dtype) for i in range(numbers.shape[1]))
    return columns[0] if len(columns) == 1 else columns


# Tiles in memory


@dataclass(frozen=True, slots=True)
class Place:
    """A footprint of some rows of an access (None: all of them), in the access' order."""

    footprint: Footprint
    rows: NDArray[np.int64] | None


def places(
    frame: Frame, op: Operation, view: TiledView, index: tuple[Tile, ...]
) -> Iterator[Place]:
    """Where a tile of a view lies for every block, by allocation. Reports an index outside of the
    view as undefined; raises a fault for elements outside of the tensor along a dimension of
    `inbounds`."""
    memory, tensor = frame.gang.machine.memory, view.tensor
    starts, gathered = _starts(view, index)
    if (fault := _outside(view, index, starts)) is not None:
        frame.gang.machine.undefined(op, frame, fault)
    columns = list(view.dim_map)
    sizes, strides = tensor.shape[:, columns], tensor.strides[:, columns]
    tile = view.type.tile_shape
    extents = np.clip(sizes - starts, 0, np.asarray(tile))
    if gathered is not None:
        extents[:, view.sparse_dim] = tile[view.sparse_dim or 0]
    _check_inbounds(view, extents, sizes, starts, inbounds_of(op))
    rows = max(len(starts), len(sizes), len(strides), len(tensor.base))
    offset = (starts * strides).sum(axis=1)
    windows = memory.window_of(tensor.base)
    for number in np.unique(windows).tolist():
        allocation = memory.at(number)
        if allocation is None:
            address = int(tensor.base[windows == number][0])
            raise Fault(f"expected a tensor in memory, got address {address:#x}")
        chosen = None
        if len(windows) > 1 and not (windows == number).all():
            chosen = np.flatnonzero(windows == number)
        first = np.broadcast_to(_first(tensor, allocation, windows == number) + offset, (rows,))
        parts: list[Any] = [sizes, first, extents, strides, starts, gathered]
        if chosen is not None:
            parts = [_chosen(part, chosen) for part in parts]
        yield Place(_footprint(view, allocation, *parts), chosen)


def _chosen(part: Any, rows: Numbers) -> Any:
    return part if part is None or len(part) == 1 else part[rows]


def _first(tensor: TensorView, allocation: Allocation, own: NDArray[np.bool_]) -> Numbers:
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
    columns: list[Numbers] = []
    gathered: Numbers | None = None
    for i, (number, step) in enumerate(zip(index, view.steps, strict=True)):
        if i == sparse:
            gathered = as_unsigned(number).astype(np.int64)
            columns.append(np.zeros(1, np.int64))
        else:
            columns.append(as_unsigned(number).astype(np.int64) * step)
    return np.stack(np.broadcast_arrays(*columns), axis=-1), gathered


def _outside(view: TiledView, index: tuple[Tile, ...], starts: Numbers) -> Fault | None:
    """What is wrong with an index that names no tile of the view: no element is touched then."""
    sizes = view.tensor.shape[:, list(view.dim_map)]
    outside = starts >= sizes
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
    allocation: Allocation,
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
        offsets, mask = _every_element(view, sizes, first, extents, strides, gathered)
        if view.tensor.element.packed:
            halves = (offsets & 1).astype(np.uint8)
            footprint = replace(scattered(allocation, size, offsets >> 1, mask), halves=halves)
        else:
            footprint = scattered(allocation, size, offsets, mask)
    check_bounds(footprint)
    return footprint


def _every_element(
    view: TiledView,
    sizes: Numbers,
    first: Numbers,
    extents: Numbers,
    strides: Numbers,
    gathered: Numbers | None,
) -> tuple[Numbers, NDArray[np.bool_]]:
    """Offsets of all elements of the tiles, and which of them lie within the tensor."""
    tile = view.type.tile_shape
    rank = len(tile)

    def column(numbers: Numbers, axis: int) -> Numbers:
        return numbers[:, axis].reshape(-1, *[1] * rank)

    offsets: Numbers = first.reshape(-1, *[1] * rank)
    mask: Any = True
    for axis, extent in enumerate(tile):
        spread = [extent if i == axis else 1 for i in range(rank)]
        if axis == view.sparse_dim and gathered is not None:
            steps = gathered.reshape(-1, *spread)
            inside = (steps >= 0) & (steps < column(sizes, axis))
        else:
            steps = np.arange(extent).reshape(1, *spread)
            inside = steps < column(extents, axis)
        mask = mask & inside
        offsets = offsets + np.where(inside, steps, 0) * column(strides, axis)
    return offsets, np.broadcast_to(mask, np.broadcast_shapes(offsets.shape, np.shape(mask)))


_PADDINGS = {
    PaddingValue.ZERO: 0.0,
    PaddingValue.NEG_ZERO: -0.0,
    PaddingValue.NAN: np.nan,
    PaddingValue.POS_INF: np.inf,
    PaddingValue.NEG_INF: -np.inf,
}


def padding_of(view: TileView, element: Element) -> Any:
    """What a load gives outside of the tensor; zero where Tile IR leaves it open."""
    value = _PADDINGS[view.padding_value or PaddingValue.ZERO]
    return np.asarray(value).astype(element.dtype)


def load_tiles(
    frame: Frame, ordering: Ordering, view: TiledView, index: tuple[Tile, ...], token: int
) -> tuple[Tile, int]:
    """The tiles of a view at an index, and the token of the load."""
    element = view.tensor.element
    padding = padding_of(view.type, element)
    result: Tile | None = None
    own = token
    for place in places(frame, ordering.op, view, index):
        own |= ordering.note(_of_rows(frame, place), place.footprint, token)
        tiles = (
            _load_packed(place.footprint, padding)
            if element.packed
            else load(place.footprint, element, padding)
        )
        if place.rows is None:
            return tiles, own
        if result is None:
            result = np.empty((frame.count, *view.type.tile_shape), element.dtype)
        result[place.rows] = tiles
    assert result is not None
    return result, own


def _of_rows(frame: Frame, place: Place) -> Frame:
    return frame if place.rows is None else frame.narrowed(frame.rows[place.rows])


def _load_packed(footprint: Footprint, padding: Any) -> Tile:
    """4-bit elements, two in a byte, low half first."""
    assert footprint.offsets is not None and footprint.halves is not None
    assert footprint.mask is not None
    octets = footprint.allocation.octets.take(footprint.offsets, mode="clip")
    words = (octets >> (footprint.halves << 2)) & 15
    return np.where(footprint.mask, words.view(padding.dtype), padding)


def store_tiles(
    frame: Frame,
    ordering: Ordering,
    view: TiledView,
    index: tuple[Tile, ...],
    tile: Tile,
    token: int,
) -> int:
    """Store tiles into a view at an index. Returns the token of the store."""
    own = token
    for place in places(frame, ordering.op, view, index):
        rows = place.rows
        part = tile if rows is None or len(tile) == 1 else tile[rows]
        footprint = place.footprint
        some = _of_rows(frame, place)
        own |= ordering.note(some, footprint, token)
        if view.tensor.element.packed:
            _store_packed(footprint, part)
        else:
            store(footprint, view.tensor.element, _last(part, footprint))
    return own


def _last(tile: Tile, footprint: Footprint) -> Tile:
    """What stays of tiles that several blocks store into one place: the last block's."""
    return tile[-1:] if len(footprint.low) == 1 else tile


def _store_packed(footprint: Footprint, tile: Tile) -> None:
    assert footprint.offsets is not None and footprint.halves is not None
    octets = footprint.allocation.octets
    words = np.broadcast_to(_last(tile, footprint).view(np.uint8) & 15, footprint.offsets.shape)
    for half in (0, 1):
        chosen = footprint.mask & (footprint.halves == half)
        where = footprint.offsets[chosen]
        kept = octets[where] & np.uint8(15 << 4 * (1 - half))
        octets[where] = kept | words[chosen] << np.uint8(4 * half)


def inbounds_of(op: Operation) -> tuple[bool, ...]:
    """The dimensions along which an op says that its tile lies within the tensor."""
    attribute = op.properties.get("inbounds")
    return () if attribute is None else tuple(map(bool, attribute.get_values()))  # type: ignore[attr-defined]


def _load(op: Operation, _: Preparation) -> Step:
    assert isinstance(op, LoadViewTkoOp | MultimemLoadReduceViewTkoOp)
    ordering, count = Ordering(op, Kind.READ), len(op.index)

    def run(frame: Frame, view: TiledView, *rest: Any) -> tuple[Tile, int]:
        token = rest[count] if len(rest) > count else 0
        return load_tiles(frame, ordering, view, rest[:count], token)

    return acting(op, run)


def _store(op: Operation, _: Preparation) -> Step:
    assert isinstance(op, StoreViewTkoOp | MultimemStoreViewTkoOp)
    ordering = Ordering(op, Kind.WRITE)
    tile_value, view_value, indices, token_value = op.tile, op.view, tuple(op.index), op.token

    def run(frame: Frame, *_: Any) -> int:
        view: Any = frame[view_value]
        index: Any = tuple(frame[value] for value in indices)
        tile: Any = frame[tile_value]
        token: Any = 0 if token_value is None else frame[token_value]
        return store_tiles(frame, ordering, view, index, tile, token)

    return acting(op, run)


RULES: dict[str, Rule] = {
    "make_tensor_view": _make_tensor_view,
    "make_partition_view": _make_view,
    "make_strided_view": _make_view,
    "make_gather_scatter_view": _make_view,
    "get_tensor_shape": _tensor_shape,
    "get_index_space_shape": _index_space,
    "load_view_tko": _load,
    "store_view_tko": _store,
    # One device has one copy of a multicast object: its reduction is that copy.
    "multimem_load_reduce_view_tko": _load,
    "multimem_store_view_tko": _store,
}
