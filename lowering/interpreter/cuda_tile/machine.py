"""The machine that runs a Tile IR kernel: its memory, its grid, its gangs, what goes wrong."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
from xdsl.ir import Operation

from tilewright.diagnostic import at
from tilewright.lowering.interpreter.cuda_tile.accesses import Conflict
from tilewright.lowering.interpreter.cuda_tile.allocations import Allocation, Allocations
from tilewright.lowering.interpreter.cuda_tile.block_conflicts import MAX_BLOCKS, BlockConflicts
from tilewright.lowering.interpreter.cuda_tile.blocks import Prepared, Running, run
from tilewright.lowering.interpreter.cuda_tile.float_functions import Numerics
from tilewright.lowering.interpreter.cuda_tile.frame import Frame, Gang
from tilewright.lowering.interpreter.cuda_tile.token_order import TokenOrder
from tilewright.lowering.interpreter.cuda_tile.values import Value
from tilewright.lowering.interpreter.errors import ExecutionError, Fault

Races: TypeAlias = Literal["error", "warn", "ignore"]
_ROUNDS = 10_000
"""Rounds of all blocks without one that ends, after which they are said to wait for ever."""


class RaceWarning(UserWarning):
    """Two accesses that nothing orders, or what Tile IR leaves undefined, with `races="warn"`."""


class OrderNeeded(Exception):
    """Blocks met in memory, and the kernel has acquires and releases: whether they order the
    blocks has to be found out by running it again, `synchronising`."""


def _write(text: str) -> None:
    """What a kernel prints, as it is, to where `print` goes."""
    print(text, end="")


@dataclass(frozen=True, slots=True)
class Launch:
    """How to run a kernel. `source` is the text that diagnostics quote; `say` takes what the
    kernel prints."""

    grid: tuple[int, int, int]
    numerics: Numerics = "hardware"
    arch: str = "sm_90a"
    races: Races = "error"
    source: str | None = None
    max_steps: int | None = None
    say: Callable[[str], Any] = _write
    progress: Callable[[int, int], None] | None = None


class Machine:
    """One run. `synchronising`: blocks run one at a time, and acquires and releases are followed;
    `may_synchronise` says that the kernel has some."""

    def __init__(
        self,
        launch: Launch,
        memory: Allocations,
        *,
        synchronising: bool = False,
        may_synchronise: bool = False,
    ):
        self.launch = launch
        self.memory = memory
        self.grid = launch.grid
        self.races: Races = launch.races
        self.globals: dict[str, Allocation] = {}
        self.block_count = int(np.prod(launch.grid, dtype=np.int64))
        self.said: list[str] = []
        self._synchronising = synchronising
        self._may_synchronise = may_synchronise
        self._conflicts: dict[int, BlockConflicts] = {}
        self._warned: set[Any] = set()
        self._iterations = 0
        if self.block_count > MAX_BLOCKS:
            raise ExecutionError(f"expected at most {MAX_BLOCKS} blocks, got {self.block_count}")

    def run(self, entry: Prepared, arguments: Sequence[Value], gang_size: int) -> None:
        """Run a kernel's block for the whole grid, `gang_size` blocks at a time."""
        order = TokenOrder(synchronising=True) if self._synchronising else None
        size = 1 if self._synchronising else gang_size
        waiting: deque[tuple[int, Running]] = deque()
        begun = done = rounds = 0
        with np.errstate(all="ignore"):
            while begun < self.block_count or waiting:
                if begun < self.block_count and rounds == 0:
                    blocks = np.arange(begun, min(begun + size, self.block_count))
                    begun += len(blocks)
                    gang = Gang(self, blocks, order or TokenOrder())
                    waiting.appendleft((len(blocks), self._begin(entry, gang, arguments)))
                ended = self._round(waiting)
                done += ended
                rounds = 0 if ended or begun < self.block_count else rounds + 1
                if ended and self.launch.progress is not None:
                    self.launch.progress(done, self.block_count)
                if rounds > _ROUNDS:
                    raise ExecutionError(
                        f"expected blocks that make progress, got {len(waiting)} that wait for ever"
                    )
        for text in self.said:
            self.launch.say(text)

    def _begin(self, entry: Prepared, gang: Gang, arguments: Sequence[Value]) -> Running:
        frame = Frame(gang, np.arange(len(gang.blocks)))
        for argument, value in zip(entry.arguments, arguments, strict=True):
            frame[argument] = value
        return run(entry, frame)

    def _round(self, waiting: deque[tuple[int, Running]]) -> int:
        """Let every gang that has begun go on until it waits. Returns how many blocks ended."""
        ended = 0
        for _ in range(len(waiting)):
            count, running = waiting.popleft()
            try:
                next(running)
            except StopIteration:
                ended += count
            else:
                waiting.append((count, running))
        return ended

    # What ops ask for

    def conflicts_of(self, allocation: Allocation) -> BlockConflicts:
        """What the blocks have done to an allocation."""
        known = self._conflicts.get(id(allocation))
        if known is None:
            known = self._conflicts[id(allocation)] = BlockConflicts(allocation)
        return known

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
        limit = self.launch.max_steps
        if limit is not None and self._iterations > limit:
            self._fail(op, f"expected at most {limit} iterations of loops (max_steps), got more")

    # What goes wrong

    def report(self, conflict: Conflict) -> None:
        """Report a race as the launch asks for it."""
        between_blocks = conflict.earlier_block != conflict.later_block
        if between_blocks and self._may_synchronise and not self._synchronising:
            raise OrderNeeded
        message = conflict.message(self.coordinates)
        op = conflict.later.op
        if self.races == "error":
            self._fail(op, message)
        self._warn(op, conflict.earlier.op if conflict.earlier else None, message)

    def undefined(self, op: Operation, frame: Frame, fault: Fault) -> None:
        """Report what Tile IR leaves undefined, although it does no harm here, as races are."""
        if self.races == "error":
            self.raise_fault(fault, op, frame)
        if self.races == "warn":
            self._warn(op, None, fault.message)

    def _warn(self, op: Operation, earlier: Operation | None, message: str) -> None:
        """Warn, once for a pair of ops."""
        if (op, earlier) not in self._warned:
            self._warned.add((op, earlier))
            warnings.warn(self._diagnostic(op, message), RaceWarning, stacklevel=2)

    def raise_fault(self, fault: Fault, op: Operation, frame: Frame) -> NoReturn:
        """Raise what an op did wrong, with its place and the block."""
        self.reject(op, frame, fault.message, fault.lane)

    def reject(self, op: Operation, frame: Frame, message: str, row: int | None = None) -> NoReturn:
        """Raise what is wrong with an op in some block of a frame."""
        block = int(frame.blocks[row or 0])
        place = f" (block {self.coordinates(block)})" if self.block_count > 1 else ""
        self._fail(op, f"{message}{place}")

    def _fail(self, op: Operation, message: str) -> NoReturn:
        raise ExecutionError(self._diagnostic(op, message)) from None

    def _diagnostic(self, op: Operation, message: str) -> str:
        return str(at(op.location, f"'{op.name}' {message}", self.launch.source))
