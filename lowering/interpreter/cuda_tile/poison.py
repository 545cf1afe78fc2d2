"""Poison: elements of tiles that Tile IR leaves undefined.

A tile that has some travels as `Poisoned`, with a mark on each. Marks go where elements go
(rules/poison_flow.py); where elements take effect (a store, a branch, an index, an address) they
have to be `determined`. A tile without poison is a plain array, and costs nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.dialects.frozen import frozen, frozen_entity
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array
from tilewright.lowering.interpreter.cuda_tile.elements import Tile
from tilewright.lowering.interpreter.errors import Fault

Marks: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""For each element of a tile 0, or the number of its origin, from 1. Of the tile's rank; the extent
is 1 along dimensions where all are alike."""
Rows: TypeAlias = Int64Array
"""Which blocks of a gang, ascending."""
Touched: TypeAlias = Callable[[Rows | None], BoolArray | None]
"""Which elements of tiles an access touches, in some rows or all: an array that broadcasts to them,
or None for every element."""


_BUT_FOR = "a padding value, or a `select` without it"
PADDING = ("undetermined padding", _BUT_FOR)
MASKED = ("what a mask leaves out", _BUT_FOR)
UNINITIALIZED = ("memory that nothing has written", "a store before the load")
"""Elements that loads leave undefined, and the nearest that is legal."""


@frozen
class Origin:
    """An op that leaves elements of its result undefined. `words` say what they are and `nearest`
    what is legal; without it the op itself is at fault, and words say what it expected and got."""

    op: Operation
    words: str
    nearest: str | None


@final
@frozen_entity
class Poisoned:
    """A tile [blocks or 1, ...], the `rows` of it that have poison, ascending, and their marks."""

    tile: Tile
    marks: Marks
    rows: Rows

    def __len__(self) -> int:
        return len(self.tile)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tile."""
        return self.tile.shape

    def take(self, rows: Rows) -> Tile | Poisoned:
        """The tile of some blocks."""
        if len(self.tile) == 1:
            return self
        places = np.full(len(self.tile), -1)
        places[self.rows] = np.arange(len(self.rows))
        places = places[rows]
        poisoned = np.flatnonzero(places >= 0)
        tile = self.tile[rows]
        return Poisoned(tile, self.marks[places[poisoned]], poisoned) if len(poisoned) else tile


class UndefinedUse(Fault):
    """Poison that takes effect: an element at an index of its tile, of the origin of a number."""

    def __init__(self, use: str, origin: int, row: int | None, index: Sequence[int]):
        super().__init__(use, row)
        self.use, self.origin, self.index = use, origin, tuple(index)

    def among(self, rows: Rows) -> UndefinedUse:
        """The same in a tile that these are some rows of."""
        row = None if self.lane is None else int(rows[self.lane])
        return UndefinedUse(self.use, self.origin, row, self.index)


def marked(undefined: BoolArray, origin: int) -> Marks:
    """The marks of elements that are undefined for one reason."""
    number = np.min_scalar_type(origin).type(origin)
    return undefined.view(np.uint8) * number


AnyTile: TypeAlias = Tile | Poisoned


def with_marks(tile: Tile, marks: Marks | None, rows: Rows | None = None) -> AnyTile:
    """A tile with the marks of its rows, or of some of them."""
    if marks is None:
        return tile
    poisoned = marks.any(axis=tuple(range(1, marks.ndim)))
    if not poisoned.any():
        return tile
    if rows is None:
        tile = tile if len(tile) >= len(marks) else np.repeat(tile, len(marks), axis=0)
        rows = np.arange(len(tile))
    if len(marks) < len(rows):
        marks = np.broadcast_to(marks, (len(rows), *marks.shape[1:]))
    elif not poisoned.all():
        marks, rows = marks[poisoned], rows[poisoned]
    return Poisoned(tile, marks, rows)


def tile_of(value: AnyTile) -> Tile:
    """The tile without its marks."""
    return value.tile if isinstance(value, Poisoned) else value


def marks_of(value: AnyTile) -> Marks:
    """The marks of a tile, of all rows."""
    if not isinstance(value, Poisoned):
        return np.zeros((1,) * value.ndim, np.uint8)
    if len(value.rows) == len(value.tile):
        return value.marks
    marks = np.zeros((len(value.tile), *value.marks.shape[1:]), value.marks.dtype)
    marks[value.rows] = value.marks
    return marks


def whole_marks(*values: AnyTile) -> list[Marks]:
    """The marks of tiles, in their shapes and of one dtype."""
    marks = [marks_of(value) for value in values]
    dtype = np.result_type(*marks)
    return [
        np.broadcast_to(mark.astype(dtype, copy=False), value.shape)
        for mark, value in zip(marks, values, strict=True)
    ]


def united(marks: Iterable[Marks]) -> Marks:
    """The marks of elements that are undefined where any of some others is."""
    first, *rest = marks
    for more in rest:
        if more is not first:
            first = np.maximum(first, more)
    return first


def thin(tile: Tile) -> Tile:
    """A tile with extent 1 along the dimensions that repeat one element in memory."""
    if 0 not in tile.strides:
        return tile
    return tile[tuple(slice(None) if step else slice(0, 1) for step in tile.strides)]


def moved(move: Callable[..., Tile], *values: AnyTile) -> Any:
    """The result of a movement of elements, with the marks moved alike."""
    tile = move(*map(tile_of, values))
    if Poisoned not in map(type, values):
        return tile
    return with_marks(tile, thin(move(*whole_marks(*values))))


def any_of(tile: Tile, *operands: AnyTile) -> AnyTile:
    """A tile whose elements have the poison of the operands' elements there."""
    poisoned = [operand for operand in operands if isinstance(operand, Poisoned)]
    first, *rest = poisoned
    rows = first.rows
    alike = all(more.rows is rows or np.array_equal(more.rows, rows) for more in rest)
    if alike and all(len(operand) == len(tile) for operand in poisoned):
        return Poisoned(tile, united(operand.marks for operand in poisoned), rows)
    rows, parts = _in_poisoned_rows(poisoned, len(tile))
    return with_marks(tile, united(map(marks_of, parts)), rows)


