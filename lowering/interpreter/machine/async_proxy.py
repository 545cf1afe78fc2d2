"""What the async proxy does with shared memory and registers: wgmmas in flight, and what orders
them with the accesses of threads. PTX ISA 9.7.15.7 and 9.7.13.4.

A wgmma reads shared memory from when it is issued until a `wgmma.wait_group` completes its group.
It sees what a thread wrote there only after that thread's `fence.proxy.async`, once a barrier has
made the fence known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.values import Bits, Lanes, spread


@dataclass(eq=False)
class AsyncRead:
    """What one wgmma reads of shared memory: `lane` is the first thread of its warpgroup."""

    lane: int
    places: NDArray[np.int64]
    group: int
    op: int


@dataclass(eq=False)
class AsyncFragment:
    """The registers of A that one wgmma reads: `slots` of the program, the `first` of them holding
    `value` in threads `lanes`, whose groups are `group`."""

    first: int
    slots: frozenset[int]
    value: Bits
    lanes: Lanes
    group: NDArray[np.int64]
    op: int


class AsyncFragments:
    """The registers of A that wgmmas in flight read; `completed` are each thread's groups."""

    def __init__(self, completed: NDArray[np.int64], op_names: dict[int, str]):
        self._fragments: list[AsyncFragment] = []
        self._completed = completed
        self._op_names = op_names

    def __len__(self) -> int:
        return len(self._fragments)

    def issue(self, fragment: AsyncFragment) -> None:
        """A wgmma that reads A from registers begins."""
        self._fragments.append(fragment)

    def forget(self) -> None:
        """Let go of what no wgmma in flight reads any more."""
        self._fragments = [
            fragment
            for fragment in self._fragments
            if (fragment.group >= self._completed[fragment.lanes]).any()
        ]

    def check_writes(self, slots: tuple[int, ...], lanes: Lanes) -> None:
        """Raise Fault where threads are about to write registers that a wgmma in flight reads."""
        for fragment in self._fragments:
            if not fragment.slots.isdisjoint(slots):
                self._check(fragment, lanes, None)

    def check_move(self, slot: int, lanes: Lanes, value: Bits) -> None:
        """Raise Fault where a jump moves another value than A to where A is."""
        for fragment in self._fragments:
            if slot == fragment.first:
                self._check(fragment, lanes, value)

    def _check(self, fragment: AsyncFragment, lanes: Lanes, value: Bits | None) -> None:
        _, mine, theirs = np.intersect1d(lanes, fragment.lanes, return_indices=True)
        reading = fragment.group[theirs] >= self._completed[fragment.lanes[theirs]]
        mine, theirs = mine[reading], theirs[reading]
        if value is not None:
            changed = (spread(value, len(lanes))[mine] != fragment.value[theirs]).any(axis=-1)
            mine = mine[changed]
        if len(mine):
            raise Fault(
                f"overwrites registers of operand A of {self._op_names.get(fragment.op, '?')}, "
                "which no wgmma.wait_group has completed",
                int(mine[0]),
            )


