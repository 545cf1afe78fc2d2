"""How poison goes through ops that are functions of their operands: the marks of results.

An op without a row needs operands that are determined: what makes views of them.
"""

from collections.abc import Callable

import numpy as np

from tilewright.dialects.cuda_tile.ops import OPS
from tilewright.dialects.cuda_tile.ops.scalar_programs import LibdeviceOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.integers import integer_of
from tilewright.lowering.interpreter.cuda_tile.blocks import Carry, Step, carries
from tilewright.lowering.interpreter.cuda_tile.elements import as_signed
from tilewright.lowering.interpreter.cuda_tile.poison import (
    AnyTile,
    Marks,
    Poisoned,
    any_of,
    determined,
    in_poisoned_rows,
    marks_of,
    thin,
    tile_of,
    united,
    whole_marks,
)
from tilewright.lowering.interpreter.cuda_tile.rules.pointwise import POINTWISE

Operand = AnyTile


@in_poisoned_rows
def _select(condition: Operand, x: Operand, y: Operand) -> Marks:
    chosen = np.where(thin(tile_of(condition)), marks_of(x), marks_of(y))
    return united([marks_of(condition), chosen]) if isinstance(condition, Poisoned) else chosen


def _but_for(absorbing: int) -> Carry:
    """As `any_of`, but for an element that alone says the result: 0 of `andi`, -1 of `ori`."""

    @in_poisoned_rows
    def carry(x: Operand, y: Operand) -> Marks:
        marks = united([marks_of(x), marks_of(y)])
        for operand in (x, y):
            says = (as_signed(tile_of(operand)) == absorbing) & (marks_of(operand) == 0)
            marks = np.where(says, 0, marks)
        return marks

    return carry


def _moving(data: int) -> Callable[[Step], Carry]:
    """Elements of the first operands move, their marks alike, as the others say."""

    def make(step: Step) -> Carry:
        move = step.compute
        assert move is not None

        @in_poisoned_rows
        def carry(*operands: Operand) -> Marks:
            indices = [determined(index, "indices") for index in operands[data:]]
            return thin(move(*whole_marks(*operands[:data]), *indices))

        return carry

    return make


def _repacking(step: Step) -> Carry:
    """Each byte has the poison of its elements, each element that of its bytes."""
    type_ = step.results[0].type
    assert isinstance(type_, TileType)
    count = type_.elements

    @in_poisoned_rows
    def carry(x: Operand) -> Marks:
        (marks,) = whole_marks(x)
        size = marks.shape[1]
        if count >= size:
            return np.repeat(marks, count // size, axis=1)
        return marks.reshape(len(marks), count, size // count).max(axis=2)

    return carry


def _folding(step: Step) -> Carry:
    axis = 1 + integer_of(step.op.properties["dim"])

    @in_poisoned_rows
    def carry(x: Operand) -> Marks:
        return marks_of(x).max(axis=axis)

    return carry


@in_poisoned_rows
def _multiplying(x: Operand, y: Operand, z: Operand, *scales: Operand) -> Marks:
    """A row of poison in the left factor, or its scales, is one in the product; a column so."""
    parts = [z.marks] if isinstance(z, Poisoned) else []
    for axis, factors in ((-1, (x, *scales[:1])), (-2, (y, *scales[1:]))):
        parts.extend(
            factor.marks.max(axis=axis, keepdims=True)
            for factor in factors
            if isinstance(factor, Poisoned)
        )
    return united(parts)


_ROWS: dict[str, Callable[[Step], Carry]] = {
    **{op.name.removeprefix("cuda_tile."): lambda _: any_of for op in POINTWISE},
    "select": lambda _: _select,
    "andi": lambda _: _but_for(0),
    "ori": lambda _: _but_for(-1),
    "reshape": _moving(1),
    "broadcast": _moving(1),
    "permute": _moving(1),
    "cat": _moving(2),
    "extract": _moving(1),
    "insert": _moving(2),
    "pack": _repacking,
    "unpack": _repacking,
    "reduce": _folding,
    "mmaf": lambda _: _multiplying,
    "mmai": lambda _: _multiplying,
    "mmaf_scaled": lambda _: _multiplying,
}
for _op in (*OPS, LibdeviceOp):
    if (_row := _ROWS.get(_op.name.removeprefix("cuda_tile."))) is not None:
        carries(_op)(_row)
