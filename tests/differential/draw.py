"""Choices that make a program: drawn from a seed, recorded, replayed with some of them left out.

A generator takes every decision from a `Draw`, so a seed gives the same program each time, and a
shorter list of choices a smaller one: behind its end every choice is the first, the simplest.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Draw:
    """Decisions from a seed, or from choices that were recorded."""

    def __init__(self, seed: str | Sequence[int]):
        self._random = random.Random(seed) if isinstance(seed, str) else None
        self._given = () if isinstance(seed, str) else seed
        self.choices: list[int] = []

    def number(self, low: int, high: int) -> int:
        """A number of low to high, both included."""
        if self._random is not None:
            choice = self._random.randint(0, high - low)
        else:
            place = len(self.choices)
            choice = min(self._given[place] if place < len(self._given) else 0, high - low)
        self.choices.append(choice)
        return low + choice

    def pick(self, options: Sequence[T]) -> T:
        return options[self.number(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def some(self, options: Sequence[T]) -> list[T]:
        """One of the options or more, in their order."""
        kept = [option for option in options if self.chance(50)]
        return kept or [self.pick(options)]

    def generator(self) -> np.random.Generator:
        """Random data."""
        return np.random.default_rng(self.number(0, 1 << 30))


def shrunk(choices: Sequence[int], fails: Callable[[Sequence[int]], bool], tries: int) -> list[int]:
    """Fewer and smaller choices that still fail: runs are left out, then single ones made small."""
    best = list(choices)

    def better(candidate: list[int]) -> bool:
        nonlocal best, tries
        tries -= 1
        if tries < 0 or candidate == best or not fails(candidate):
            return False
        best = candidate
        return True

    size = len(best)
    while size and tries > 0:
        start = 0
        while start < len(best) and tries > 0:
            if not better(best[:start] + best[start + size :]):
                start += size
        size //= 2
    for place in range(len(best)):
        if place < len(best) and best[place]:
            for smaller in (0, best[place] // 2):
                if better([*best[:place], smaller, *best[place + 1 :]]):
                    break
    return best
