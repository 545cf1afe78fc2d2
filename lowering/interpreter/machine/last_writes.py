"""The last write to each unit of shared memory: who wrote, when, and by which op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(eq=False)
class LastWrites:
    """By unit: the thread, or the copy (`Clocks.async_writer`), its stamp and its op."""

    writer: NDArray[np.int32]
    stamp: NDArray[np.int32]
    op: NDArray[np.int32]

    def note(self, units: NDArray[np.int64], writer: Any, stamp: Any, op: int) -> None:
        """Units are written, [..., units]."""
        self.writer[units], self.stamp[units], self.op[units] = writer, stamp, op

    def divided(self, times: int) -> LastWrites:
        """The writes to units so many times as small."""
        return LastWrites(*(np.repeat(a, times) for a in (self.writer, self.stamp, self.op)))

    def copy(self) -> LastWrites:
        """The writes as they are now."""
        return self.divided(1)
