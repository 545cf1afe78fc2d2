"""Strong reads that have seen what others wrote. PTX ISA, causality order: a write comes before
whatever follows a strong read that it is observed by, of itself or through atomic operations on the
word, though the reader knows of nothing else that the writer did."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import BoolArray, Int32Array, Int64Array
from tilewright.lowering.interpreter.machine.atomic_order import AccessOrder
from tilewright.lowering.interpreter.machine.global_copies import Span
from tilewright.lowering.interpreter.machine.grid_threads import GridThreads
from tilewright.lowering.interpreter.machine.last_accesses import Row
from tilewright.lowering.interpreter.values import Lanes

Word = tuple[int, int, int]
"""A buffer, a place in it and a width, in bytes."""

Access = tuple[int, int, int]
"""Who, when, and by which op, of a strong access negative."""

Seen = list[tuple[dict[Access, int], int]]
"""Writes, by their order, and how many of them were observed."""

_WIDTHS = (2, 4, 8, 16)


@entity
class Observations:
    """The strong accesses to each word: of writes those that a read there observes, in order, and
    of readers how many of which they had observed when."""

    _writes: dict[Word, dict[Access, int]] = factory(dict)
    _reads: dict[Word, dict[int, list[tuple[int, dict[Access, int], int]]]] = factory(dict)

    def note(
        self, span: Span, who: Int64Array, now: Int32Array, order: AccessOrder,
        op: int,
    ) -> None:  # fmt: skip
        """Threads, [threads, 1], make strong accesses by an op to a word each."""
        rows = zip(span.first.tolist(), who[:, 0].tolist(), now[:, 0].tolist(), strict=True)
        for first, thread, when in rows:
            word = span.buffer, first, span.size
            writes = self._writes.setdefault(word, {})
            if order.reads:
                reads = self._reads.setdefault(word, {}).setdefault(thread, [])
                if not reads or reads[-1][1] is not writes or reads[-1][2] < len(writes):
                    reads.append((when, writes, len(writes)))
            if order.writes:
                if not order.reads:  # What was there before is seen no more.
                    writes = self._writes[word] = {}
                writes[thread, when, op] = len(writes)

    def precede(
        self, buffer: int, places: Int64Array, lanes: Lanes, accesses: Row,
        threads: GridThreads,
    ) -> BoolArray:  # fmt: skip
        """True of accesses to places in a buffer that somebody has observed of whom, at that time,
        a thread each knows, or who is the thread itself."""
        known: dict[tuple[Word, int], Seen] = {}
        result = np.zeros(len(lanes), dtype=np.bool_)
        rows = zip(
            places.tolist(), lanes.tolist(), *(part.tolist() for part in accesses), strict=True
        )
        for number, (place, lane, who, when, op) in enumerate(rows):
            for width in _WIDTHS:
                word = buffer, place // width * width, width
                if word not in self._reads:
                    continue
                if (word, lane) not in known:
                    known[word, lane] = self._known(word, lane, threads)
                for writes, count in known[word, lane]:
                    result[number] |= writes.get((who, when, op), count) < count
        return result

    def _known(self, word: Word, lane: int, threads: GridThreads) -> Seen:
        """The writes that were observed of whom a thread knows, and how many of them."""
        seen = [(thread, *read) for thread, reads in self._reads[word].items() for read in reads]
        who, when = (np.array(numbers) for numbers in list(zip(*seen, strict=True))[:2])
        row = who, when.astype(np.int32), np.zeros(len(who), dtype=np.int32)
        before = threads.known(np.full(len(who), lane), row, writes=False)
        before |= who == threads.who(lane)
        most: dict[int, tuple[dict[Access, int], int]] = {}
        for place in np.flatnonzero(before).tolist():
            *_, writes, count = seen[place]
            if count > most.get(id(writes), (writes, 0))[1]:
                most[id(writes)] = writes, count
        return list(most.values())
