"""Who accessed the words of a buffer of global memory: of each the last writer, and every reader
that a write might race with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tilewright.dialects.frozen import entity
from tilewright.lowering.interpreter.array_types import BoolArray, Int32Array, Int64Array
from tilewright.lowering.interpreter.machine.global_copies import Span
from tilewright.lowering.interpreter.machine.last_accesses import (
    NOBODY,
    LastAccesses,
    Row,
    chosen,
    repeated,
)

LOCAL = (1 << 20) - 1
"""The bits of an accessing thread of the grid that number it within its cluster; those above are
the cluster."""

COPIES = 1 << 19
"""From here on those bits are the clock of an mbarrier, whose phase says when a copy is over."""

_COMPACT = 1 << 16
"""The entries of a log from which on only the last read of each word by each thread is kept."""


class Readers:
    """The reads of each word: the last one, the last one by another cluster than that, and in a log
    the earlier ones of the same cluster.

    That is all a write can race with: where two clusters have read a word, one of them is another
    than the writer's, and nothing orders clusters.
    """

    def __init__(self, words: int, cluster: int):
        self._cluster = cluster
        self.latest, self.elsewhere = LastAccesses.of(words), LastAccesses.of(words)
        self.logged = np.zeros(words, dtype=np.bool_)
        self._log: list[tuple[Int64Array, Row]] = []
        self._size, self._limit = 0, _COMPACT

    @property
    def last(self) -> Int64Array:
        """The last thread that read each word."""
        return self.latest.who

    def divided(self, factor: int) -> None:
        """The words become smaller by a factor."""
        self.latest, self.elsewhere = self.latest.divided(factor), self.elsewhere.divided(factor)
        self.logged = np.repeat(self.logged, factor)
        parts = np.arange(factor)
        self._log = [
            ((places[:, None] * factor + parts).ravel(), repeated(row, factor))
            for places, row in self._log
        ]

    def note(self, places: Int64Array, who: Int64Array, now: Int32Array,
             op: int) -> None:  # fmt: skip
        """Threads, [threads, 1], read words: [threads, words]."""
        reader = np.broadcast_to(who, places.shape)
        before = self.latest.at(places)
        self.latest.note(places, who, now, op)
        if (self.latest.who[places] != reader).any():
            # Threads of one op that read one word do so one after the other.
            order = np.argsort(places, axis=None, kind="stable")
            again = np.diff(places.ravel()[order]) == 0
            for column, own in zip(before, (reader, now, np.int32(op)), strict=True):
                own = np.broadcast_to(own, places.shape)
                column.flat[order[1:][again]] = own.flat[order[:-1][again]]
        displaced = (before[0] != NOBODY) & (before[0] != reader)
        if displaced.any():
            self._displace(places[displaced], chosen(before, displaced), reader[displaced])

    def _displace(self, places: Int64Array, row: Row, by: Int64Array) -> None:
        """Reads of words, [reads], that are not the last ones any more; `by` are the next ones."""
        near = row[0] // self._cluster == by // self._cluster
        self.elsewhere.note(places[~near], *chosen(row, ~near))
        if not near.any():
            return
        self.logged[places[near]] = True
        self.add_to_log(places[near], chosen(row, near))

    def add_to_log(self, places: Int64Array, row: Row) -> None:
        """Earlier reads of words by the cluster of the last one."""
        self._log.append((places, row))
        self._size += len(places)
        if self._size > self._limit:
            self._compact()

    def _compact(self) -> None:
        self._log = [_last_of_each(*self._whole_log())]
        self._size = len(self._log[0][0])
        self._limit = max(_COMPACT, 2 * self._size)

    def _whole_log(self) -> tuple[Int64Array, Row]:
        places = np.concatenate([places for places, _ in self._log])
        who, when, op = (
            np.concatenate(rows) for rows in zip(*(r for _, r in self._log), strict=True)
        )
        self._log = [(places, (who, when, op))]
        return self._log[0]

    def of(self, places: Int64Array) -> Iterator[tuple[Int64Array, Row]]:
        """The reads that writes of words, [threads, words], may race with: the index of each in
        `places`, flat, and the reads."""
        everywhere = np.arange(places.size)
        yield everywhere, self.latest.at(places.ravel())
        yield everywhere, self.elsewhere.at(places.ravel())
        if not self.logged[places].any():
            return
        order = np.argsort(places, axis=None, kind="stable")
        written = places.ravel()[order]
        words, row = self._whole_log()
        mine = written[np.minimum(np.searchsorted(written, words), len(written) - 1)] == words
        words, row = _last_of_each(words[mine], chosen(row, mine))
        # A word that several threads write is looked at for each of them.
        first, last = (np.searchsorted(written, words, side) for side in ("left", "right"))
        counts = last - first
        if counts.any():
            read = np.repeat(np.arange(len(words)), counts)
            offset = np.arange(len(read)) - np.repeat(np.cumsum(counts) - counts, counts)
            yield order[np.repeat(first, counts) + offset], chosen(row, read)


def _last_of_each(places: Int64Array, row: Row) -> tuple[Int64Array, Row]:
    """Of reads of words, in their order, the last one of each word by each thread, by both."""
    # The sort is stable: of one thread's reads of a word the last one comes last.
    order = np.lexsort((row[0], places))
    key = np.stack([places[order], row[0][order]])
    last = order[np.append((key[:, 1:] != key[:, :-1]).any(axis=0), [True] * (len(order) > 0))]
    return places[last], chosen(row, last)


@entity
class Shadow:
    """The accesses to a buffer, by words of `unit` bytes, the smallest that was accessed; `landing`
    are the numbers of the copies that are writing words, from 1. Strong reads, and those of
    reductions, whose ops are negative, are apart: reductions need not look at them."""

    unit: int
    writes: LastAccesses
    reads: Readers
    strong_reads: Readers
    landing: Int32Array | None = None
    generic: bool = False
    """Threads wrote some."""
    read_only: BoolArray | None = None
    """The words that were read as memory that nobody writes."""

    @classmethod
    def of(cls, size: int, unit: int) -> Shadow:
        """Nobody has accessed so many bytes."""
        words = -(-size // unit)
        reads, strong_reads = (Readers(words, LOCAL + 1) for _ in range(2))
        return cls(unit, LastAccesses.of(words), reads, strong_reads)

    @property
    def readers(self) -> tuple[Readers, Readers]:
        """Of both kinds."""
        return self.reads, self.strong_reads

    def octets(self) -> tuple[BoolArray, BoolArray]:
        """Which bytes were read, and which were written."""
        read = (self.reads.last != NOBODY) | (self.strong_reads.last != NOBODY)
        return np.repeat(read, self.unit), np.repeat(self.writes.who != NOBODY, self.unit)

    def written(self) -> BoolArray:
        """Which bytes were written, or strongly accessed, as what is combined to the same is."""
        words = (self.writes.who != NOBODY) | (self.strong_reads.last != NOBODY)
        return np.repeat(words, self.unit)

    def note_read(self, places: Int64Array, who: Int64Array, now: Int32Array,
                  op: int) -> None:  # fmt: skip
        """Threads, [threads, 1], read words: [threads, words]."""
        (self.strong_reads if op < 0 else self.reads).note(places, who, now, op)

    def is_combined(self, span: Span, op: int) -> bool:
        """All words of a span were combined last by an op, and read by strong accesses alone."""
        places = self.words(span)
        return bool(
            (self.writes.op[places] == -op).all() and (self.reads.last[places] == NOBODY).all()
        )

    def note_constant(self, places: Int64Array) -> BoolArray:
        """Words are read as such that nobody writes: those that somebody has written."""
        if self.read_only is None:
            self.read_only = np.zeros(len(self.writes.who), dtype=np.bool_)
        self.read_only[places] = True
        return self.writes.who[places] != NOBODY

    def words(self, span: Span) -> Int64Array:
        """The words of a span: [threads, words]."""
        if (factor := int(self.unit // np.gcd(self.unit, span.size))) > 1:
            self.unit //= factor
            self.writes = self.writes.divided(factor)
            for readers in self.readers:
                readers.divided(factor)
            if self.landing is not None:
                self.landing = np.repeat(self.landing, factor)
            if self.read_only is not None:
                self.read_only = np.repeat(self.read_only, factor)
        return span.first[:, None] // self.unit + np.arange(span.size // self.unit)

    def by_word(self, changed: BoolArray, span: Span) -> BoolArray:
        """The words that change where these elements do: [threads, words]."""
        octets = np.repeat(changed, span.size // changed.shape[1], axis=1)
        words: BoolArray = np.asarray(octets.reshape(len(changed), -1, self.unit).any(axis=2))
        return words
