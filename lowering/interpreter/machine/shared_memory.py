"""Shared memory of a running kernel.

Every access is checked: it must lie in shared memory, on its own alignment, in bytes that something
has written. Shared memory also remembers who last read and wrote each byte, and when by the vector
clocks of the CTA's warps, so that two accesses that no barrier orders are an error that names both.
It remembers that by units, of which every access so far was of whole ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RANK_SHIFT
from tilewright.lowering.interpreter.array_types import Int64Array, UInt8Array
from tilewright.lowering.interpreter.errors import Fault, first_of, first_place
from tilewright.lowering.interpreter.machine.async_groups import CHUNK, AsyncGroups
from tilewright.lowering.interpreter.machine.async_proxy import ProxyFences
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.global_memory import check_aligned
from tilewright.lowering.interpreter.machine.last_accesses import NOBODY, LastAccesses
from tilewright.lowering.interpreter.machine.operand_reads import OperandReads
from tilewright.lowering.interpreter.machine.remote_accesses import RemoteAccesses
from tilewright.lowering.interpreter.machine.tcgen05_streams import Stream
from tilewright.lowering.interpreter.machine.warp_reads import WarpReads
from tilewright.lowering.interpreter.program import OpNames
from tilewright.lowering.interpreter.values import Bits, Lanes, spread


class PlainShadow(NamedTuple):
    """Accesses to shared memory by units of so many bytes: the last writes, those that are not
    atomic, once some are, the reads, and the fences before the writes."""

    unit: int
    last: LastAccesses
    plain: LastAccesses | None
    reads: WarpReads
    proxy: ProxyFences


class SharedMemory:
    """The shared memory of a wave of CTAs, one after the other in one array."""

    def __init__(
        self,
        ctas: int,
        size: int,
        threads: int,
        clocks: Clocks,
        remote: RemoteAccesses,
        cluster: int,
    ):
        self.size = max(size, 1)
        # From one CTA's first byte to the next one's: whole chunks of asynchronous accesses.
        self.stride = -(-self.size // CHUNK) * CHUNK
        total = ctas * self.stride
        self.data = np.zeros(total, dtype=np.uint8)
        self.clocks = clocks
        self.remote = remote
        self.threads = threads
        self._cluster = cluster
        self._unit = CHUNK
        units = total // CHUNK
        self._last = LastAccesses.of(units, np.int32)
        # Those that are not atomic, once some are: atomic ones do not race with each other.
        self._plain: LastAccesses | None = None
        self._reads = WarpReads(clocks, units)
        self._pending = np.zeros(units, dtype=np.int32)
        # The threads' copies that have not landed.
        self._expected = 0
        self.op_names = OpNames()
        self.wgmmas = AsyncGroups(
            clocks, threads, total, self.op_names, team=128, wait="wgmma.wait_group"
        )
        self.bulk_stores = AsyncGroups(
            clocks, threads, total, self.op_names, team=1, wait="cp.async.bulk.wait_group"
        )
        self.operands = OperandReads(self.stride, self.op_names)
        self._proxy = ProxyFences(clocks, units, self.op_names)

    def plain_shadow(self) -> PlainShadow | None:
        """The accesses of threads, where these are all that there are."""
        used = self.bulk_stores.are_used or self.operands.are_used
        if used or self._expected or self._cluster > 1:
            return None
        return PlainShadow(self._unit, self._last, self._plain, self._reads, self._proxy)

    # Addresses

    def places(self, lanes: Lanes, address: Bits, size: int, verb: str) -> Int64Array:
        """Where the `size` bytes at each thread's address are kept: [threads, size]."""
        first = spread(address, len(lanes)).astype(np.int64)
        cta, first = self._cta_of(lanes, first)
        outside = first + size > self.size
        if (lane := first_of(outside)) is not None:
            raise Fault(
                f"{verb} out of bounds: bytes {first[lane]} to {first[lane] + size - 1} of shared "
                f"memory, which has {self.size}",
                lane,
            )
        check_aligned(first, size, np.arange(len(lanes)), verb, "shared memory")
        return (cta * self.stride + first)[:, None] + np.arange(size)

    def _cta_of(self, lanes: Lanes, address: Int64Array) -> tuple[Lanes, Int64Array]:
        """The CTA that each address is of, the own or another of its cluster, and the place."""
        own, rank = lanes // self.threads, address >> RANK_SHIFT
        if not rank.any():
            return own, address
        if (lane := first_of(rank > self._cluster)) is not None:
            raise Fault(
                f"expected a rank below {self._cluster}, the CTAs of the cluster, got "
                f"{int(rank[lane]) - 1}",
                lane,
            )
        there = own // self._cluster * self._cluster + rank - 1
        return np.where(rank > 0, there, own), address & ((1 << RANK_SHIFT) - 1)

    def _units(self, places: Int64Array) -> Int64Array:
        """The units of bytes, [..., bytes], which become as small as these have them whole."""
        *rows, size = places.shape
        unit = self._unit
        while True:
            if size % unit == 0:
                runs = places.reshape(*rows, size // unit, unit)
                units = runs[..., 0] // unit
                if unit == 1 or (runs == units[..., None] * unit + np.arange(unit)).all():
                    break
            unit //= 2
        if unit < self._unit:
            self._divide(self._unit // unit)
        return units

    def _divide(self, times: int) -> None:
        """Make units so many times as small."""
        self._unit //= times
        self._last = self._last.divided(times)
        if self._plain is not None:
            self._plain = self._plain.divided(times)
        self._pending, self._proxy.before = (
            np.repeat(shadow, times) for shadow in (self._pending, self._proxy.before)
        )
        self._reads.divide(times)

    # Accesses

    def load(
        self, lanes: Lanes, address: Bits, size: int, op: int, used: int | None = None
    ) -> UInt8Array:
        """`size` bytes at each thread's address: uint8 [threads, size].

        With `used` only the first so many of them, the others being padding that nobody looks at.
        """
        places = self.places(lanes, address, size, "read")[:, :used]
        self._note_remote(lanes, places, op)
        self._check_read(lanes, self._units(places), op)
        return self.data[places]

    def store(self, lanes: Lanes, address: Bits, value: UInt8Array, op: int) -> None:
        """Write uint8 [threads, size]."""
        places = self.places(lanes, address, value.shape[1], "write")
        self._note_remote(lanes, places, op)
        units = self._units(places)
        self._check_write(lanes, units, places[:, ::CHUNK])
        self._check_collisions(places, value)
        self._stamp_write(lanes, units, op)
        self.data[places] = value

    def update(
        self, lanes: Lanes, address: Bits, size: int, change: Callable[[UInt8Array], Bits],
        op: int, *, reads: bool,
    ) -> UInt8Array:  # fmt: skip
        """Change `size` bytes at each thread's address, all at other places, and return what was
        there, which it `reads`: uint8 [threads, size]. It counts as a write, even where it changes
        nothing."""
        places = self.places(lanes, address, size, "atomic access")
        self._note_remote(lanes, places, op)
        units = self._units(places)
        if reads:
            self._check_written(units)
        if self._plain is None:
            self._plain = self._last.divided(1)
        self._check_write(lanes, units, places[:, ::CHUNK], beside=self._plain)
        self._stamp_write(lanes, units, op, atomic=True)
        before = self.data[places]
        self.data[places] = change(before)
        return before

    def _note_remote(self, lanes: Lanes, places: Int64Array, op: int) -> None:
        if self._cluster > 1:
            self.remote.note(lanes, places[:, 0] // self.stride, self.op_names[op])

    def _check_collisions(self, places: Int64Array, value: UInt8Array) -> None:
        """Two threads of one instruction may write one byte only with the same value."""
        flat, wanted = places.ravel(), value.ravel()
        before = self.data[flat]
        self.data[flat] = wanted
        clash = self.data[flat] != wanted
        self.data[flat] = before
        if clash.any():
            lane = int(np.argmax(clash)) // places.shape[1]
            raise Fault("race on shared memory: two threads of the op write one byte", lane)

    def _check_read(self, lanes: Lanes, units: Int64Array, op: int) -> None:
        self._check_pending(units, "read")
        self._check_written(units)
        self._check_writers(lanes, units, self._last, "read")
        self._reads.note(lanes, units, op)

    def _check_written(self, units: Int64Array, *, alone: bool = False) -> None:
        """Raise Fault where nothing has written a unit, [threads, units], that is read; `alone` by
        no thread in particular."""
        empty = self._last.who[units] == NOBODY
        if empty.any():
            lane = None if alone else int(np.argmax(empty.any(axis=1)))
            raise Fault("read of shared memory that nothing has written", lane)

    def _check_writers(
        self, lanes: Lanes, units: Int64Array, writes: LastAccesses, verb: str
    ) -> None:
        """The last writer of every byte must be this thread or happen before it."""
        writer = writes.who[units]
        race = (writer != NOBODY) & (writer != lanes[:, None])
        if not race.any():
            return
        stamps, known = writes.when[units], self.clocks.seen[lanes]
        reads = verb == "read"
        race &= ~self.clocks.happened(known, writer, stamps, writes=True, copies=reads)
        if race.any():
            lane, byte = first_place(race)
            writer, op = int(writer[lane, byte]), int(writes.op[units[lane, byte]])
            self._race(verb, "write", op, lane, writer)

    def _race(self, verb: str, other: str, op: int, lane: int, thread: int) -> None:
        both = f"race on shared memory: this {verb} and the {other} by {self.op_names[op]}"
        if other == "write" and thread < NOBODY:
            raise Fault(f"{both} are ordered by no wait for the mbarrier that completes it", lane)
        who = f"thread {thread % self.threads}" if thread >= 0 else "another thread"
        raise Fault(f"{both} in {who} are ordered by no barrier", lane)

    def _check_write(
        self, lanes: Lanes, units: Int64Array, chunks: Int64Array,
        beside: LastAccesses | None = None,
    ) -> None:  # fmt: skip
        """Raise Fault where threads may not write units, [threads, units]; `chunks`, [threads, n],
        has a byte of each chunk of them. Where it is atomic, `beside` are the writes that are not:
        it may come beside the others."""
        if not len(lanes):
            return  # a warp that initialises nothing
        self._check_pending(units, "write")
        self.wgmmas.check_write(lanes, chunks)
        self.bulk_stores.check_write(lanes, chunks)
        self.operands.check_write(lanes, chunks, self.clocks)
        self._check_writers(lanes, units, beside or self._last, "write")
        if (read := self._reads.unknown(lanes, units)) is not None:
            row, op, thread = read
            self._race("write", "read", op, row, thread)

    def _stamp_write(
        self, lanes: Lanes, units: Int64Array, op: int, *, atomic: bool = False
    ) -> None:
        stamps = self.clocks.now(lanes)[:, None]
        self._last.note(units, lanes[:, None], stamps, op)
        if self._plain is not None and not atomic:
            self._plain.note(units, lanes[:, None], stamps, op)
        self._proxy.wrote(lanes, units)

    # The async proxy

    def fence_proxy(self, lanes: Lanes) -> None:
        """`fence.proxy.async`: what the threads wrote is before what the async proxy does."""
        self._proxy.fence(lanes)

    def read_async(self, lanes: Lanes, addresses: list[Int64Array], op: int) -> list[UInt8Array]:
        """The reads of a wgmma of the warpgroup `lanes` until it is complete: the 16 bytes at each
        of these addresses, uint8 [..., 16]."""
        starts = np.unique(np.concatenate([address.ravel() for address in addresses]))
        self._check_chunks(starts)
        base = int(lanes[0]) // self.threads * self.stride
        places = base + (starts[:, None] + np.arange(16)).ravel()
        self._check_async_read(lanes, places[None])
        self.wgmmas.issue(int(lanes[0]), places, op)
        return [self.data[base + address[..., None] + np.arange(16)] for address in addresses]

    def _check_async_read(self, lanes: Lanes, places: Int64Array) -> None:
        """Raise Fault where one thread, or a warpgroup, may not let the async proxy read bytes."""
        units = self._units(places)
        self._check_pending(units, "read")
        self._check_written(units, alone=True)
        writer = self._last.who[units]
        # Every thread reads for the others: what one of them does not know is not ordered.
        known = self.clocks.common(lanes)
        lane = int(lanes[0]) if len(lanes) == 1 else None
        stamps = self._last.when[units]
        race = ~self.clocks.happened(known, writer, stamps, writes=True, copies=True)
        race &= writer != (NOBODY if lane is None else lane)
        if race.any():
            byte = int(np.argmax(race))
            self._race("read", "write", int(self._last.op[units[0, byte]]), 0,
                       int(writer[0, byte]))  # fmt: skip
        writers = np.maximum(writer, 0)
        self._proxy.check(units, writers, known, self._last.op, "reads", lane)

    def read_operand(
        self, lane: int, cta: int, starts: Int64Array, stream: Stream, op: int
    ) -> UInt8Array:
        """The reads of an asynchronous tcgen05 operation of a thread until it is complete: the 16
        bytes at each of these addresses in a CTA's shared memory, uint8 [..., 16]."""
        chunks = np.unique(starts)
        self._check_chunks(chunks)
        self._check_async_read(np.array([lane]), self._chunk_places(cta, chunks).reshape(1, -1))
        self.remote.note_operand(lane, cta, stream, self.op_names[op])
        self.operands.issue(stream, cta, chunks, op)
        return self.data[self._chunk_places(cta, starts)]

    def _chunk_places(self, cta: int, starts: Int64Array) -> Int64Array:
        return cta * self.stride + starts[..., None] + np.arange(16)

    def _check_chunks(self, starts: Int64Array) -> None:
        """Raise Fault where the last of these 16-byte chunks is not in shared memory."""
        if starts[-1] + 16 > self.size:
            raise Fault(
                f"read out of bounds: bytes {starts[-1]} to {starts[-1] + 15} of shared memory, "
                f"which has {self.size}"
            )

    def read_bulk(self, lane: int, places: Int64Array, op: int) -> UInt8Array:
        """The reads of a thread's copy to global memory until it is complete."""
        self._check_async_read(np.array([lane]), places[None])
        self.bulk_stores.issue(lane, places, op)
        return self.data[places]

    def write_async(
        self,
        lane: int,
        places: Int64Array,
        data: UInt8Array,
        op: int,
        when: tuple[int, int],
        change: Callable[..., Bits] | None = None,
        *,
        generic: bool = False,
    ) -> None:
        """A copy that a thread starts, and a phase of an mbarrier completes, writes bytes, or
        combines those that are there with them as one `change`; `when` is the clock of the mbarrier
        and the number of the phase. That of registers is `generic`, of no proxy."""
        self.remote.note_copy(lane, int(places[0]) // self.stride, when, self.op_names[op])
        units = self._units(places[None])
        chunks = np.unique(units * self._unit // CHUNK) * CHUNK
        beside = None
        if change is not None:
            self._check_written(units, alone=True)
            beside = self._plain = self._plain or self._last.divided(1)
        self._check_write(np.array([lane]), units, chunks[None], beside)
        writer, known = np.maximum(self._last.who[units], 0), self.clocks.seen[[lane]]
        if not generic:
            self._proxy.check(units, writer, known, self._last.op, "writes", lane)
        self.until_phase(places[None], op, when, atomic=change is not None)
        self.data[places] = data if change is None else change(self.data[places], data)

    def until_phase(
        self, places: Int64Array, op: int, when: tuple[int, int], *, atomic: bool = False
    ) -> None:
        """Bytes, [..., bytes], are there for whoever has waited for the phase of an mbarrier."""
        (column, stamp), units = when, self._units(places)
        for writes in (self._last, None if atomic else self._plain):
            if writes is not None:
                writes.note(units, self.clocks.async_writer(column), stamp, op)
        self._proxy.wrote_async(units)

    def check_made(self, lanes: Lanes, places: Int64Array) -> None:
        """Raise Fault unless the writes to these bytes happened before what the threads do."""
        units = self._units(places)
        self._check_writers(lanes, units, self._last, "access")

    # Asynchronous copies

    def _check_pending(self, units: Int64Array, verb: str) -> None:
        if not self._expected:
            return
        pending = self._pending[units]
        if (lane := first_of(pending)) is not None:
            op = int(pending[lane].max())
            raise Fault(
                f"{verb} of shared memory that {self.op_names[op]} is still copying to: "
                "no cp.async.wait_group has completed it",
                lane,
            )

    def expect(self, lanes: Lanes, address: Bits, data: UInt8Array, op: int) -> Int64Array:
        """Copies of uint8 [threads, size] begin: where they will land, [threads, size]."""
        places = self.places(lanes, address, data.shape[1], "write")
        units = self._units(places)
        self._check_write(lanes, units, places[:, ::CHUNK])
        self._check_collisions(places, data)
        self._pending[units] = op
        self._expected += len(lanes)
        return places

    def land(self, lanes: Lanes, places: Int64Array, data: UInt8Array, op: int) -> None:
        """Copies that were expected are there."""
        units = self._units(places)
        self._pending[units] = 0
        self._expected -= len(lanes)
        self._stamp_write(lanes, units, op)
        self.data[places] = data
