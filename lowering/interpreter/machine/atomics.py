"""Atomic operations on words of memory, which happen one after the other.

So do strong loads and stores. Who acquires what another one released knows what that one knew.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from tilewright.lowering.interpreter.array_types import Int64Array, UInt8Array
from tilewright.lowering.interpreter.errors import faults_of
from tilewright.lowering.interpreter.machine.atomic_order import (
    SCOPES,
    AccessOrder,
    AtomicOrder,
)
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.combined_words import CombinedWords
from tilewright.lowering.interpreter.machine.global_accesses import GlobalAccesses
from tilewright.lowering.interpreter.machine.schedule import Schedule
from tilewright.lowering.interpreter.machine.shared_memory import SharedMemory
from tilewright.lowering.interpreter.values import Bits, Lanes

Combine = Callable[..., Bits]


class Atomics:
    """The atomic operations of a wave of CTAs."""

    def __init__(
        self,
        clocks: Clocks,
        slots: int,
        shared: SharedMemory,
        accesses: GlobalAccesses,
        schedule: Schedule,
    ):
        self._clocks = clocks
        self._shared = shared
        self._accesses = accesses
        self._schedule = schedule
        # Words of shared memory are those of this wave alone.
        self._shared_order = AtomicOrder()
        self._shared_order.begin(0, clocks, slots)

    def perform(
        self, lanes: Lanes, address: Bits, values: Sequence[Bits], combine: Combine, op: int,
        order: AccessOrder, *, shared: bool,
    ) -> Bits:  # fmt: skip
        """Each thread combines the word at its address with values; what was there: [threads]."""
        if not shared:
            self._accesses.come_in_any_order(op)
            if order.reads and order.writes:
                self._accesses.memory.in_space(address, None, "global")
            self._accesses.check_own(lanes, address, values[0].itemsize)
            if order.writes:
                self._accesses.memory.check_writable(address, values[0].itemsize)
        width = values[0].itemsize
        places = address.astype(np.int64)
        if shared:
            places = self._shared.places(lanes, address, width, "atomic access")[:, 0]
        elif (width := SCOPES[order.scope]) < SCOPES["gpu"]:
            self._accesses.order.widths[op] = width
        if order.writes:
            self._clocks.reserve(lanes)
        result, rounds = np.zeros_like(values[0]), self._rounds(places)
        known = self._shared_order if shared else self._accesses.order
        size, words = values[0].itemsize, None
        for number, rows in enumerate(rounds):
            if number == 1 and not shared and order.reads and order.writes:
                rest = np.concatenate(rounds[1:])
                words = CombinedWords.of(self._accesses, lanes[rest], address[rest], size, op)
            given = [value[rows] for value in values]
            for row in rows.tolist():
                known.come(int(lanes[row]), int(places[row]), order, op)
            if words is not None:
                result[rows] = words.combine(self._clocks.now(lanes[rows]), combine, given)
            else:
                with faults_of(rows):
                    if not shared:
                        self._accesses.observe(lanes[rows], address[rows], size, order, op)
                    in_shared = partial(self._in_shared, reads=order.reads)
                    update = in_shared if shared else self._in_global
                    result[rows] = update(lanes[rows], address[rows], given, combine, op)
            for row in rows.tolist():
                known.leave(int(lanes[row]), int(places[row]), order, op)
        if words is not None:
            words.settle(order, op)
        return result

    def fence(self, lanes: Lanes, order: AccessOrder, op: int) -> None:
        """Threads execute a fence; that `sc` ones are in one order lets nobody know more."""
        self._clocks.reserve(lanes)
        for lane in lanes.tolist():
            for known in (self._shared_order, self._accesses.order):
                known.fence(lane, order, op)

    def _rounds(self, places: Int64Array) -> list[Int64Array]:
        """The threads, by index, in rounds in which each word is accessed once."""
        order = self._schedule.order(len(places))
        by_place = order[np.argsort(places[order], kind="stable")]
        _, first, counts = np.unique(places[by_place], return_index=True, return_counts=True)
        rank = np.arange(len(places)) - np.repeat(first, counts)
        return [np.sort(by_place[rank == number]) for number in range(int(counts.max()))]

    def _in_shared(
        self, lanes: Lanes, address: Bits, values: Sequence[Bits], combine: Combine, op: int,
        *, reads: bool,
    ) -> Bits:  # fmt: skip
        dtype = values[0].dtype

        def change(before: UInt8Array) -> Bits:
            return combine(before.view(dtype)[:, 0], *values)[:, None].view(np.uint8)

        before = self._shared.update(lanes, address, dtype.itemsize, change, op, reads=reads)
        return before.view(dtype)[:, 0]

    def _in_global(
        self, lanes: Lanes, address: Bits, values: Sequence[Bits], combine: Combine, op: int
    ) -> Bits:
        # As reductions they do not race with each other: the number of the op is negative.
        width = values[0].itemsize
        before = self._accesses.load(lanes, address, width, 1, -op)
        after = combine(before, *values)
        changed = after != before
        if changed.any():
            self._accesses.store(lanes[changed], address[changed], after[changed], width, 1, -op)
        return before
