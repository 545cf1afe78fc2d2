"""Groups of asynchronous reads of shared memory: those of wgmmas, and of copies to global memory.

A read lasts from its issue until its group is waited for. Who has waited knows that it is over, and
others once they learn of it: how many groups of a stream are known to be complete is a clock.
PTX ISA, wgmma.wait_group and cp.async.bulk.wait_group.
"""

import numpy as np

from tilewright.lowering.interpreter.array_types import Int64Array
from tilewright.lowering.interpreter.errors import Fault, first_place
from tilewright.lowering.interpreter.machine.async_proxy import AsyncFragments
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.last_accesses import LastReads
from tilewright.lowering.interpreter.values import Lanes

CHUNK = 16
"""The bytes that are read at once."""


class AsyncGroups:
    """The groups of teams of `team` threads, 128 for wgmmas, of which `completed` says how many are
    complete; `wait` is the instruction that completes them."""

    def __init__(
        self, clocks: Clocks, slots: int, size: int, op_names: dict[int, str], team: int, wait: str
    ):
        threads = len(clocks.seen)
        self.committed = np.zeros(threads, dtype=np.int64)
        self.completed = np.zeros(threads, dtype=np.int64)
        self.fenced = np.zeros(threads, dtype=np.bool_)
        self.fragments = AsyncFragments(self.completed, op_names)
        self._clocks = clocks
        self._slots = slots
        self._chunks = -(-size // CHUNK)
        self._op_names = op_names
        self._team = team
        self._wait = wait
        # Of a team in each cluster: its clock, and the groups, from 1, that read each chunk.
        self._streams: dict[int, tuple[int, LastReads]] = {}
        self._in_flight: list[tuple[int, int, int]] = []

    @property
    def are_used(self) -> bool:
        """Some have been issued."""
        return bool(self._streams)

    def _leaders(self, lanes: Lanes) -> Lanes:
        """The first threads of the threads' teams."""
        thread = lanes % self._slots
        return lanes - thread + thread // self._team * self._team

    def issue(self, leader: int, places: Int64Array, op: int) -> None:
        """One that reads these bytes of shared memory begins."""
        local = leader % self._clocks.lanes
        if local not in self._streams:
            self._streams[local] = self._clocks.add_column(), LastReads(self._chunks)
        group = int(self.committed[leader]) + 1
        self._streams[local][1].note(places // CHUNK, group, op)
        self._in_flight.append((leader, group, op))

    def check_fenced(self, lanes: Lanes, which: str) -> None:
        """Raise Fault where threads issue a wgmma, the first, before any fence."""
        if not (fenced := self.fenced[lanes]).all():
            raise Fault(
                f"is {which} of its warpgroup, and no wgmma.fence came before it "
                "(PTX ISA 9.7.15.7.1)",
                int(np.argmin(fenced)),
            )

    def commit(self, lanes: Lanes) -> None:
        """Close the threads' groups."""
        self.committed[lanes] += 1

    def wait(self, lanes: Lanes, pending: int) -> None:
        """Complete all but the threads' latest `pending` groups."""
        self.completed[lanes] = np.maximum(self.completed[lanes], self.committed[lanes] - pending)
        leaders = self._leaders(lanes) % self._clocks.lanes
        for leader, (column, _) in self._streams.items():
            waiting = lanes[leaders == leader]
            self._clocks.learn_of(waiting, column, self.completed[waiting])
        self._in_flight = [read for read in self._in_flight if read[1] > self.completed[read[0]]]
        self.fragments.forget()

    def check_write(self, lanes: Lanes, places: Int64Array) -> None:
        """Raise Fault where threads write bytes, [threads, bytes], that may still be read."""
        for leader, (column, reads) in self._streams.items():
            groups = reads.epochs[places // CHUNK]
            late = groups > self._clocks.seen[lanes, column][:, None]
            if late.any():
                lane, byte = first_place(late)
                op = self._op_names[int(reads.ops[places[lane, byte] // CHUNK])]
                reader = int(lanes[lane]) // self._clocks.lanes * self._clocks.lanes + leader
                if groups[lane, byte] > self.completed[reader]:
                    raise Fault(
                        f"write of shared memory that {op} reads, which no {self._wait} has "
                        "completed",
                        lane,
                    )
                raise Fault(
                    f"race on shared memory: this write and the read by {op} in another thread are "
                    "ordered by no barrier",
                    lane,
                )

    def check_done(self, lanes: Lanes) -> None:
        """Raise Fault where threads end with a read in flight."""
        for leader, _, op in self._in_flight:
            place = int(np.searchsorted(lanes, leader))
            if place < len(lanes) and lanes[place] == leader:
                raise Fault(
                    f"ends the kernel while {self._op_names[op]} is in flight: no "
                    f"{self._wait} has completed it",
                    place,
                )
