"""Things by their places in a sequence, and those that others lead to."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

Thing = TypeVar("Thing")


def numbered(things: Iterable[Thing]) -> dict[Thing, int]:
    """The place of each, from 0 on."""
    return {thing: place for place, thing in enumerate(things)}


def paired(things: Sequence[Thing]) -> Iterator[tuple[Thing, Thing]]:
    """Two after two: the first with the second, the third with the fourth."""
    return zip(things[::2], things[1::2], strict=True)


def reachable(
    starts: Iterable[Thing], onward: Callable[[Thing], Iterable[Thing]]
) -> Iterator[Thing]:
    """The things that others lead to, each once, and these themselves."""
    todo, seen = [*starts], set[Thing]()
    while todo:
        if (thing := todo.pop()) not in seen:
            seen.add(thing)
            yield thing
            todo += onward(thing)
