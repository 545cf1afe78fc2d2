"""Barriers of warps, of CTAs and of clusters: threads arrive, and wait until all have.

What threads did before they arrived is before whatever those do who waited. PTX ISA, bar.warp.sync,
barrier.cta and barrier.cluster.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import BoolArray, Int32Array, Int64Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.clocks import Clocks, Known, together
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.machine.wait import Wait
from tilewright.lowering.interpreter.values import Bits, Lanes

BARRIERS = 16
"""The number of barriers of a CTA."""

ALL_MEMBERS = 0xFFFFFFFF
"""The membermask of a whole warp."""


class Barriers:
    """Barriers by number; `completed` are the phases that are over."""

    def __init__(self, clocks: Clocks, count: int):
        self._clocks = clocks
        self.completed = np.zeros(count, dtype=np.int64)

    def ready(self, numbers: Int64Array, phases: Int64Array) -> BoolArray:
        """The threads whose phases are over: [threads]."""
        return self.completed[numbers] > phases

    def resume(self, lanes: Lanes, numbers: Int64Array, phases: Int64Array) -> None:
        """Threads go on; what they learn they mostly know since the last one came."""

    def deadlock(self, lanes: Lanes, numbers: Int64Array, phases: Int64Array) -> str:
        """The diagnosis of the first barrier, where the phase will not end."""
        number = int(numbers[0])
        return self._diagnosis(number, int((numbers == number).sum()))

    def _diagnosis(self, number: int, waiting: int) -> str:
        """The diagnosis of a barrier at which threads wait in vain."""
        raise NotImplementedError


class WarpBarriers(Barriers):
    """The barriers of the warps of a wave, by the membermasks that threads wait with. `there` are
    the threads that have not ended, by slot, at any time."""

    def __init__(self, clocks: Clocks, there: BoolArray):
        super().__init__(clocks, len(there))
        self._there = there.reshape(-1, WARP)
        # Of each thread: whom it waits for, a bit each; 0 where it does not wait.
        self._masks = np.zeros(len(there), dtype=np.uint32)

    def wait(self, op: Operation, lanes: Lanes, members: Bits | int) -> Wait:
        """Threads arrive, and wait for the members of their warps, a bit each."""
        masks = np.broadcast_to(members, len(lanes)).astype(np.uint32)
        if not (own := masks >> (lanes % WARP).astype(np.uint32) & 1).all():
            raise Fault("expected a membermask with its own thread", int(np.argmin(own)))
        wait = Wait(self, op, (lanes, self.completed[lanes]))
        self._masks[lanes] = masks
        self._complete(np.unique(lanes // WARP))
        return wait

    def _complete(self, warps: Int64Array) -> None:
        """End the waits in these warps whose members have all come, or had ended before."""
        masks = self._masks.reshape(-1, WARP)[warps]
        whole = (masks == ALL_MEMBERS).all(axis=1)
        self._clocks.synchronise(warps[whole])
        self._go_on((warps[whole, None] * WARP + np.arange(WARP)).ravel())
        for warp, waiting in zip(warps[~whole].tolist(), masks[~whole], strict=True):
            for mask in np.unique(waiting[waiting != 0]).tolist():
                members = (mask >> np.arange(WARP) & 1 != 0) & self._there[warp]
                if (waiting[members] == mask).all():
                    lanes = warp * WARP + np.flatnonzero(members)
                    self._clocks.learn(lanes, self._clocks.publish(lanes))
                    self._go_on(lanes)

    def _go_on(self, lanes: Lanes) -> None:
        self._masks[lanes] = 0
        self.completed[lanes] += 1

    def deadlock(self, lanes: Lanes, numbers: Int64Array, phases: Int64Array) -> str:
        """How many of the members wait."""
        mask, warp = self._masks[lanes[0]], int(lanes[0]) // WARP
        count = int((self._masks.reshape(-1, WARP)[warp] == mask).sum())
        return (
            f"bar.warp.sync needs all threads of its membermask {int(mask):#010x}, and {count} "
            "execute it (no other one will come)"
        )


@entity
class Phase:
    """A phase of a barrier: its number of threads, those that have arrived and what they knew, and
    those that wait."""

    expected: int
    arrived: int = 0
    known: Known = factory(lambda: np.zeros(0, dtype=np.int32))
    waiting: list[Lanes] = factory(list)
    warps: list[Int64Array] = factory(list)
    votes: int = 0


def _partial(barrier: int, present: int) -> str:
    return (
        f"barrier {barrier} needs all {WARP} threads of a warp, and {present} execute it "
        "(.sync.aligned: PTX ISA 9.7.14)"
    )


class CtaBarriers(Barriers):
    """The barriers of a wave of CTAs, 16 each, of `threads` threads in `slots` thread slots."""

    def __init__(self, clocks: Clocks, ctas: int, threads: int, slots: int):
        super().__init__(clocks, ctas * BARRIERS)
        self._threads = threads
        self._slots = slots
        self._phases: dict[int, Phase] = {}
        self._votes: dict[int, tuple[int, int]] = {}
        # Of warps of which some threads wait at a barrier: the op, and those threads.
        self._parts: dict[tuple[int, int], tuple[Operation, Lanes]] = {}
        # Of each barrier: the warps that arrived in its last phase, and their clocks then.
        self._last: dict[int, tuple[Int64Array, Int32Array]] = {}

    def arrive(
        self, lanes: Lanes, barrier: Bits | int, threads: Bits | int | None, *,
        waits: bool = False, votes: BoolArray | None = None,
    ) -> None:  # fmt: skip
        """Threads arrive at a barrier of `threads` threads, None being all of the CTA.

        Those who wait learn what all knew when they arrived; who only arrives learns nothing.
        """
        self._arrive(lanes, self._numbers(lanes, barrier), threads, waits, votes)

    def _numbers(self, lanes: Lanes, barrier: Bits | int) -> Int64Array:
        if (beyond := np.flatnonzero(np.asarray(barrier) >= BARRIERS)).size:
            raise Fault(f"expected a barrier below {BARRIERS}", int(beyond[0]))
        return lanes // self._slots * BARRIERS + barrier

    def _arrive(
        self, lanes: Lanes, numbers: Int64Array, threads: Bits | int | None, waits: bool,
        votes: BoolArray | None,
    ) -> None:  # fmt: skip
        counts = np.broadcast_to(self._threads if threads is None else threads, len(lanes))
        for number in np.unique(numbers).tolist():
            here = numbers == number
            mine, expected, barrier = lanes[here], int(counts[here][0]), number % BARRIERS
            self._check_last(mine, number)
            phase = self._phases.setdefault(number, Phase(expected))
            if phase.expected != expected:
                raise Fault(
                    f"gives barrier {barrier} {expected} threads, and those that wait there give "
                    f"it {phase.expected}"
                )
            phase.arrived += len(mine)
            phase.known = together(phase.known, self._clocks.publish(mine))
            phase.warps.append(np.unique(mine // WARP))
            if waits:
                phase.waiting.append(mine)
            if votes is not None:
                phase.votes += int(votes[here].sum())
            if phase.arrived > expected:
                raise Fault(
                    f"barrier {barrier} expects {expected} threads, and {phase.arrived} came"
                )
            if phase.arrived == expected:
                self._open(number, phase)

    def progress(self) -> list[int]:
        """How many threads have arrived at each barrier that waits for more."""
        phases = sorted(self._phases.items())
        return [number for key, phase in phases for number in (key, phase.arrived)]

    def _check_last(self, lanes: Lanes, number: int) -> None:
        """Raise Fault where threads may arrive before the barrier's last phase is over."""
        if number not in self._last:
            return
        warps, clocks = self._last[number]
        known = self._clocks.seen[lanes[:, None], warps % self._clocks.warps] >= clocks
        known |= warps == lanes[:, None] // WARP
        if not known.all():
            lane, warp = np.unravel_index(int(np.argmin(known)), known.shape)
            raise Fault(
                f"barrier {number % BARRIERS} is used again before its last use, by warp "
                f"{int(warps[warp]) % (self._slots // WARP)} among others, is known to be over",
                int(lane),
            )

    def _open(self, number: int, phase: Phase) -> None:
        for waiting in phase.waiting:
            self._clocks.learn(waiting, phase.known)
        warps = np.concatenate(phase.warps)
        self._last[number] = warps, phase.known[warps % self._clocks.warps]
        del self._phases[number]
        self._votes[number] = phase.votes, phase.expected
        self.completed[number] += 1

    def votes(self, lanes: Lanes, barrier: Bits | int) -> Int64Array:
        """Of how many threads of the barrier's last phase a predicate held, and how many there
        were: [threads, 2]."""
        numbers = self._numbers(lanes, barrier)
        return np.array([self._votes[number] for number in numbers.tolist()])

    def wait(
        self, op: Operation, lanes: Lanes, barrier: Bits | int, threads: Bits | int | None,
        votes: BoolArray | None = None,
    ) -> Wait:  # fmt: skip
        """Threads arrive, and wait for the others."""
        numbers = self._numbers(lanes, barrier)
        phases = self.completed[numbers]
        self.arrive(lanes, barrier, threads, waits=True, votes=votes)
        return Wait(self, op, (numbers, phases))

    def gather(self, op: Operation, lanes: Lanes, barrier: int) -> None:
        """Threads come to an aligned barrier: all of a warp to one op, though not at once."""
        numbers, warps = self._numbers(lanes, barrier), lanes // WARP
        for warp in np.unique(warps).tolist():
            key = int(numbers[warps == warp][0]), warp
            first, others = self._parts.pop(key, (op, lanes[:0]))
            there = np.append(others, lanes[warps == warp])
            if first is not op:
                raise Fault(
                    _partial(barrier, len(there) - len(others)), int(np.argmax(warps == warp))
                )
            if len(there) < WARP:
                self._parts[key] = op, there

    def _diagnosis(self, number: int, waiting: int) -> str:
        """Which warps of a CTA wait at a barrier."""
        for (of, _), (_, lanes) in self._parts.items():
            if of == number:
                raise Fault(_partial(number % BARRIERS, len(lanes)), int(lanes.min()))
        phase = self._phases[number]
        warps = np.unique(np.concatenate(phase.waiting) % self._slots // WARP)
        return (
            f"deadlock: {phase.arrived} threads (warps {', '.join(map(str, warps.tolist()))}) wait "
            f"at barrier {number % BARRIERS}, and no other thread of the CTA will come"
        )


class ClusterBarrier(Barriers):
    """The barrier of each cluster of a wave, whose `ctas` CTAs have `threads` threads in `slots`
    thread slots."""

    def __init__(self, clocks: Clocks, clusters: int, threads: int, slots: int, ctas: int):
        super().__init__(clocks, clusters)
        self._threads = threads * ctas
        self._slots = slots * ctas
        self._phases: dict[int, Phase] = {}
        self._released: dict[int, Known] = {}
        # Of each thread: how often it has arrived, and how often waited.
        self._arrivals = np.zeros(clusters * slots * ctas, dtype=np.int64)
        self._waits = np.zeros(clusters * slots * ctas, dtype=np.int64)

    def arrive(self, lanes: Lanes) -> None:
        """Threads arrive. Raises Fault where one has not waited since it arrived last."""
        again = self._arrivals[lanes] > self._waits[lanes]
        if again.any():
            raise Fault(
                "arrives at the barrier of the cluster twice in one phase", int(np.argmax(again))
            )
        self._arrivals[lanes] += 1
        clusters = lanes // self._slots
        for cluster in np.unique(clusters).tolist():
            mine = lanes[clusters == cluster]
            phase = self._phases.setdefault(cluster, Phase(self._threads))
            phase.known = together(phase.known, self._clocks.publish(mine))
            phase.arrived += len(mine)
            if phase.arrived == phase.expected:
                self._released[cluster] = self._phases.pop(cluster).known
                self.completed[cluster] += 1

    def wait(self, op: Operation, lanes: Lanes) -> Wait:
        """Threads wait. Raises Fault where one has not arrived since it waited last."""
        without = self._arrivals[lanes] == self._waits[lanes]
        if without.any():
            raise Fault(
                "waits at the barrier of the cluster without having arrived",
                int(np.argmax(without)),
            )
        self._waits[lanes] += 1
        return Wait(self, op, (lanes // self._slots, self._waits[lanes] - 1))

    def resume(self, lanes: Lanes, numbers: Int64Array, phases: Int64Array) -> None:
        """Let threads know what all knew when they arrived."""
        for cluster in np.unique(numbers).tolist():
            self._clocks.learn(lanes[numbers == cluster], self._released[cluster])

    def _diagnosis(self, number: int, waiting: int) -> str:
        """How many threads of the cluster are there."""
        phase = self._phases.get(number, Phase(self._threads))
        return (
            f"deadlock: {phase.arrived} of {self._threads} threads of the cluster have arrived at "
            "its barrier, and no other one will come"
        )
