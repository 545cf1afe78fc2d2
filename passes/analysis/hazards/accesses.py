"""Accesses to shared and tensor memory that later ones may conflict with, and which of them do."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.frozen import entity, factory
from tilewright.passes.analysis.hazards.trace import Event

Over = Callable[["RoleAccess"], bool]


class Part(NamedTuple):
    """The access of one event: a set of cells and, where threads access some each, which they are:
    [threads, cells] of the threads `lanes`."""

    event: Event
    cells: int
    by_lane: NDArray[np.int64] | None = None
    lanes: NDArray[np.int64] | None = None


class Owners:
    """The thread that accesses each cell, of parts that are added: nobody at first."""

    _NOBODY, _SEVERAL = -1, -2

    def __init__(self) -> None:
        self._lane = np.zeros(0, dtype=np.int32)
        self._is_known = True
        self.count = 0

    def add(self, part: Part) -> None:
        """One more part."""
        self.count += 1
        cells, lanes = part.by_lane, part.lanes
        if cells is None or lanes is None or len(cells) != len(lanes):
            self._is_known = False
            return
        if (more := int(cells.max()) + 1 - len(self._lane)) > 0:
            self._lane = np.append(self._lane, np.full(more, self._NOBODY, dtype=np.int32))
        before, column = self._lane[cells], lanes[:, None].astype(np.int32)
        taken = (before != self._NOBODY) & (before != column)
        self._lane[cells] = column
        self._lane[cells[taken | (self._lane[cells] != column)]] = self._SEVERAL

    def meet(self, part: Part) -> bool:
        """Some cell of a part is one that another thread accesses, or may."""
        cells, lanes = part.by_lane, part.lanes
        if not self._is_known or cells is None or lanes is None or len(cells) != len(lanes):
            return True
        there = np.where(cells < len(self._lane), self._lane.take(cells, mode="clip"), self._NOBODY)
        return bool(((there != self._NOBODY) & (there != lanes[:, None])).any())


@entity
class RoleAccess:
    """Accesses of one role, or of a team of warps, from one let-go to the next: the cells of all of
    them, and when they are over: known to whoever has one of the clocks `done` at that time.

    `kind` is threads', cp.async, tma.load, tma.store, wgmma, umma, tmem.load, tmem.store or
    tmem.dealloc; `fences` are the times of fences behind it, of the proxy or, of what tcgen05
    started, before threads meet."""

    kind: str
    role: int
    writes: bool
    cells: int
    parts: list[Part]
    done: list[tuple[int, int]] = factory(list)
    fences: list[tuple[int, int]] = factory(list)
    group: dict[int, int] = factory(dict)
    """The number of the group that each role, or warp, has it in."""
    waited: set[int] = factory(set)
    """Roles that have waited for it (of tensor memory: not yet fenced)."""
    signature: tuple[str, object] = ("", None)
    """Its kind, mma, cp or shift, and what that asks for, of an operation of tcgen05."""
    key: object = None
    """The allocation that it is to, of tensor memory."""
    committed: bool = False
    atomic: bool = False
    """Atomic operations and strong accesses, which others such may come beside."""
    owners: Owners = factory(Owners)
    """Of those of the parts that anything was compared with."""

    @property
    def generic(self) -> bool:
        """In the generic proxy."""
        return self.kind in ("threads", "cp.async")


def clash(one: RoleAccess, other: list[Part], *, apart: bool) -> tuple[Part, Part] | None:
    """Two parts that have a cell in common; where threads of one role accessed both and only other
    threads' cells count, `apart`. Parts of one op at one time do not conflict."""
    if apart:
        for part in one.parts[one.owners.count :]:
            one.owners.add(part)
        other = list(filter(one.owners.meet, other))
    for a in one.parts if other else ():
        for b in other:
            if a.event is not b.event and a.cells & b.cells and not (apart and _of_own(a, b)):
                return a, b
    return None


def _of_own(a: Part, b: Part) -> bool:
    """Each thread accesses cells of its own."""
    owners = Owners()
    owners.add(a)
    return not owners.meet(b)
