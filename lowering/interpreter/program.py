"""Programs, as a machine runs them: blocks of steps on arrays, and how each block goes on.

They know neither the IR that they come from nor the machine, so one machine runs every level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from xdsl.ir import Operation

from tilewright.dialects.frozen import entity, factory, frozen
from tilewright.dialects.sequences import reachable
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array
from tilewright.source.diagnostic import at

Step = Callable[[Any, Any], None]
"""The effect of an op on a machine and the threads of a gang that execute it."""


@frozen
class Jump:
    """Go to a block, after moving `sources` to `dests` all at once."""

    target: CodeBlock
    sources: tuple[int, ...] = ()
    dests: tuple[int, ...] = ()


@frozen
class Fork:
    """Go one way where the register `condition` is true, the other where it is not."""

    condition: int
    then: Jump
    other: Jump


class Awaited(Protocol):
    """An event that each of some threads waits for, at the op that makes them."""

    @property
    def op(self) -> Operation: ...

    def take(self, lanes: Int64Array) -> Awaited:
        """The events of some of the threads."""
        ...

    def ready(self) -> BoolArray:
        """The threads that may go on: [threads]."""
        ...

    def resume(self, lanes: Int64Array) -> None:
        """The threads, which are all ready, go on."""
        ...

    def deadlock(self, lanes: Int64Array) -> str:
        """The diagnosis where nothing will bring about what the threads wait for."""
        ...


@frozen
class Suspend:
    """Wait for something: `begin` says for what."""

    begin: Callable[[Any, Any], Awaited]
    following: Jump


@frozen
class Exit:
    """The threads are done."""


Ending = Jump | Fork | Suspend | Exit


@entity
class CodeBlock:
    """Steps, with the op of each and the registers that it writes, and what comes after."""

    number: int = -1
    steps: list[tuple[Operation, Step, tuple[int, ...]]] = factory(list)
    ending: Ending = factory(Exit)
    ending_op: Operation | None = None
    reads: set[int] = factory(set)
    writes: set[int] = factory(set)

    def jumps(self) -> list[Jump]:
        """The ways on from here."""
        match self.ending:
            case Jump():
                return [self.ending]
            case Fork():
                return [self.ending.then, self.ending.other]
            case Suspend():
                return [self.ending.following]
            case _:
                return []


def ordered(blocks: Sequence[CodeBlock]) -> list[CodeBlock]:
    """Blocks and their numbers such that threads meet where their ways do: what leads back alone,
    as a branch whose text stands behind the kernel's end, comes right behind what leads to it;
    where threads spin, and wait for those in front of them, stays."""
    order, back = list(blocks), set[CodeBlock]()
    before: dict[CodeBlock, list[CodeBlock]] = {block: [] for block in blocks}
    onward = {block: [jump.target for jump in block.jumps()] for block in blocks}
    for block in reversed(blocks):
        targets = onward[block]
        if targets and all(one.number <= block.number or one in back for one in targets):
            back.add(block)
        for target in targets:
            before[target].append(block)

    def spins(block: CodeBlock) -> bool:
        return block in reachable(onward[block], lambda one: onward[one] if one in back else ())

    for block in [block for block in blocks if block in back and not spins(block)]:
        numbers = [one.number for one in before[block] if one.number < block.number]
        if numbers and max(numbers) + 1 < block.number:
            order.insert(max(numbers) + 1, order.pop(block.number))
            for number, moved in enumerate(order):
                moved.number = number
    return order


@dataclass(eq=False)
class Program:
    """A kernel ready to run."""

    blocks: list[CodeBlock]
    registers: int
    arguments: list[int]
    ops: list[Operation]
    shared_bytes: int
    passes_reads: bool
    """Some arrivals at mbarriers of other CTAs are behind what was read alone."""
    by_warpgroups: bool
    """Some MMAs need all threads of a warpgroup at once."""

    @cached_property
    def live(self) -> dict[CodeBlock, set[int]]:
        """The registers that each block, or a block after it, reads before writing."""
        live: dict[CodeBlock, set[int]] = {block: set() for block in self.blocks}
        changed = True
        while changed:
            changed = False
            for block in reversed(self.blocks):
                after: set[int] = set()
                for jump in block.jumps():
                    after |= (live[jump.target] - set(jump.dests)) | set(jump.sources)
                now = block.reads | (after - block.writes)
                if isinstance(block.ending, Fork):
                    now |= {block.ending.condition} - block.writes
                if now != live[block]:
                    live[block] = now
                    changed = True
        return live

    def live_before(self, jump: Jump) -> set[int]:
        """The registers that a block that ends in a jump hands on."""
        return self.live[jump.target].difference(jump.dests).union(jump.sources)


def named(op: Operation) -> str:
    """An op and its place in the source, as diagnostics name what another op did."""
    diagnostic = at(op.location, "")
    if diagnostic.line is None:
        return f"'{op.name}'"
    return f"'{op.name}' at {diagnostic.file}:{diagnostic.line}"


class OpNames(dict[int, str]):
    """The names of ops by number, from 1, each made when something asks for it."""

    ops: Sequence[Operation] = ()

    def __missing__(self, number: int) -> str:
        self[number] = name = named(self.ops[number - 1]) if 0 < number <= len(self.ops) else "?"
        return name
