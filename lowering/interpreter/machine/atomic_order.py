"""The knowledge that strong accesses pass on, within a cluster and from one to another.

What is written by a release says what its thread knew, and goes on through atomic operations on the
word until another store replaces it; who reads it by an acquire learns of it. PTX ISA, memory
consistency model, release and acquire patterns.

Clocks are those of one cluster. What a thread learns of other clusters stands in a history of its
own, and how much of that history others know is a clock again: so it goes on through every barrier
as other knowledge does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.data_movement import order_and_scope
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_types import BoolArray, Int32Array, Int64Array
from tilewright.lowering.interpreter.machine.clocks import Clocks, Known, together
from tilewright.lowering.interpreter.values import Lanes

Elsewhere = dict[int, tuple[Clocks, Known]]
"""The knowledge of clusters, by their numbers in the grid."""


@frozen
class AccessOrder:
    """The order that an access makes, by what PTX calls it: `acquire.gpu`; weak ones make none."""

    semantics: str
    scope: str
    reads: bool
    writes: bool

    @classmethod
    def of(cls, semantics: str, instruction: str) -> AccessOrder:
        """That of `ld`, `st`, `atom` or `fence`."""
        return cls(*order_and_scope(semantics), instruction != "st", instruction != "ld")

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
SCOPES = {"cta": 0, "cluster": 1, "gpu": 2, "sys": 2}
"""How wide scopes are: CTA, cluster, grid."""


class MissingLink(NamedTuple):
    """The knowledge that a thread would have, were ops, by number, to release or acquire, or of a
    wider scope."""

    known: Elsewhere
    ops: tuple[tuple[str, int], ...]


class Release(NamedTuple):
    """The knowledge that threads of a CTA left for those of a scope, and the last op that did."""

    cta: int
    width: int
    known: Elsewhere
    op: int


Releases = dict[tuple[int, int], Release]
"""Those of a word, by CTA and width."""


class AtomicOrder:
    """The knowledge of those who come to each word of memory. `_released` is what they left,
    `_wide` that for the whole grid, `_withheld` what a word would tell, were it released by an op.

    A fence releases with the strong writes of its thread behind it, and acquires what strong reads
    before it, `_observed`, found released. `_links` is what threads would know of those they read.
    `_near` are the threads of a cluster that have histories, `_covered` what of its own cluster was
    in what a thread has acquired.
    """

    def __init__(self) -> None:
        self._released: dict[int, Releases] = {}
        self._wide: dict[int, Elsewhere] = {}
        self._withheld: dict[int, MissingLink] = {}
        self._links: dict[tuple[int, int], list[MissingLink]] = {}
        self._fenced: dict[int, dict[int, Release]] = {}
        self._observed: dict[int, dict[int, tuple[Releases, Elsewhere]]] = {}
        self._histories: dict[int, tuple[int, list[Elsewhere]]] = {}
        self._near: dict[int, list[int]] = {}
        self._covered: dict[int, Known] = {}
        self._first = 0
        self._slots = 1
        self.widths: dict[int, int] = {}
        """The scopes of ops that not all threads see in one order."""

    def begin(self, first: int, clocks: Clocks, slots: int) -> None:
        """A wave of clusters begins, the first of that number, of CTAs of so many `slots`."""
        self._first, self._clocks, self._slots = first, clocks, slots
        self._histories, self._links, self._fenced, self._observed = {}, {}, {}, {}
        self._near, self._covered = {}, {}

    def _cluster(self, lane: int) -> int:
        return self._first + lane // self._clocks.lanes

    def _cta(self, lane: int) -> int:
        return (self._first * self._clocks.lanes + lane) // self._slots

    def meets(self, width: int, a: Any, b: Any) -> Any:
        """True of two CTAs of the grid that are in one scope."""
        size = (1, self._clocks.lanes // self._slots, 0)[width]
        return size == 0 or a // size == b // size

    def too_narrow(self, op: int, ops: Int32Array, ctas: Int64Array, own: Int64Array) -> BoolArray:
        """True of strong accesses by threads of different CTAs where one's scope does not have the
        other's thread in it."""
        result = np.zeros(len(ops), dtype=np.bool_)
        for number, width in self.widths.items():
            result |= ~self.meets(width, ctas, own) & ((ops == -number) | (op == -number))
        return result

    def come(self, lane: int, word: int, order: AccessOrder, op: int) -> None:
        """A thread comes to a word: with an acquire it learns what was released there, and may
        with a fence later on."""
        if not order.reads:
            return
        links: list[MissingLink] = []
        missing = () if order.acquires else (("acquire.gpu", op),)
        if withheld := self._withheld.get(word):
            links.append(MissingLink(withheld.known, withheld.ops + missing))
        if released := self._released.get(word):
            seen = released, self._wide.get(word, {})
            if order.acquires:
                links += self._acquire(lane, *seen, op, SCOPES[order.scope])
            else:
                self._observed.setdefault(lane, {})[word] = seen
                links += [MissingLink(one.known, missing) for one in released.values()]
        if links:
            self._links[lane, word] = links

    def fence(self, lane: int, order: AccessOrder, op: int) -> None:
        """A thread's fence: it learns what its reads found released, and releases what it knows
        with its writes from now on."""
        width = SCOPES[order.scope]
        for word, seen in self._observed.pop(lane, {}).items():
            self._links[lane, word] = self._acquire(lane, *seen, op, width)
        _, known = self.known_by(np.array([lane]))
        self._fenced.setdefault(lane, {})[width] = Release(self._cta(lane), width, known, op)

    def _acquire(
        self, lane: int, released: Releases, wide: Elsewhere, op: int, width: int
    ) -> list[MissingLink]:
        """A thread learns of what others released whose scopes have it in, as its own has them; the
        rest is what wider ones would let it know."""
        cta, known, links = self._cta(lane), Elsewhere(), list[MissingLink]()
        if width == SCOPES["gpu"]:
            known = wide
        for one in released.values():
            if one.width == width == SCOPES["gpu"]:
                continue
            narrow = [
                ("the scope gpu", number)
                for size, number in ((one.width, one.op), (width, op))
                if not self.meets(size, one.cta, cta)
            ]
            if narrow:
                links.append(MissingLink(one.known, tuple(narrow)))
            else:
                known = _merged(known, one.known)
        self._learn(lane, known)
        return links

    def _learn(self, lane: int, released: Elsewhere) -> None:
        own = self._cluster(lane)
        if own in released:
            self._clocks.learn(np.array([lane]), released[own][1])
            covered = self._covered.get(lane, released[own][1])
            self._covered[lane] = together(covered, released[own][1])
        foreign = {cluster: known for cluster, known in released.items() if cluster != own}
        if not foreign:
            return
        if lane not in self._histories:
            self._histories[lane] = self._clocks.add_column(), []
            self._near.setdefault(own, []).append(lane)
        column, history = self._histories[lane]
        before = history[-1] if history else {}
        now = _merged(before, foreign)
        if not _same(before, now):
            history.append(now)
            self._clocks.learn_of(np.array([lane]), column, np.array([len(history)]))

    def leave(self, lane: int, word: int, order: AccessOrder, op: int) -> None:
        """The thread has written the word: with a release it leaves what it knows, of what it did
        too, for those who come later; else what it knew at its last fences."""
        if not order.writes:
            return
        if not order.reads:
            self._released.pop(word, None)
            self._wide.pop(word, None)
            self._withheld.pop(word, None)
        _, known = self.known_by(np.array([lane]))
        for release in self._fenced.get(lane, {}).values():
            self._release(word, release)
        if order.releases:
            width = SCOPES[order.scope]
            self._release(word, Release(self._cta(lane), width, known, op))
        else:
            before = self._withheld[word].known if word in self._withheld else {}
            self._withheld[word] = MissingLink(_merged(before, known), (("release.gpu", op),))

    def _release(self, word: int, release: Release) -> None:
        key, others = (release.cta, release.width), self._released.get(word, {})
        if key in others:
            release = release._replace(known=_merged(others[key].known, release.known))
        self._released[word] = {**others, key: release}
        if release.width == SCOPES["gpu"]:
            self._wide[word] = _merged(self._wide.get(word, {}), release.known)

    def known_by(self, lanes: Lanes) -> tuple[int, Elsewhere]:
        """The cluster of some threads, and what they know and did until now, of all clusters."""
        cluster, known = self._cluster(int(lanes[0])), Elsewhere()
        if self.is_used:
            for lane in lanes.tolist():
                known = _merged(known, self.elsewhere(lane))
        published = self._clocks.publish(lanes)
        return cluster, _merged(known, {cluster: (self._clocks, published)})

    def elsewhere(self, lane: int) -> Elsewhere:
        """A thread's knowledge of other clusters: its own history, and those of others as far as it
        knows of them, but for what was in what it has acquired."""
        others = self._near.get(self._cluster(lane), [])
        columns = np.array([self._histories[other][0] for other in others], dtype=np.int64)
        counts: Known = self._clocks.seen[lane, columns]
        acquired = self._covered.get(lane, np.zeros(0, dtype=np.int32))
        covered = np.pad(acquired, (0, self._clocks.seen.shape[1] - len(acquired)))[columns]
        result: Elsewhere = {}
        for place in np.flatnonzero(counts > covered).tolist():
            history = self._histories[others[place]][1]
            result = _merged(result, history[int(counts[place]) - 1])
        if lane in self._histories:
            result = _merged(result, self._histories[lane][1][-1])
        return result

    def happened(self, lane: int, cluster: int, who: Int32Array, stamps: Int32Array) -> BoolArray:
        """Which accesses of threads of another cluster a thread knows of."""
        return knows(self.elsewhere(lane), cluster, who, stamps)

    def missing(
        self, lane: int, cluster: int, who: Int32Array, stamps: Int32Array
    ) -> tuple[tuple[str, int], ...]:
        """The fewest releases and acquires, by op, that would let a thread know of an access."""
        own = self._cluster(lane)
        near = (links for (reader, _), links in self._links.items() if self._cluster(reader) == own)
        enough = (
            link.ops
            for links in near
            for link in links
            if knows(link.known, cluster, who, stamps).all()
        )
        return min(enough, key=len, default=())

    @property
    def is_used(self) -> bool:
        """True where any thread knows of another cluster."""
        return bool(self._histories)


def knows(known: Elsewhere, cluster: int, who: Int32Array, stamps: Int32Array) -> BoolArray:
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
