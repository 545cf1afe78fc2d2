"""The reads of shared memory that a write may race with: of each unit, by warp, the last ones."""

import numpy as np

from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array, UInt32Array
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.last_accesses import NOBODY
from tilewright.lowering.interpreter.machine.sparse_zeros import repeated, sparse_zeros
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.values import Lanes


class WarpReads:
    """Of each warp of a cluster and each unit: when it was read last, by which threads, a bit each,
    that do not know of each other's reads, and by which op."""

    def __init__(self, clocks: Clocks, units: int):
        self._clocks = clocks
        shape = clocks.warps, units
        self.stamps = sparse_zeros(shape, np.int32)
        self.readers = sparse_zeros(shape, np.uint32)
        self.ops = sparse_zeros(shape, np.int32)
        # Of the warps of this number in each cluster, no read is later than that.
        self.last = np.zeros(clocks.warps, dtype=np.int32)

    def divide(self, times: int) -> None:
        """Make units so many times as small."""
        rows = np.flatnonzero(self.last)
        self.stamps, self.readers, self.ops = (
            repeated(shadow, rows, times) for shadow in (self.stamps, self.readers, self.ops)
        )

    def note(self, lanes: Lanes, units: Int64Array, op: int) -> None:
        """Threads read units; those of their warps whose reads they do not know of still count."""
        local = (lanes // WARP % self._clocks.warps)[:, None]
        bit = np.left_shift(np.uint32(1), (lanes % WARP).astype(np.uint32))[:, None]
        known = self._clocks.seen[lanes[:, None], local]
        before = np.where(self.stamps[local, units] >= known, self.readers[local, units], 0)
        self._forget(lanes, local[:, 0], units, before)
        before |= bit
        self.readers[local, units] = before
        # Of threads that read a unit together what the last one leaves stands there now.
        missing = before & ~self.readers[local, units] != 0
        if missing.any():
            at = np.broadcast_to(local, units.shape)[missing], units[missing]
            np.bitwise_or.at(self.readers, at, before[missing])
        now = self._clocks.now(lanes)
        np.maximum.at(self.last, local[:, 0], now)
        self.stamps[local, units] = now[:, None]
        self.ops[local, units] = op

    def _forget(
        self, lanes: Lanes, local: Int64Array, units: Int64Array, readers: UInt32Array
    ) -> None:
        """Drop from `readers`, [threads, units], those whose reads a thread knows of by clocks of
        their own."""
        for warp in np.unique(local).tolist() if readers.any() else ():
            if self._clocks.has_own(warp):
                some = (local == warp)[:, None] & (readers != 0)
                members, stamps = readers[some], self.stamps[warp, units[some]]
                readers[some] = self._clocks.unknown(
                    lanes[np.nonzero(some)[0]], warp, stamps, members
                )

    def unknown(self, lanes: Lanes, units: Int64Array) -> tuple[int, int, int] | None:
        """A read of units, [threads, units], that a thread about to write them does not know of:
        the thread's index, the op, and who read, NOBODY for several; None where there is none."""
        known = self._clocks.seen[lanes, : self._clocks.warps]
        late = (self.last >= known.min(axis=0)) & (self.last > 0)
        for local in np.flatnonzero(late).tolist():
            stamps = self.stamps[local, units]
            race = (stamps >= known[:, local, None]) & (stamps > 0)
            if race.any() and (read := self._unknown_of(lanes, units, local, race)) is not None:
                return read
        return None

    def _unknown_of(
        self, lanes: Lanes, units: Int64Array, local: int, race: BoolArray
    ) -> tuple[int, int, int] | None:
        """The same of the threads of one warp, other ones, where their warp's reads are unknown."""
        rows, _ = np.nonzero(race)
        at = units[race]
        stamps, readers = self.stamps[local, at], self.readers[local, at]
        late = self._clocks.unknown(lanes[rows], local, stamps, readers)
        if not late.any():
            return None
        order = np.lexsort((readers, stamps, rows))
        first = int(order[late[order] != 0][0])
        lane, bits = int(lanes[rows[first]]), int(late[first])
        warp = lane // self._clocks.lanes * self._clocks.lanes + local * WARP
        thread = NOBODY if bits & (bits - 1) else warp + bits.bit_length() - 1
        return int(rows[first]), int(self.ops[local, at[first]]), thread
