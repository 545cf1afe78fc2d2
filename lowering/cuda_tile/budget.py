"""The budget of a kernel, and the retreats from it where something does not fit.

    Budget() -> plan -> emit -> fits
                  ^       |
                  +-- relaxed: without two stages of accumulators, then without hoisted operands, ..

A retreat may give stages back the memory that another one took, never what it gave up itself: there
is an end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Attempt:
    """A plan, or a kernel emitted by it, by what it lacks and takes: bytes are of shared memory.
    What is not known yet fits."""

    lacks_stages: bool = False
    """TMA has no room to load anything ahead of the MMAs of warps."""
    shares_pairs: bool = False
    """Pairs of CTAs multiply what threads read, too, or what they issue."""
    alternates: bool = True
    """MMAs in tensor memory and threads go from stage to stage together."""
    accumulator_stages: int = 0
    taken: float = 0
    """The bytes in all."""
    staged: int = 0
    """Those of stages."""
    others: int = 0
    """Those that all but stages take, at most."""
    share: float = inf
    """Those of each of the CTAs that are planned for a multiprocessor."""
    room: float = inf
    """Those of a CTA that has a multiprocessor for itself."""
    hoists: bool = False
    """A loop keeps operands."""
    crowded: bool = False
    """Tiles that change layout have no room even where nothing is in stages."""
    left: float = inf
    """The bytes that these have."""
    stores: bool = False
    """TMA stores tiles."""


class Retreat(NamedTuple):
    """A thing that a kernel does without, and why."""

    name: str
    reason: str

    @property
    def text(self) -> str:
        """Both, as a remark says them."""
        return f"the kernel does without {self.name}: {self.reason}"


@dataclass(frozen=True)
class Budget:
    """All that a kernel may do and take."""

    tma: bool = True
    """TMA loads ahead of the MMAs of warps."""
    pairs: bool = True
    """Pairs of CTAs multiply together."""
    double_buffered: bool = True
    """Accumulators have two stages."""
    accumulators: bool = True
    """Accumulators are in tensor memory."""
    hoisted: bool = True
    """Loops keep operands in shared memory."""
    stores: bool = True
    """TMA stores tiles, from memory of their own."""
    beside: int = 0
    """The bytes of shared memory that stages leave at least."""
    conversion_bytes: float = inf
    """The bytes in which a tile changes layout at most, part after part."""

    def relaxed(self, attempt: Attempt) -> tuple[Budget, Retreat] | None:
        """The budget after the next retreat from an attempt under this one, and that; None where
        the kernel fits, or there is nothing more to give up."""
        for (name, reason), is_due, changes in RETREATS:
            if is_due(self, attempt):
                less = replace(self, **changes(attempt))
                return less, Retreat(name, reason.format(**vars(less)))
        return None


_Row = tuple[Retreat, Callable[[Budget, Attempt], bool], Callable[[Attempt], dict[str, Any]]]

RETREATS: tuple[_Row, ...] = (
    (
        Retreat(
            "stages that TMA fills for MMAs of warps",
            "shared memory has no room for two beside tiles that change layout",
        ),
        lambda budget, attempt: attempt.lacks_stages and budget.tma and budget.beside > 0,
        lambda attempt: {"tma": False, "beside": 0},
    ),
    (
        Retreat("pairs of CTAs that multiply", "threads read or issue"),
        lambda budget, attempt: attempt.shares_pairs,
        lambda attempt: {"pairs": False},
    ),
    (
        Retreat("pairs of CTAs that multiply", "threads and MMAs do not take turns"),
        lambda budget, attempt: not attempt.alternates and attempt.accumulator_stages == 1,
        lambda attempt: {"pairs": False, "double_buffered": False},
    ),
    (
        Retreat("two stages of accumulators", "threads and MMAs do not take turns"),
        lambda budget, attempt: not attempt.alternates,
        lambda attempt: {"double_buffered": False},
    ),
    (
        Retreat(
            "stages in all of shared memory",
            "tiles that change layout, or are stored, take {beside} bytes",
        ),
        lambda budget, attempt: (
            attempt.staged > 0 and attempt.others > budget.beside and attempt.taken > attempt.share
        ),
        lambda attempt: {"beside": attempt.others},
    ),
    (
        Retreat("accumulators in tensor memory", "shared memory has no room"),
        lambda budget, attempt: (
            attempt.taken > attempt.room and budget.accumulators and attempt.accumulator_stages > 0
        ),
        lambda attempt: {"accumulators": False, "beside": 0},
    ),
    (
        Retreat("operands that loops keep in shared memory", "it has no room"),
        lambda budget, attempt: attempt.crowded and attempt.hoists,
        lambda attempt: {"hoisted": False},
    ),
    (
        Retreat("stores by TMA", "shared memory has no room for them beside operands"),
        lambda budget, attempt: attempt.crowded and attempt.stores and attempt.left <= 0,
        lambda attempt: {"stores": False, "beside": 0},
    ),
    (
        Retreat(
            "tiles that change layout as a whole",
            "{conversion_bytes} bytes of shared memory are left to them",
        ),
        lambda budget, attempt: attempt.crowded and 0 < attempt.left < budget.conversion_bytes,
        lambda attempt: {"conversion_bytes": attempt.left},
    ),
)
"""The retreats, those first that come first: what they are, when one is due, and what is left."""