class AsyncGroups:
    """The wgmmas of a wave, or its copies to global memory: per thread how many groups are
    committed and complete, and what those in flight read. Each belongs to the group that is next
    committed, and `wait` is the instruction that completes groups."""

    def __init__(
        self, threads: int, size: int, op_names: dict[int, str], wait: str = "wgmma.wait_group"
    ):
        self.committed = np.zeros(threads, dtype=np.int64)
        self.completed = np.zeros(threads, dtype=np.int64)
        self.fenced = np.zeros(threads, dtype=np.bool_)
        self.reads: list[AsyncRead] = []
        self.fragments = AsyncFragments(self.completed, op_names)
        self._readers = np.zeros(size, dtype=np.int16)
        self._op_names = op_names
        self._wait = wait

    def issue(self, lane: int, places: NDArray[np.int64], op: int) -> None:
        """One that reads these bytes begins; each of them is named once."""
        self.reads.append(AsyncRead(lane, places, int(self.committed[lane]), op))
        self._readers[places] += 1

    def commit(self, lanes: Lanes) -> None:
        """Close the threads' groups."""
        self.committed[lanes] += 1

    def wait(self, lanes: Lanes, pending: int) -> list[AsyncRead]:
        """Complete all but the threads' latest `pending` groups; the reads that are done."""
        done = self.committed[lanes] - pending
        self.completed[lanes] = np.maximum(self.completed[lanes], done)
        over = [read for read in self.reads if read.group < self.completed[read.lane]]
        self.reads = [read for read in self.reads if read.group >= self.completed[read.lane]]
        self.fragments.forget()
        for read in over:
            self._readers[read.places] -= 1
        return over

    def check_write(self, places: NDArray[np.int64]) -> None:
        """Raise Fault where a wgmma in flight reads one of these bytes: [threads, bytes]."""
        if not self.reads:
            return
        read = self._readers[places] > 0
        if read.any():
            lane, byte = np.unravel_index(int(np.argmax(read)), read.shape)
            place = places[lane, byte]
            op = next(reader.op for reader in self.reads if (reader.places == place).any())
            raise Fault(
                f"write of shared memory that {self._op_names.get(op, '?')} reads, which no "
                f"{self._wait} has completed",
                int(lane),
            )

    def check_done(self, lanes: Lanes) -> None:
        """Raise Fault where threads end with a wgmma in flight."""
        for read in self.reads:
            place = int(np.searchsorted(lanes, read.lane))
            if place < len(lanes) and lanes[place] == read.lane:
                raise Fault(
                    f"ends the kernel while {self._op_names.get(read.op, '?')} is in flight: no "
                    f"{self._wait} has completed it",
                    place,
                )


class ProxyFences:
    """Which writes of threads the async proxy sees.

    Of each byte it knows how many fences its writer had executed before, and of each fence when it
    was, in the clock of its warp.
    """

    def __init__(self, threads: int, size: int, op_names: dict[int, str]):
        self._before = np.full(size, -1, dtype=np.int32)
        self._count = np.zeros(threads, dtype=np.int32)
        self._when = np.zeros((threads, 1), dtype=np.int32)
        self._op_names = op_names

    def wrote(self, lanes: Lanes, places: NDArray[np.int64]) -> None:
        """Threads wrote bytes: [threads, bytes]."""
        self._before[places] = self._count[lanes][:, None]

    def wrote_async(self, places: NDArray[np.int64]) -> None:
        """The async proxy wrote bytes itself, and sees them without a fence."""
        self._before[places] = -1

    def fence(self, lanes: Lanes, now: NDArray[np.int32]) -> None:
        """Threads execute `fence.proxy.async`; `now` is their clock."""
        count = self._count[lanes]
        if int(count.max()) == self._when.shape[1]:
            self._when = np.concatenate([self._when, np.zeros_like(self._when)], axis=1)
        self._when[lanes, count] = now
        self._count[lanes] += 1

    def check_read(
        self,
        places: NDArray[np.int64],
        writer: NDArray[np.int32],
        known: NDArray[np.int32],
        write_op: NDArray[np.int32],
    ) -> None:
        """Raise Fault where the async proxy reads bytes that their `writer` did not fence, or whose
        fence is not known to the reader; `known` is what it knows of each writer's warp."""
        before = self._before[places]
        unfenced = (before >= 0) & (before >= self._count[writer])
        number = np.minimum(np.maximum(before, 0), self._when.shape[1] - 1)
        late = (before >= 0) & ~unfenced & (self._when[writer, number] >= known)
        for wrong, why in (
            (unfenced, "no fence.proxy.async of its thread follows it"),
            (late, "no barrier follows the fence.proxy.async of its thread"),
        ):
            if wrong.any():
                op = int(write_op[places[wrong][0]])
                raise Fault(
                    f"reads shared memory that {self._op_names.get(op, '?')} wrote, and {why}"
                )
