"""Things by their places in a sequence."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

Thing = TypeVar("Thing")


def numbered(things: Iterable[Thing]) -> dict[Thing, int]:
    """The place of each, from 0 on."""
    return {thing: place for place, thing in enumerate(things)}


def paired(things: Sequence[Thing]) -> Iterator[tuple[Thing, Thing]]:
    """Two after two: the first with the second, the third with the fourth."""
    return zip(things[::2], things[1::2], strict=True)
