"""A few of many cases, such that everything by which they differ comes up.

`TILEWRIGHT_THOROUGH=1` (which `make conformance` sets) keeps all of them.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")
THOROUGH = os.environ.get("TILEWRIGHT_THOROUGH") == "1"


def covering(
    cases: Iterable[Case], differences: Callable[[Case], Iterable[Hashable]], times: int = 1
) -> list[Case]:
    """Cases in their order, so many that every value of each of their differences is that of at
    least `times` cases, or of all that have it, and few. The same ones each run: workers have to
    agree."""
    every = list(cases)
    if THOROUGH:
        return every
    values = [set(enumerate(differences(case))) for case in every]
    missing = Counter(value for case in values for value in case)
    for value, having in missing.items():
        missing[value] = min(times, having)

    def gain(place: int) -> int:
        return sum(missing[value] > 0 for value in values[place])

    # The one that shows most comes first, by what it once showed; of several, any.
    order = list(range(len(every)))
    random.Random(len(every)).shuffle(order)
    heap = [(-gain(place), rank, place) for rank, place in enumerate(order)]
    heapify(heap)
    chosen: list[int] = []
    while heap and heap[0][0]:
        once, rank, place = heap[0]
        if (now := -gain(place)) != once:
            heapreplace(heap, (now, rank, place))
            continue
        heappop(heap)
        missing.subtract(values[place])
        chosen.append(place)
    return [every[place] for place in sorted(chosen)]


def themselves(case: Sequence[Any]) -> Sequence[Any]:
    """The differences of cases that are sequences: each of their elements."""
    return case


def shown(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Tests, and of those marked `covered`, which have several `parametrize`, so many cases that
    every row of each of these comes up."""
    products: dict[str, list[Any]] = {}
    for item in items:
        if item.get_closest_marker("covered") is not None:
            products.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = {case for cases in products.values() for case in cases}
    for cases in products.values():
        left_out.difference_update(covering(cases, lambda case: case.callspec._idlist))
    return [item for item in items if item not in left_out]
