"""Gangs of blocks that run together, and the frames that hold their values.

A gang is some blocks of the grid. Where control flow takes them apart, frames narrow to the rows
that go on; a frame finds a value of its parent's and takes its own rows of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.cuda_tile.footprints import Footprint
from tilewright.lowering.interpreter.cuda_tile.machine import TileMachine
from tilewright.lowering.interpreter.cuda_tile.token_order import TokenOrder
from tilewright.lowering.interpreter.cuda_tile.values import Rows, Value, taken


@entity
class TileGang:
    """Blocks of a grid, by their number (x fastest), that run as rows of the same arrays."""

    machine: TileMachine
    blocks: Rows
    order: TokenOrder
    stands: list[tuple[Operation, Frame]] = factory(list)
    """Once it was interrupted: the ops that it was at, the innermost first."""
    poll: tuple[Operation, Frame, Footprint] | None = None
    """Its last access of what other blocks may write meanwhile."""


class Frame:
    """Values of some rows of a gang."""

    def __init__(self, gang: TileGang, rows: Rows, parent: Frame | None = None):
        self.gang = gang
        self.rows = rows
        self.values: dict[int, Value] = {}
        self.parent = parent
        self._taken: Rows | None = None
        if parent is not None and parent.rows is not rows:
            self._taken = np.searchsorted(parent.rows, rows)
        self._blocks: Rows | None = None

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return len(self.rows)

    @property
    def blocks(self) -> Rows:
        """The numbers of the blocks, the same array at every call."""
        if self._blocks is None:
            if len(self.rows) == len(self.gang.blocks):
                self._blocks = self.gang.blocks
            else:
                self._blocks = self.gang.blocks[self.rows]
        return self._blocks

    def __getitem__(self, value: SSAValue) -> Value:
        return self.value_of(id(value))

    def __setitem__(self, value: SSAValue, content: Value) -> None:
        self.values[id(value)] = content

    def value_of(self, key: int) -> Value:
        """The content of the value of an `id` (SSA values are slow keys)."""
        known = self.values.get(key)
        if known is None:
            assert self.parent is not None, "a value is defined before it is used"
            known = self.parent.value_of(key)
            if self._taken is not None:
                known = self.values[key] = taken(known, self._taken)
        return known

    def optional(self, value: SSAValue | None, otherwise: Any = None) -> Any:
        """The content of a value that an op may lack."""
        return otherwise if value is None else self[value]

    def inner(self) -> Frame:
        """A frame of the same rows, for a region."""
        return Frame(self.gang, self.rows, self)

    def narrowed(self, rows: Rows) -> Frame:
        """A frame of some of the rows; this one if they are all."""
        return self if len(rows) == self.count else Frame(self.gang, rows, self)
