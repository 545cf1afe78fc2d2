"""The knowledge that atomic operations pass on, within a cluster and from one to another.

Clocks are those of one cluster. What a thread learns of other clusters stands in a history of its
own, and how much of that history others know is a clock again: so it goes on through every barrier
as other knowledge does.
"""

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.machine.clocks import Clocks, Known, together

Elsewhere = dict[int, tuple[Clocks, Known]]
"""The knowledge of clusters, by their numbers in the grid."""


class AtomicOrder:
    """The knowledge of those who come to each word of memory."""

    def __init__(self) -> None:
        self._released: dict[int, Elsewhere] = {}
        self._histories: dict[int, tuple[int, list[Elsewhere]]] = {}
        self._first = 0

    def begin(self, first: int, clocks: Clocks) -> None:
        """A wave of clusters begins, the first of that number."""
        self._first, self._clocks = first, clocks
        self._histories = {}

    def _cluster(self, lane: int) -> int:
        return self._first + lane // self._clocks.lanes

    def acquire(self, lane: int, word: int) -> None:
        """A thread comes to a word: it learns what those knew who came there."""
        released, own = self._released.get(word, {}), self._cluster(lane)
        if own in released:
            self._clocks.learn(np.array([lane]), released[own][1])
        foreign = {cluster: known for cluster, known in released.items() if cluster != own}
        if not foreign:
            return
        if lane not in self._histories:
            self._histories[lane] = self._clocks.add_column(), []
        column, history = self._histories[lane]
        before = history[-1] if history else {}
        now = _merged(before, foreign)
        if not _same(before, now):
            history.append(now)
            self._clocks.learn_of(np.array([lane]), column, np.array([len(history)]))

    def release(self, lane: int, word: int) -> None:
        """The thread leaves what it knows, of what it did too, for those who come later."""
        published = self._clocks.publish(np.array([lane]))
        mine: Elsewhere = {self._cluster(lane): (self._clocks, published)}
        known = _merged(self.elsewhere(lane), mine)
        self._released[word] = _merged(self._released.get(word, {}), known)

    def elsewhere(self, lane: int) -> Elsewhere:
        """A thread's knowledge of other clusters."""
        result: Elsewhere = {}
        for other, (column, history) in self._histories.items():
            count = int(self._clocks.seen[lane, column]) if self._near(lane, other) else 0
            if count:
                result = _merged(result, history[count - 1])
        return result

    def _near(self, lane: int, other: int) -> bool:
        return lane // self._clocks.lanes == other // self._clocks.lanes

    def happened(
        self, lane: int, cluster: int, who: NDArray[np.int32], stamps: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Which accesses of threads of another cluster a thread knows of."""
        known = self.elsewhere(lane).get(cluster)
        if known is None:
            return np.zeros(len(who), dtype=np.bool_)
        clocks, seen = known
        missing = clocks.seen.shape[1] - len(seen)
        return clocks.happened(np.pad(seen, (0, missing))[None], who[None], stamps[None])[0]

    @property
    def is_used(self) -> bool:
        """True where any thread knows of another cluster."""
        return bool(self._histories)


def _merged(a: Elsewhere, b: Elsewhere) -> Elsewhere:
    result = dict(a)
    for cluster, (clocks, known) in b.items():
        result[cluster] = clocks, together(result[cluster][1], known) if cluster in a else known
    return result


def _same(a: Elsewhere, b: Elsewhere) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[key][1], b[key][1]) for key in a)
