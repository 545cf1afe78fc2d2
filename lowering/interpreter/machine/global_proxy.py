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
    """A warp's fence: its threads, when it was, and what they knew then."""

    cluster: int
    lanes: frozenset[int]
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
            stamp = int(clocks.now(own)[0])
            cluster, known = self._order.known_by(own)
            there = frozenset((own % clocks.lanes).tolist())
            self._fences.append(ProxyFence(cluster, there, stamp, known))

    def unfenced(self, lane: int, writes: Row) -> BoolArray:
        """Which of these writes by threads have no fence between them and a thread's copy."""
        who, stamps, ops = writes
        actor, clusters = (who & LOCAL).astype(np.int32), who // (LOCAL + 1)
        open_ = (who >= 0) & (actor < COPIES) & ~np.isin(np.abs(ops), list(self.copies))
        cluster, mine = self._order.known_by(np.array([lane]))
        for fence in reversed(self._fences):
            if not open_.any():
                break
            when = np.array([min(fence.lanes)], np.int32), np.array([fence.stamp], np.int32)
            own = fence.cluster == cluster and lane % mine[cluster][0].lanes in fence.lanes
            if not own and not knows(mine, fence.cluster, *when).all():
                continue
            for of in np.unique(clusters[open_]).tolist():
                rows = np.flatnonzero(open_ & (clusters == of))
                seen = knows(fence.known, of, actor[rows], stamps[rows])
                open_[rows[seen]] = False
        return open_
