"""Copies that access global memory by themselves, after the thread that started them went on.

A `cp.async` reads until its thread waits for its group, a `tma.load` until the phase of its
mbarrier is over, and a `tma.store` writes until its thread has waited for its group, not only for
what it reads (PTX ISA, cp.async.bulk.wait_group). Who is not known to come before or after all of
that time is in a race.
"""

from __future__ import annotations

from tilewright.dialects.frozen import entity, frozen_entity
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array, UInt8Array
from tilewright.lowering.interpreter.values import Lanes


@frozen_entity
class Span:
    """Accesses of `size` bytes of a buffer, `first` and what follows, one a thread; `rows` are
    their places among all of the op."""

    lanes: Lanes
    rows: Int64Array
    data: UInt8Array
    first: Int64Array
    size: int

    @property
    def buffer(self) -> int:
        """The key of the buffer."""
        return self.data.ctypes.data

    def of(self, chosen: BoolArray) -> Span:
        """Some of the accesses."""
        return Span(self.lanes[chosen], self.rows[chosen], self.data, self.first[chosen], self.size)


@entity
class GlobalRead:
    """The reads of some threads' copies, and their op."""

    spans: list[Span]
    op: int


@frozen_entity
class GlobalWrite:
    """The writes of a thread's copy in a group; the op of a reduction is negative."""

    span: Span
    op: int
    lane: int
    group: int
