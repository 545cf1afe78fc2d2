"""Threads that wait, at barriers, for phases of mbarriers, for registers or for tensor memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from xdsl.ir import Operation

from tilewright.dialects.frozen import entity
from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray
from tilewright.lowering.interpreter.values import Lanes


class Awaitable(Protocol):
    """The place where threads wait, each for what its keys say."""

    @property
    def ready(self) -> Callable[..., BoolArray]:
        """Of the keys of threads: those that may go on, [threads]."""
        ...

    @property
    def resume(self) -> Callable[..., None]:
        """Of threads and their keys, which are all ready: they go on."""
        ...

    @property
    def deadlock(self) -> Callable[..., str]:
        """Of threads and their keys: the diagnosis where they wait in vain."""
        ...


@entity
class Wait:
    """A wait of threads somewhere, at the op that makes them wait; `keys` are arrays, [threads]."""

    place: Awaitable
    op: Operation
    keys: tuple[AnyArray, ...]

    def take(self, lanes: Lanes) -> Wait:
        """The wait of some of the threads."""
        return Wait(self.place, self.op, tuple(key[lanes] for key in self.keys))

    def ready(self) -> BoolArray:
        """The threads that may go on: [threads]."""
        return self.place.ready(*self.keys)

    def resume(self, lanes: Lanes) -> None:
        """Threads, which are all ready, go on."""
        self.place.resume(lanes, *self.keys)

    def deadlock(self, lanes: Lanes) -> str:
        """The diagnosis where the threads wait in vain."""
        return self.place.deadlock(lanes, *self.keys)
