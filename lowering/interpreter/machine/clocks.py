"""Vector clocks: whose accesses happened before what a thread does.

Time passes by warps: an access is stamped with the clock of its thread's warp. Knowledge is that of
threads: one that arrives at an mbarrier, or waits there, speaks for itself alone, and the others of
its warp learn of it where the warp synchronises. Of a warp whose threads arrive together one number
is known, of a thread that arrives alone one of its own.
"""

import numpy as np

from tilewright.lowering.interpreter.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    UInt32Array,
)
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.values import Lanes

Known = Int32Array
"""How much of each clock is known: [clocks], or of each of some threads [threads or 1, clocks]."""

Who = Int32Array
"""Threads of the wave or, below -1, the clocks of mbarriers (`async_writer`)."""


class Clocks:
    """Vector clocks of a wave of clusters: `seen[l, c]` is what thread l knows of clock c of its
    cluster, which has `warps` warps and `lanes` thread slots.

    The first clocks are those of the warps; behind them come, as they are needed, those of threads
    that arrived alone, of mbarriers (how many phases are complete), and of asynchronous reads (how
    many groups are complete). With `writes_apart` each of a warp or a thread has another one, by
    which others know of what it wrote: an arrival may let them know of what it read alone.
    """

    def __init__(self, clusters: int, warps: int, lanes: Lanes, *, writes_apart: bool = False):
        self.warps = warps
        self.lanes = warps * WARP
        # What follows the columns that are in use is zero.
        self._room: Known = np.zeros((clusters * self.lanes, 0), dtype=np.int32)
        self.seen: Known = self._room
        self._writes_apart = writes_apart
        # Of each clock that by which others know of writes: itself, unless they are apart.
        self._read = self._wrote = np.zeros(0, dtype=np.int64)
        self._add_columns(warps, of_threads=True)
        self._clock = np.ones(clusters * warps, dtype=np.int32)
        # The threads of each warp: a CTA's last warp may not be full.
        self._sizes = np.bincount(lanes // WARP, minlength=clusters * warps)
        # The clock of each thread of a cluster: its warp's, until it arrives alone.
        self._own = np.arange(self.lanes) // WARP

    def columns_of_warps(self, *, writes: bool) -> Int64Array:
        """The clocks by which others know of what each warp of a cluster read, or wrote."""
        return self._wrote if writes else self._read

    def add_column(self) -> int:
        """A new clock; nobody knows anything of it."""
        return int(self._add_columns(1)[0])

    def add_pair(self) -> tuple[int, int]:
        """A new clock, and that by which others know of writes: itself, unless they are apart."""
        column = int(self._add_columns(1, of_threads=True)[0])
        return column, int(self._wrote[column])

    def _add_columns(self, count: int, *, of_threads: bool = False) -> Int64Array:
        columns = self.seen.shape[1] + np.arange(count)
        pairs = [columns]
        if of_threads and self._writes_apart:
            pairs = [columns + count, columns + count]
        self._wrote = np.concatenate([self._wrote, *pairs])
        self._read = np.arange(len(self._wrote))
        self._widen(len(self._wrote))
        return columns

    def _widen(self, width: int) -> None:
        """Let there be so many columns: in room for more, where they come one by one."""
        rows, room = self._room.shape
        if width > room:
            wider = np.zeros((rows, max(width, 2 * room)), dtype=np.int32)
            wider[:, : self.seen.shape[1]] = self.seen
            self._room = wider
        self.seen = self._room[:, :width]

    @staticmethod
    def async_writer(column: int) -> int:
        """The number of a copy that an mbarrier completes where a thread's number would."""
        return -2 - column

    def columns(self, lane: int, *, whole_warp: bool) -> Int64Array:
        """The clocks by which others know of a thread, or of any thread of its warp."""
        local = lane % self.lanes
        first = local // WARP * WARP
        own = self._own[first : first + WARP] if whole_warp else self._own[local : local + 1]
        return np.append(own, first // WARP)

    # What happened before

    def has_begun(self, known: Known, first: int, last: int) -> bool:
        """True where something is known, [clocks], that one of some warps of a cluster has done."""
        own = self._own[first * WARP : last * WARP]
        return bool(known[first:last].any() or known[own].any())

    def now(self, lanes: Lanes) -> Int32Array:
        """The stamps of accesses by these threads."""
        return self._clock[lanes // WARP]

    def common(self, lanes: Lanes) -> Known:
        """The knowledge that all of these threads have: [1, clocks]."""
        return self.seen[lanes].min(axis=0)[None]

    def happened(
        self, known: Known, who: Who, stamps: Int32Array, *, writes: bool = False,
        copies: bool = False,
    ) -> BoolArray:  # fmt: skip
        """True where accesses by `who` with these stamps, or `writes`, are known, and of `copies`
        what they wrote: [threads, accesses]."""
        clocks = self._wrote if writes else self._read
        rows = np.arange(len(known))[:, None]
        column = np.where(who >= 0, clocks[who // WARP % self.warps], -2 - who)
        if copies and self._writes_apart:
            column = np.where(who < -1, self._wrote[np.maximum(-2 - who, 0)], column)
        before = stamps < known[rows, column]
        late = ~before & (who >= 0)
        if late.any():
            row, access = np.nonzero(late)
            own = clocks[self._own[who[row, access] % self.lanes]]
            before[row, access] = stamps[row, access] < known[row, own]
        return before

    def unknown(
        self, lanes: Lanes, warp: int, stamps: Int32Array, members: UInt32Array
    ) -> UInt32Array:
        """Those of a warp's `members`, a bit each, whose accesses with these stamps a thread each
        does not know, and that it is not itself."""
        place = lanes % self.lanes - warp * WARP
        own = np.left_shift(np.uint32(1), (place % WARP).astype(np.uint32))
        result = members & ~np.where(place // WARP == 0, own, np.uint32(0))
        some = np.flatnonzero(result)
        columns = self._own[warp * WARP : (warp + 1) * WARP]
        late = stamps[some, None] >= self.seen[lanes[some, None], columns]
        result[some] &= np.packbits(late, axis=1, bitorder="little").view("<u4")[:, 0]
        return result

    # Who learns what

    def publish(self, lanes: Lanes) -> Known:
        """The knowledge of these threads of a cluster together, of what they did themselves too:
        [clocks]. What they do from now on is not before whatever learns of it."""
        one = np.zeros(1, np.int64), np.ones(1, np.int64)
        warps, index, counts = (
            (lanes // WARP, *one) if len(lanes) == 1
            else np.unique(lanes // WARP, return_inverse=True, return_counts=True)
        )  # fmt: skip
        stamps = self._clock[warps] + 1
        alone = counts < self._sizes[warps]
        columns = [self._own_column(lane) for lane in lanes[alone[index]].tolist()]
        known: Known = self.seen[lanes].max(axis=0)
        for clocks in (self._read, self._wrote) if self._writes_apart else (self._read,):
            known[clocks[warps[~alone] % self.warps]] = stamps[~alone]
            known[clocks[columns]] = stamps[index][alone[index]]
        self._clock[warps] = stamps
        return known

    def of_reads(self, known: Known) -> Known:
        """The knowledge of somebody but for what threads wrote, where that is apart: [clocks]."""
        result = known.copy()
        result[self._wrote[self._wrote != self._read]] = 0
        return result

    def has_own(self, warp: int) -> bool:
        """True where a thread of that warp of a cluster has a clock of its own."""
        return bool((self._own[warp * WARP : (warp + 1) * WARP] >= self.warps).any())

    def reserve(self, lanes: Lanes) -> None:
        """Threads will arrive alone: give all of them clocks of their own at once."""
        local = np.unique(lanes % self.lanes)
        local = local[self._own[local] < self.warps]
        self._own[local] = self._add_columns(len(local), of_threads=True)

    def _own_column(self, lane: int) -> int:
        local = lane % self.lanes
        if self._own[local] < self.warps:
            self._own[local] = self._add_columns(1, of_threads=True)[0]
        return int(self._own[local])

    def learn(self, lanes: Lanes, known: Known) -> None:
        """Make known to threads that waited somewhere what is known there."""
        width = len(known)
        self.seen[lanes, :width] = np.maximum(self.seen[lanes, :width], known)

    def learn_of(self, lanes: Lanes, column: int, values: Int64Array) -> None:
        """Threads learn of one clock."""
        self.seen[lanes, column] = np.maximum(self.seen[lanes, column], values)

    def synchronise(self, warps: Int64Array) -> None:
        """The threads of each of these warps learn what the others know and did."""
        rows = warps[:, None] * WARP + np.arange(WARP)
        known: Known = self.seen[rows].max(axis=1)
        self._clock[warps] += 1
        for column in (warps % self.warps, self._wrote[warps % self.warps]):
            known[np.arange(len(warps)), column] = self._clock[warps]
        self.seen[rows] = known[:, None]


def together(a: Known, b: Known) -> Known:
    """The knowledge of two places, one's itself where it has all of the other's; later columns may
    be missing in one."""
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    if short is long or (short <= long[: len(short)]).all():
        return long
    result = long.copy()
    result[: len(short)] = np.maximum(result[: len(short)], short)
    return result
