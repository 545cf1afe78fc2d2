"""Fences between what threads wrote to global memory and what other proxies do there. PTX ISA,
memory consistency model, proxies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import BoolArray
from tilewright.lowering.interpreter.machine.atomic_order import AtomicOrder, Elsewhere, knows
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.last_accesses import Row
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.machine.word_accesses import COPIES, LOCAL
from tilewright.lowering.interpreter.values import Bits, Lanes


class ProxyFence(NamedTuple):
    """A warp's fence: its threads, when it was, what they knew then, and how many releases of
    tensor maps there had been."""

    cluster: int
    lanes: frozenset[int]
    stamp: int
    known: Elsewhere
    releases: int


@entity
class FenceLog:
    """The fences of one kind in a launch."""

    _order: AtomicOrder
    _fences: list[ProxyFence] = factory(list)

    def __len__(self) -> int:
        return len(self._fences)

    def fence(self, lanes: Lanes, clocks: Clocks, releases: int = 0) -> None:
        """Threads execute a fence."""
        for warp in np.unique(lanes // WARP).tolist():
            own = lanes[lanes // WARP == warp]
            stamp = int(clocks.now(own)[0])
            cluster, known = self._order.known_by(own)
            there = frozenset((own % clocks.lanes).tolist())
            self._fences.append(ProxyFence(cluster, there, stamp, known, releases))

    def before(self, lane: int) -> Iterator[ProxyFence]:
        """Those that a thread has executed or knows of, last first."""
        cluster, known = self._order.known_by(np.array([lane]))
        yield from self.within(cluster, {lane % known[cluster][0].lanes}, known, len(self))

    def within(
        self, cluster: int, lanes: Collection[int], known: Elsewhere, count: int
    ) -> Iterator[ProxyFence]:
        """Those of the first so many that threads of a cluster have executed or know of."""
        for fence in reversed(self._fences[:count]):
            when = np.array([min(fence.lanes)], np.int32), np.array([fence.stamp], np.int32)
            own = fence.cluster == cluster and not fence.lanes.isdisjoint(lanes)
            if own or knows(known, fence.cluster, *when).all():
                yield fence


class OpenWrites:
    """Writes by threads, but for some ops; `rows` are those that no fence is known behind yet."""

    def __init__(self, writes: Row, but: Collection[int] = ()):
        who, self._stamps, ops = writes
        self._actor, self._clusters = (who & LOCAL).astype(np.int32), who // (LOCAL + 1)
        of_threads = (who >= 0) & (self._actor < COPIES)
        self.rows: BoolArray = of_threads & ~np.isin(np.abs(ops), list(but))

    def behind(self, fences: Iterable[ProxyFence]) -> BoolArray:
        """Those that none of some fences' threads knew of."""
        if self.rows.any():
            for fence in fences:
                self._close(fence.known)
                if not self.rows.any():
                    break
        return self.rows

    def _close(self, known: Elsewhere) -> None:
        for of in np.unique(self._clusters[self.rows]).tolist():
            rows = np.flatnonzero(self.rows & (self._clusters == of))
            seen = knows(known, of, self._actor[rows], self._stamps[rows])
            self.rows[rows[seen]] = False


class GlobalProxyFences:
    """Between writes and what the async proxy does: a `fence.proxy.async` on the way, whoever
    executes it."""

    missing = "fence.proxy.async between; nearest legal: one in the thread that wrote"
    """The fence that there should be."""

    def __init__(self, order: AtomicOrder):
        self._log = FenceLog(order)
        self.fence = self._log.fence
        self.copies: set[int] = set()
        """The ops of what the async proxy wrote itself."""

    def unfenced(self, lane: int, writes: Row) -> BoolArray:
        """Which of these writes by threads have no fence between them and a thread's copy."""
        return OpenWrites(writes, self.copies).behind(self._log.before(lane))


class MapFences:
    """Between writes of a tensor map in memory and copies by it: a release, and behind that an
    acquire at its address, whoever executes them."""

    def __init__(self, order: AtomicOrder, releases: FenceLog):
        self._releases, self.acquires = releases, FenceLog(order)

    @property
    def missing(self) -> str:
        """The fences that there should be."""
        what = "release, and an acquire behind it," if self.acquires else "acquire of its address"
        return f"fence.proxy.tensormap::generic.{what} between"

    def unfenced(self, lane: int, writes: Row) -> BoolArray:
        """Which of these writes by threads are not shown to a thread's copy."""
        return OpenWrites(writes).behind(
            release
            for acquire in self.acquires.before(lane)
            for release in self._releases.within(
                acquire.cluster, acquire.lanes, acquire.known, acquire.releases
            )
        )


Fences = GlobalProxyFences | MapFences


class TensorMapFences:
    """The fences of a launch, of those that wait for writes of tensor maps."""

    def __init__(self, order: AtomicOrder):
        self._order, self._releases = order, FenceLog(order)
        self.release = self._releases.fence
        self._maps: dict[int, MapFences] = {}

    def at(self, address: int) -> MapFences:
        """Those of the map at an address."""
        return self._maps.setdefault(address, MapFences(self._order, self._releases))

    def acquire(self, lanes: Lanes, addresses: Bits, clocks: Clocks) -> None:
        """Threads execute an acquire of the maps at some addresses."""
        for address in np.unique(addresses).tolist():
            own = lanes[addresses == address]
            self.at(address).acquires.fence(own, clocks, len(self._releases))
