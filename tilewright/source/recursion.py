"""How deeply Python recurses: as deeply as IR nests."""

import sys
from collections.abc import Generator
from contextlib import contextmanager

DEEP = 10_000
"""Frames of Python that a step may take: IR nests, and each region takes a handful of them."""


@contextmanager
def deep_recursion() -> Generator[None]:
    """Lets Python recurse as deeply as IR nests."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEP))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
