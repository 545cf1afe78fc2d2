"""IR as a program: a list of blocks, each a list of steps on arrays and a way to go on.

Structured ops (`scf.for`) and branches (`cf`, `ptx`) both become jumps between blocks, so that one
machine runs every level of IR. Blocks are numbered in the order of the text: the blocks of a loop
come before what follows the loop, and both sides of an `if` before what follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tilewright.diagnostic import OpError, at

if TYPE_CHECKING:
    from tilewright.lowering.interpreter.machine.machine import Gang, Machine

Step = Callable[["Machine", "Gang"], None]
"""What an op does to the registers and memory of the threads that execute it."""

Rule = Callable[[Any, "Builder"], "Step | None"]

RULES: dict[type[Operation], Rule] = {}
"""How each op type runs; the module of each dialect fills it."""


def runs(*op_types: type[Operation]) -> Callable[[Rule], Rule]:
    """Register a function as the rule of these op types: it returns the op's step, or None where
    it added blocks itself."""

    def register(rule: Rule) -> Rule:
        for op_type in op_types:
            RULES[op_type] = rule
        return rule

    return register


@dataclass(frozen=True, slots=True)
class Jump:
    """Go to a block, after moving `sources` to `dests` all at once."""

    target: CodeBlock
    sources: tuple[int, ...] = ()
    dests: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Fork:
    """Go one way where the register `condition` is true, the other where it is not."""

    condition: int
    then: Jump
    other: Jump


@dataclass(frozen=True, slots=True)
class Wait:
    """Arrive at a barrier of the CTA, and go on when all have; `threads` None means all."""

    barrier: int
    threads: int | None
    following: Jump


class Awaited(Protocol):
    """What each of some threads waits for, at the op that makes them."""

    @property
    def op(self) -> Operation: ...

    def take(self, lanes: NDArray[np.int64]) -> Awaited:
        """What some of the threads wait for."""
        ...

    def ready(self) -> NDArray[np.bool_]:
        """Whether each thread may go on: [threads]."""
        ...

    def resume(self, lanes: NDArray[np.int64]) -> None:
        """The threads, all of which are ready, go on."""
        ...

    def deadlock(self, lanes: NDArray[np.int64]) -> str:
        """What the threads wait for, where nothing will bring it about."""
        ...


@dataclass(frozen=True, slots=True)
class Suspend:
    """Wait for something: `begin` says for what."""

    begin: Callable[[Machine, Gang], Awaited]
    following: Jump


@dataclass(frozen=True, slots=True)
class Exit:
    """The threads are done."""


Ending = Jump | Fork | Wait | Suspend | Exit


@dataclass(eq=False)
class CodeBlock:
    """Steps with the op of each, and what comes after."""

    number: int = -1
    steps: list[tuple[Operation, Step]] = field(default_factory=list[tuple[Operation, Step]])
    ending: Ending = field(default_factory=Exit)
    ending_op: Operation | None = None
    reads: set[int] = field(default_factory=set[int])
    writes: set[int] = field(default_factory=set[int])

    def jumps(self) -> list[Jump]:
        """Where control may go from here."""
        match self.ending:
            case Jump():
                return [self.ending]
            case Fork():
                return [self.ending.then, self.ending.other]
            case Wait() | Suspend():
                return [self.ending.following]
            case _:
                return []


@dataclass(eq=False)
class Program:
    """A kernel ready to run."""

    blocks: list[CodeBlock]
    registers: int
    arguments: list[int]
    ops: list[Operation]
    shared_bytes: int

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


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose callee is being added: where it returns to, and which values."""

    callee: Region
    following: CodeBlock
    results: Sequence[SSAValue]


