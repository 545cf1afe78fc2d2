"""mbarriers: phases that arrivals and bytes of copies complete, and threads that wait for them.

What was done before an arrival is before whatever follows a wait for its phase; the bytes of a copy
are there for whoever has waited for the phase that they complete, and for nobody else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cute_nvgpu.lattice.mbarrier import MAX_ARRIVALS, MBARRIER_BYTES
from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    UInt8Array,
)
from tilewright.lowering.interpreter.errors import Fault, first_of
from tilewright.lowering.interpreter.machine.clocks import Clocks, together
from tilewright.lowering.interpreter.machine.mbarrier_phases import Mbarrier
from tilewright.lowering.interpreter.machine.schedule import Schedule
from tilewright.lowering.interpreter.machine.shared_memory import SharedMemory
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.machine.wait import Wait
from tilewright.lowering.interpreter.values import Bits, Lanes, distinct


@entity
class Mbarriers:
    """The mbarriers of a wave of CTAs, by their place in its shared memory."""

    _shared: SharedMemory
    _clocks: Clocks
    _schedule: Schedule
    _cluster: int
    _at: dict[int, Mbarrier] = factory(dict)
    # Of each address of shared memory that an mbarrier ever had: its clock, and that of writes.
    _columns: dict[int, tuple[int, int]] = factory(dict)
    _completed: dict[int, int] = factory(dict)
    # Threads that have seen a phase complete and learned nothing yet: where, and in a cluster.
    _watched: list[tuple[int, int, bool]] = factory(list)

    # Making and finding

    def make(self, lanes: Lanes, address: Bits, count: int, op: int) -> None:
        """`mbarrier.init` by each of these threads."""
        places = self._shared.places(lanes, address, MBARRIER_BYTES, "mbarrier.init")[:, 0]
        for index, place in enumerate(places.tolist()):
            if (before := self._at.get(place)) is not None:
                raise Fault(
                    f"makes an mbarrier where {self._shared.op_names[before.op]} has made one; "
                    "nearest legal: mbarrier.inval before it",
                    index,
                )
            offset = place % (self._shared.stride * self._cluster)
            if offset not in self._columns:
                self._columns[offset] = self._clocks.add_pair()
            nothing = np.zeros(self._clocks.seen.shape[1], dtype=np.int32)
            self._at[place] = Mbarrier(
                count, *self._columns[offset], self._completed.get(place, 0), int(lanes[index]), op,
                nothing, np.zeros(self._clocks.lanes, dtype=np.int32),
            )  # fmt: skip
        self._shared.store(lanes, address, np.zeros((len(lanes), MBARRIER_BYTES), np.uint8), op)

    def end(self, lanes: Lanes, address: Bits) -> None:
        """`mbarrier.inval`. Raises Fault where somebody may still look at an mbarrier, or ends it
        too."""
        for place in np.unique(places := self.find(lanes, address)).tolist():
            index, *others = np.flatnonzero(places == place).tolist()
            if others:
                raise Fault(
                    f"ends {self._named(self._at[place])}, as {len(others)} other threads do; "
                    "nearest legal: in a branch of one thread",
                    others[0],
                )
            self._check_unused(self._at[place], int(lanes[index]), index)
            self._completed[place] = self._at.pop(place).completed

    def _check_unused(self, barrier: Mbarrier, lane: int, index: int) -> None:
        local = np.flatnonzero(barrier.used)
        users = (lane // self._clocks.lanes * self._clocks.lanes + local).astype(np.int32)
        known = self._clocks.seen[[lane]]
        late = ~self._clocks.happened(known, users[None], barrier.used[local][None])[0]
        late &= users != lane
        if late.any():
            user = int(users[np.argmax(late)])
            raise Fault(
                f"ends {self._named(barrier)}, at which thread {user % self._shared.threads} may "
                "still look: no barrier orders them",
                index,
            )
        if barrier.copied >= known[0, barrier.column]:
            raise Fault(
                f"ends {self._named(barrier)}, at which a copy may still arrive: no wait for its "
                "phase is before this",
                index,
            )

    def find(self, lanes: Lanes, address: Bits) -> Int64Array:
        """The places of the mbarriers at each thread's address. Raises Fault where there is none,
        or its making is not before what the thread does."""
        bytes_ = self._shared.places(lanes, address, MBARRIER_BYTES, "access")
        for place in np.unique(bytes_[:, 0]).tolist():
            if place not in self._at:
                raise Fault(
                    f"expected an mbarrier at byte {place % self._shared.stride} of shared memory, "
                    "and no mbarrier.init has made one",
                    int(np.argmax(bytes_[:, 0] == place)),
                )
            self._use(place, lanes[bytes_[:, 0] == place])
        self._shared.check_made(lanes, bytes_)
        return bytes_[:, 0]

    def _use(self, place: int, lanes: Lanes) -> None:
        """Threads arrive at an mbarrier, or look at it."""
        self._at[place].used[lanes % self._clocks.lanes] = self._clocks.now(lanes)

    def meet(self, lanes: Lanes, masks: Bits) -> None:
        """Threads wait for those of their warps that masks have: the first of these is behind what
        they did at mbarriers, and stands for them."""
        first = lanes // WARP * WARP + np.argmax(masks[:, None] >> np.arange(WARP) & 1, axis=1)
        cluster, local = np.divmod(lanes, self._clocks.lanes)
        for place, barrier in self._at.items():
            done = cluster == place // (self._shared.stride * self._cluster)
            done &= barrier.used[local] > 0
            barrier.used[local[done]] = 0
            self._use(place, first[done])

    def fence(self, lanes: Lanes) -> None:
        """`fence.mbarrier_init` or `fence.proxy.async`: copies see what the threads made."""
        makers = set(lanes.tolist())
        for barrier in self._at.values():
            barrier.fenced |= barrier.maker in makers

    # Phases

    def states(self, lanes: Lanes, address: Bits, counts: Iterable[int] = repeat(0)) -> Bits:
        """The states that so many arrivals give: what the phase waits for, and its number below."""
        pending, states = dict[int, int](), list[int]()
        for place, count in zip(self.find(lanes, address).tolist(), counts, strict=False):
            left = pending.setdefault(place, self._at[place].pending)
            pending[place] -= count
            states.append(max(left, 0) << 32 | self._at[place].phase)
        return np.array(states, dtype=np.uint64)

    def expect(self, lanes: Lanes, address: Bits, count: int) -> None:
        """Each thread lets the phase wait for so many bytes more, or less where it is negative."""
        for index, place in enumerate(self.find(lanes, address).tolist()):
            self._at[place].bytes += count
            self._check_bytes(self._at[place], index)
            self._at[place].settle()

    def keep_open(self, lanes: Lanes, address: Bits, count: int) -> None:
        """Raise Fault where so many arrivals of each thread would complete a phase."""
        places: list[int] = self.find(lanes, address).tolist()
        for place, times in Counter(places).items():
            if self._at[place].pending <= count * times:
                raise Fault(f"completes a phase of {self._named(self._at[place])}")

    def drop(self, lanes: Lanes, address: Bits, count: int) -> None:
        """Phases from the next one on wait for so many arrivals of each thread no more."""
        for place in self.find(lanes, address).tolist():
            self._at[place].expected -= count

    def under_way(
        self, lanes: Lanes, address: Bits
    ) -> Iterator[tuple[Int64Array, tuple[int, int]]]:
        """The threads of each mbarrier, by index; its clock and the number of its phase."""
        places = self.find(lanes, address)
        for place in np.unique(places).tolist():
            barrier = self._at[place]
            yield np.flatnonzero(places == place), (barrier.column, barrier.completed)

    def arrive(
        self, lanes: Lanes, address: Bits, count: int, expect: int = 0, *, reads: bool = False,
        relaxed: bool = False,
    ) -> None:  # fmt: skip
        """Each thread lets the phase wait for `expect` bytes more, and arrives `count` times: in
        another CTA behind what it has read alone, with `reads`; behind nothing where `relaxed`."""
        places = self.find(lanes, address)
        if self._cluster > 1:
            self._shared.remote.note(lanes, places // self._shared.stride, "an arrival")
        for place in np.unique(places).tolist():
            far = lanes // self._shared.threads != place // self._shared.stride
            for apart in (False, True):
                there = np.flatnonzero((places == place) & (far == apart))
                while len(there):
                    barrier, scope = self._at[place], (apart, reads, relaxed)
                    there = there[self._arrive(barrier, lanes, there, count, expect, *scope) :]

    def _arrive(
        self, barrier: Mbarrier, lanes: Lanes, there: Int64Array, count: int, expect: int,
        far: bool, reads: bool, relaxed: bool,
    ) -> int:  # fmt: skip
        """The first of the threads that are there, by index, arrive: as many as the phase waits
        for. Returns how many."""
        number = min(barrier.pending // count, len(there))
        if not number:
            raise Fault(
                f"arrives {count} times at {self._named(barrier)}, whose phase {barrier.phase} "
                f"waits for {barrier.pending} of {barrier.expected} arrivals",
                int(there[0]),
            )
        there = there[:number]
        arriving = lanes[there]
        self._check_phase(barrier, arriving, there)
        barrier.bytes += expect * number
        self._check_bytes(barrier, int(there[-1]))
        barrier.arrived.note(arriving, self._clocks.now(arriving), asynchronous=expect > 0)
        if not relaxed:
            known = self._clocks.publish(arriving)
            if far and not reads:
                barrier.written = together(barrier.written, known)
            near = self._clocks.of_reads(known) if far else known
            barrier.known = together(barrier.known, near)
        barrier.pending -= count * number
        barrier.settle()
        return number

    def _check_phase(self, barrier: Mbarrier, lanes: Lanes, there: Int64Array) -> None:
        """Raise Fault where a thread might arrive while the phase before is not over: it has not
        waited for that phase, nor does it know of its end or of all of its arrivals."""
        seen = self._clocks.seen[lanes]
        watched = [barrier.watched.get(lane, -1) for lane in lanes.tolist()]
        known = np.maximum(seen[:, barrier.column], watched) >= barrier.completed
        if not barrier.phase or known.all():
            return
        if not barrier.last.asynchronous:
            known |= barrier.last.known_to(lanes, self._clocks)
        if not known.all():
            raise Fault(
                f"arrives at phase {barrier.phase} of {self._named(barrier)}, and may come before "
                f"phase {barrier.phase - 1} is over: its thread has not waited for that phase, nor "
                "learned of its end",
                int(there[int(np.argmin(known))]),
            )

    def _check_bytes(self, barrier: Mbarrier, index: int) -> None:
        if abs(barrier.bytes) > MAX_ARRIVALS:
            raise Fault(
                f"phase {barrier.phase} of {self._named(barrier)} expected at most {MAX_ARRIVALS} "
                f"bytes, got {barrier.bytes}",
                index,
            )

    def places(self, lane: int, address: int, mask: int | None, *, pair: bool = False) -> list[int]:
        """Where the mbarriers are that a commit arrives at: the one at the address or, with a mask,
        those at the same place in the CTAs of the cluster whose bits are set; of a `pair` in the
        CTAs of their pairs whose ranks are even, or odd, as that of the address is."""
        asked = np.array([lane]), np.array([address])
        if mask is None:
            return self.find(*asked).tolist()
        own = self._shared.places(*asked, MBARRIER_BYTES, "access")[0, 0]
        cta, offset = divmod(int(own), self._shared.stride)
        first = cta // self._cluster * self._cluster
        if not mask or mask >> self._cluster:
            raise Fault(
                f"expected a mask of some of the {self._cluster} CTAs of the cluster, got {mask:#b}"
            )
        ranks = [rank for rank in range(self._cluster) if mask >> rank & 1]
        if pair:
            ranks = [rank & ~1 | cta & 1 for rank in ranks]
        there = [(first + rank) * self._shared.stride + offset for rank in ranks]
        for rank, place in zip(ranks, there, strict=True):
            if place not in self._at:
                raise Fault(
                    f"expected an mbarrier at byte {offset} of the shared memory of CTA {rank} of "
                    "the cluster, and no mbarrier.init has made one"
                )
        return there

    def receivers(
        self, lane: int, address: int, mask: int | None, *, pair: bool
    ) -> list[tuple[int, int]]:
        """Whom a copy of a thread reaches: each CTA of the wave, and the place of its mbarrier,
        which may be in the other CTA of a `pair`. Raises Fault where one is not made, or not known
        to be."""
        there = self.places(lane, address, mask, pair=pair)
        for place in there:
            self._use(place, np.array([lane]))
        made = np.array(there)[:, None] + np.arange(MBARRIER_BYTES)
        self._shared.check_made(np.full(len(there), lane), made)
        ctas = [place // self._shared.stride for place in there]
        if pair and mask is not None:
            first = ctas[0] // self._cluster * self._cluster
            ctas = [first + rank for rank in range(self._cluster) if mask >> rank & 1]
        return list(zip(ctas, there, strict=True))

    def arrive_async(self, lane: int, place: int) -> tuple[int, int]:
        """One arrival at the mbarrier at `place` by what a thread started: the mbarrier's clock and
        the number of the phase. Whoever waits for it knows what the thread knew."""
        barrier = self._at[place]
        self._check_fenced(barrier)
        phase = barrier.column, barrier.completed
        barrier.copied = barrier.completed
        self._shared.remote.note_copy(lane, place // self._shared.stride, phase, "a tcgen05.commit")
        if not barrier.pending:
            raise Fault(
                f"arrives at {self._named(barrier)}, whose phase {barrier.phase} waits for no more "
                f"than its {barrier.expected} arrivals"
            )
        self._complete(barrier, self._clocks.seen[lane].copy(), arrivals=1)
        return phase

    def _complete(
        self, barrier: Mbarrier, known: Int32Array, also: Callable[[], None] = lambda: None, *,
        arrivals: int = 0, count: int = 0,
    ) -> None:  # fmt: skip
        """The phase waits for so many arrivals and bytes no longer, as soon as what something has
        started is over and what `also` happens then has; whoever waits knows what is `known`."""

        def land() -> None:
            also()
            barrier.known = together(barrier.known, known)
            barrier.bytes -= count
            barrier.pending -= arrivals
            barrier.arrived.asynchronous = True
            barrier.settle()

        self._schedule.complete(land)

    def _check_fenced(self, barrier: Mbarrier) -> None:
        if not barrier.fenced:
            raise Fault(
                f"completes {self._named(barrier)}, which copies do not see: no "
                "fence.mbarrier_init follows it in its thread"
            )

    def land(
        self, lane: int, place: int, places: Int64Array, data: UInt8Array,
        again: Callable[[], UInt8Array], op: int, change: Callable[..., Bits] | None = None, *,
        generic: bool = False, needs_fence: bool = True,
    ) -> tuple[int, int]:  # fmt: skip
        """The bytes of a copy land, and the phase of the mbarrier at `place` waits for them no
        longer; its clock and number. A copy that lands late reads its source `again`, but for one
        that combines, as a `change`."""
        barrier = self._at[place]
        if needs_fence:
            self._check_fenced(barrier)
        when = (barrier.column, barrier.completed)
        barrier.copied = barrier.completed
        self._shared.remote.note_copy(lane, place // self._shared.stride, when, "a tma.load")
        self._shared.write_async(lane, places, data, op, when, change, generic=generic)

        def again_if_late() -> None:
            if self._schedule.is_random and change is None:
                self._shared.data[places] = again()

        self.complete(lane, place, data.size, again_if_late)
        return when

    def complete(
        self, lane: int, place: int, count: int, also: Callable[[], None] = lambda: None
    ) -> None:
        """The phase of the mbarrier at `place` waits for so many bytes of a thread's copy no
        longer, as soon as they have landed, and what `also` happens then has."""
        barrier = self._at[place]
        # The copy began after the phases that its thread had waited for were over.
        waited, columns = np.zeros_like(self._clocks.seen[lane]), [*chain(*self._columns.values())]
        waited[columns] = self._clocks.seen[lane, columns]
        self._complete(barrier, waited, also, count=count)
        self._check_bytes(barrier, 0)

    # Waiting

    def wait(
        self, lanes: Lanes, address: Bits, parity: Bits, op: Operation, *, cluster: bool = False
    ) -> Wait:
        """The wait of the threads, which learn of what other CTAs of a `cluster` wrote. Raises
        Fault for a parity that is none."""
        given = np.broadcast_to(parity, len(lanes)).astype(np.int64)
        if (lane := first_of(given > 1)) is not None:
            raise Fault(f"expected parity 0 or 1, got {given[lane]}", lane)
        return Wait(self, op, (self.find(lanes, address), given, np.full(len(lanes), cluster)))

    def ready(self, places: Int64Array, parity: Int64Array, cluster: BoolArray) -> BoolArray:
        """True for threads whose phase is complete: [threads]; of no mbarrier that has ended."""
        ready = np.zeros(len(places), dtype=bool)
        for place in distinct(places):
            if (barrier := self._at.get(place)) is not None:
                ready |= (places == place) & (parity == (barrier.phase + 1) % 2)
        return ready

    def resume(
        self, lanes: Lanes, places: Int64Array, parity: Int64Array, cluster: BoolArray
    ) -> None:
        """Let threads know what those knew who completed the phases that they waited for."""
        for place in np.unique(places).tolist():
            there = lanes[places == place]
            self._clocks.learn(there, self._at[place].released)
            self._clocks.learn(lanes[(places == place) & cluster], self._at[place].handed_on)
            self._use(place, there)

    def watch(
        self, lanes: Lanes, places: Int64Array, parity: Int64Array, cluster: BoolArray
    ) -> None:
        """Threads see that a phase is complete, and know what follows from it behind a fence."""
        for lane, place, far in zip(lanes.tolist(), places.tolist(), cluster.tolist(), strict=True):
            self._at[place].watched[lane] = self._at[place].completed
            self._watched.append((lane, place, far))

    def acquire(self, lanes: Lanes) -> None:
        """Fences of threads: they learn what the phases have handed on that they saw complete."""
        for seen in self._watched:
            if seen[0] in lanes and seen[1] in self._at:
                lane, place, far = (np.array([part]) for part in seen)
                self.resume(lane, place, lane, far)
        self._watched = [seen for seen in self._watched if seen[0] not in lanes]

    def deadlock(
        self, lanes: Lanes, places: Int64Array, parity: Int64Array, cluster: BoolArray
    ) -> str:
        """The wait as a diagnostic says it, where nothing will complete it."""
        place = int(places[0])
        same = lanes[places == place]
        barrier = self._at.get(place)
        if barrier is None:
            return "deadlock: the mbarrier that threads wait for has ended"
        return (
            f"deadlock: {len(same)} threads wait for phase {barrier.phase} of "
            f"{self._named(barrier)}, which waits for {barrier.pending} of {barrier.expected} "
            f"arrivals and {barrier.bytes} bytes"
        )

    def state(self) -> dict[int, tuple[int, int, int, int]]:
        """How many phases were complete at each place, what the present one waits for, arrivals and
        bytes, and its number."""
        return {
            place: (barrier.completed, barrier.pending, barrier.bytes, barrier.phase)
            for place, barrier in self._at.items()
        }

    def progress(self) -> list[int]:
        """How far the phases are that threads may wait for."""
        return [
            number
            for place, barrier in sorted(self._at.items())
            for number in (place, barrier.phase % 2, barrier.pending, barrier.bytes)
        ]

    def _named(self, barrier: Mbarrier) -> str:
        return f"the mbarrier of {self._shared.op_names[barrier.op]}"
