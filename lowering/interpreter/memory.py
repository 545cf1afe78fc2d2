"""Global and shared memory of a running kernel.

Every access is checked: it must lie in an allocation, on its own alignment, in bytes that something
has written. Shared memory also remembers who last read and wrote each byte, and when by the vector
clocks of the CTA's warps, so that two accesses that no barrier orders are an error that names both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.async_proxy import ProxyFences, WgmmaGroups
from tilewright.lowering.interpreter.clocks import Clocks
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.values import Bits, Lanes, spread

_SHIFT = np.uint64(40)
_OFFSET = np.uint64((1 << 40) - 1)
_MIDDLE = 1 << 39
_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True, slots=True)
class Allocation:
    """A buffer of global memory: `data` is padded to whole 16-byte words, `size` is not."""

    name: str
    base: int
    data: NDArray[np.uint8]
    size: int


class GlobalMemory:
    """The buffers that kernel arguments point to; each lies in the middle of its own stretch of
    addresses, so that an address somewhat below or above it still says which buffer was meant."""

    def __init__(self) -> None:
        self.allocations: list[Allocation] = []

    def allocate(self, name: str, content: NDArray[np.uint8]) -> Allocation:
        """A new buffer holding a copy of these bytes."""
        data = np.zeros(-(-max(content.size, 1) // 16) * 16, dtype=np.uint8)
        data[: content.size] = content
        base = ((len(self.allocations) + 1) << int(_SHIFT)) + _MIDDLE
        allocation = Allocation(name, base, data, content.size)
        self.allocations.append(allocation)
        return allocation

    def load(self, address: Bits, width: int, count: int = 1) -> Bits:
        """`count` words of `width` bytes at each address: [threads, count], or [threads]."""
        where, words = self._locate(address, width, count, "read")
        loaded = where.data.view(_WORDS[width])[words]
        return loaded[:, 0] if count == 1 else loaded

    def store(self, address: Bits, value: Bits, width: int, count: int = 1) -> None:
        """The inverse of `load`; of threads that write one place the last one wins."""
        where, words = self._locate(address, width, count, "write")
        value = value.reshape(len(value), count)
        where.data.view(_WORDS[width])[words] = np.broadcast_to(value, (len(words), count))

    def read_bytes(self, address: Bits, counts: NDArray[np.int64], size: int) -> NDArray[np.uint8]:
        """The first `counts` bytes at each address, then zeros up to `size`: [threads, size].

        A thread that reads no byte may name any address.
        """
        result = np.zeros((len(address), size), dtype=np.uint8)
        reading = np.flatnonzero(counts > 0)
        for each in self._groups(address[reading]):
            lanes = reading[each]
            where, first = self._bounds(address[lanes], lanes, counts[lanes], "read")
            _check_aligned(first, size, lanes, "read", where.name)
            place = first[:, None] + np.arange(size)
            inside = np.arange(size) < counts[lanes, None]
            data = where.data[np.minimum(place, where.data.size - 1)]
            result[lanes] = np.where(inside, data, 0)
        return result

    def _groups(self, address: Bits) -> list[Lanes]:
        """Threads by the allocation they name."""
        if not len(address):
            return []
        number = address >> _SHIFT
        if (number == number[0]).all():
            return [np.arange(len(address))]
        return [np.flatnonzero(number == each) for each in np.unique(number)]

    def _locate(
        self, address: Bits, width: int, count: int, verb: str
    ) -> tuple[Allocation, NDArray[np.int64]]:
        lanes = np.arange(len(address))
        size = np.full(len(address), width * count, dtype=np.int64)
        if len(self._groups(address)) > 1:
            raise Fault(f"one {verb} reaches into several kernel arguments")
        where, first = self._bounds(address, lanes, size, verb)
        _check_aligned(first, width * count, lanes, verb, where.name)
        return where, first[:, None] // width + np.arange(count)

    def _bounds(
        self, address: Bits, lanes: Lanes, size: NDArray[np.int64], verb: str
    ) -> tuple[Allocation, NDArray[np.int64]]:
        """The allocation of the addresses and the offsets in it."""
        number = int(address[0] >> _SHIFT) - 1
        if not 0 <= number < len(self.allocations):
            raise Fault(
                f"{verb} out of bounds: address {int(address[0]):#x} is in no kernel argument",
                int(lanes[0]),
            )
        where = self.allocations[number]
        first = (address & _OFFSET).astype(np.int64) - _MIDDLE
        outside = (first < 0) | (first + size > where.size)
        if outside.any():
            lane = int(np.argmax(outside))
            raise Fault(
                f"{verb} out of bounds: bytes {first[lane]} to {first[lane] + size[lane] - 1} of "
                f"'{where.name}', which has {where.size}",
                int(lanes[lane]),
            )
        return where, first


def _check_aligned(first: NDArray[np.int64], size: int, lanes: Lanes, verb: str, name: str) -> None:
    if (first % size).any():
        lane = int(np.argmax(first % size != 0))
        raise Fault(
            f"misaligned {verb}: byte {first[lane]} of '{name}' is no multiple of {size}",
            int(lanes[lane]),
        )


@dataclass(eq=False)
class PendingCopy:
    """One `cp.async` of some threads: its bytes land when its group is waited for."""

    lanes: Lanes
    places: NDArray[np.int64]
    data: NDArray[np.uint8]
    group: NDArray[np.int64]
    op: int


class SharedMemory:
    """The shared memory of a wave of CTAs, one after the other in one array."""

    def __init__(self, ctas: int, size: int, threads: int, clocks: Clocks):
        self.size = max(size, 1)
        total = ctas * self.size
        self.data = np.zeros(-(-total // 16) * 16, dtype=np.uint8)
        self.clocks = clocks
        self._threads = threads
        self._writer = np.full(total, -1, dtype=np.int32)
        self._written = np.zeros(total, dtype=np.int32)
        self._write_op = np.zeros(total, dtype=np.int32)
        self._read = np.zeros((clocks.warps, total), dtype=np.int32)
        self._reader = np.full((clocks.warps, total), -1, dtype=np.int32)
        self._read_op = np.zeros((clocks.warps, total), dtype=np.int32)
        self._pending = np.zeros(total, dtype=np.int32)
        self._copies: list[PendingCopy] = []
        self.committed = np.zeros(ctas * threads, dtype=np.int64)
        self.op_names: dict[int, str] = {}
        self.wgmmas = WgmmaGroups(ctas * threads, total, self.op_names)
        self._proxy = ProxyFences(ctas * threads, total, self.op_names)

    # Addresses

    def places(self, lanes: Lanes, address: Bits, size: int, verb: str) -> NDArray[np.int64]:
        """Where the `size` bytes at each thread's address are kept: [threads, size]."""
        first = spread(address, len(lanes)).astype(np.int64)
        outside = first + size > self.size
        if outside.any():
            lane = int(np.argmax(outside))
            raise Fault(
                f"{verb} out of bounds: bytes {first[lane]} to {first[lane] + size - 1} of shared "
                f"memory, which has {self.size}",
                lane,
            )
        _check_aligned(first, size, np.arange(len(lanes)), verb, "shared memory")
        cta = lanes // self._threads
        return (cta * self.size + first)[:, None] + np.arange(size)

    # Accesses

    def load(
        self, lanes: Lanes, address: Bits, size: int, op: int, used: int | None = None
    ) -> NDArray[np.uint8]:
        """`size` bytes at each thread's address: uint8 [threads, size].

        With `used` only the first so many of them, the others being padding that nobody looks at.
        """
        places = self.places(lanes, address, size, "read")[:, :used]
        self._check_read(lanes, places, op)
        return self.data[places]

    def store(self, lanes: Lanes, address: Bits, value: NDArray[np.uint8], op: int) -> None:
        """Write uint8 [threads, size]."""
        places = self.places(lanes, address, value.shape[1], "write")
        self._check_write(lanes, places, op)
        self._check_collisions(places, value)
        self._stamp_write(lanes, places, op)
        self.data[places] = value

    def _check_collisions(self, places: NDArray[np.int64], value: NDArray[np.uint8]) -> None:
        """Two threads of one instruction may write one byte only with the same value."""
        flat, wanted = places.ravel(), value.ravel()
        before = self.data[flat]
        self.data[flat] = wanted
        clash = self.data[flat] != wanted
        self.data[flat] = before
        if clash.any():
            lane = int(np.argmax(clash)) // places.shape[1]
            raise Fault("race on shared memory: two threads of the op write one byte", lane)

    def _check_read(self, lanes: Lanes, places: NDArray[np.int64], op: int) -> None:
        warp = lanes // 32
        self._check_pending(places, "read")
        writer = self._writer[places]
        if (writer < 0).any():
            lane = int(np.argmax((writer < 0).any(axis=1)))
            raise Fault("read of shared memory that nothing has written", lane)
        self._check_writers(lanes, places, writer, "read")
        local = (warp % self.clocks.warps)[:, None]
        now = self.clocks.now(warp)[:, None]
        again = self._read[local, places] == now
        shared = again & (self._reader[local, places] != lanes[:, None])
        self._reader[local, places] = lanes[:, None]
        # Of the threads that read a byte together the last one stands there now.
        shared |= self._reader[local, places] != lanes[:, None]
        if shared.any():
            self._reader[np.broadcast_to(local, places.shape)[shared], places[shared]] = -2
        self._read[local, places] = now
        self._read_op[local, places] = op

    def _check_writers(
        self, lanes: Lanes, places: NDArray[np.int64], writer: NDArray[np.int32], verb: str
    ) -> None:
        """The last writer of every byte must be this thread or happen before it."""
        warp = lanes // 32
        local = (writer // 32) % self.clocks.warps
        known = self.clocks.seen[warp[:, None], local]
        race = (writer >= 0) & (writer != lanes[:, None]) & (self._written[places] >= known)
        if race.any():
            lane, byte = np.unravel_index(int(np.argmax(race)), race.shape)
            self._race(verb, "write", int(self._write_op[places[lane, byte]]), int(lane),
                       int(writer[lane, byte]))  # fmt: skip

    def _race(self, verb: str, other: str, op: int, lane: int, thread: int) -> None:
        who = f"thread {thread % self._threads}" if thread >= 0 else "another thread"
        raise Fault(
            f"race on shared memory: this {verb} and the {other} by {self.op_names.get(op, '?')} "
            f"in {who} are ordered by no barrier",
            lane,
        )

    def _check_write(self, lanes: Lanes, places: NDArray[np.int64], op: int) -> None:
        self._check_pending(places, "write")
        self.wgmmas.check_write(places)
        self._check_writers(lanes, places, self._writer[places], "write")
        warp = lanes // 32
        for local in range(self.clocks.warps):
            stamp, reader = self._read[local, places], self._reader[local, places]
            known = self.clocks.seen[warp, local][:, None]
            race = (stamp >= known) & (stamp > 0) & (reader != lanes[:, None])
            if race.any():
                race &= reader != self._wgmma_reader(lanes)[:, None]
            if race.any():
                lane, byte = np.unravel_index(int(np.argmax(race)), race.shape)
                self._race("write", "read", int(self._read_op[local, places[lane, byte]]),
                           int(lane), int(reader[lane, byte]))  # fmt: skip

    def _stamp_write(self, lanes: Lanes, places: NDArray[np.int64], op: int) -> None:
        self._writer[places] = lanes[:, None]
        self._written[places] = self.clocks.now(lanes // 32)[:, None]
        self._write_op[places] = op
        self._proxy.wrote(lanes, places)

    # The async proxy

    def fence_proxy(self, lanes: Lanes) -> None:
        """`fence.proxy.async`: what the threads wrote is before what the async proxy does."""
        self._proxy.fence(lanes, self.clocks.now(lanes // 32))

    def read_async(
        self, lanes: Lanes, addresses: list[NDArray[np.int64]], op: int
    ) -> list[NDArray[np.uint8]]:
        """What a wgmma of the warpgroup `lanes` reads until it is complete: the 16 bytes at each
        of these addresses, uint8 [..., 16]."""
        starts = np.unique(np.concatenate([each.ravel() for each in addresses]))
        if starts[-1] + 16 > self.size:
            raise Fault(
                f"read out of bounds: bytes {starts[-1]} to {starts[-1] + 15} of shared memory, "
                f"which has {self.size}"
            )
        base = int(lanes[0]) // self._threads * self.size
        places = base + (starts[:, None] + np.arange(16)).ravel()
        self._check_async_read(lanes, places[None])
        self._stamp_async_read(int(lanes[0]), places, op)
        self.wgmmas.issue(int(lanes[0]), places, op)
        return [self.data[base + each[..., None] + np.arange(16)] for each in addresses]

    def _check_async_read(self, lanes: Lanes, places: NDArray[np.int64]) -> None:
        self._check_pending(places, "read")
        writer = self._writer[places]
        if (writer < 0).any():
            raise Fault("read of shared memory that nothing has written")
        # Every warp reads for the others: what one of them does not know is not ordered.
        known = self.clocks.seen[np.unique(lanes // 32)].min(axis=0)[
            writer // 32 % self.clocks.warps
        ]
        race = self._written[places] >= known
        if race.any():
            byte = int(np.argmax(race))
            self._race("read", "write", int(self._write_op[places[0, byte]]), 0,
                       int(writer[0, byte]))  # fmt: skip
        self._proxy.check_read(places, writer, known, self._write_op)

    def _stamp_async_read(self, lane: int, places: NDArray[np.int64], op: int) -> None:
        local = lane // 32 % self.clocks.warps
        self._read[local, places] = self.clocks.now(np.array([lane // 32]))
        self._reader[local, places] = self._wgmma_reader(np.array([lane]))
        self._read_op[local, places] = op

    def _wgmma_reader(self, lanes: Lanes) -> NDArray[np.int64]:
        """Who reads for a wgmma of the threads' warpgroup: none of them, but all that have waited
        know that it is over."""
        thread = lanes % self._threads
        return -3 - (lanes - thread + thread // 128 * 128)

    def wait_wgmma(self, lanes: Lanes, pending: int) -> None:
        """`wgmma.wait_group`: what the wgmmas that are complete read, they read until now."""
        for read in self.wgmmas.wait(lanes, pending):
            self._stamp_async_read(read.lane, read.places, read.op)

    # Asynchronous copies

    def _check_pending(self, places: NDArray[np.int64], verb: str) -> None:
        pending = self._pending[places]
        if pending.any():
            lane = int(np.argmax(pending.any(axis=1)))
            op = int(pending[lane].max())
            raise Fault(
                f"{verb} of shared memory that {self.op_names.get(op, '?')} is still copying to: "
                "no cp.async.wait_group has completed it",
                lane,
            )

    def copy(self, lanes: Lanes, address: Bits, data: NDArray[np.uint8], op: int) -> None:
        """Start a `cp.async` of uint8 [threads, size]."""
        places = self.places(lanes, address, data.shape[1], "write")
        self._check_write(lanes, places, op)
        self._check_collisions(places, data)
        self._pending[places] = op
        self._copies.append(PendingCopy(lanes, places, data, self.committed[lanes], op))

    def commit(self, lanes: Lanes) -> None:
        """Close the threads' groups."""
        self.committed[lanes] += 1

    def wait(self, lanes: Lanes, pending: int) -> None:
        """Complete all but the threads' latest `pending` groups."""
        rest: list[PendingCopy] = []
        for copy in self._copies:
            same = copy.lanes is lanes or np.array_equal(copy.lanes, lanes)
            waiting = True if same else np.isin(copy.lanes, lanes)
            done = waiting & (copy.group < self.committed[copy.lanes] - pending)
            if done.all():
                self._complete(copy)
            elif done.any():
                self._complete(_part(copy, done))
                rest.append(_part(copy, ~done))
            else:
                rest.append(copy)
        self._copies = rest

    def _complete(self, copy: PendingCopy) -> None:
        self._pending[copy.places] = 0
        self._stamp_write(copy.lanes, copy.places, copy.op)
        self.data[copy.places] = copy.data


def _part(copy: PendingCopy, chosen: NDArray[np.bool_]) -> PendingCopy:
    return PendingCopy(
        copy.lanes[chosen], copy.places[chosen], copy.data[chosen], copy.group[chosen], copy.op
    )