class Builder:
    """Turns the body of one kernel into a program."""

    def __init__(self) -> None:
        self.blocks: list[CodeBlock] = []
        self.current = CodeBlock()
        self.shared_bytes = 0
        self.ops: list[Operation] = []
        self._calls: list[Call] = []
        self._slots: dict[SSAValue, int] = {}
        self._labels: dict[Block, CodeBlock] = {}
        self._registers = 0
        self._place(self.current)

    def build(self, body: Region, shared_bytes: int = 0) -> Program:
        """The program of a kernel body. Raises OpError for an op that has no semantics."""
        self.shared_bytes = shared_bytes
        self._add_body(body)
        arguments = [self.slot(each) for each in body.blocks[0].args]
        return Program(self.blocks, self._registers, arguments, self.ops, self.shared_bytes)

    def _add_body(self, body: Region) -> None:
        """Add the ops of a function, from the current block on."""
        blocks = list(body.blocks)
        self._labels[blocks[0]] = self.current
        for block in blocks[1:]:
            self._labels[block] = CodeBlock()
        for block in blocks:
            if block is not blocks[0]:
                self.start(self._labels[block])
            for op in block.ops:
                self.run(op)

    # Registers

    def slot(self, value: SSAValue) -> int:
        """The register of a value."""
        if value not in self._slots:
            self._slots[value] = self._registers
            self._registers += 1
        return self._slots[value]

    def slots(self, values: Sequence[SSAValue]) -> tuple[int, ...]:
        """The registers of some values."""
        return tuple(self.slot(each) for each in values)

    def fresh(self) -> int:
        """A register of no value."""
        self._registers += 1
        return self._registers - 1

    # Blocks

    def _place(self, block: CodeBlock) -> None:
        block.number = len(self.blocks)
        self.blocks.append(block)

    def label(self, block: Block) -> CodeBlock:
        """The block that a block of a multi-block body became."""
        return self._labels[block]

    def start(self, block: CodeBlock) -> None:
        """Go on in a new block, placed here in the order."""
        self._place(block)
        self.current = block

    def end(self, ending: Ending, op: Operation) -> None:
        """Say how the current block goes on."""
        self.current.ending = ending
        self.current.ending_op = op

    def jump(
        self, target: CodeBlock, sources: Sequence[SSAValue] = (), dests: Sequence[SSAValue] = ()
    ) -> Jump:
        """A jump that moves values."""
        return Jump(target, self.slots(sources), self.slots(dests))

    # Calls

    @property
    def call(self) -> Call | None:
        """The call whose callee is being added; None in the kernel itself."""
        return self._calls[-1] if self._calls else None

    def add_call(self, op: Operation, callee: Region) -> None:
        """Add the body of a callee in place of a call. Raises OpError where it is recursive."""
        if any(each.callee is callee for each in self._calls):
            raise OpError(op, f"'{op.name}' expected a callee that does not call itself")
        entry, following = CodeBlock(), CodeBlock()
        self.end(self.jump(entry, op.operands, callee.blocks[0].args), op)
        self._calls.append(Call(callee, following, op.results))
        self.start(entry)
        self._add_body(callee)
        self._calls.pop()
        self.start(following)

    # Ops

    def number(self, op: Operation) -> int:
        """A number for an op, from 1, by which memory remembers who accessed it."""
        self.ops.append(op)
        return len(self.ops)

    def run(self, op: Operation) -> None:
        """Add an op. Raises OpError where it has no semantics."""
        rule = RULES.get(type(op))
        if rule is None:
            raise OpError(op, f"'{op.name}' cannot be interpreted")
        step = rule(op, self)
        if step is not None:
            self.add(op, step, self.slots(op.operands), self.slots(op.results))

    def add(
        self, op: Operation, step: Step, reads: tuple[int, ...], writes: tuple[int, ...]
    ) -> None:
        """Add a step, with the registers that it reads and writes."""
        block = self.current
        block.steps.append((op, step))
        block.reads |= set(reads) - block.writes
        block.writes |= set(writes)

    def run_block(self, block: Block) -> None:
        """Add the ops of a block but its terminator."""
        for op in block.ops:
            if not op.has_trait(IsTerminator):
                self.run(op)


def named(op: Operation) -> str:
    """An op and its place in the source, as diagnostics name what another op did."""
    diagnostic = at(op.location, "")
    if diagnostic.line is None:
        return f"'{op.name}'"
    return f"'{op.name}' at {diagnostic.file}:{diagnostic.line}"
