"""The last access to each unit of memory: who, when, and by which op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOBODY = -1
"""The one who has accessed a unit that nobody has."""

Row = tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32]]
"""Who, their clocks, and ops, of reductions negative: [accesses]."""


@dataclass(eq=False)
class LastAccesses:
    """By unit: the thread, or the copy (`Clocks.async_writer`), its stamp and its op, which of
    reductions is negative."""

    who: NDArray[Any]
    when: NDArray[np.int32]
    op: NDArray[np.int32]

    @classmethod
    def of(cls, units: int, dtype: type[np.signedinteger[Any]] = np.int64) -> LastAccesses:
        """Nobody has accessed anything."""
        nothing = np.zeros(units, dtype=np.int32)
        return cls(np.full(units, NOBODY, dtype=dtype), nothing, nothing.copy())

    def note(self, units: NDArray[np.int64], who: Any, when: Any, op: Any) -> None:
        """Units are accessed, [..., units]."""
        self.who[units], self.when[units], self.op[units] = who, when, op

    def at(self, units: NDArray[np.int64]) -> Row:
        """Those to some units."""
        return self.who[units], self.when[units], self.op[units]

    def divided(self, times: int) -> LastAccesses:
        """The accesses to units so many times as small."""
        return LastAccesses(*repeated((self.who, self.when, self.op), times))


def repeated(row: Row, times: int) -> Row:
    """Each access so many times."""
    who, when, op = row
    return np.repeat(who, times), np.repeat(when, times), np.repeat(op, times)


def chosen(row: Row, index: Any) -> Row:
    """Some of the accesses."""
    who, when, op = row
    return who[index], when[index], op[index]
