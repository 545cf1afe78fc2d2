"""Accesses of threads to global memory, and the races among them.

Threads of one cluster are ordered as in shared memory, CTAs of others not at all. Writes of the
value that is there already race with nothing, nor do reductions with reductions. What a copy reads
or writes it may access until it is known to be complete (`global_copies`).
"""

import warnings
from collections.abc import Iterable, Iterator

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.tma import TENSOR_MAP_BYTES
from tilewright.lowering.interpreter.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    UInt8Array,
)
from tilewright.lowering.interpreter.checks import ASKED
from tilewright.lowering.interpreter.errors import Fault, first_of, first_place
from tilewright.lowering.interpreter.machine import global_proxy
from tilewright.lowering.interpreter.machine.atomic_order import AccessOrder, AtomicOrder
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.global_copies import GlobalRead, GlobalWrite, Span
from tilewright.lowering.interpreter.machine.global_memory import GlobalMemory
from tilewright.lowering.interpreter.machine.grid_threads import GridThreads
from tilewright.lowering.interpreter.machine.last_accesses import NOBODY, Row, chosen
from tilewright.lowering.interpreter.machine.observations import Observations
from tilewright.lowering.interpreter.machine.special_registers import SpecialRegisters
from tilewright.lowering.interpreter.machine.tensor_map import Corner, TensorImage
from tilewright.lowering.interpreter.machine.word_accesses import COPIES, LOCAL, Shadow
from tilewright.lowering.interpreter.share import BufferUse, refuse
from tilewright.lowering.interpreter.values import Bits, Lanes, spread


