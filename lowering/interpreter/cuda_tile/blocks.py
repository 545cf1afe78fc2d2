"""Regions prepared to run: each op as a step, each block as a list of steps.

A step reads its operands from a frame and binds its results. Ops with regions are steps that
may end rows early: what leaves a region is an exit (yield, continue, break, return).
"""

from collections.abc import Callable, Container, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.frozen import entity, factory, frozen
from tilewright.dialects.op_rules import OpRules
from tilewright.lowering.interpreter.cuda_tile.elements import Tile
from tilewright.lowering.interpreter.cuda_tile.fault_state import fault_state
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.pieces import InPieces, Unstored
from tilewright.lowering.interpreter.cuda_tile.poison import (
    AnyTile,
    Origin,
    Poisoned,
    determined,
    marked,
    marks_of,
    thin,
    tile_of,
    with_marks,
)
from tilewright.lowering.interpreter.cuda_tile.values import Rows, Value, merged
from tilewright.lowering.interpreter.errors import Fault


@frozen
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


@frozen
class Cause:
    """Why elements of an op's result may be undefined: `of` its operands says which are."""

    words: str
    of: Callable[..., Tile]
    origin: int = 0


Carry: TypeAlias = Callable[..., AnyTile]
"""The result of an op with the marks that it has by those of operands: `carry(tile, *operands)`."""


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
    carry: Carry | None = None
    """How `compute` hands poison on; None: its operands have to be determined."""
    causes: tuple[Cause, ...] = ()
    """Why `compute` itself leaves elements undefined."""
    takes_poison: bool = False
    """True where `act` itself looks at the marks of its operands."""

    def __post_init__(self) -> None:
        self.taken = tuple(map(id, self.operands))
        self.given = tuple(map(id, self.results))


@dataclass(slots=True)
class Prepared:
    """A block, ready to run. `terminator` is what ends it, `leaving` what it hands on."""

    arguments: tuple[SSAValue, ...]
    steps: list[Step] = factory(list)
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

    @property
    def races(self) -> str:
        """The treatment of races and of what is undefined, which "ignore" leaves a number."""
        ...

    @property
    def check(self) -> Container[str]:
        """The words for what is looked for."""
        ...

    @property
    def pads_with_poison(self) -> bool:
        """Elements that nothing determines are poison, not zeros."""
        ...


Rule: TypeAlias = Callable[[Any, "Preparation"], Step]
RULES = OpRules[Rule]()
"""How each op is executed; the modules of `rules` fill this table and those below."""
runs = RULES.of
Compute: TypeAlias = Callable[..., Any]
"""A function of the operands, behind the frame where a step needs that."""
CARRIES = OpRules[Callable[[Step], Carry]]()
"""How each op that is a function of its operands hands poison on."""
carries = CARRIES.of
CAUSES = OpRules[Callable[[Any], Iterator[Cause]]]()
"""The reasons for which each op leaves elements undefined."""
leaves_undefined = CAUSES.of
TERMINATORS = frozenset({"yield", "continue", "break", "return"})


@entity
class Preparation:
    """Prepares blocks by the rules of their ops."""

    pointwise: Container[type[Operation]]
    options: Options
    _watchers: Sequence[Callable[[Prepared], None]]
    origins: list[Origin] = factory(list)

    def origin(self, op: Operation, words: str, nearest: str | None = None) -> int:
        """The number of what an op leaves undefined."""
        self.origins.append(Origin(op, words, nearest))
        return len(self.origins)

    def left_open(self, op: Operation, what: tuple[str, str]) -> int | None:
        """The number of what a load leaves undefined; None where that is zeros."""
        return self.origin(op, *what) if self.options.pads_with_poison else None

    def _step(self, op: Operation) -> Step:
        """An op, prepared, and what it does to poison. Raises OpError without a rule."""
        step = RULES.rule(op, "expected an op that can be executed")(op, self)
        if (carry := CARRIES.get(type(op))) is not None:
            step.carry = carry(step)
        open_ = "integers" in self.options.check and self.options.races != "ignore"
        causes = CAUSES.get(type(op)) if open_ else None
        if causes is not None:
            step.causes = tuple(
                replace(cause, origin=self.origin(op, cause.words)) for cause in causes(op)
            )
        return step

    def block(self, block: Block) -> Prepared:
        """A block and all that is within. Raises OpError for an op that has no rule."""
        prepared = Prepared(tuple(block.args))
        for op in block.ops:
            short = op.name.removeprefix("cuda_tile.")
            if short in TERMINATORS:
                prepared.terminator, prepared.leaving = short, tuple(op.operands)
                break
            prepared.steps.append(self._step(op))
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
        elif isinstance(step.compute, np.ufunc | InPieces) and not step.causes:
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
        except KeyboardInterrupt:
            frame.gang.stands.append((step.op, frame))
            raise
        for key in step.dead:
            frame.values.pop(key, None)
    values = tuple(frame[value] for value in block.leaving)
    exits.append(BlockExit(block.terminator, frame.rows, values))
    return exits


def _execute(step: Step, frame: Frame) -> None:
    operands: list[Any] = [frame.value_of(key) for key in step.taken]
    poisoned = Poisoned in map(type, operands)
    if poisoned and step.carry is None and not step.takes_poison:
        operands = [determined(operand, "operands") for operand in operands]
    results: Any
    if step.act is not None:
        results = step.act(frame, *operands)
    elif poisoned or step.causes:
        results = _with_poison(step, operands)
    else:
        assert step.compute is not None
        if step.late:
            assert isinstance(step.compute, np.ufunc | InPieces)
            results = Unstored(step.compute, operands)
        else:
            results = step.compute(*operands)
    if len(step.given) == 1:
        frame.values[step.given[0]] = results
    else:
        for key, result in zip(step.given, results or (), strict=True):
            frame.values[key] = result


def _with_poison(step: Step, operands: Sequence[AnyTile]) -> AnyTile:
    """The result of a function of operands, with what they and the op leave undefined of it."""
    assert step.compute is not None
    tiles = [tile_of(operand) for operand in operands]
    result: AnyTile = step.compute(*tiles)
    if step.carry is not None and Poisoned in map(type, operands):
        result = step.carry(result, *operands)
    for cause in step.causes:
        undefined = cause.of(*map(thin, tiles))
        if undefined.any():
            before, own = marks_of(result), marked(undefined, cause.origin)
            result = with_marks(tile_of(result), np.where(before, before, own))
    return result


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


def computing(op: Operation, compute: Compute) -> Step:
    """A step that is a function of the operands."""
    return Step(op, tuple(op.operands), tuple(op.results), compute=compute)


def taking_poison(step: Step) -> Step:
    """A step that looks at the marks of its operands itself."""
    step.takes_poison = True
    return step


def acting(op: Operation, act: Compute) -> Step:
    """A step that needs the frame."""
    return Step(op, tuple(op.operands), tuple(op.results), act=act)


def _makes(step: Callable[[Any, Compute], Step]) -> Callable[..., Any]:
    """`runs` for functions that say what a step does."""

    def made(says: Callable[[Any], Compute]) -> Rule:
        return lambda op, _: step(op, says(op))

    return partial(RULES.of, made=made)


computes, acts = _makes(computing), _makes(acting)
"""Register a function that says how an op computes its results, or what it does in a frame."""
