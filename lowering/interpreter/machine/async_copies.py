"""Copies of threads from global to shared memory, which land once their groups are waited for. PTX
ISA, cp.async."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.dialects.frozen import entity
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array, UInt8Array
from tilewright.lowering.interpreter.machine.global_accesses import GlobalAccesses
from tilewright.lowering.interpreter.machine.global_copies import GlobalRead
from tilewright.lowering.interpreter.machine.shared_memory import SharedMemory
from tilewright.lowering.interpreter.values import Bits, Lanes


@entity
class PendingCopy:
    """One `cp.async` of some threads: its bytes land when its group is waited for. It is not known
    to have read them before; where they are to be read then, `again` does."""

    lanes: Lanes
    places: Int64Array
    data: UInt8Array
    group: Int64Array
    op: int
    source: GlobalRead
    again: Callable[[], UInt8Array] | None

    def of(self, chosen: BoolArray) -> PendingCopy:
        """That of some of the threads."""
        read = self.again
        again = None if read is None else lambda: read()[chosen]
        return PendingCopy(
            self.lanes[chosen], self.places[chosen], self.data[chosen], self.group[chosen],
            self.op, self.source, again,
        )  # fmt: skip


class AsyncCopies:
    """The copies of a wave of so many threads."""

    def __init__(self, shared: SharedMemory, accesses: GlobalAccesses, threads: int):
        self._pending: list[PendingCopy] = []
        self._shared = shared
        self._accesses = accesses
        self._committed = np.zeros(threads, dtype=np.int64)

    def copy(
        self, lanes: Lanes, address: Bits, data: UInt8Array, op: int, source: GlobalRead,
        again: Callable[[], UInt8Array] | None = None,
    ) -> None:  # fmt: skip
        """Start a `cp.async` of uint8 [threads, size] from what it reads; one that lands late reads
        its source `again`."""
        places = self._shared.expect(lanes, address, data, op)
        self._accesses.until_waited(source)
        group = self._committed[lanes]
        self._pending.append(PendingCopy(lanes, places, data, group, op, source, again))

    def commit(self, lanes: Lanes) -> None:
        """Close the threads' groups."""
        self._committed[lanes] += 1

    def wait(self, lanes: Lanes, pending: int, when: tuple[int, int] | None = None) -> None:
        """Complete all but the threads' latest `pending` groups, for -1 also what is in none yet:
        for these threads or, by the clock of an mbarrier and the number of a phase, for whoever
        waits for that."""
        rest: list[PendingCopy] = []
        for copy in self._pending:
            same = copy.lanes is lanes or np.array_equal(copy.lanes, lanes)
            waiting = True if same else np.isin(copy.lanes, lanes)
            done = waiting & (copy.group < self._committed[copy.lanes] - pending)
            if done.all():
                self._complete(copy, when)
                self._accesses.end_read(copy.source)
            elif done.any():
                self._complete(copy.of(done), when)
                self._accesses.end_read(copy.source, copy.lanes[done])
                rest.append(copy.of(~done))
            else:
                rest.append(copy)
        self._pending = rest

    def _complete(self, copy: PendingCopy, when: tuple[int, int] | None) -> None:
        data = copy.data if copy.again is None else copy.again()
        self._shared.land(copy.lanes, copy.places, data, copy.op)
        if when is not None:
            self._shared.until_phase(copy.places, copy.op, when)
