"""Regions prepared to run: each op as a step, each block as a list of steps.

A step reads its operands from a frame and binds its results. Ops with regions are steps that
may end rows early: what leaves a region is an exit (yield, continue, break, return).
"""

from collections.abc import Callable, Container, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.op_rules import OpRules
from tilewright.lowering.interpreter.cuda_tile.fault_state import fault_state
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.pieces import InPieces, Unstored
from tilewright.lowering.interpreter.cuda_tile.values import Rows, Value, merged
from tilewright.lowering.interpreter.errors import Fault
from tilewright.source.diagnostic import OpError


@dataclass(frozen=True, slots=True)
class BlockExit:
    """Rows that left a block by its terminator, with what they take along."""

    terminator: str
    rows: Rows
    values: tuple[Value, ...]


Exits: TypeAlias = list[BlockExit]
Running: TypeAlias = Generator[None, None, Exits]
"""A block being run; it pauses where others have to go on first, and ends with its exits."""
Flow: TypeAlias = Generator[None, None, tuple[Exits, Frame | None]]
"""An op with regions being run: what left further out, and the frame of the rows that go on."""


@dataclass
class Step:
    """An op, ready to run: `compute(*operands)`, `act(frame, *operands)` or `flow(frame)`."""

    op: Operation
    operands: tuple[SSAValue, ...]
    results: tuple[SSAValue, ...]
    compute: Callable[..., Any] | None = None
    act: Callable[..., Any] | None = None
    flow: Callable[[Frame], Flow] | None = None
    dead: tuple[int, ...] = ()
    """The `id`s of values that nothing reads after this step."""
    stores: tuple[int, ...] = ()
    """The `id`s of tiles among the operands that it takes `Unstored`."""
    late: bool = False
    """True where the result is computed by the step that stores it."""

    def __post_init__(self) -> None:
        self.taken = tuple(map(id, self.operands))
        self.given = tuple(map(id, self.results))


@dataclass(slots=True)
class Prepared:
    """A block, ready to run. `terminator` is what ends it, `leaving` what it hands on."""

    arguments: tuple[SSAValue, ...]
    steps: list[Step] = field(default_factory=lambda: list[Step]())
    terminator: str = "yield"
    leaving: tuple[SSAValue, ...] = ()
    pointwise: bool = False
    """True where it computes element by element and uses nothing from outside."""


class Options(Protocol):
    """How a kernel runs: what the rules of ops may ask."""

    @property
    def numerics(self) -> Any:
        """Which arithmetic."""
        ...

    @property
    def arch(self) -> str:
        """Whose, where it is a chip's."""
        ...


Rule: TypeAlias = Callable[[Any, "Preparation"], Step]
RULES = OpRules[Rule]()
"""How each op is executed; the modules of `rules` fill it."""
runs = RULES.of
TERMINATORS = frozenset({"yield", "continue", "break", "return"})


class Preparation:
    """Prepares blocks by the rules of their ops."""

    def __init__(
        self,
        pointwise: Container[type[Operation]],
        options: Options,
        watchers: Sequence[Callable[[Prepared], None]] = (),
    ):
        self.pointwise = pointwise
        self.options = options
        self._watchers = watchers

    def block(self, block: Block) -> Prepared:
        """A block and all that is within. Raises OpError for an op that has no rule."""
        prepared = Prepared(tuple(block.args))
        for op in block.ops:
            short = op.name.removeprefix("cuda_tile.")
            if short in TERMINATORS:
                prepared.terminator, prepared.leaving = short, tuple(op.operands)
                break
            rule = RULES.get(type(op))
            if rule is None:
                raise OpError(op, f"'{op.name}' expected an op that can be executed")
            prepared.steps.append(rule(op, self))
        _free_early(prepared)
        _compute_late(prepared)
        known = set(prepared.arguments)
        prepared.pointwise = all(type(step.op) in self.pointwise for step in prepared.steps)
        for step in prepared.steps:
            prepared.pointwise &= known.issuperset(step.operands)
            known.update(step.results)
        prepared.pointwise &= known.issuperset(prepared.leaving)
        for watch in self._watchers:
            watch(prepared)
        return prepared


def _free_early(prepared: Prepared) -> None:
    """Let every step drop the values of this block that nothing after it reads."""
    own = set(prepared.arguments).union(*(step.results for step in prepared.steps))
    live = set(prepared.leaving)
    for step in reversed(prepared.steps):
        used = own.intersection(step.op.operands)
        for region in step.op.regions:
            used |= own.intersection(value for op in region.walk() for value in op.operands)
        step.dead = tuple(map(id, (used | set(step.results)) - live))
        live |= used


def _compute_late(prepared: Prepared) -> None:
    """Let what is used once, by a later store of the same rows, be computed there."""
    stored: set[int] = set()
    for step in reversed(prepared.steps):
        if step.flow is not None:
            stored.clear()
        elif isinstance(step.compute, np.ufunc | InPieces):
            step.late = stored.issuperset(step.given) and step.results[0].has_one_use()
        stored.update(step.stores)


def run(block: Prepared, frame: Frame) -> Running:
    """Run a block in a frame of its own, whose arguments are bound."""
    exits: Exits = []
    for step in block.steps:
        try:
            if step.flow is not None:
                left, rest = yield from step.flow(frame)
                exits += left
                if rest is None:
                    return exits
                frame = rest
            else:
                _execute(step, frame)
        except Fault as fault:
            notes = fault_state(fault, step.op, frame)
            frame.gang.machine.raise_fault(fault, step.op, frame, notes)
        for key in step.dead:
            frame.values.pop(key, None)
    values = tuple(frame[value] for value in block.leaving)
    exits.append(BlockExit(block.terminator, frame.rows, values))
    return exits


def _execute(step: Step, frame: Frame) -> None:
    operands: list[Any] = [frame.value_of(key) for key in step.taken]
    results: Any
    if step.late:
        assert isinstance(step.compute, np.ufunc | InPieces)
        results = Unstored(step.compute, operands)
    elif step.compute is not None:
        results = step.compute(*operands)
    else:
        assert step.act is not None
        results = step.act(frame, *operands)
    if len(step.given) == 1:
        frame.values[step.given[0]] = results
    else:
        for key, result in zip(step.given, results or (), strict=True):
            frame.values[key] = result


def gathered(exits: Sequence[BlockExit]) -> tuple[Rows, tuple[Value, ...]]:
    """All rows of some exits, ascending, and their values merged."""
    if len(exits) == 1:
        return exits[0].rows, exits[0].values
    rows = np.sort(np.concatenate([leaving.rows for leaving in exits]))
    count = len(exits[0].values)
    values = tuple(
        merged([(leaving.rows, leaving.values[i]) for leaving in exits], rows) for i in range(count)
    )
    return rows, values


def computing(op: Operation, compute: Callable[..., Any]) -> Step:
    """A step that is a function of the operands."""
    return Step(op, tuple(op.operands), tuple(op.results), compute=compute)


def acting(op: Operation, act: Callable[..., Any]) -> Step:
    """A step that needs the frame."""
    return Step(op, tuple(op.operands), tuple(op.results), act=act)
