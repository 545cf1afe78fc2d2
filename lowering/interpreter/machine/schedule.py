"""Schedules: which gang runs next, and when asynchronous operations complete.

Without a seed the gang that is furthest behind in the text runs, with all that are at its place,
and operations complete at once. With a seed gangs run in any order, warpgroups by themselves or
together, and operations complete at any time, often as late as they may.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array, UInt32Array
from tilewright.lowering.interpreter.values import Lanes

PATIENCE = 1000
"""The turns that one gang may have in a row while others could run: it may wait for them."""

TEAM = 128
"""Threads that run together whatever the schedule: those of a warpgroup."""

LANDING = (0.1, 0.0)
"""The chances that an operation completes in a turn, one for all of a run: with the last one
nothing completes before something waits for it."""

Choice = TypeVar("Choice")


@frozen
class Landing:
    """The rest of an operation; where it is of a group of a thread, the kind of group, the
    thread and the number of the group."""

    land: Callable[[], None]
    kind: str
    lane: int
    group: int


class Schedule:
    """The order of one run: of the text or, with a seed, a random one."""

    def __init__(self, seed: int | None, slots: int):
        self._slots = slots
        self._random = None if seed is None else np.random.default_rng(seed)
        self._landings: list[Landing] = []
        self._landing = 0.0 if self._random is None else float(self._random.choice(LANDING))
        self._leader, self._turns = -1, 0
        # How often a gang, by its first thread, has had all the turns in a row that it may have.
        self._tired = dict[int, int]()

    @property
    def is_random(self) -> bool:
        """True with a seed."""
        return self._random is not None

    @property
    def may_run_ahead(self) -> bool:
        """True where gangs run that others are behind of, as they do once one has spun for long."""
        return self.is_random or bool(self._tired)

    def undefined(self, count: int) -> UInt32Array:
        """So many words that nothing defines: with a seed any."""
        if self._random is None:
            return np.zeros(count, np.uint32)
        return self._random.integers(1 << 32, size=count, dtype=np.uint32)

    # Asynchronous operations

    def complete(
        self, land: Callable[[], None], kind: str = "", lane: int = -1, group: int = 0
    ) -> None:
        """An operation has begun: let it complete now, or later."""
        if self._random is None:
            land()
        else:
            self._landings.append(Landing(land, kind, lane, group))

    def land(self, *, must: bool = False) -> bool:
        """Let an operation complete, if one has begun and it is time. False where none has."""
        if not self._landings or self._random is None:
            return False
        if must or self._random.random() < self._landing:
            self._landings.pop(int(self._random.integers(len(self._landings)))).land()
        return True

    def finish(self, kind: str, lanes: Lanes, groups: Int64Array) -> None:
        """Let what is left of threads' groups of a kind complete, up to these numbers."""
        if not self._landings:
            return
        up_to = dict(zip(lanes.tolist(), groups.tolist(), strict=True))
        due = [
            landing.kind == kind and landing.group <= up_to.get(landing.lane, 0)
            for landing in self._landings
        ]
        now = [landing for landing, is_due in zip(self._landings, due, strict=True) if is_due]
        self._landings = [
            landing for landing, is_due in zip(self._landings, due, strict=True) if not is_due
        ]
        for landing in now:
            landing.land()

    def order(self, count: int) -> Int64Array:
        """The order in which so many threads come to one place."""
        return np.arange(count) if self._random is None else self._random.permutation(count)

    # Gangs

    def choose(
        self, ready: Sequence[Choice], numbers: Sequence[int], leaders: Sequence[int]
    ) -> Choice:
        """The one that runs of those that may, by the numbers of their blocks and their first
        threads."""
        if self._random is not None:
            return ready[int(self._random.integers(len(ready)))]
        tired = [self._tired.get(leader, 0) for leader in leaders]
        chosen = min(range(len(ready)), key=lambda place: (tired[place], numbers[place]))
        # All that are at its place run with it: the first of them leads.
        together = (one for one, at in zip(leaders, numbers, strict=True) if at == numbers[chosen])
        leader = min(together)
        self._turns = self._turns + 1 if leader == self._leader else 0
        self._leader = leader
        if self._turns == PATIENCE:
            self._turns = 0
            self.tire(leader)
        return ready[chosen]

    def tire(self, leader: int) -> None:
        """Let others run before the gang that a thread leads does again."""
        self._tired[leader] = self._tired.get(leader, 0) + 1

    def some(self, lanes: Lanes) -> BoolArray | None:
        """The threads of a gang that run first, whole warpgroups; None means all of them."""
        if self._random is None or self._random.random() < 0.5:
            return None
        teams, team = np.unique(self.teams(lanes), return_inverse=True)
        chosen = self._random.random(len(teams)) < 0.5
        return None if chosen.all() or not chosen.any() else chosen[team]

    def teams(self, lanes: Lanes) -> Lanes:
        """The numbers of threads' warpgroups; a CTA need not have whole ones."""
        return lanes // self._slots * self._slots + lanes % self._slots // TEAM
