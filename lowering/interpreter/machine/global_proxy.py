"""Fences between what threads wrote to global memory and what the async proxy does there: a
`fence.proxy.async` on the way, whoever executes it. PTX ISA, memory consistency model, proxies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tilewright.lowering.interpreter.array_types import BoolArray
from tilewright.lowering.interpreter.machine.atomic_order import AtomicOrder, Elsewhere, knows
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.last_accesses import Row
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.machine.word_accesses import COPIES, LOCAL
from tilewright.lowering.interpreter.values import Lanes


class ProxyFence(NamedTuple):
    """A warp's fence: a thread of it, when it was, and what its threads knew then."""

    cluster: int
    lane: int
    stamp: int
    known: Elsewhere


class GlobalProxyFences:
    """The fences of a launch, of those that wait for writes to global memory."""

    def __init__(self, order: AtomicOrder):
        self._order = order
        self._fences: list[ProxyFence] = []
        self.copies: set[int] = set()
        """The ops of what the async proxy wrote itself."""

    def fence(self, lanes: Lanes, clocks: Clocks) -> None:
        """Threads execute a fence."""
        for warp in np.unique(lanes // WARP).tolist():
            own = lanes[lanes // WARP == warp]
            lane, stamp = int(own[0]), int(clocks.now(own)[0])
            cluster, known = self._order.known_by(own)
            self._fences.append(ProxyFence(cluster, lane % clocks.lanes, stamp, known))

    def unfenced(self, lane: int, writes: Row) -> BoolArray:
        """Which of these writes by threads have no fence between them and a thread's copy."""
        who, stamps, ops = writes
        actor, clusters = (who & LOCAL).astype(np.int32), who // (LOCAL + 1)
        open_ = (who >= 0) & (actor < COPIES) & ~np.isin(np.abs(ops), list(self.copies))
        _, mine = self._order.known_by(np.array([lane]))
        for fence in reversed(self._fences):
            if not open_.any():
                break
            when = np.array([fence.lane], np.int32), np.array([fence.stamp], np.int32)
            if not knows(mine, fence.cluster, *when).all():
                continue
            for cluster in np.unique(clusters[open_]).tolist():
                rows = np.flatnonzero(open_ & (clusters == cluster))
                seen = knows(fence.known, cluster, actor[rows], stamps[rows])
                open_[rows[seen]] = False
        return open_
