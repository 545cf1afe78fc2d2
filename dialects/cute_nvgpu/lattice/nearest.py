"""The legal choice nearest to what was asked for: `closest` of a few, `Nearest` of many.

`Nearest` finds the entries most like a query without looking at them one by one.

An entry is known by its features; it is the nearer the less the features weigh that only one of
the two has. With S the weight of what a query and an entry share, that is the weight of the query,
plus the entry's, minus 2 S: the nearest entries have the largest 2 S minus their own weight.

For each feature there is a bit mask of the entries that have it. A query adds up the masks of its
own features, binary digit by binary digit: bit j of the i-th integer is digit i of the sum of entry
j. Three entries, features that weigh 1 each, and a query that has a, b and c:

    entry     0: a b      1: a b c   2: c
    masks     a = 011     b = 011    c = 110       bit j is entry j, the last one first
    sums      ones 110    twos 011                 entry 0 shares 2, entry 1 shares 3, entry 2 one

The largest sums are found from the top digit down. Work grows with the features of the query
alone: an addition handles all entries at once.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, TypeVar, cast

Choice = TypeVar("Choice")
Entry = TypeVar("Entry")
Feature = TypeVar("Feature", bound=Hashable)


def closest(wanted: Choice, legal: Iterable[Choice]) -> Choice:
    """The nearest of the legal numbers or tuples, the first of several."""
    if isinstance(legal, range):
        assert isinstance(wanted, int)
        offset = legal.start % legal.step
        nearest = round((wanted - offset) / legal.step) * legal.step + offset
        return cast("Choice", min(max(nearest, legal[0]), legal[-1]))
    return min(legal, key=lambda choice: distance(choice, wanted))


def why_not(value: Choice, legal: Sequence[Choice], expected: str) -> str | None:
    """The fault of a number or a tuple that is not legal, with the nearest one that is; or None."""
    if value in legal:
        return None
    return f"expected {expected}, got {value}; nearest legal: {closest(value, legal)}"


def distance(one: Any, other: Any) -> int:
    """How far numbers are apart, or tuples of them in all; of others, how many items differ."""
    if not isinstance(one, tuple):
        one, other = (one,), (other,)
    pairs = list(zip(cast("Sequence[Any]", one), other, strict=True))
    if all(isinstance(item, int) for pair in pairs for item in pair):
        return sum(abs(a - b) for a, b in pairs)
    return sum(a != b for a, b in pairs)


class Nearest(Generic[Entry, Feature]):
    """Entries by their features, each of a weight of 1 or more; a feature counts once."""

    def __init__(
        self,
        entries: Iterable[tuple[Entry, Iterable[Feature]]],
        weight: Callable[[Feature], int],
    ):
        self._entries: list[Entry] = []
        places: dict[Feature, list[int]] = {}
        weights: list[int] = []
        for place, (entry, features) in enumerate(entries):
            distinct = set(features)
            self._entries.append(entry)
            weights.append(sum(map(weight, distinct)))
            for feature in distinct:
                places.setdefault(feature, []).append(place)
        self._known = {
            feature: (_mask(having), _ones(2 * weight(feature)))
            for feature, having in places.items()
        }
        self._start: list[int] = []
        for place, own in enumerate(weights):
            for one in _ones(max(weights) - own):
                _add(self._start, 1 << place, one)

    def find(self, features: Iterable[Feature]) -> list[Entry]:
        """The nearest entries, in the order they were given; none where there are none."""
        digits = list(self._start)
        for feature in set(features):
            mask, ones = self._known.get(feature, _NOWHERE)
            for one in ones:
                _add(digits, mask, one)
        nearest = (1 << len(self._entries)) - 1
        for digit in reversed(digits):
            nearest = (nearest & digit) or nearest
        return list(self._of(nearest))

    def _of(self, mask: int) -> Iterable[Entry]:
        while mask:
            lowest = mask & -mask
            yield self._entries[lowest.bit_length() - 1]
            mask ^= lowest


_NOWHERE: tuple[int, tuple[int, ...]] = (0, ())


def _mask(places: Sequence[int]) -> int:
    """The integer whose binary digits at these places are ones; the last place is the highest."""
    octets = bytearray(places[-1] // 8 + 1)
    for place in places:
        octets[place // 8] |= 1 << place % 8
    return int.from_bytes(octets, "little")


def _ones(number: int) -> tuple[int, ...]:
    """Which binary digits of a number are ones."""
    return tuple(place for place in range(number.bit_length()) if number >> place & 1)


def _add(digits: list[int], mask: int, place: int) -> None:
    """Add 2 ** place to the sums of those entries that the mask has."""
    while mask:
        if place >= len(digits):
            digits.extend([0] * (place + 1 - len(digits)))
        digits[place], mask = digits[place] ^ mask, digits[place] & mask
        place += 1
