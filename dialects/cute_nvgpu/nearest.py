"""Which of many entries are most like a query, without looking at them one by one.

An entry is known by its features. For each feature there is a bit mask of the entries that have
it; a query adds up the masks of its own features, bit by bit, so that digit i of the sum of entry
j is bit j of the i-th integer. Three entries and a query with the features a, b, c:

    entry     0: a b      1: a b c   2: c
    masks     a = 011     b = 011    c = 110       bit j is entry j, the last one first
    sums      ones 110    twos 011                 entry 0 shares 2, entry 1 shares 3, entry 2 one

The largest sum is found from its top digit down. Work grows with the features of the query alone:
an addition handles all entries at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class Nearest(Generic[Entry]):
    """Entries by their features. Raises ValueError where there is none."""

    def __init__(self, entries: Iterable[tuple[Entry, Iterable[Hashable]]]):
        self._entries: list[Entry] = []
        self._masks: dict[Hashable, int] = {}
        for place, (entry, features) in enumerate(entries):
            self._entries.append(entry)
            for feature in features:
                self._masks[feature] = self._masks.get(feature, 0) | 1 << place
        if not self._entries:
            raise ValueError("expected entries, got none")

    def find(self, features: Iterable[Hashable]) -> list[Entry]:
        """The entries that share the most of these features, in the order they were given."""
        found = (1 << len(self._entries)) - 1
        for digit in reversed(self._sums(features)):
            found = (found & digit) or found
        return list(self._of(found))

    def _sums(self, features: Iterable[Hashable]) -> list[int]:
        """How many features each entry shares: binary digits, each of all entries at once."""
        digits: list[int] = []
        for feature in features:
            carry = self._masks.get(feature, 0)
            for place, digit in enumerate(digits):
                if not carry:
                    break
                digits[place], carry = digit ^ carry, digit & carry
            if carry:
                digits.append(carry)
        return digits

    def _of(self, mask: int) -> Iterable[Entry]:
        while mask:
            lowest = mask & -mask
            yield self._entries[lowest.bit_length() - 1]
            mask ^= lowest
