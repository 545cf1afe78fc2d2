"""Copies from shared to global memory, by threads one by one: what they read they may read until
their thread waits for that, and what they write may be there no sooner than it waits for their
groups whole. PTX ISA, cp.async.bulk.wait_group.
"""

from collections.abc import Callable

from tilewright.lowering.interpreter.array_types import Int64Array, UInt8Array
from tilewright.lowering.interpreter.machine.global_accesses import GlobalAccesses
from tilewright.lowering.interpreter.machine.schedule import Schedule
from tilewright.lowering.interpreter.machine.shared_memory import SharedMemory
from tilewright.lowering.interpreter.values import Lanes


class BulkStores:
    """The copies of a wave of CTAs."""

    def __init__(self, shared: SharedMemory, accesses: GlobalAccesses, schedule: Schedule):
        self._shared = shared
        self._groups = shared.bulk_stores
        self._accesses = accesses
        self._schedule = schedule

    def begin(self, lane: int, places: Int64Array, op: int) -> UInt8Array:
        """A thread starts a copy of these bytes of shared memory."""
        return self._shared.read_bulk(lane, places, op)

    def group(self, lane: int) -> int:
        """The group that the copies of a thread are in now."""
        return int(self._groups.committed[lane]) + 1

    def land(self, lane: int, places: Int64Array, write: Callable[[UInt8Array], None]) -> None:
        """The copy reads, and writes what it has read, both as late as the schedule has it."""
        data: list[UInt8Array] = []

        def read() -> None:
            if not data:
                data.append(self._shared.data[places])

        def put() -> None:
            read()
            write(data[0])

        group = self.group(lane)
        self._schedule.complete(read, "read", lane, group)
        self._schedule.complete(put, "write", lane, group)

    def commit(self, lanes: Lanes) -> None:
        """Close the threads' groups."""
        self._groups.commit(lanes)

    def wait(self, lanes: Lanes, pending: int, *, reads: bool) -> None:
        """Complete all but the threads' latest `pending` groups or, with `reads`, what they read
        alone."""
        groups = self._groups.committed[lanes] - pending
        self._groups.wait(lanes, pending)
        self._schedule.finish("read", lanes, groups)
        if not reads:
            self._schedule.finish("write", lanes, groups)
            self._accesses.end_writes(lanes, groups)
