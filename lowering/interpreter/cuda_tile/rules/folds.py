"""Rules of `reduce` and `scan`: the region runs on whole slices.

The order is stated, since Tile IR leaves it open. `reduce` folds the upper half of the dimension
onto the lower one until one element is left; the lower one is the accumulator. `scan` goes
through the dimension index by index, beginning with the identity. The region's first argument is
the accumulator, as an H200 and tileiras 13.5 have it of functions that are not commutative.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute

from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp, ScanOp
from tilewright.dialects.integers import integer_of
from tilewright.lowering.interpreter.cuda_tile.blocks import (
    Preparation,
    Prepared,
    Step,
    acting,
    computing,
    gathered,
    run,
    runs,
    taking_poison,
)
from tilewright.lowering.interpreter.cuda_tile.elements import Element, Tile, element_of_tile
from tilewright.lowering.interpreter.cuda_tile.frame import Frame, TileGang
from tilewright.lowering.interpreter.cuda_tile.orderless_folds import in_any_order
from tilewright.lowering.interpreter.cuda_tile.poison import AnyTile, moved
from tilewright.lowering.interpreter.cuda_tile.values import Value, taken

Tiles = list[AnyTile]
Combine = Callable[[Frame, Tiles, Tiles], Tiles]
Binary = Callable[..., Tile]
_CACHED = 1 << 17
"""Elements that a cache holds with the halves that are made of them."""
_SHORT = 32
"""Below this many elements a slice is too short to be worth a call of NumPy each: the dimension
goes in front first."""


def _combination(body: Prepared) -> Combine:
    """The region as a function of accumulators and elements, both [blocks, ...]."""

    def pointwise(frame: Frame, accumulators: Tiles, elements: Tiles) -> Tiles:
        inner = Frame(frame.gang, frame.rows)
        return _run(body, inner, accumulators, elements)

    def lane_by_lane(frame: Frame, accumulators: Tiles, elements: Tiles) -> Tiles:
        # What the region takes from outside belongs to a block: every lane becomes a row.
        shape = np.broadcast_shapes(*(tile.shape for tile in (*accumulators, *elements)))
        shape = (frame.count, *shape[1:])
        lanes = int(np.prod(shape[1:]))
        gang = TileGang(frame.gang.machine, np.repeat(frame.blocks, lanes), frame.gang.order)
        inner = LaneFrame(gang, frame, np.repeat(np.arange(frame.count), lanes))

        def lanes_of(tile: Tile) -> Tile:
            return np.broadcast_to(tile, shape).reshape(-1)

        def tiles_of(flat: Tile) -> Tile:
            return np.broadcast_to(flat, inner.count).reshape(shape)

        flat = [[moved(lanes_of, tile) for tile in tiles] for tiles in (accumulators, elements)]
        return [moved(tiles_of, tile) for tile in _run(body, inner, *flat)]

    return pointwise if body.pointwise else lane_by_lane


class LaneFrame(Frame):
    """A frame whose rows are the lanes of an outer frame's tiles."""

    def __init__(self, gang: TileGang, outer: Frame, block_of_lane: Any):
        super().__init__(gang, np.arange(len(gang.blocks)))
        self._outer = outer
        self._block_of_lane = block_of_lane

    def value_of(self, key: int) -> Value:
        known = self.values.get(key)
        if known is None:
            known = self.values[key] = taken(self._outer.value_of(key), self._block_of_lane)
        return known


def _run(body: Prepared, inner: Frame, accumulators: Tiles, elements: Tiles) -> Tiles:
    pairs = zip(accumulators, elements, strict=True)
    for i, (accumulator, element) in enumerate(pairs):
        inner[body.arguments[2 * i]] = accumulator
        inner[body.arguments[2 * i + 1]] = element
    running = run(body, inner)
    try:
        while True:
            next(running)
    except StopIteration as stop:
        return list(gathered(stop.value)[1])  # type: ignore[arg-type]


@runs
def _reduce(op: ReduceOp, preparation: Preparation) -> Step:
    body = preparation.block(op.body.block)
    axis = 1 + integer_of(op.dim)
    single = _single_function(body)
    if single is not None:
        fold = partial(_folded_in_cache, single, axis=axis)
        return computing(op, in_any_order(body.steps[0].op, fold, axis) or fold)
    combine = _combination(body)

    def act(frame: Frame, *tiles: AnyTile) -> Any:
        results = _folded(lambda lower, upper: combine(frame, lower, upper), list(tiles), axis)
        return tuple(results) if len(tiles) > 1 else next(iter(results))

    return taking_poison(acting(op, act))


def _single_function(body: Prepared) -> Binary | None:
    """The region as a function of an accumulator and an element, where it is one operation."""
    if len(body.steps) != 1 or len(body.arguments) != 2 or not body.pointwise:
        return None
    step = body.steps[0]
    if step.compute is None or step.causes or body.leaving != step.results:
        return None
    compute = step.compute
    if step.operands == body.arguments:
        return compute
    if step.operands == body.arguments[::-1]:
        return partial(_exchanged, compute)
    return None


