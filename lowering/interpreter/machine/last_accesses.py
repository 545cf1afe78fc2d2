"""The last access to each unit of memory: who, when, and by which op."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.dialects.frozen import entity
from tilewright.lowering.interpreter.array_types import AnyArray, Int32Array, Int64Array

NOBODY = -1
"""The one who has accessed a unit that nobody has."""

Row = tuple[AnyArray, Int32Array, Int32Array]
"""Who, their clocks, and ops, of reductions negative: [accesses]."""


@entity
class LastAccesses:
    """By unit: the thread, or the copy (`Clocks.async_writer`), its stamp and its op, which of
    reductions is negative."""

    who: AnyArray
    when: Int32Array
    op: Int32Array

    @classmethod
    def of(cls, units: int, dtype: type[np.signedinteger[Any]] = np.int64) -> LastAccesses:
        """Nobody has accessed anything."""
        nothing = np.zeros(units, dtype=np.int32)
        return cls(np.full(units, NOBODY, dtype=dtype), nothing, nothing.copy())

    def note(self, units: Int64Array, who: Any, when: Any, op: Any) -> None:
        """Units are accessed, [..., units]."""
        self.who[units], self.when[units], self.op[units] = who, when, op

    def at(self, units: Int64Array) -> Row:
        """Those to some units."""
        return self.who[units], self.when[units], self.op[units]

    def divided(self, times: int) -> LastAccesses:
        """The accesses to units so many times as small."""
        return LastAccesses(*repeated((self.who, self.when, self.op), times))


class LastReads:
    """The last read of each place, by its epoch, 0 for none, and its op."""

    def __init__(self, places: int):
        self.epochs = np.zeros(places, dtype=np.int32)
        self.ops = np.zeros(places, dtype=np.int32)

    def note(self, places: Int64Array, epoch: int, op: int) -> None:
        """Places are read."""
        self.epochs[places], self.ops[places] = epoch, op


def repeated(row: Row, times: int) -> Row:
    """Each access so many times."""
    who, when, op = row
    return np.repeat(who, times), np.repeat(when, times), np.repeat(op, times)


def chosen(row: Row, index: Any) -> Row:
    """Some of the accesses."""
    who, when, op = row
    return who[index], when[index], op[index]
