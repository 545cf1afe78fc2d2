"""Accesses of threads to global memory, and the races among them.

Threads of one cluster are ordered as in shared memory, CTAs of others not at all. Writes of the
value that is there already race with nothing, nor do reductions with reductions. What a copy reads
or writes it may access until it is known to be complete (`global_copies`).
"""

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.atomic_order import AtomicOrder
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.global_copies import GlobalRead, GlobalWrite, Span
from tilewright.lowering.interpreter.machine.global_memory import GlobalMemory
from tilewright.lowering.interpreter.machine.global_proxy import GlobalProxyFences
from tilewright.lowering.interpreter.machine.last_accesses import NOBODY, Row
from tilewright.lowering.interpreter.machine.tensor_map import TensorImage
from tilewright.lowering.interpreter.machine.word_accesses import COPIES, LOCAL, Shadow
from tilewright.lowering.interpreter.share import BufferUse, refuse
from tilewright.lowering.interpreter.values import Bits, Lanes, distinct, spread

STRONG = {"read": "acquire.gpu", "write": "release.gpu"}
"""The order between CTAs that an access makes which is none."""

ADDRESS_BITS = 40
"""The bits of an address below the number of its buffer."""


class GlobalAccesses:
    """Global memory as the threads of a wave see it, its races among all waves: `races` says what
    becomes of those, "error", "warn" or "ignore"; `alone` that no other CTAs run elsewhere."""

    def __init__(self, memory: GlobalMemory, races: str, *, alone: bool = True):
        self._memory = memory
        self._races = races
        self._alone = alone
        self._shadows: dict[int, Shadow] = {}
        self._first = self._ctas = 0
        self.order = AtomicOrder()
        self.widths: dict[int, int] = {}
        """The scopes of ops that not all threads see in one order."""
        self._fences = GlobalProxyFences(self.order)
        self._async: set[int] = set()
        self._reading: dict[int, list[GlobalRead]] = {}
        self._writing: dict[int, GlobalWrite] = {}

    def begin(
        self, ctas: int, slots: int, cluster: int, clocks: Clocks, op_names: dict[int, str]
    ) -> None:
        """A wave of so many CTAs begins, of `slots` thread slots, in clusters."""
        self._first, self._ctas = self._first + self._ctas, ctas
        self._slots, self._cluster = slots, cluster
        self._clocks, self._op_names = clocks, op_names
        self.order.begin(self._first // cluster, clocks, slots)

    def finish(self) -> None:
        """The wave is over, and with it whatever its threads started."""
        for read in {id(read): read for reads in self._reading.values() for read in reads}.values():
            self.end_read(read)
        self._end_writes(list(self._writing))

    def uses(self) -> list[BufferUse]:
        """The accesses to each buffer."""
        return [self._use(allocation.data) for allocation in self._memory.allocations]

    def _use(self, data: NDArray[np.uint8]) -> BufferUse:
        nothing = np.zeros(len(data), dtype=np.bool_)
        shadow = self._shadows.get(data.ctypes.data)
        if shadow is None:
            return BufferUse.of(nothing, nothing, data)
        readers = [readers.last for readers in shadow.readers]
        read, written = (
            np.repeat((np.stack(who) != NOBODY).any(axis=0), shadow.unit)[: len(data)]
            for who in (readers, [shadow.writes.who])
        )
        return BufferUse.of(read, written, data)

    def come_in_any_order(self, op: int) -> None:
        """CTAs are about to combine words in an order that nothing asks for."""
        if not self._alone:
            refuse(f"{self._op_names[abs(op)]}, which combines words of global memory")

    def check_writable(self, address: Bits, width: int) -> None:
        """Raise Fault where words at these addresses may not be written."""
        self._memory.check_writable(address, width)

    @property
    def are_checked(self) -> bool:
        """True where races are looked for."""
        return self._races != "ignore"

    # Threads

    def load(self, lanes: Lanes, address: Bits, width: int, count: int, op: int) -> Bits:
        """`count` words of `width` bytes at each address: [threads or 1, count] or, of one, without
        the second axis."""
        value = self._memory.load(address, width, count)
        for span in self._spans(lanes, address, width * count):
            self._read(span, op)
        return value

    def read_bytes(
        self, lanes: Lanes, address: Bits, counts: NDArray[np.int64], size: int, op: int
    ) -> NDArray[np.uint8]:
        """The first `counts` bytes at each address, then zeros up to `size`: [threads, size]."""
        data = self._memory.read_bytes(address, counts, size)
        for span in self._parts(lanes, address, counts):
            self._read(span, op)
        return data

    def store(
        self, lanes: Lanes, address: Bits, value: Bits, width: int, count: int, op: int
    ) -> None:
        """The inverse of `load`: [threads, count] or [threads]."""
        if not self.are_checked:
            self._memory.store(address, value, width, count)
            return
        address = spread(address, len(lanes))
        before, after = self._memory.exchange(address, value, width, count)
        value = np.broadcast_to(value.reshape(len(value), count), before.shape)
        if (after != value).any():
            row = int(np.argmax((after != value).any(axis=1)))
            self._report("race on global memory: two threads of the op write one element", row)
        changed = before != value
        for span in self._spans(lanes, address, width * count):
            mine = changed if len(span.lanes) == len(lanes) else changed[span.rows]
            shadow, places = self._check_write(span, op, mine)
            shadow.generic = True
            shadow.writes.note(places, *self._stamp(span.lanes), op)

    def _spans(self, lanes: Lanes, address: Bits, size: int) -> Iterator[Span]:
        """Accesses of `size` bytes by the buffers that they are of."""
        if not self.are_checked or not len(lanes):
            return
        every = spread(address, len(lanes)).astype(np.int64)
        buffer: NDArray[np.int64] = every >> ADDRESS_BITS
        for number in distinct(buffer):
            rows = np.flatnonzero(buffer == number)
            allocation = self._memory.allocations[number - 1]
            yield Span(lanes[rows], rows, allocation.data, every[rows] - allocation.base, size)

    def _parts(self, lanes: Lanes, address: Bits, counts: NDArray[np.int64]) -> Iterator[Span]:
        """Accesses of so many bytes each."""
        for size in np.unique(counts[counts > 0]).tolist():
            same = counts == size
            yield from self._spans(lanes[same], address[same], size)

    # Copies

    def begin_read(
        self, lanes: Lanes, address: Bits, counts: NDArray[np.int64], op: int
    ) -> GlobalRead:
        """Threads start copies that read so many bytes at each address."""
        return self._begin(list(self._parts(lanes, address, counts)), op)

    def begin_async(self, lane: int, address: Bits, width: int, op: int) -> GlobalRead:
        """A thread starts a copy by the async proxy that reads words at some addresses."""
        spans = list(self._spans(np.full(len(address), lane), address, width))
        return self._begin_async(spans, op)

    def begin_box(
        self, lane: int, image: TensorImage, corner: Sequence[int], op: int
    ) -> GlobalRead:
        """A thread starts a copy that reads a box of a tensor."""
        return self._begin_async(self._box(lane, image, corner), op)

    def _begin_async(self, spans: list[Span], op: int) -> GlobalRead:
        read = self._begin(spans, op)
        self._check_fenced(spans, "reads")
        return read

    def _begin(self, spans: list[Span], op: int) -> GlobalRead:
        for span in spans:
            self._check_read(span, op)
        return GlobalRead(spans, op)

    def until_waited(self, read: GlobalRead) -> None:
        """Threads' copies read until the threads wait for them."""
        for span in read.spans:
            self._reading.setdefault(span.buffer, []).append(read)

    def until_phase(self, lane: int, read: GlobalRead, column: int, phase: int) -> None:
        """A thread's copy reads until a phase of an mbarrier, its clock and number, is over."""
        for span in read.spans:
            who = np.full((len(span.lanes), 1), self._who(np.array([lane]))[0] & ~LOCAL)
            when = np.full(who.shape, phase, dtype=np.int32)
            shadow = self._shadow(span)
            shadow.note_read(shadow.words(span), who + COPIES + column, when, read.op)

    def end_read(self, read: GlobalRead, lanes: Lanes | None = None) -> None:
        """Threads, or all of them, have waited for their copies: what those read was read before
        whatever the threads do now."""
        for span in read.spans:
            over = span if lanes is None else span.of(np.isin(span.lanes, lanes))
            shadow = self._shadow(over)
            shadow.note_read(shadow.words(over), *self._stamp(over.lanes), read.op)
            if lanes is None:
                self._reading[span.buffer].remove(read)
        if lanes is not None:
            read.spans[:] = [span.of(~np.isin(span.lanes, lanes)) for span in read.spans]

    def write_box(
        self, lane: int, image: TensorImage, corner: Sequence[int],
        changed: NDArray[np.bool_], op: int, group: int,
    ) -> None:  # fmt: skip
        """A copy of a thread in a group writes a box of a tensor, or combines it as a reduction,
        whose op is negative; `changed` are the elements inside that get other values."""
        spans = self._box(lane, image, corner, written=True)
        self._begin_write(spans, changed[:, None], op, group)

    def write_words(
        self, lane: int, address: Bits, width: int, changed: NDArray[np.bool_], op: int, group: int
    ) -> None:
        """A copy of a thread in a group writes words at some addresses; see `write_box`."""
        spans = list(self._spans(np.full(len(address), lane), address, width))
        self._begin_write(spans, changed[:, None], op, group)

    def _begin_write(
        self, spans: list[Span], changed: NDArray[np.bool_], op: int, group: int
    ) -> None:
        if op < 0:
            self.come_in_any_order(op)
        number = max(self._writing, default=0) + 1
        self._async.add(abs(op))
        for span in spans:
            shadow, places = self._check_write(span, op, changed)
            self._check_fenced([span], "writes")
            if shadow.landing is None:
                shadow.landing = np.zeros(len(shadow.writes.who), dtype=np.int32)
            fresh = shadow.by_word(changed, span) | (shadow.landing[places] == 0)
            shadow.landing[places[fresh]] = number
            self._writing[number] = GlobalWrite(span, op, int(span.lanes[0]), group)

    def end_writes(self, lanes: Lanes, groups: NDArray[np.int64]) -> None:
        """Threads have waited for so many of their groups of copies to global memory."""
        if not self._writing:
            return
        up_to = dict(zip(lanes.tolist(), groups.tolist(), strict=True))
        self._end_writes(
            [n for n, copy in self._writing.items() if copy.group <= up_to.get(copy.lane, 0)]
        )

    def _end_writes(self, numbers: list[int]) -> None:
        for number in numbers:
            copy = self._writing.pop(number)
            shadow = self._shadow(copy.span)
            assert shadow.landing is not None
            places = shadow.words(copy.span).ravel()
            places = places[shadow.landing[places] == number]
            shadow.landing[places] = 0
            shadow.writes.note(places[None], *self._stamp(np.array([copy.lane])), copy.op)

    def _box(
        self, lane: int, image: TensorImage, corner: Sequence[int], *, written: bool = False
    ) -> list[Span]:
        if not self.are_checked:
            return []
        inside, places = image.places(corner, written=written)
        first = image.bytes_of(places[inside])
        if not len(first):
            return []
        lanes, rows = np.full(len(first), lane), np.arange(len(first))
        return [Span(lanes, rows, image.buffer.data, first, image.box.element.bytes)]

    # Proxies

    def fence_proxy(self, lanes: Lanes) -> None:
        """`fence.proxy.async`: what the threads know of is before what the async proxy does."""
        if any(shadow.generic for shadow in self._shadows.values()):
            self._fences.fence(lanes, self._clocks)

    def _check_fenced(self, spans: list[Span], verb: str) -> None:
        """Report a copy of what threads wrote without a fence."""
        for span in spans:
            if not (shadow := self._shadow(span)).generic:
                continue
            writes = shadow.writes.at(shadow.words(span).ravel())
            late = self._fences.unfenced(int(span.lanes[0]), writes)
            late &= ~np.isin(np.abs(writes[2]), list(self._async))
            if late.any():
                name = self._op_names[abs(int(writes[2][np.argmax(late)]))]
                self._report(
                    f"race on global memory: {verb} by the async proxy what {name} wrote, with no "
                    "fence.proxy.async between; nearest legal: one in the thread that wrote",
                    int(span.rows[0]),
                )

    # Races

    def _who(self, lanes: Lanes) -> NDArray[np.int64]:
        """Threads of the wave as threads of the grid."""
        cluster, local = np.divmod(lanes, self._slots * self._cluster)
        who: NDArray[np.int64] = (self._first // self._cluster + cluster) * (LOCAL + 1) + local
        return who

    def _stamp(self, lanes: Lanes) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Who some threads are, and their clocks: [threads, 1]."""
        return self._who(lanes)[:, None], self._clocks.now(lanes)[:, None]

    def _near(self, lane: int, other: int) -> str:
        """Another thread of the wave, as a thread says it."""
        if other // self._slots == lane // self._slots:
            return f"thread {other % self._slots}"
        return "another CTA"

    def _shadow(self, span: Span) -> Shadow:
        shadow = self._shadows.get(span.buffer)
        if shadow is None:
            shadow = self._shadows[span.buffer] = Shadow.of(len(span.data), span.size)
        return shadow

    def _read(self, span: Span, op: int) -> None:
        shadow, places = self._check_read(span, op)
        shadow.note_read(places, *self._stamp(span.lanes), op)

    def _check_read(self, span: Span, op: int) -> tuple[Shadow, NDArray[np.int64]]:
        shadow = self._shadow(span)
        places = shadow.words(span)
        every = np.arange(places.size)
        written = shadow.writes.at(places.ravel())
        self._check_against(span, places, every, written, op, ("read", "write"))
        self._check_landing(shadow, span, places, np.ones(places.shape, dtype=np.bool_), op, "read")
        return shadow, places

    def _check_write(
        self, span: Span, op: int, changed: NDArray[np.bool_]
    ) -> tuple[Shadow, NDArray[np.int64]]:
        """A write by which `changed` elements get other values: [threads, elements]."""
        shadow = self._shadow(span)
        places = shadow.words(span)
        words = shadow.by_word(changed, span)
        if words.any():
            every = np.arange(places.size)
            rows = [("write", every, shadow.writes.at(places.ravel()))]
            # Reductions race with no strong read, unless the scope of some op is narrow.
            readers = shadow.readers if op >= 0 or self.widths else [shadow.reads]
            rows += [("read", *read) for one in readers for read in one.of(places)]
            for verb, index, row in rows:
                chosen = words.ravel()[index]
                accesses = row[0][chosen], row[1][chosen], row[2][chosen]
                self._check_against(span, places, index[chosen], accesses, op, ("write", verb))
            self._check_landing(shadow, span, places, words, op, "write")
            self._check_reading(shadow, span, places, words)
        return shadow, places

    def _check_landing(
        self, shadow: Shadow, span: Span, places: NDArray[np.int64], words: NDArray[np.bool_],
        op: int, verb: str,
    ) -> None:  # fmt: skip
        """Report an access to words that a copy is writing; reductions may meet there."""
        if shadow.landing is None or not self._writing:
            return
        landing = np.where(words, shadow.landing[places], 0)
        for number in np.unique(landing[landing > 0]).tolist():
            copy = self._writing[number]
            if op < 0 and copy.op < 0:
                continue
            row = int(np.argmax((landing == number).any(axis=1)))
            name = self._op_names[abs(copy.op)]
            who = self._near(int(span.lanes[row]), copy.lane)
            self._report(
                f"race on global memory: this {verb} and the write by {name} in {who}, which no "
                "cp.async.bulk.wait_group has completed",
                int(span.rows[row]),
            )

    def _check_reading(
        self, shadow: Shadow, span: Span, places: NDArray[np.int64], words: NDArray[np.bool_]
    ) -> None:
        """Report a write of words that a cp.async is reading."""
        for read in self._reading.get(span.buffer, ()):
            reader = np.full(len(shadow.writes.who), NOBODY, dtype=np.int64)
            for other in read.spans:
                if other.buffer == span.buffer:
                    reader[shadow.words(other)] = other.lanes[:, None]
            late = words & (reader[places] != NOBODY)
            if late.any():
                row, word = np.unravel_index(int(np.argmax(late)), late.shape)
                name = self._op_names[read.op]
                who = self._near(int(span.lanes[row]), int(reader[places[row, word]]))
                self._report(
                    f"race on global memory: this write and the read by {name} in {who}, which no "
                    "cp.async.wait_group has completed",
                    int(span.rows[row]),
                )

    def _check_against(
        self, span: Span, places: NDArray[np.int64], index: NDArray[np.int64], accesses: Row,
        op: int, verbs: tuple[str, str],
    ) -> None:  # fmt: skip
        """Report accesses that are not known to be before those of the threads to `places`; `index`
        says, of each, to which."""
        others, stamps, ops = accesses
        race = others != NOBODY
        if not race.any():
            return
        row = index // places.shape[1]
        race &= others != self._who(span.lanes)[row]
        if op < 0:
            race &= (ops >= 0) | self._too_narrow(op, ops, others, self._who(span.lanes)[row])
        if not race.any():
            return
        row, other, stamps, ops = row[race], others[race], stamps[race], ops[race]
        lanes = span.lanes[row]
        near = other // (LOCAL + 1) == self._who(lanes) // (LOCAL + 1)
        local = other & LOCAL
        actor = np.where(local < COPIES, local, Clocks.async_writer(0) + COPIES - local)
        actor = actor.astype(np.int32)
        known = np.zeros(len(lanes), dtype=np.bool_)
        seen = self._clocks.seen[lanes[near]]
        known[near] = self._clocks.happened(
            seen, actor[near, None], stamps[near, None], writes=verbs[1] == "write"
        )[:, 0]
        if self.order.is_used:
            clusters = other // (LOCAL + 1)
            pairs = zip(lanes[~near].tolist(), clusters[~near].tolist(), strict=True)
            for lane, cluster in set(pairs):
                mine = ~near & (lanes == lane) & (clusters == cluster)
                known[mine] = self.order.happened(lane, cluster, actor[mine], stamps[mine])
        late = np.flatnonzero(~known)
        if not len(late):
            return
        at = int(late[0])
        first = int(lanes[at]) // self._clocks.lanes * self._clocks.lanes
        by = self._near(int(lanes[at]), first + int(local[at])) if near[at] else "another CTA"
        why = f" in {by} are ordered by nothing"
        if local[at] >= COPIES:
            why = " are ordered by no wait for the mbarrier that completes it"
        name = self._op_names[abs(int(ops[at]))]
        both = {op: verbs[0], int(ops[at]): verbs[1]}
        weak = {number: verb for number, verb in both.items() if number >= 0}
        chosen, cluster = slice(at, at + 1), int(other[at]) // (LOCAL + 1)
        missing = self.order.missing(int(lanes[at]), cluster, actor[chosen], stamps[chosen])
        if not weak:
            missing = tuple(("the scope gpu", -n) for n in both if -n in self.widths)
        elif len(weak) < len(both):
            missing = tuple((STRONG[verb], number) for number, verb in weak.items())
        named = [f"{word} in {self._op_names[number]}" for word, number in missing]
        legal = "a barrier between them" if near[at] else "a release.gpu and an acquire.gpu between"
        self._report(
            f"race on global memory: this {verbs[0]} and the {verbs[1]} by {name}{why}; "
            f"nearest legal: {' and '.join(named) or legal}",
            int(span.rows[row[at]]),
        )

    def _too_narrow(
        self, op: int, ops: NDArray[np.int32], others: NDArray[np.int64], mine: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """True of strong accesses of which one's scope does not have the other's thread in it."""
        result = np.zeros(len(ops), dtype=np.bool_)
        ctas = [who // (LOCAL + 1) * self._cluster + (who & LOCAL) // self._slots
                for who in (others, mine)]  # fmt: skip
        for number, width in self.widths.items():
            size = 1 if width == 0 else self._cluster
            apart = ctas[0] // size != ctas[1] // size
            result |= apart & ((ops == -number) | (op == -number))
        return result

    def _report(self, message: str, row: int) -> None:
        if self._races == "error":
            raise Fault(message, row)
        warnings.warn(message, stacklevel=2)
