"""The work of a warp of its own that issues MMAs: said by those who compute while they are lowered.

    threads:   for tile:   wait until done; load; give; convert, store
    the warp:  for tile:   for k: issue     done; wait until given

`DONE` is a commit for all that was issued before, `GIVEN` the wait for threads that have loaded,
stored or laid down what MMAs behind it overwrite or read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.frozen import entity, factory, frozen

DONE: Literal["done"] = "done"
GIVEN: Literal["given"] = "given"


@frozen
class IssuedProduct:
    """The MMAs of a product, and the operands that threads have laid down for it."""

    op: Operation
    laid: Mapping[str, Any]


@frozen
class IssuedLoop:
    """A loop in which something is issued."""

    op: ForOp
    events: list[Event] = factory(list)


Event = IssuedProduct | IssuedLoop | Literal["done", "given"]


@entity
class IssueRecord:
    """The events of a kernel, in order, by the loops that they are in."""

    events: list[Event] = factory(list)
    _outer: list[list[Event]] = factory(list)

    def enter(self, op: ForOp) -> None:
        """Go into a loop."""
        loop = IssuedLoop(op)
        self.events.append(loop)
        self._outer.append(self.events)
        self.events = loop.events

    def leave(self) -> None:
        """Leave it; one without events is none."""
        inner, self.events = self.events, self._outer.pop()
        if not inner:
            self.events.pop()

    def alternates(self) -> bool:
        """True where nobody waits for threads, or of one loop alone, whose every iteration ends
        with the one commit for threads and the one wait for them."""
        events = self.events
        if len(events) == 1 and isinstance(loop := events[0], IssuedLoop):
            events = loop.events
        if events[-2:] == [DONE, GIVEN] and events is not self.events:
            return not _commits(events[:-2], DONE) and not _commits(events[:-2], GIVEN)
        return not _commits(events, GIVEN)

    def answers(self) -> bool:
        """True where threads are told that MMAs are done between any two times that MMAs wait for
        threads: those of a pair of CTAs see no other sign that the time before is over."""
        return _open(self.events, False) is not None


def _open(events: Sequence[Event], given: bool) -> bool | None:
    """True where threads have `given` something and been told nothing since, behind events; None
    where they give twice."""
    for event in events:
        if isinstance(event, IssuedLoop):
            once = _open(event.events, given)
            if once is None or (once and not given and _open(event.events, True) is None):
                return None
            given |= once
        elif event == GIVEN and given:
            return None
        elif event in (DONE, GIVEN):
            given = event == GIVEN
    return given


def _commits(events: Sequence[Event], kind: Event) -> bool:
    """True where events, or those of loops among them, are of a kind."""
    return any(
        event == kind or (isinstance(event, IssuedLoop) and _commits(event.events, kind))
        for event in events
    )
