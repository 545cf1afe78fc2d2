"""Vector clocks: which warp's accesses happened before what another does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class Clocks:
    """Vector clocks: `seen[w, v]` is what warp w (of the wave) knows of warp v (of its CTA).

    An access is stamped with its warp's own clock. It happened before what warp w does now where
    its stamp is below `seen[w, v]`.
    """

    warps: int
    seen: NDArray[np.int32]

    @classmethod
    def of(cls, ctas: int, warps: int) -> Clocks:
        """Clocks of a wave of CTAs of `warps` warps: everyone starts at 1 and knows nobody."""
        seen = np.zeros((ctas * warps, warps), dtype=np.int32)
        seen[np.arange(ctas * warps), np.arange(ctas * warps) % warps] = 1
        return cls(warps, seen)

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
        self.seen[warp] = np.maximum(self.seen[warp], known)
