"""Vector clocks: which warp's accesses happened before what another does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class Clocks:
    """Vector clocks: `seen[w, v]` is what warp w (of the wave) knows of warp v (of its CTA).

    An access is stamped with its warp's own clock. It happened before what warp w does now where
    its stamp is below `seen[w, v]`. Columns above those of warps are those of mbarriers: how many
    of its phases are known to be complete.
    """

    warps: int
    seen: NDArray[np.int32]

    @classmethod
    def of(cls, ctas: int, warps: int) -> Clocks:
        """Clocks of a wave of CTAs of `warps` warps: everyone starts at 1 and knows nobody."""
        seen = np.zeros((ctas * warps, warps), dtype=np.int32)
        seen[np.arange(ctas * warps), np.arange(ctas * warps) % warps] = 1
        return cls(warps, seen)

    def add_column(self) -> int:
        """A column for a new mbarrier, of which nobody knows a phase."""
        self.seen = np.pad(self.seen, ((0, 0), (0, 1)))
        return self.seen.shape[1] - 1

    def columns(self, writer: NDArray[np.int32]) -> NDArray[np.int32]:
        """The column of each writer: a thread's warp, or (see `async_writer`) an mbarrier."""
        return np.where(writer >= 0, writer // 32 % self.warps, -2 - writer)

    @staticmethod
    def async_writer(column: int) -> int:
        """What stands for a copy that an mbarrier completes where a thread's number would."""
        return -2 - column

    def now(self, warp: NDArray[np.int64]) -> NDArray[np.int32]:
        """The stamp of an access by these warps."""
        return self.seen[warp, warp % self.warps]

    def release(self, warp: NDArray[np.int64]) -> None:
        """End an interval: what these warps did so far is before whatever learns of it."""
        self.seen[warp, warp % self.warps] += 1

    def known(self, warp: NDArray[np.int64]) -> NDArray[np.int32]:
        """What these warps of one CTA know together."""
        return self.seen[warp].max(axis=0)

    def learn(self, warp: NDArray[np.int64], known: NDArray[np.int32]) -> None:
        """What is known at a barrier becomes known to the warps that waited there."""
        width = len(known)
        self.seen[warp, :width] = np.maximum(self.seen[warp, :width], known)


def together(a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.int32]:
    """What is known from two places; later columns may be missing in one."""
    short, long = sorted((a, b), key=len)
    result = long.copy()
    result[: len(short)] = np.maximum(result[: len(short)], short)
    return result
