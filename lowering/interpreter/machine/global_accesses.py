"""Accesses of threads to global memory, and the races among them.

Threads of one cluster are ordered as in shared memory, CTAs of others not at all. Writes of the
value that is there already race with nothing, nor do reductions with reductions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.global_memory import GlobalMemory
from tilewright.lowering.interpreter.machine.tensor_map import TensorImage
from tilewright.lowering.interpreter.machine.word_accesses import NOBODY, Accesses, Readers, Row
from tilewright.lowering.interpreter.values import Bits, Lanes, spread

ADDRESS_BITS = 40
"""The bits of an address below the number of its buffer."""


@dataclass(eq=False)
class Shadow:
    """The accesses to a buffer, by words of `unit` bytes, the smallest that was accessed."""

    unit: int
    writes: Accesses
    reads: Readers

    def words(self, first: NDArray[np.int64], size: int) -> NDArray[np.int64]:
        """The words of `size` bytes from each of these bytes on: [threads, words]."""
        if (factor := self.unit // np.gcd(self.unit, size)) > 1:
            self.unit //= int(factor)
            self.writes = self.writes.split(int(factor))
            self.reads.split(int(factor))
        return first[:, None] // self.unit + np.arange(size // self.unit)


class GlobalAccesses:
    """Global memory as the threads of a wave see it, its races among all waves: `races` says what
    becomes of those, "error", "warn" or "ignore"."""

    def __init__(self, memory: GlobalMemory, races: str):
        self._memory = memory
        self._races = races
        self._shadows: dict[int, Shadow] = {}
        self._first = self._ctas = 0

    def begin(
        self, ctas: int, slots: int, cluster: int, clocks: Clocks, op_names: dict[int, str]
    ) -> None:
        """A wave of so many CTAs begins, of `slots` thread slots, in clusters."""
        self._first, self._ctas = self._first + self._ctas, ctas
        self._slots, self._cluster = slots, cluster
        self._clocks, self._op_names = clocks, op_names

    # Threads

    def load(self, lanes: Lanes, address: Bits, width: int, count: int, op: int) -> Bits:
        """`count` words of `width` bytes at each address: [threads or 1, count] or, of one, without
        the second axis."""
        value = self._memory.load(address, width, count)
        self._check_pointers(lanes, address, width * count, op)
        return value

    def read_bytes(
        self, lanes: Lanes, address: Bits, counts: NDArray[np.int64], size: int, op: int
    ) -> NDArray[np.uint8]:
        """The first `counts` bytes at each address, then zeros up to `size`: [threads, size]."""
        data = self._memory.read_bytes(address, counts, size)
        reading = counts == size
        self._check_pointers(lanes[reading], address[reading], size, op)
        return data

    def store(
        self, lanes: Lanes, address: Bits, value: Bits, width: int, count: int, op: int
    ) -> None:
        """The inverse of `load`: [threads, count] or [threads]."""
        if self._races == "ignore":
            self._memory.store(address, value, width, count)
            return
        address = spread(address, len(lanes))
        before = self._memory.load(address, width, count)
        self._memory.store(address, value, width, count)
        value = np.broadcast_to(value.reshape(len(value), count), (len(lanes), count))
        value = value.reshape(before.shape)
        after = self._memory.load(address, width, count)
        if (after != value).any():
            row = int(np.argmax((after != value).reshape(len(value), -1).any(axis=1)))
            self._report("race on global memory: two threads of the op write one element", row)
        self._check_pointers(
            lanes, address, width * count, op, (before != value).reshape(len(value), -1)
        )

    def _check_pointers(
        self, lanes: Lanes, address: Bits, size: int, op: int,
        changed: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        if self._races == "ignore" or not len(lanes):
            return
        every = spread(address, len(lanes)).astype(np.int64)
        buffer: NDArray[np.int64] = every >> ADDRESS_BITS
        for number in np.unique(buffer).tolist():
            mine = buffer == number
            allocation = self._memory.allocations[int(number) - 1]
            first = every[mine] - allocation.base
            words = None if changed is None else changed[mine]
            self._check(lanes[mine], allocation.data, first, size, op, words)

    # Boxes

    def read_box(
        self, lane: int, image: TensorImage, corner: Sequence[int], op: int
    ) -> NDArray[np.uint8]:
        """A box of a tensor, read by a copy of a thread."""
        data = image.read(corner)
        self._check_box(lane, image, corner, op, None)
        return data

    def write_box(
        self, lane: int, image: TensorImage, corner: Sequence[int], data: NDArray[np.uint8],
        op: int, kind: str | None,
    ) -> None:  # fmt: skip
        """A box of a tensor, written by a copy of a thread or combined by a reduction of a kind."""
        before = None if self._races == "ignore" else image.read(corner)
        if kind is None:
            image.write(corner, data)
        else:
            image.reduce(kind, corner, data)
        if before is None:
            return
        changed = (before != image.read(corner)).reshape(-1, image.box.element.bytes).any(axis=1)
        self._check_box(lane, image, corner, op if kind is None else -op, changed)

    def _check_box(
        self, lane: int, image: TensorImage, corner: Sequence[int], op: int,
        changed: NDArray[np.bool_] | None,
    ) -> None:  # fmt: skip
        if self._races == "ignore":
            return
        inside, places = image.places(corner)
        size = image.box.element.bytes
        if changed is not None:
            changed = changed[inside.ravel(), None]
        first = places[inside] * size
        self._check(np.full(len(first), lane), image.data, first, size, op, changed)

    # Races

    def _check(
        self, lanes: Lanes, data: NDArray[np.uint8], first: NDArray[np.int64], size: int, op: int,
        changed: NDArray[np.bool_] | None,
    ) -> None:  # fmt: skip
        """Accesses of `size` bytes of a buffer from each of these bytes on; of writes, `changed`
        are the words that get other values: [threads, words]."""
        if not len(lanes):
            return
        shadow = self._shadows.get(data.ctypes.data)
        if shadow is None:
            words = -(-len(data) // size)
            readers = Readers(words, self._slots * self._cluster)
            shadow = Shadow(size, Accesses.of(words), readers)
            self._shadows[data.ctypes.data] = shadow
        places = shadow.words(first, size)
        who = self._first * self._slots + lanes
        now = self._clocks.now(lanes)
        every = np.arange(places.size)
        written = shadow.writes.at(places.ravel())
        if changed is None:
            self._check_against(lanes, who, places, every, written, op, ("read", "write"))
            shadow.reads.note(places, who, now, op)
            return
        octets = np.repeat(changed, size // changed.shape[1], axis=1)
        changed = np.asarray(octets.reshape(*places.shape, shadow.unit).any(axis=2))
        if changed.any():
            rows = [("write", every, written)]
            rows += [("read", index, row) for index, row in shadow.reads.of(places)]
            for verb, index, row in rows:
                chosen = changed.ravel()[index]
                accesses = row[0][chosen], row[1][chosen], row[2][chosen]
                self._check_against(
                    lanes, who, places, index[chosen], accesses, op, ("write", verb)
                )
        shadow.writes.note(places, who, now, op)

    def _check_against(
        self, lanes: Lanes, who: NDArray[np.int64], places: NDArray[np.int64],
        index: NDArray[np.int64], accesses: Row, op: int, verbs: tuple[str, str],
    ) -> None:  # fmt: skip
        """Report accesses that are not known to be before those of the threads to `places`; `index`
        says, of each, to which."""
        others, stamps, ops = accesses
        row = index // places.shape[1]
        race = (others != NOBODY) & (others != who[row])
        if op < 0:
            race &= ops >= 0
        if not race.any():
            return
        row, other, stamps, ops = row[race], others[race], stamps[race], ops[race]
        cta = lanes[row] // self._slots
        there = other // self._slots - self._first
        near = there // self._cluster == cta // self._cluster
        thread = np.where(near, other - self._first * self._slots, 0).astype(np.int32)
        known = self._clocks.happened(
            self._clocks.seen[lanes[row]], thread[:, None], stamps[:, None]
        )
        late = np.flatnonzero(~(near & known[:, 0]))
        if not len(late):
            return
        at = int(late[0])
        name = self._op_names.get(abs(int(ops[at])), "?")
        by = f"thread {other[at] % self._slots}" if there[at] == cta[at] else "another CTA"
        self._report(
            f"race on global memory: this {verbs[0]} and the {verbs[1]} by {name} in {by} are "
            "ordered by nothing",
            int(row[at]),
        )

    def _report(self, message: str, row: int) -> None:
        if self._races == "error":
            raise Fault(message, row)
        warnings.warn(message, stacklevel=2)
