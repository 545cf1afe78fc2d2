"""From IR to programs: each op's rule adds a step to a block, or blocks.

Structured ops (`scf.for`) and branches (`cf`, `ptx`) both become jumps between blocks. Blocks are
numbered in the order of the text: the blocks of a loop come before what follows the loop, and both
sides of an `if` before what follows it, wherever the text of a branch stands.
"""

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Concatenate, overload

from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.ancestors import body_ops
from tilewright.dialects.frozen import frozen
from tilewright.dialects.op_rules import OpRules
from tilewright.dialects.row_ops import ops_of
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.program import (
    Awaited,
    CodeBlock,
    Ending,
    Jump,
    Program,
    Suspend,
    ordered,
)
from tilewright.source.diagnostic import OpError

Step = Callable[[Machine, Gang], None]
"""The effect of an op on the registers and memory of the threads that execute it."""

Rule = Callable[[Any, "Builder"], Step | None]

RULES = OpRules[Rule]()
"""The rule of each op type: it returns the op's step, or None where it added blocks itself."""


@overload
def runs(rule: Rule, /) -> Rule: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def runs(*keys: Any) -> Callable[[Rule], Rule]: ...
def runs(*keys: Any) -> Any:
    """Register a function as the rule of some types of op, and of the ops of some rows; by itself,
    of what its first parameter says."""
    return RULES.of(*ops_of(*keys))


@frozen
class Pure:
    """The step of an op whose results are a function of registers: one, or a sequence of them."""

    compute: Callable[..., Any]
    sources: tuple[int, ...]
    dests: tuple[int, ...]

    def __call__(self, machine: Machine, gang: Gang) -> None:
        regs = gang.regs
        given = self.compute(*[regs[slot] for slot in self.sources])
        if len(self.dests) == 1:
            regs[self.dests[0]] = given
            return
        for dest, value in zip(self.dests, given, strict=True):
            regs[dest] = value


def nothing(machine: Machine, gang: Gang) -> None:
    """The step of an op that a simulated machine does not need."""


Run = Callable[Concatenate[Machine, Gang, ...], Any]
"""An effect on the operands of an op, which gives the op's result, or a list of its results."""

Take = Callable[[list[Any]], Any]
"""The value that an effect is given, from the registers."""

Source = SSAValue | Sequence[SSAValue] | Callable[[Any, "Builder"], Take] | None
"""A value, the list of those of a group, what is taken for an op, and None for what it lacks."""

Effect = Run | tuple[Run, *tuple[Source, ...]]
"""A function that runs on the operands of an op: on all in their order, or on those behind it."""


def effect(op: Operation, builder: "Builder", said: Effect) -> Step:
    """The step that runs on the values of an op's operands."""
    if said is nothing:
        return nothing
    run, *operands = (said, *op.operands) if callable(said) else said
    takes = [_taken(op, builder, operand) for operand in operands]
    dests = builder.slots(op.results)

    def step(machine: Machine, gang: Gang) -> None:
        regs = gang.regs
        given = run(machine, gang, *[take(regs) for take in takes])
        for dest, value in zip(dests, given if isinstance(given, list) else (given,), strict=False):  # pyright: ignore
            regs[dest] = value

    return step


def _taken(op: Operation, builder: "Builder", operand: Source) -> Take:
    if operand is None:
        return lambda regs: None
    if callable(operand):
        return operand(op, builder)
    if isinstance(operand, SSAValue):
        return itemgetter(builder.slot(operand))
    slots = builder.slots(operand)
    return lambda regs: [regs[slot] for slot in slots]


def makes(rule: Callable[[Any, Any, "Builder"], Step]) -> Callable[..., Any]:
    """`runs` for functions of which a rule makes the step of an op."""

    def register(*keys: Any) -> Any:
        return RULES.of(*ops_of(*keys), made=lambda said: partial(rule, said))

    return register


effects = makes(lambda said, op, builder: effect(op, builder, said(op)))
"""Register a function that says the effect of an op."""

accesses = makes(lambda said, op, builder: effect(op, builder, said(op, builder.number(op))))
"""Register one that is also given the number by which memory remembers the op."""

executes = makes(lambda said, op, builder: effect(op, builder, said))
"""Register an effect that is that of all such ops, whatever their fields."""

notes = makes(
    lambda said, op, builder: effect(op, builder, partial(said, number=builder.number(op)))
)
"""Register one that is also given the number by which memory remembers the op."""


@frozen
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
        self.passes_reads = self.by_warpgroups = False
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
        arguments = [self.slot(argument) for argument in body.blocks[0].args]
        return Program(
            ordered(self.blocks),
            self._registers,
            arguments,
            self.ops,
            self.shared_bytes,
            self.passes_reads,
            self.by_warpgroups,
        )

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

    @property
    def registers(self) -> dict[SSAValue, int]:
        """The register of each value that has one."""
        return self._slots

    def slots(self, values: Sequence[SSAValue]) -> tuple[int, ...]:
        """The registers of some values."""
        return tuple(self.slot(value) for value in values)

    def sharing(self, values: Sequence[SSAValue]) -> frozenset[int]:
        """The registers that values are made of."""
        return frozenset(self.slots(values))

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

    def suspend(self, op: Operation, begin: Callable[[Machine, Gang], Awaited]) -> None:
        """End the current block until what `begin` says has come about, and go on behind it."""
        following = CodeBlock()
        self.current.reads |= set(self.slots(op.operands)) - self.current.writes
        self.end(Suspend(begin, Jump(following)), op)
        self.start(following)

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
        if any(call.callee is callee for call in self._calls):
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
        step = RULES.rule(op, "cannot be interpreted")(op, self)
        if step is not None:
            self.add(op, step, self.slots(op.operands), self.slots(op.results))

    def add(
        self,
        op: Operation,
        step: Step,
        reads: tuple[int, ...],
        writes: tuple[int, ...],
        *,
        fenced: bool = False,
    ) -> None:
        """Add a step, with the registers that it reads and writes, the latter for wgmmas behind
        the next `wgmma.fence` unless they are `fenced` anyway."""
        block = self.current
        block.steps.append((op, step, () if fenced else writes))
        block.reads |= set(reads) - block.writes
        block.writes |= set(writes)

    def run_block(self, block: Block) -> None:
        """Add the ops of a block but its terminator."""
        for op in body_ops(block):
            self.run(op)