class GlobalAccesses:
    """Global memory as the threads of a wave see it, its races among all waves: `races` says what
    becomes of those, "error", "warn" or "ignore"; `alone` that no other CTAs run elsewhere."""

    def __init__(self, memory: GlobalMemory, races: str, *, alone: bool):
        self.memory = memory
        self._races = races
        self.are_checked = races != "ignore" or "unwritten" in ASKED.get()
        self._alone = alone
        self._shadows: dict[int, Shadow] = {}
        self._first = self._ctas = 0
        self.order = AtomicOrder()
        self.observations = Observations()
        self._fences = global_proxy.GlobalProxyFences(self.order)
        self.maps = global_proxy.TensorMapFences(self.order)
        self._reading: dict[int, list[GlobalRead]] = {}
        self._writing: dict[int, GlobalWrite] = {}

    def begin(
        self, ctas: int, slots: int, cluster: int, clocks: Clocks, op_names: dict[int, str],
        special: SpecialRegisters,
    ) -> None:  # fmt: skip
        """A wave of so many CTAs begins, of `slots` thread slots, in clusters."""
        self._first, self._ctas = self._first + self._ctas, ctas
        self._clocks, self._op_names, self._special = clocks, op_names, special
        self.order.begin(self._first // cluster, clocks, slots)
        self._threads = GridThreads(self._first, slots, cluster, clocks, self.order)

    def finish(self) -> None:
        """The wave is over, and with it whatever its threads started."""
        for read in {id(read): read for reads in self._reading.values() for read in reads}.values():
            self.end_read(read)
        self._end_writes(list(self._writing))

    def uses(self) -> list[BufferUse]:
        """The accesses to each buffer."""
        return [self._use(allocation.data) for allocation in self.memory.allocations]

    def written(self) -> list[BoolArray]:
        """The bytes of each buffer that were written, or may have been by strong accesses."""
        every = [allocation.data for allocation in self.memory.allocations]
        shadows = [(self._shadows.get(data.ctypes.data), data) for data in every]
        return [
            np.zeros(len(data), np.bool_) if shadow is None else shadow.written()
            for shadow, data in shadows
        ]

    def _use(self, data: UInt8Array) -> BufferUse:
        read = written = np.zeros(len(data), dtype=np.bool_)
        if (shadow := self._shadows.get(data.ctypes.data)) is not None:
            read, written = (octets[: len(data)] for octets in shadow.octets())
        return BufferUse.of(read, written, data)

    def come_in_any_order(self, op: int) -> None:
        """CTAs are about to combine words in an order that nothing asks for."""
        if not self._alone:
            refuse(f"{self._op_names[abs(op)]}, which combines words of global memory")

    # Threads

    def load(
        self, lanes: Lanes, address: Bits, width: int, count: int, op: int, *,
        read_only: bool = False,
    ) -> Bits:  # fmt: skip
        """`count` words of `width` bytes at each address: [threads or 1, count] or, of one, without
        the second axis; `read_only` where nobody may write them for as long as the kernel runs."""
        self.check_own(lanes, address, width * count)
        value = self.memory.load(address, width, count)
        for span in self.spans(lanes, address, width * count):
            if read_only:
                self._read_constant(span)
            self._read(span, op)
        return value

    def read_bytes(
        self, lanes: Lanes, address: Bits, counts: Int64Array, size: int, op: int
    ) -> UInt8Array:
        """The first `counts` bytes at each address, then zeros up to `size`: [threads, size]."""
        data = self.memory.read_bytes(address, counts, size)
        for span in self._parts(lanes, address, counts):
            self._read(span, op)
        return data

    def store(
        self, lanes: Lanes, address: Bits, value: Bits, width: int, count: int, op: int
    ) -> None:
        """The inverse of `load`: [threads, count] or [threads]."""
        self.check_own(lanes, address, width * count)
        if not self.are_checked:
            self.memory.store(address, value, width, count)
            return
        address = spread(address, len(lanes))
        before, after = self.memory.exchange(address, value, width, count)
        value = np.broadcast_to(value.reshape(len(value), count), before.shape)
        if (row := first_of(after != value)) is not None:
            self._report("race on global memory: two threads of the op write one element", row)
        changed = before != value
        for span in self.spans(lanes, address, width * count):
            shadow, places = self._check_write(span, op, changed[span.rows])
            shadow.generic = True
            shadow.writes.note(places, *self._threads.stamp(span.lanes), op)

    def check_own(self, lanes: Lanes, address: Bits, size: int) -> None:
        """Raise Fault where a thread accesses local memory of others."""
        if (local := self.memory.local) is not None:
            local.check_own(spread(address, len(lanes)), size, self._special["thread"][lanes])

    def stamp(self, lanes: Lanes) -> tuple[Int64Array, Int32Array]:
        """Who some threads are in the grid, and their clocks: [threads, 1]."""
        return self._threads.stamp(lanes)

    def plain_shadow(self, buffer: UInt8Array) -> Shadow | None:
        """The accesses to a buffer, where those of threads are all that there are to check; None
        before the first."""
        copies = self._writing or self._reading.get(buffer.ctypes.data)
        shadow = None if copies else self._shadows.get(buffer.ctypes.data)
        return None if shadow is None or shadow.read_only is not None else shadow

    def observe(self, lanes: Lanes, address: Bits, width: int, order: AccessOrder, op: int) -> None:
        """Threads come to make strong accesses to words."""
        for span in self.spans(lanes, address, width):
            self.observations.note(span, *self._threads.stamp(span.lanes), order, -op)

    def spans(self, lanes: Lanes, address: Bits, size: int) -> Iterator[Span]:
        """Accesses of `size` bytes by the buffers that they are of."""
        return self.memory.spans(lanes, address, size) if self.are_checked else iter(())

    def _parts(self, lanes: Lanes, address: Bits, counts: Int64Array) -> Iterator[Span]:
        """Accesses of so many bytes each."""
        for size in np.unique(counts[counts > 0]).tolist():
            same = counts == size
            yield from self.spans(lanes[same], address[same], size)

    # Copies

    def begin_read(self, lanes: Lanes, address: Bits, counts: Int64Array, op: int) -> GlobalRead:
        """Threads start copies that read so many bytes at each address."""
        return self._begin(list(self._parts(lanes, address, counts)), op)

    def begin_async(self, lane: int, address: Bits, width: int, op: int) -> GlobalRead:
        """A thread starts a copy by the async proxy that reads words at some addresses."""
        spans = self.spans(np.full(len(address), lane), address, width)
        return self._begin(list(spans), op, by_proxy=True)

    def begin_box(self, lane: int, image: TensorImage, corner: Corner, op: int) -> GlobalRead:
        """A thread starts a copy that reads a box of a tensor."""
        return self._begin(self._box(lane, image, corner), op, by_proxy=True)

    def _begin(self, spans: list[Span], op: int, *, by_proxy: bool = False) -> GlobalRead:
        for span in spans:
            self._check_read(span, op)
        if by_proxy:
            self._check_fenced(spans, "reads by the async proxy what", self._fences)
        return GlobalRead(spans, op)

    def until_waited(self, read: GlobalRead) -> None:
        """Threads' copies read until the threads wait for them."""
        for span in read.spans:
            self._reading.setdefault(span.buffer, []).append(read)

    def until_phase(self, lane: int, read: GlobalRead, column: int, phase: int) -> None:
        """A thread's copy reads until a phase of an mbarrier, its clock and number, is over."""
        for span in read.spans:
            who = np.full((len(span.lanes), 1), self._threads.who(lane) & ~LOCAL)
            when = np.full(who.shape, phase, dtype=np.int32)
            shadow = self._shadow(span)
            shadow.note_read(shadow.words(span), who + COPIES + column, when, read.op)

    def end_read(self, read: GlobalRead, lanes: Lanes | None = None) -> None:
        """Threads, or all of them, have waited for their copies: what those read was read before
        whatever the threads do now."""
        for span in read.spans:
            over = span if lanes is None else span.of(np.isin(span.lanes, lanes))
            shadow = self._shadow(over)
            shadow.note_read(shadow.words(over), *self._threads.stamp(over.lanes), read.op)
            if lanes is None:
                self._reading[span.buffer].remove(read)
        if lanes is not None:
            read.spans[:] = [span.of(~np.isin(span.lanes, lanes)) for span in read.spans]

    def write_box(
        self, lane: int, image: TensorImage, corner: Corner,
        changed: BoolArray, op: int, group: int,
    ) -> None:  # fmt: skip
        """A copy of a thread in a group writes a box of a tensor, or combines it as a reduction,
        whose op is negative; `changed` are the elements inside that get other values."""
        spans = self._box(lane, image, corner, written=True)
        self._begin_write(spans, changed[:, None], op, group)

    def write_words(
        self, lane: int, address: Bits, width: int, changed: BoolArray, op: int, group: int
    ) -> None:
        """A copy of a thread in a group writes words at some addresses; see `write_box`."""
        spans = list(self.spans(np.full(len(address), lane), address, width))
        self._begin_write(spans, changed[:, None], op, group)

    def _begin_write(self, spans: list[Span], changed: BoolArray, op: int, group: int) -> None:
        if op < 0:
            self.come_in_any_order(op)
        number = max(self._writing, default=0) + 1
        self._fences.copies.add(abs(op))
        for span in spans:
            shadow, places = self._check_write(span, op, changed)
            self._check_fenced([span], "writes by the async proxy what", self._fences)
            if shadow.landing is None:
                shadow.landing = np.zeros(len(shadow.writes.who), dtype=np.int32)
            fresh = shadow.by_word(changed, span) | (shadow.landing[places] == 0)
            shadow.landing[places[fresh]] = number
            self._writing[number] = GlobalWrite(span, op, int(span.lanes[0]), group)

    def end_writes(self, lanes: Lanes, groups: Int64Array) -> None:
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
            shadow.writes.note(places[None], *self._threads.stamp(np.array([copy.lane])), copy.op)

    def _box(
        self, lane: int, image: TensorImage, corner: Corner, *, written: bool = False
    ) -> list[Span]:
        if not self.are_checked:
            return []
        span = image.span(lane, corner, written=written)
        return [span] if len(span.lanes) else []

    # Proxies

    def fence_proxy(self, lanes: Lanes) -> None:
        """`fence.proxy.async`: what the threads know of is before what the async proxy does."""
        if any(shadow.generic for shadow in self._shadows.values()):
            self._fences.fence(lanes, self._clocks)

    def read_map(self, lane: int, address: int) -> None:
        """A thread starts a copy by a tensor map in memory."""
        spans = self.spans(np.array([lane]), np.array([address], np.uint64), TENSOR_MAP_BYTES)
        self._check_fenced(spans, "copies by a tensor map that", self.maps.at(address))

    def _check_fenced(self, spans: Iterable[Span], verb: str, fences: global_proxy.Fences) -> None:
        """Report an access to what threads wrote without a fence."""
        for span in spans:
            if not (shadow := self._shadow(span)).generic:
                continue
            writes = shadow.writes.at(shadow.words(span).ravel())
            if (late := fences.unfenced(int(span.lanes[0]), writes)).any():
                name = self._op_names[abs(int(writes[2][np.argmax(late)]))]
                why = f"race on global memory: {verb} {name} wrote, with no {fences.missing}"
                self._report(why, int(span.rows[0]))

    # Races

    def _shadow(self, span: Span) -> Shadow:
        shadow = self._shadows.get(span.buffer)
        if shadow is None:
            shadow = self._shadows[span.buffer] = Shadow.of(len(span.data), span.size)
        return shadow

    def _read(self, span: Span, op: int) -> None:
        shadow, places = self._check_read(span, op)
        shadow.note_read(places, *self._threads.stamp(span.lanes), op)

    def _check_read(self, span: Span, op: int) -> tuple[Shadow, Int64Array]:
        shadow = self._shadow(span)
        places = shadow.words(span)
        every = np.arange(places.size)
        written = shadow.writes.at(places.ravel())
        self._check_against(span, places, every, written, op, ("read", "write"))
        self._check_landing(shadow, span, places, np.ones(places.shape, dtype=np.bool_), op, "read")
        return shadow, places

    def _check_write(self, span: Span, op: int, changed: BoolArray) -> tuple[Shadow, Int64Array]:
        """A write by which `changed` elements get other values: [threads, elements]."""
        shadow = self._shadow(span)
        places = shadow.words(span)
        words = shadow.by_word(changed, span)
        if words.any():
            every = np.arange(places.size)
            rows = [("write", every, shadow.writes.at(places.ravel()))]
            # Reductions race with no strong read, unless the scope of some op is narrow.
            readers = shadow.readers if op >= 0 or self.order.widths else [shadow.reads]
            rows += [("read", *read) for one in readers for read in one.of(places)]
            for verb, index, row in rows:
                mine = words.ravel()[index]
                accesses = chosen(row, mine)
                self._check_against(span, places, index[mine], accesses, op, ("write", verb))
            self._check_landing(shadow, span, places, words, op, "write")
            self._check_reading(shadow, span, places, words)
            if shadow.read_only is not None and (late := words & shadow.read_only[places]).any():
                row = int(np.argmax(late.any(axis=1)))
                message = "writes what ld.global.nc has read; nearest legal: ld.global there"
                self._report(message, int(span.rows[row]))
        return shadow, places

    def _read_constant(self, span: Span) -> None:
        """Threads read words that nobody may write; report those that somebody wrote."""
        shadow = self._shadow(span)
        places = shadow.words(span)
        if (late := shadow.note_constant(places)).any():
            row, word = first_place(late)
            who, _, op = map(int, shadow.writes.at(places[row, word]))
            by = f"{self._op_names[abs(op)]} in {self._threads.named(int(span.lanes[row]), who)}"
            message = f"reads by ld.global.nc what {by} wrote; nearest legal: ld.global"
            self._report(message, int(span.rows[row]))

    def _check_landing(
        self, shadow: Shadow, span: Span, places: Int64Array, words: BoolArray,
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
            self._report_copy(span, row, verb, ("write", copy.op, copy.lane), "cp.async.bulk")

    def _check_reading(
        self, shadow: Shadow, span: Span, places: Int64Array, words: BoolArray
    ) -> None:
        """Report a write of words that a cp.async is reading."""
        for read in self._reading.get(span.buffer, ()):
            reader = np.full(len(shadow.writes.who), NOBODY, dtype=np.int64)
            for other in read.spans:
                if other.buffer == span.buffer:
                    reader[shadow.words(other)] = other.lanes[:, None]
            late = words & (reader[places] != NOBODY)
            if late.any():
                row, word = first_place(late)
                copy = "read", read.op, int(reader[places[row, word]])
                self._report_copy(span, row, "write", copy, "cp.async")

    def _report_copy(
        self, span: Span, row: int, verb: str, copy: tuple[str, int, int], kind: str
    ) -> None:
        """Report an access to what a copy is accessing: by its verb, op and thread, of a kind."""
        other, op, lane = copy
        who = self._threads.named(int(span.lanes[row]), self._threads.who(lane))
        self._report(
            f"race on global memory: this {verb} and the {other} by {self._op_names[abs(op)]} in "
            f"{who}, which no {kind}.wait_group has completed",
            int(span.rows[row]),
        )

    def _check_against(
        self, span: Span, places: Int64Array, index: Int64Array, accesses: Row,
        op: int, verbs: tuple[str, str],
    ) -> None:  # fmt: skip
        """Report accesses that are not known to be before those of the threads to `places`; `index`
        says, of each, to which."""
        others, _, ops = accesses
        race = others != NOBODY
        if not race.any():
            return
        row = index // places.shape[1]
        mine = self._threads.who(span.lanes)[row]
        race &= others != mine
        if op < 0:
            ctas = (self._threads.ctas_of(who) for who in (others, mine))
            race &= (ops >= 0) | self.order.too_narrow(op, ops, *ctas)
        if not race.any():
            return
        row, accesses = row[race], chosen(accesses, race)
        lanes = span.lanes[row]
        late = ~self._threads.known(lanes, accesses, writes=verbs[1] == "write")
        if op >= 0 and (strong := late & (accesses[2] < 0)).any():
            unit = span.size // places.shape[1]
            first = (span.first[row] + index[race] % places.shape[1] * unit)[strong]
            late[strong] = ~self.observations.precede(
                span.buffer, first, lanes[strong], chosen(accesses, strong), self._threads
            )
        if (at := first_of(late)) is not None:
            access = chosen(accesses, [at])
            self._report_race(int(lanes[at]), access, int(span.rows[row[at]]), op, verbs)

    def _report_race(
        self, lane: int, access: Row, row: int, op: int, verbs: tuple[str, str]
    ) -> None:
        """Report an access that a thread does not know of, and what would let it."""
        other, by_op = int(access[0][0]), int(access[2][0])
        why = f" in {self._threads.named(lane, other)} are ordered by nothing"
        if other & LOCAL >= COPIES:
            why = " are ordered by no wait for the mbarrier that completes it"
        name = self._op_names[abs(by_op)]
        missing = self._threads.missing(lane, access, op, verbs)
        named = [f"{word} in {self._op_names[number]}" for word, number in missing]
        near = other // (LOCAL + 1) == self._threads.who(lane) // (LOCAL + 1)
        legal = "a barrier between them" if near else "a release.gpu and an acquire.gpu between"
        self._report(
            f"race on global memory: this {verbs[0]} and the {verbs[1]} by {name}{why}; "
            f"nearest legal: {' and '.join(named) or legal}",
            row,
        )

    def _report(self, message: str, row: int) -> None:
        if self._races == "error":
            raise Fault(message, row)
        if self._races == "warn":
            warnings.warn(message, stacklevel=2)
