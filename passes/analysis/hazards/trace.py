"""The result of following a kernel: the events of all threads, and the values that they depend
on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.frozen import entity, factory, frozen
from tilewright.passes.analysis.hazards.effects import MemoryPlace
from tilewright.passes.analysis.hazards.placement import Placement, is_tensor, placement_of

WARP = 32

Flags = NDArray[np.bool_]


def alike(columns: Sequence[NDArray[Any]]) -> list[NDArray[np.int64]]:
    """The rows that have the same numbers in every column, those with the least numbers first."""
    order = np.lexsort(columns[::-1])
    other = [np.diff(column[order]) != 0 for column in columns]
    return np.split(order, np.flatnonzero(np.any(other, axis=0)) + 1)


class OutOfBounds(Exception):
    """An index that no memref has: the arguments are none that the kernel is launched with."""


class TooLong(Exception):
    """There are more events than may be followed."""


class Mask:
    """Threads: `flags` over all thread slots, how many, and the set's number."""

    __slots__ = ("count", "flags", "number")

    def __init__(self, flags: Flags, number: int):
        self.flags = flags
        self.number = number
        self.count = int(flags.sum())


@frozen
class PlacedView:
    """A memref as it runs: what it is a part of, its type and, in tensor memory, the cell where it
    begins; in shared memory the element. All memory of a CTA is its space, without a type. `rank`
    is the CTA of the cluster whose memory it is, where that may be another one."""

    root: object
    type: MemRefType[Any] | None
    placement: Placement | None
    first: Any = 0
    rank: Any = None

    @property
    def in_tensor(self) -> bool:
        """Of tensor memory."""
        return self.root is Space.TMEM or is_tensor(self.type)


@entity
class PendingRegisters:
    """Registers that a load from tensor memory or a wgmma gives, the threads that have not waited,
    and how many commits of theirs followed."""

    op: Operation
    flags: Flags
    commits: int = 0


@entity
class Event:
    """Something that some threads do: its number, the place of its barrier (root, element), what it
    accesses, and the rounds of the loops around it."""

    number: int
    kind: str
    op: Operation
    mask: Mask
    barrier: tuple[object, int] | None
    scalars: tuple[int, ...]
    accesses: tuple[tuple[MemoryPlace, Any, tuple[Any, ...]], ...]
    constant: Any
    rounds: tuple[tuple[Operation, int], ...]


@frozen
class Operands:
    """Where the operands of an event are kept: its places, its barrier, its numbers."""

    places: list[tuple[MemoryPlace, int, list[int]]]
    barrier: int | None
    indices: list[int]
    scalars: list[int]
    predicate: int | None


@dataclass(slots=True)
class EventTrace:
    """The events of all threads, and what could not be decided."""

    events: list[Event] = factory(list)
    unproven: dict[Operation, str] = factory(dict)
    undecided: bool = False
    taken: set[tuple[Operation, bool]] = factory(set)
    """The ways that threads went at what decides of events, by its op."""
    guessed: bool = False
    """Some condition was guessed."""
    covers: bool = True
    """Accesses of which not all is known are taken to be to all that they may be to."""
    covering: dict[Operation, str] = factory(dict)
    """Those, and what is not known."""
    arrays: Any = None
    """The arrays of the kernel that are reached both ways (`arrays.Arrays`)."""
    pair: Callable[[int], None] = lambda _: None
    """The count of the accesses that an access is looked at beside."""
    whole: set[Operation] = factory(set)
    """The ops of whole warps that some have come to."""
    columns: dict[int, tuple[int, int]] = factory(dict)
    """The first column that an instruction allocates, and how many, by the number of its event."""
    beside: dict[Operation, tuple[int, int]] = factory(dict)
    """Elements of rings of mbarriers that are none of theirs: the last, and how many there are."""

    def reaches(self, op: Operation) -> bool:
        """Some threads come to an event, or whole warps to an op of theirs."""
        return op in self.whole or any(event.op is op for event in self.events)


def view_of(root: object, type_: MemRefType[Any], first: Any = 0, rank: Any = None) -> PlacedView:
    """A memref of that type."""
    return PlacedView(root, type_, placement_of(type_), first, rank)
