"""A few of many cases, such that everything by which they differ comes up.

`TILEWRIGHT_THOROUGH=1` (which `make conformance` sets) keeps all of them.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

Case = TypeVar("Case")
THOROUGH = os.environ.get("TILEWRIGHT_THOROUGH") == "1"


def covering(
    cases: Iterable[Case], differences: Callable[[Case], Iterable[Hashable]], times: int = 1
) -> list[Case]:
    """Cases in their order, so many that every value of each of their differences is that of at
    least `times` cases, or of all that have it. The same ones each run: workers have to agree."""
    every = list(cases)
    if THOROUGH:
        return every
    order = list(range(len(every)))
    random.Random(len(every)).shuffle(order)
    seen: Counter[tuple[int, Hashable]] = Counter()
    chosen: list[int] = []
    for place in order:
        values = list(enumerate(differences(every[place])))
        if any(seen[value] < times for value in values):
            seen.update(values)
            chosen.append(place)
    return [every[place] for place in sorted(chosen)]


def themselves(case: Sequence[Any]) -> Sequence[Any]:
    """The differences of cases that are sequences: each of their elements."""
    return case