def _exchanged(function: Binary, accumulator: Tile, element: Tile) -> Tile:
    return function(element, accumulator)


def _folded_in_cache(function: Binary, tile: Tile, axis: int) -> Tile:
    """The fold of one tile, by pieces of which the halves stay in a cache: first along rows, as
    long as they are; then the dimension goes in front, and halves are whole."""
    shape = (*tile.shape[:axis], *tile.shape[axis + 1 :])
    size, inner = tile.shape[axis], int(np.prod(tile.shape[axis + 1 :]))
    rows = tile.reshape(-1, size, inner)
    short = size
    while short > 1 and short * inner > _SHORT:
        short //= 2
    folded = np.empty((len(rows), short, inner), tile.dtype)
    count = max(1, _CACHED // (size * inner))
    halved = _halved_in_one if isinstance(function, np.ufunc) else _halved
    for begin in range(0, len(rows) if short < size else 0, count):
        part = halved(function, rows[begin : begin + count])
        while part.shape[1] > short:
            part = _halved(function, part)
        folded[begin : begin + count] = part
    columns = np.moveaxis(folded if short < size else rows, 1, 0).reshape(short, -1)
    while len(columns) > 1:
        half = len(columns) // 2
        columns = function(columns[:half], columns[half:])
    return columns.reshape(shape)


def _halved(function: Binary, rows: Tile) -> Tile:
    """The upper halves of rows on the lower ones."""
    half = rows.shape[1] // 2
    return function(rows[:, :half], rows[:, half:])


def _halved_in_one(function: Binary, rows: Tile) -> Tile:
    """`_halved` of rows that lie one behind another, in one pass from end to end: what the second
    halves of its rows hold belongs to nothing, and still is cheaper than a pass for every row."""
    half = rows.shape[1] // 2
    distance, flat = half * rows.shape[2], rows.reshape(-1)
    sums = np.empty_like(flat)
    function(flat[:-distance], flat[distance:], out=sums[:-distance])
    return sums.reshape(rows.shape)[:, :half]


def _folded(combine: Callable[[Tiles, Tiles], Tiles], folded: Tiles, axis: int) -> Tiles:
    """Tiles folded along an axis, upper halves onto lower ones."""
    while folded[0].shape[axis] > 1:
        size = folded[0].shape[axis]
        if axis > 1 and size <= _SHORT:
            folded = [moved(partial(_in_front, axis=axis), tile) for tile in folded]
            axis = 1
        lower = [_part(tile, axis, slice(0, size // 2)) for tile in folded]
        upper = [_part(tile, axis, slice(size // 2, size)) for tile in folded]
        folded = combine(lower, upper)
    return [_part(tile, axis, 0) for tile in folded]


def _in_front(tile: Tile, axis: int) -> Tile:
    return np.ascontiguousarray(np.moveaxis(tile, axis, 1))


def _part(tile: AnyTile, axis: int, part: slice | int) -> AnyTile:
    def cut(whole: Tile) -> Tile:
        return whole[(slice(None),) * axis + (part,)]

    return moved(cut, tile)


@runs
def _scan(op: ScanOp, preparation: Preparation) -> Step:
    combine = _combination(preparation.block(op.body.block))
    axis, backwards = 1 + integer_of(op.dim), bool(integer_of(op.reverse))
    identities = identities_of(
        op.identities, [element_of_tile(operand.type) for operand in op.operands]
    )

    def stacked(*slices: Tile) -> Tile:
        return np.stack(slices, axis)

    def act(frame: Frame, *tiles: AnyTile) -> Any:
        # What all blocks have alike may be there once.
        shape = np.broadcast_shapes(*(tile.shape for tile in tiles))
        alike = [moved(partial(np.broadcast_to, shape=shape), tile) for tile in tiles]
        slice_shape = (*shape[:axis], *shape[axis + 1 :])
        before: Tiles = [np.broadcast_to(identity, slice_shape) for identity in identities]
        scanned: list[Tiles] = []
        for i in reversed(range(shape[axis])) if backwards else range(shape[axis]):
            before = combine(frame, before, [_part(tile, axis, i) for tile in alike])
            scanned.append(before)
        in_order = scanned[::-1] if backwards else scanned
        results = [moved(stacked, *parts) for parts in zip(*in_order, strict=True)]
        return tuple(results) if len(tiles) > 1 else next(iter(results))

    return taking_poison(acting(op, act))


def identities_of(attribute: Attribute, elements: list[Element]) -> list[Tile]:
    """The identities of a fold, one number of each element type."""
    numbers: Any = attribute
    assert isinstance(attribute, ArrayAttr)
    return [
        np.asarray(number.value.data).astype(element.dtype)
        for number, element in zip(numbers.data, elements, strict=True)
    ]
