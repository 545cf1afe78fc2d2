"""Accesses to shared and tensor memory that later ones may conflict with, and which of them do."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.passes.analysis.hazards.trace import Event

Over = Callable[["RoleAccess"], bool]


class Part(NamedTuple):
    """The access of one event: a set of cells and, where threads access some each, which they are:
    [threads, cells] of the threads `lanes`."""

    event: Event
    cells: int
    by_lane: NDArray[np.int64] | None = None
    lanes: NDArray[np.int64] | None = None


@dataclass(eq=False, slots=True)
class RoleAccess:
    """Accesses of one role, or of a team of warps, from one let-go to the next: the cells of all of
    them, and when they are over: known to whoever has one of the clocks `done` at that time.

    `kind` is threads', cp.async, tma.load, tma.store, wgmma, umma, tmem.load, tmem.store or
    tmem.dealloc; `fences` are the times of proxy fences behind it."""

    kind: str
    role: int
    writes: bool
    cells: int
    parts: list[Part]
    done: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    fences: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    group: dict[int, int] = field(default_factory=dict[int, int])
    """The number of the group that each role, or warp, has it in."""
    waited: set[int] = field(default_factory=set[int])
    """Roles that have waited for it (of tensor memory: not yet fenced)."""
    signature: object = None
    key: object = None
    """The allocation that it is to, of tensor memory."""
    committed: bool = False
    atomic: bool = False
    """Atomic operations and strong accesses, which others such may come beside."""

    @property
    def generic(self) -> bool:
        """In the generic proxy."""
        return self.kind in ("threads", "cp.async")


def clash(one: list[Part], other: list[Part], *, apart: bool) -> tuple[Part, Part] | None:
    """Two parts that have a cell in common; where threads of one role accessed both and only other
    threads' cells count, `apart`. Parts of one op at one time do not conflict."""
    for a in one:
        for b in other:
            if a.event is b.event or not a.cells & b.cells:
                continue
            if not apart or a.by_lane is None or b.by_lane is None or _between(a, b):
                return a, b
    return None


def _between(a: Part, b: Part) -> bool:
    """Two threads access one cell."""
    assert a.by_lane is not None and b.by_lane is not None
    assert a.lanes is not None and b.lanes is not None
    if a.by_lane.shape[0] != len(a.lanes) or b.by_lane.shape[0] != len(b.lanes):
        return True
    size = int(max(a.by_lane.max(), b.by_lane.max())) + 1
    owner = np.full(size, -1, dtype=np.int64)
    lanes = np.broadcast_to(a.lanes[:, None], a.by_lane.shape)
    owner[a.by_lane] = lanes
    shared = owner[a.by_lane] != lanes
    owner[a.by_lane[shared]] = -2
    there = owner[b.by_lane]
    return bool(((there != -1) & (there != b.lanes[:, None])).any())
