"""Livelocks: gangs that run and run, and come back to where all of them were.

Where the program, the registers and the memory of a wave are what they were before, and every gang
that may run has run in between, nothing will ever be otherwise: who spins waits for what nobody
does. States are compared with one that is taken anew after 2^k turns (R. Brent's way to find a
cycle), its memory only once the registers of all gangs were the same.
"""

import operator
import zlib
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import AnyArray, is_array
from tilewright.lowering.interpreter.program import CodeBlock, Fork
from tilewright.lowering.interpreter.values import Lanes

FIRST = 256
"""The turns after which a state is taken first."""

LEAST, WATCHED = 4, 8
"""The turns behind a state that are seen in any case: so many of each gang, or 1 / 2^n of those
before it."""


class GangPlace(Protocol):
    """Where some threads are: a gang."""

    lanes: Lanes
    regs: list[Any]
    block: CodeBlock
    awaited: Any


Running = TypeVar("Running", bound=GangPlace)


@entity
class _State:
    """Where the gangs of a wave were and what their registers held; the gang that ran then comes
    first. `memory` is of the memory, once it was asked for."""

    gangs: list[tuple[CodeBlock, bytes, bool, list[Any]]]
    memory: int | None


@entity
class Livelock:
    """Looks for a livelock in a wave, of the registers that are live in each block and the memory
    that `buffers` are: all that threads can look at or wait for. Of gangs those that are `free` do
    not wait for others of their warps; who spins while others could run is to `tire`."""

    _live: Callable[[CodeBlock], set[int]]
    _buffers: Callable[[], Sequence[AnyArray]]
    _free: Callable[[list[Any]], Sequence[GangPlace]]
    _tire: Callable[[int], None]
    _turns: int = 0
    _next: int = FIRST
    _state: _State | None = None
    _ran: set[int] = factory(set)
    _forks: dict[int, CodeBlock] = factory(dict)
    _differs: int = -1
    # Whether the gangs that run came back to where they were, though others have not run.
    stuck: bool = False
    _released: int = -1

    @property
    def spare(self) -> int:
        """The turns that may be taken unseen: until a state is taken, but for those behind one,
        each of which may come back to it."""
        taken = self._next // 2
        if (state := self._state) is not None:
            seen = max(taken >> WATCHED, LEAST * len(state.gangs))
            if self._turns < taken + seen:
                return 0
        return self._next - 1 - self._turns

    def took(self, turns: int) -> None:
        """Turns were taken unseen."""
        self._turns += turns

    def release(self) -> None:
        """A gang goes on that others had to run for: it may end what they spin for. Turns are
        counted anew, so that what comes next is soon seen."""
        self.stuck, self._state = False, None
        self._turns, self._released, self._next = 0, 1, 2

    def unheard(self, gangs: Sequence[Running]) -> list[Running]:
        """The gangs that have not run since the state that those came back to who spin."""
        return [gang for gang in gangs if int(gang.lanes[0]) not in self._ran]

    @property
    def suspicion(self) -> str:
        """The words for an error that comes while gangs spin which others had to run for."""
        waits = self.stuck or self._turns == self._released
        return "; other threads spin meanwhile, and what may run has not ended it" * waits

    def turn(self, gang: GangPlace, others: Sequence[GangPlace]) -> CodeBlock | None:
        """A gang is about to run while others wait or may run too. The block where it spins, if
        nothing will ever come of it."""
        self._turns += 1
        if self._turns == self._next:
            self._next *= 2
            self.stuck = False
            self._take(gang, others, None)
            return None
        if self._state is None:
            return None
        first = int(gang.lanes[0])
        if gang.block is self._state.gangs[0][0] and self._same(gang, others):
            memory = self._fingerprint()
            if self._state.memory != memory:
                self._take(gang, others, memory)
            elif self._have_run(others):
                return self._forks.get(first, gang.block)
            else:
                free = self._free([gang, *others])
                if self._have_run([one for one in free if one is not gang]):
                    self.stuck = True
                else:
                    for leader in self._ran:
                        self._tire(leader)
                    self.release()
        self._ran.add(first)
        if isinstance(gang.block.ending, Fork):
            self._forks.setdefault(first, gang.block)
        return None

    def _have_run(self, gangs: Sequence[GangPlace]) -> bool:
        return all(int(gang.lanes[0]) in self._ran for gang in gangs if gang.awaited is None)

    def _take(self, gang: GangPlace, others: Sequence[GangPlace], memory: int | None) -> None:
        self._state = _State([self._place(running) for running in (gang, *others)], memory)
        self._ran, self._forks = {int(gang.lanes[0])}, {}

    def _place(self, gang: GangPlace) -> tuple[CodeBlock, bytes, bool, list[Any]]:
        regs = [gang.regs[slot] for slot in sorted(self._live(gang.block))]
        return gang.block, gang.lanes.tobytes(), gang.awaited is None, regs

    def _same(self, gang: GangPlace, others: Sequence[GangPlace]) -> bool:
        assert self._state is not None
        block, lanes, _, regs = self._state.gangs[0]
        slots = sorted(self._live(block))
        # A loop that gets on mostly differs where it did last time.
        last = self._differs
        if 0 <= last < len(slots) and not _equal(gang.regs[slots[last]], regs[last]):
            return False
        for place, slot in enumerate(slots):
            if not _equal(gang.regs[slot], regs[place]):
                self._differs = place
                return False
        if len(others) + 1 != len(self._state.gangs) or gang.lanes.tobytes() != lanes:
            return False
        before = sorted(self._state.gangs[1:], key=operator.itemgetter(1))
        now = sorted(map(self._place, others), key=operator.itemgetter(1))
        return all(
            a[:3] == b[:3] and all(map(_equal, a[3], b[3]))
            for a, b in zip(before, now, strict=True)
        )

    def _fingerprint(self) -> int:
        result = 0
        for buffer in self._buffers():
            result = zlib.adler32(np.ascontiguousarray(buffer).view(np.uint8).data, result)
        return result


def _equal(a: Any, b: Any) -> bool:
    """True where two values of registers are the same."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if is_array(a):
        # One row is that of all threads.
        same = a.shape[1:] == b.shape[1:] and (len(a) == len(b) or 1 in (len(a), len(b)))
        return same and bool((a == b).all())
    if isinstance(a, tuple | list):
        mine, theirs = list[Any](a), list[Any](b)  # pyright: ignore[reportUnknownArgumentType]
        return len(mine) == len(theirs) and all(map(_equal, mine, theirs))
    if is_dataclass(a):
        names = [field.name for field in fields(a)]
        return all(_equal(getattr(a, name), getattr(b, name)) for name in names)
    return bool(a == b)
