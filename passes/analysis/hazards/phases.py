"""Barriers: mbarriers, whose phases are told apart by counting, and those of a CTA and a cluster.

`Clock` is what somebody knows: of each role and each mbarrier, up to when what it did is before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from tilewright.dialects.frozen import entity, factory

Clock = list[int]

Rounds = tuple[tuple[Operation, int], ...]


def join(into: Clock, other: Sequence[int]) -> None:
    """Learn what another one knows."""
    into[:] = [mine if mine > theirs else theirs for mine, theirs in zip(into, other, strict=True)]


@dataclass(slots=True)
class PhaseArrivals:
    """Who arrived at a phase: (role, its clock), and whether something asynchronous had a part."""

    roles: list[tuple[int, int]] = factory(list)
    asynchronous: bool = False


@entity
class MbarrierState:
    """One mbarrier: its CTA, the numbers of its clock and of that by which others know of what
    copies wrote, the arrivals that a phase waits for (None: nobody
    made it here), and of the phase that is under way how many and how many bytes are missing."""

    cta: int
    clock: int
    landed: int
    width: int
    count: int | None = None
    made: tuple[Operation, int, int] | None = None
    """The op that made it, its role and the role's clock."""
    fenced: bool = False
    pending: int = 0
    bytes: int = 0
    completed: int = 0
    before: int = 0
    """Phases of an mbarrier that was here before and has ended."""
    known: Clock = factory(list)
    released: list[Clock] = factory(list)
    """By phase, what who waited for it learns: of other CTAs what they have read alone."""
    written: Clock = factory(list)
    handed_on: list[Clock] = factory(list)
    """By phase, what waits of scope `cluster` learn besides: what other CTAs wrote."""
    now: PhaseArrivals = factory(PhaseArrivals)
    last: PhaseArrivals = factory(PhaseArrivals)
    waits: dict[int, list[tuple[int, int, Operation, bool]]] = factory(dict)
    """By phase, the roles that have waited for it, when, with which op, and whether they knew that
    it was over."""
    users: dict[int, tuple[int, Operation]] = factory(dict)
    """By role, when it last arrived or looked, and with which op."""
    arrived: dict[int, int] = factory(dict)
    """By role, the phase of its last arrival, whose state it may wait for."""
    copy: tuple[int, Operation] | None = None
    """The phase that the last copy or commit arrives at, and its op."""
    blocked: list[int] = factory(list)

    def make(self, count: int, made: tuple[Operation, int, int]) -> None:
        """`mbarrier.init`."""
        self.count = self.pending = count
        self.made, self.fenced, self.bytes = made, False, 0
        self.before, self.waits, self.users, self.copy = self.completed, {}, {}, None
        self.arrived = {}
        self.known, self.now, self.last = [0] * self.width, PhaseArrivals(), PhaseArrivals()
        self.written = []

    def learn(self, known: Sequence[int]) -> None:
        """Something that the phase waits for knows so much."""
        if not self.known:
            self.known = [0] * self.width
        join(self.known, known)

    def learn_writes(self, known: Sequence[int]) -> None:
        """A thread of another CTA knows so much, of what was written too."""
        self.written = self.written or [0] * self.width
        join(self.written, known)

    def complete(self) -> None:
        """The phase is over: who waits for it learns what its arrivals knew."""
        if not self.known:
            self.known = [0] * self.width
        self.completed += 1
        self.known[self.clock] = self.known[self.landed] = self.completed
        self.released.append(list(self.known))
        self.handed_on.append(list(self.written))
        self.last, self.now = self.now, PhaseArrivals()
        if self.count is not None:
            self.pending = self.count


@entity
class Barrier:
    """A barrier of threads: its clock's number, what has arrived at the round that is under way,
    and the roles that wait."""

    clock: int
    width: int
    rounds: int = 0
    threads: int = 0
    expected: int | None = None
    roles: list[tuple[int, int]] = factory(list)
    known: Clock = factory(list)
    waiting: list[int] = factory(list)
    released: Clock = factory(list)
    last: list[tuple[int, int]] = factory(list)

    def arrive(self, role: int, threads: int, known: Clock) -> None:
        """A role arrives."""
        if not self.known:
            self.known = [0] * self.width
        self.roles.append((role, known[role]))
        self.threads += threads
        join(self.known, known)

    def turn(self) -> tuple[Clock, list[int]]:
        """Everybody has arrived: what they know together, and who waits."""
        self.rounds += 1
        self.known[self.clock] = self.rounds
        known, waiting = self.known, self.waiting
        self.released = known
        self.last, self.roles = self.roles, []
        self.known, self.waiting, self.threads = list(known), [], 0
        return known, waiting
