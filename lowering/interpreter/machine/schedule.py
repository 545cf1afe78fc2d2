"""Schedules: which gang runs next, and when asynchronous operations complete.

Without a seed the gang that is furthest behind in the text runs, with all that are at its place,
and operations complete at once. With a seed gangs run in any order, warpgroups by themselves or
together, and operations complete at any time, often as late as they may.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.values import Lanes

PATIENCE = 1000
"""The turns that one gang may have in a row while others could run: it may wait for them."""

TEAM = 128
"""Threads that run together whatever the schedule: those of a warpgroup."""

LANDING = 0.1
"""The chance that an operation completes in a turn."""

Choice = TypeVar("Choice")


class Schedule:
    """The order of one run: of the text or, with a seed, a random one."""

    def __init__(self, seed: int | None):
        self._random = None if seed is None else np.random.default_rng(seed)
        self._landings: list[Callable[[], None]] = []
        self._leader, self._turns = -1, 0

    @property
    def is_random(self) -> bool:
        """True with a seed."""
        return self._random is not None

    # Asynchronous operations

    def complete(self, land: Callable[[], None]) -> None:
        """An operation has begun: let it complete now, or later."""
        if self._random is None:
            land()
        else:
            self._landings.append(land)

    def land(self, *, must: bool = False) -> bool:
        """Let an operation complete, if one has begun and it is time. False where none has."""
        if not self._landings or self._random is None:
            return False
        if must or self._random.random() < LANDING:
            self._landings.pop(int(self._random.integers(len(self._landings))))()
        return True

    # Gangs

    def choose(
        self, ready: Sequence[Choice], numbers: Sequence[int], leaders: Sequence[int]
    ) -> Choice:
        """The one that runs of those that may, by the numbers of their blocks and their first
        threads."""
        if self._random is not None:
            return ready[int(self._random.integers(len(ready)))]
        order = sorted(range(len(ready)), key=numbers.__getitem__)
        chosen = order[0]
        if len(order) > 1 and leaders[chosen] == self._leader and self._turns >= PATIENCE:
            chosen = order[1]
        self._turns = self._turns + 1 if leaders[chosen] == self._leader else 0
        self._leader = leaders[chosen]
        return ready[chosen]

    def some(self, lanes: Lanes) -> NDArray[np.bool_] | None:
        """The threads of a gang that run first, whole warpgroups; None means all of them."""
        if self._random is None or self._random.random() < 0.5:
            return None
        teams, team = np.unique(lanes // TEAM, return_inverse=True)
        chosen = self._random.random(len(teams)) < 0.5
        return None if chosen.all() or not chosen.any() else chosen[team]
