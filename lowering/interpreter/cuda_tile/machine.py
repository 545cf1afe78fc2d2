"""The machine that runs a Tile IR kernel: its memory, its grid, its gangs, what goes wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, TypeAlias

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.cuda_tile.accesses import Conflict, Kind, place_of_op
from tilewright.lowering.interpreter.cuda_tile.allocations import Allocations, TileAllocation
from tilewright.lowering.interpreter.cuda_tile.block_conflicts import MAX_BLOCKS, BlockConflicts
from tilewright.lowering.interpreter.cuda_tile.float_functions import Numerics
from tilewright.lowering.interpreter.cuda_tile.footprints import mark
from tilewright.lowering.interpreter.cuda_tile.poison import Origin, UndefinedUse
from tilewright.lowering.interpreter.cuda_tile.values import Rows
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.share import BufferUse, Elsewhere, Share, print_text, refuse
from tilewright.source.diagnostic import ExecutionError, at, line_of, place_of, spelled

if TYPE_CHECKING:
    from tilewright.lowering.interpreter.breakpoints import Breakpoints

Races: TypeAlias = Literal["error", "warn", "ignore"]
Padding: TypeAlias = Literal["undetermined", "zeros"]


class RaceWarning(UserWarning):
    """Two accesses that nothing orders, or what Tile IR leaves undefined, with `races="warn"`."""


class OrderNeeded(Exception):
    """Blocks met in memory, and the kernel has acquires and releases: whether they order the
    blocks has to be found out by running it again, `synchronising`."""


class Blocks(Protocol):
    """Some blocks of the grid, by their numbers."""

    @property
    def blocks(self) -> Rows: ...


@frozen
class TileLaunch:
    """How to run a kernel. `check` is what is looked for (checks.py), `padding` what loads give
    where nothing determines it, "zeros" also where `check` has no "padding"; `source` is the text
    that diagnostics quote; `say` takes what the kernel prints; `share` is that of the grid that
    runs, `elsewhere` where all of it may run."""

    grid: tuple[int, int, int]
    numerics: Numerics = "hardware"
    arch: str = "sm_90a"
    races: Races = "error"
    check: Collection[str] = ("padding", "integers")
    padding: Padding = "undetermined"
    source: str | None = None
    max_steps: int | None = None
    say: Callable[[str], Any] = print_text
    progress: Callable[[int, int], None] | None = None
    share: Share | None = None
    elsewhere: Elsewhere | None = None
    breakpoints: Sequence[Breakpoints] = ()

    @property
    def pads_with_poison(self) -> bool:
        """Elements that nothing determines are poison, not zeros."""
        return self.padding == "undetermined" and "padding" in self.check


class TileMachine:
    """One run. `synchronising`: blocks run one at a time, and acquires and releases are followed;
    `may_synchronise` says that the kernel has some; `origins` are what marks of poison name."""

    def __init__(
        self,
        launch: TileLaunch,
        memory: Allocations,
        *,
        synchronising: bool = False,
        may_synchronise: bool = False,
        origins: Sequence[Origin] = (),
    ):
        self.launch = launch
        self.origins = origins
        self.memory = memory
        self.grid = launch.grid
        self.races: Races = launch.races
        self.globals: dict[str, TileAllocation] = {}
        self.block_count = int(np.prod(launch.grid, dtype=np.int64))
        self.said: list[str] = []
        self.synchronising = synchronising
        self._may_synchronise = may_synchronise
        self._conflicts: dict[int, BlockConflicts] = {}
        self._warned: set[Any] = set()
        self._iterations = 0
        self.ended = self.looks = 0
        if self.block_count > MAX_BLOCKS:
            raise ExecutionError(f"expected at most {MAX_BLOCKS} blocks, got {self.block_count}")

    def part(self) -> tuple[int, int]:
        """The blocks that run, the first and that behind the last."""
        share = self.launch.share
        if share is None:
            return 0, self.block_count
        if self._may_synchronise:
            refuse("acquires and releases")
        # Iterations of all blocks count together.
        unit = 1 if self.launch.max_steps is None else self.block_count
        return share.part(self.block_count, unit)

    # What ops ask for

    def conflicts_of(self, allocation: TileAllocation) -> BlockConflicts:
        """The accesses of the blocks to an allocation."""
        known = self._conflicts.get(id(allocation))
        if known is None:
            known = self._conflicts[id(allocation)] = BlockConflicts(allocation)
        return known

    def uses(self) -> list[BufferUse]:
        """The blocks' accesses to each allocation."""
        return [self._use(allocation) for allocation in self.memory.all]

    def _use(self, allocation: TileAllocation) -> BufferUse:
        touched, written = (np.zeros(len(allocation), dtype=np.bool_) for _ in range(2))
        for access in self.conflicts_of(allocation).accesses:
            mark(access.footprint, written if access.kind is Kind.WRITE else touched)
        return BufferUse.of(touched, written, allocation.octets)

    def coordinates(self, block: int) -> tuple[int, int, int]:
        """The (x, y, z) of a block by its number."""
        width, height, _ = self.grid
        return block % width, block // width % height, block // width // height

    def say(self, block: int, text: str) -> None:
        """Print for a block, once the run is over: it may have to be repeated."""
        del block
        self.said.append(text)

    def count_iteration(self, op: Operation) -> None:
        """Count an iteration of a loop towards `max_steps`."""
        self._iterations += 1
        self.progress()
        limit = self.launch.max_steps
        if limit is not None and self._iterations > limit:
            self._fail(op, f"expected at most {limit} iterations of loops (max_steps), got more")

    def progress(self) -> None:
        """Tell who asks how many blocks have ended."""
        if self.launch.progress is not None:
            self.launch.progress(self.ended, self.block_count)

    # What goes wrong

    def report(self, conflict: Conflict) -> None:
        """Report a race as the launch asks for it."""
        between_blocks = conflict.earlier_block != conflict.later_block
        if between_blocks and self._may_synchronise and not self.synchronising:
            raise OrderNeeded
        message = conflict.message(self.coordinates)
        op = conflict.later.op
        if self.races == "error":
            self._fail(op, message, self._note("the other access is", conflict.earlier.op, op))
        self._warn(op, conflict.earlier.op, message)

    def _note(self, words: str, op: Operation, named: Operation) -> Iterator[str]:
        """A note with the line of an op, where it is not the op that the error names."""
        place = None if op is named else place_of(op.location)
        text = None if place is None else line_of(*place[:2], self.launch.source)
        if text is not None:
            yield f"note: {words}\n{text.rstrip()}"

    def undefined(self, op: Operation, among: Blocks, fault: Fault) -> None:
        """Report what Tile IR leaves undefined, although it does no harm here, as races are."""
        if self.races == "error":
            self.raise_fault(fault, op, among)
        if self.races == "warn":
            self._warn(op, None, fault.message)

    def _warn(self, op: Operation, earlier: Operation | None, message: str) -> None:
        """Warn, once for a pair of ops."""
        if (op, earlier) not in self._warned:
            self._warned.add((op, earlier))
            warnings.warn(self._diagnostic(op, message), RaceWarning, stacklevel=2)

    def raise_fault(
        self, fault: Fault, op: Operation, among: Blocks, notes: Iterable[str] = ()
    ) -> NoReturn:
        """Raise what an op did wrong, with its place and the block."""
        if isinstance(fault, UndefinedUse):
            self._raise_undefined(fault, op, among, notes)
        self.reject(op, among, fault.message, fault.lane, notes)

    def _raise_undefined(
        self, fault: UndefinedUse, op: Operation, among: Blocks, notes: Iterable[str]
    ) -> NoReturn:
        """Raise a use of poison: at the use or, where an op is at fault for it, at that op."""
        origin = self.origins[fault.origin - 1]
        element = f" at index ({', '.join(map(str, fault.index))})" if fault.index else ""
        if origin.nearest is None:
            message = f"{origin.words} (it reaches {fault.use} of {spelled(op)}{element})"
            note = self._note(f"the use is {place_of_op(op)}", op, origin.op)
            self.reject(origin.op, among, message, fault.lane, [*note, *notes])
        message = (
            f"expected {fault.use} that Tile IR determines, got {origin.words}{element}; "
            f"nearest legal: {origin.nearest}"
        )
        note = self._note(f"it is from {place_of_op(origin.op)}", origin.op, op)
        self.reject(op, among, message, fault.lane, [*note, *notes])

    def reject(
        self,
        op: Operation,
        among: Blocks,
        message: str,
        row: int | None,
        notes: Iterable[str],
    ) -> NoReturn:
        """Raise what is wrong with an op in some block of a frame."""
        block = int(among.blocks[row or 0])
        place = f" (block {self.coordinates(block)})" if self.block_count > 1 else ""
        self._fail(op, f"{message}{place}", notes)

    def _fail(self, op: Operation, message: str, notes: Iterable[str] = ()) -> NoReturn:
        raise ExecutionError("\n".join([self._diagnostic(op, message), *notes])) from None

    def _diagnostic(self, op: Operation, message: str) -> str:
        return str(at(op.location, f"{spelled(op)} {message}", self.launch.source))
