"""Words of global memory that threads of one op combine again and again, one after the other.

Where the op came to a word last, and nobody has read it but by strong accesses, nothing races with
it there: the words are held until all threads have had their turns, who are noted at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tilewright.dialects.frozen import entity
from tilewright.lowering.interpreter.array_types import BoolArray, Int32Array, Int64Array
from tilewright.lowering.interpreter.machine.atomic_order import AccessOrder
from tilewright.lowering.interpreter.machine.global_accesses import GlobalAccesses
from tilewright.lowering.interpreter.machine.global_copies import Span
from tilewright.lowering.interpreter.machine.word_accesses import Shadow
from tilewright.lowering.interpreter.values import Bits, Lanes


@entity
class CombinedWords:
    """Words, with their content now; of accesses in the order of turns, the word, the time, and
    whether it changed that."""

    _accesses: GlobalAccesses
    _spans: Sequence[tuple[Span, Shadow]]
    _words: Bits
    _content: Bits
    _index: Int64Array
    _when: Int32Array
    _changed: BoolArray
    _done: int = 0

    @classmethod
    def of(
        cls, accesses: GlobalAccesses, lanes: Lanes, address: Bits, width: int, op: int
    ) -> CombinedWords | None:
        """None where an access may race."""
        spans = list[tuple[Span, Shadow]]()
        for span in accesses.spans(lanes, address, width):
            shadow = accesses.plain_shadow(span.data)
            if shadow is None or accesses.order.widths or not shadow.is_combined(span, op):
                return None
            spans.append((span, shadow))
        words, index = np.unique(address, return_inverse=True)
        when, changed = np.zeros((len(lanes), 1), np.int32), np.zeros(len(lanes), np.bool_)
        return cls(accesses, spans, words, accesses.memory.load(words, width), index, when, changed)

    def combine(
        self, when: Int32Array, change: Callable[..., Bits], values: Sequence[Bits]
    ) -> Bits:
        """The next accesses, each to another word: what was there."""
        turns = slice(self._done, self._done + len(when))
        index, self._done = self._index[turns], turns.stop
        before = self._content[index]
        self._content[index] = after = change(before, *values)
        self._when[turns, 0], self._changed[turns] = when, after != before
        return before

    def settle(self, order: AccessOrder, op: int) -> None:
        """Memory has the words, and knows of the accesses."""
        self._accesses.memory.store(self._words, self._content, self._content.itemsize)
        for span, shadow in self._spans:
            who, _ = self._accesses.stamp(span.lanes)
            when, places = self._when[span.rows], shadow.words(span)
            self._accesses.observations.note(span, who, when, order, -op)
            shadow.note_read(places, who, when, -op)
            changed = self._changed[span.rows]
            shadow.writes.note(places[changed], who[changed], when[changed], -op)
