"""The knowledge that strong accesses pass on, within a cluster and from one to another.

What is written by a release says what its thread knew, and goes on through atomic operations on the
word until another store replaces it; who reads it by an acquire learns of it. PTX ISA, memory
consistency model, release and acquire patterns.

Clocks are those of one cluster. What a thread learns of other clusters stands in a history of its
own, and how much of that history others know is a clock again: so it goes on through every barrier
as other knowledge does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.machine.clocks import Clocks, Known, together
from tilewright.lowering.interpreter.values import Lanes

Elsewhere = dict[int, tuple[Clocks, Known]]
"""The knowledge of clusters, by their numbers in the grid."""


@dataclass(frozen=True, slots=True)
class AccessOrder:
    """The order that an access makes, by what PTX calls it: `acquire.gpu`; weak ones make none."""

    semantics: str
    scope: str
    reads: bool
    writes: bool

    @classmethod
    def of(cls, semantics: str, instruction: str) -> AccessOrder:
        """That of `ld`, `st` or `atom`."""
        word, _, scope = semantics.partition(".")
        return cls(word, scope, instruction != "st", instruction != "ld")

    @property
    def strong(self) -> bool:
        """True where others may access the word at the same time."""
        return self.semantics != "weak"

    @property
    def acquires(self) -> bool:
        """True where what follows is after what it reads."""
        return self.reads and self.semantics in ("acquire", "acq_rel")

    @property
    def releases(self) -> bool:
        """True where what it writes is after what precedes."""
        return self.writes and self.semantics in ("release", "acq_rel")


WEAKLY = AccessOrder.of("weak", "ld")


class MissingLink(NamedTuple):
    """The knowledge that a thread would have, were ops, by number, to release or acquire."""

    known: Elsewhere
    ops: tuple[tuple[str, int], ...]


class AtomicOrder:
    """The knowledge of those who come to each word of memory. `_withheld` is what a word would
    tell, were it released by an op, `_links` what threads would know of those they read."""

    def __init__(self) -> None:
        self._released: dict[int, Elsewhere] = {}
        self._withheld: dict[int, MissingLink] = {}
        self._links: dict[tuple[int, int], list[MissingLink]] = {}
        self._histories: dict[int, tuple[int, list[Elsewhere]]] = {}
        self._first = 0

    def begin(self, first: int, clocks: Clocks) -> None:
        """A wave of clusters begins, the first of that number."""
        self._first, self._clocks = first, clocks
        self._histories, self._links = {}, {}

    def _cluster(self, lane: int) -> int:
        return self._first + lane // self._clocks.lanes

    def come(self, lane: int, word: int, order: AccessOrder, op: int) -> None:
        """A thread comes to a word: with an acquire it learns what was released there."""
        if not order.reads:
            return
        missing = () if order.acquires else (("acquire.gpu", op),)
        links: list[MissingLink] = []
        if withheld := self._withheld.get(word):
            links.append(MissingLink(withheld.known, withheld.ops + missing))
        if order.acquires:
            self._acquire(lane, word)
        elif word in self._released:
            links.append(MissingLink(self._released[word], missing))
        if links:
            self._links[lane, word] = links

    def _acquire(self, lane: int, word: int) -> None:
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

    def leave(self, lane: int, word: int, order: AccessOrder, op: int) -> None:
        """The thread has written the word: with a release it leaves what it knows, of what it did
        too, for those who come later."""
        if not order.writes:
            return
        if not order.reads:
            self._released.pop(word, None)
            self._withheld.pop(word, None)
        _, known = self.known_by(np.array([lane]))
        if order.releases:
            self._released[word] = _merged(self._released.get(word, {}), known)
        else:
            before = self._withheld[word].known if word in self._withheld else {}
            self._withheld[word] = MissingLink(_merged(before, known), (("release.gpu", op),))

    def known_by(self, lanes: Lanes) -> tuple[int, Elsewhere]:
        """The cluster of some threads, and what they know and did until now, of all clusters."""
        cluster, known = self._cluster(int(lanes[0])), Elsewhere()
        if self.is_used:
            for lane in lanes.tolist():
                known = _merged(known, self.elsewhere(lane))
        published = self._clocks.publish(lanes)
        return cluster, _merged(known, {cluster: (self._clocks, published)})

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
        return knows(self.elsewhere(lane), cluster, who, stamps)

    def missing(
        self, lane: int, cluster: int, who: NDArray[np.int32], stamps: NDArray[np.int32]
    ) -> tuple[tuple[str, int], ...]:
        """The releases and acquires, by op, that would let a thread know of an access."""
        for (reader, _), links in self._links.items():
            for link in links if self._near(lane, reader) else ():
                if knows(link.known, cluster, who, stamps).all():
                    return link.ops
        return ()

    @property
    def is_used(self) -> bool:
        """True where any thread knows of another cluster."""
        return bool(self._histories)


def knows(
    known: Elsewhere, cluster: int, who: NDArray[np.int32], stamps: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Which accesses of threads of a cluster somebody knows of."""
    if cluster not in known:
        return np.zeros(len(who), dtype=np.bool_)
    clocks, seen = known[cluster]
    missing = clocks.seen.shape[1] - len(seen)
    return clocks.happened(np.pad(seen, (0, missing))[None], who[None], stamps[None])[0]


def _merged(a: Elsewhere, b: Elsewhere) -> Elsewhere:
    result = dict(a)
    for cluster, (clocks, known) in b.items():
        result[cluster] = clocks, together(result[cluster][1], known) if cluster in a else known
    return result


def _same(a: Elsewhere, b: Elsewhere) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[key][1], b[key][1]) for key in a)