def in_poisoned_rows(marks: Callable[..., Marks]) -> Callable[..., AnyTile]:
    """A tile with the marks that a function gives of operands, of which it gets the rows alone in
    which any has poison, with marks of each of these rows."""

    def carry(tile: Tile, *operands: AnyTile) -> AnyTile:
        rows, parts = _in_poisoned_rows(operands, len(tile))
        try:
            return with_marks(tile, marks(*parts), rows)
        except UndefinedUse as fault:
            raise fault.among(rows) from None

    return carry


def _in_poisoned_rows(operands: Sequence[AnyTile], count: int) -> tuple[Rows, list[AnyTile]]:
    poisoned = [operand for operand in operands if isinstance(operand, Poisoned)]
    if any(len(operand) < count for operand in poisoned):
        rows = np.arange(count)
    else:
        rows = np.unique(np.concatenate([operand.rows for operand in poisoned]))
    return rows, [_in_rows(operand, rows) for operand in operands]


def _in_rows(operand: AnyTile, rows: Rows) -> AnyTile:
    if len(operand) == 1:
        return operand
    if isinstance(operand, Poisoned):
        some = operand.take(rows) if len(rows) < len(operand) else operand
        return Poisoned(tile_of(some), marks_of(some), np.arange(len(rows)))
    return operand[rows] if len(rows) < len(operand) else operand


def of_rows(mask: BoolArray | None) -> Touched:
    """A mask [blocks or 1, ...] by rows."""
    return lambda rows: mask if mask is None or rows is None or len(mask) == 1 else mask[rows]


def determined(value: Any, use: str, touched: Touched | None = None) -> Any:
    """A tile whose elements, those that are touched, take effect. Raises `UndefinedUse`."""
    if not isinstance(value, Poisoned):
        return value
    rows = value.rows if len(value) > 1 else None
    inside = None if touched is None else touched(rows)
    marks = value.marks if inside is None else value.marks * inside
    if marks.any():
        number, *index = (int(axis) for axis in np.argwhere(marks)[0])
        row = number if rows is None else int(rows[number])
        several = rows is not None or len(marks) > 1
        raise UndefinedUse(use, int(marks[(number, *index)]), row if several else None, index)
    return value.tile
