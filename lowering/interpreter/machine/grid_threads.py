"""The threads of a wave among those of the grid: their numbers there, and whose accesses to global
memory each of them knows of. Clusters know of each other by strong accesses alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.dialects.frozen import entity
from tilewright.lowering.interpreter.array_types import BoolArray, Int32Array, Int64Array
from tilewright.lowering.interpreter.machine.atomic_order import AtomicOrder
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.last_accesses import Row
from tilewright.lowering.interpreter.machine.word_accesses import COPIES, LOCAL
from tilewright.lowering.interpreter.values import Lanes

STRONG = {"read": "acquire.gpu", "write": "release.gpu"}
"""The order between CTAs that an access makes which is none."""


@entity
class GridThreads:
    """Those of a wave whose first CTA has that number in the grid, of CTAs of `slots` thread slots
    in clusters of so many."""

    _first: int
    _slots: int
    _cluster: int
    _clocks: Clocks
    _order: AtomicOrder

    def who(self, lanes: Any) -> Any:
        """The numbers of threads in the grid: of their cluster and, within it, of their own."""
        cluster, local = np.divmod(lanes, self._slots * self._cluster)
        return (self._first // self._cluster + cluster) * (LOCAL + 1) + local

    def ctas_of(self, who: Any) -> Any:
        """The CTAs of some threads, in the grid."""
        return who // (LOCAL + 1) * self._cluster + (who & LOCAL) // self._slots

    def stamp(self, lanes: Lanes) -> tuple[Int64Array, Int32Array]:
        """Who some threads are, and their clocks: [threads, 1]."""
        return self.who(lanes)[:, None], self._clocks.now(lanes)[:, None]

    def named(self, lane: int, other: int) -> str:
        """A thread of the grid, as one of the wave says it."""
        if self.ctas_of(other) == self.ctas_of(self.who(lane)):
            return f"thread {(other & LOCAL) % self._slots}"
        return "another CTA"

    def known(self, lanes: Lanes, accesses: Row, *, writes: bool) -> BoolArray:
        """True where a thread each knows of an access."""
        clusters, actors, stamps = _parts(accesses)
        known = np.zeros(len(lanes), dtype=np.bool_)
        near = clusters == self.who(lanes) // (LOCAL + 1)
        known[near] = self._clocks.happened(
            self._clocks.seen[lanes[near]], actors[near, None], stamps[near, None], writes=writes
        )[:, 0]
        if self._order.is_used:
            pairs = zip(lanes[~near].tolist(), clusters[~near].tolist(), strict=True)
            for lane, cluster in set(pairs):
                mine = ~near & (lanes == lane) & (clusters == cluster)
                known[mine] = self._order.happened(lane, cluster, actors[mine], stamps[mine])
        return known

    def missing(
        self, lane: int, access: Row, op: int, verbs: tuple[str, str]
    ) -> tuple[tuple[str, int], ...]:
        """The fewest releases and acquires, by op, that would let a thread's op know of one access
        before it, or be strong beside it; `verbs` are what both do."""
        clusters, actors, stamps = _parts(access)
        both = {op: verbs[0], int(access[2][0]): verbs[1]}
        weak = {number: verb for number, verb in both.items() if number >= 0}
        if not weak:
            return tuple(("the scope gpu", -n) for n in both if -n in self._order.widths)
        if len(weak) < len(both):
            return tuple((STRONG[verb], number) for number, verb in weak.items())
        return self._order.missing(lane, int(clusters[0]), actors, stamps)


def _parts(accesses: Row) -> tuple[Int64Array, Int32Array, Int32Array]:
    """The clusters of accesses, who did them there, a thread or a copy, and when."""
    who, stamps, _ = accesses
    local = who & LOCAL
    actors = np.where(local < COPIES, local, Clocks.async_writer(0) + COPIES - local)
    return who // (LOCAL + 1), actors.astype(np.int32), stamps
