"""Tensor memory that a CTA has allocated at a place of a program, and what is wrong with it.

`cute-nvgpu-check-tmem` states the rules.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Literal, TypeVar

from xdsl.dialects import arith, cf, func, gpu, scf
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.ancestors import users
from tilewright.dialects.cute_nvgpu.lattice.tmem import COLUMNS
from tilewright.dialects.cute_nvgpu.ops.tmem import (
    AllocOp,
    DeallocOp,
    RelinquishAllocPermitOp,
    RetrieveOp,
    SliceOp,
)
from tilewright.dialects.frozen import frozen
from tilewright.dialects.integers import constant_integer
from tilewright.dialects.sequences import numbered
from tilewright.passes.analysis.forward_flow import ForwardFlow
from tilewright.passes.analysis.tensor_columns import Slot, in_tensor_memory, slot_of
from tilewright.passes.analysis.thread_dependence import depends_on_thread

Rule = Literal["freed", "left", "again", "full", "grows", "permit", "wider", "part"]
Report = Callable[[Rule, Operation, Operation], None]
"""Told of a rule that an op breaks, and of the op that it breaks it with."""

Key = TypeVar("Key")


@frozen
class World:
    """One way that things may be: the conditions that have turned out so, the allocations that are
    live, those given back and by what, which of them a slot's word and a value are of, the last one
    made, and what gave up the right to make more."""

    conditions: frozenset[tuple[SSAValue, bool]] = frozenset()
    live: frozenset[AllocOp] = frozenset()
    freed: frozenset[tuple[AllocOp, DeallocOp]] = frozenset()
    slots: frozenset[tuple[Slot, AllocOp]] = frozenset()
    values: frozenset[tuple[SSAValue, AllocOp]] = frozenset()
    last: AllocOp | None = None
    permit: RelinquishAllocPermitOp | None = None


Worlds = frozenset[World]

_ASKING = (scf.IfOp, scf.ConditionOp, cf.ConditionalBranchOp)
"""The ops that ask a condition, their first operand."""


def columns_of(op: AllocOp) -> int:
    """How many columns it allocates."""
    return op.columns.value.data


class TmemLifetime(ForwardFlow[Worlds]):
    """The allocations of one function; `report` is told what is wrong, as it is found.

    Where an `scf.if` asks which thread it is, some threads take either branch: the CTA does what
    both do, in the order of the text. Any other condition is true or false for all of them.
    """

    def __init__(self, function: Operation, report: Report):
        self._report = report
        self._order = numbered(function.walk())
        self._concerned = set(_concerned(self._order))
        asking = (op for op in self._order if isinstance(op, _ASKING))
        conditions = {op.operands[0].owner for op in asking}
        self._followed = self._concerned | conditions
        self._ops: dict[Block, list[Operation]] = {}
        self._first: dict[object, SSAValue] = {}
        self._known: set[SSAValue] = set()
        """The values that some world has said something of."""

    # What ops do

    def ops_of(self, block: Block) -> Iterable[Operation]:
        if block not in self._ops:
            self._ops[block] = [op for op in block.ops if op.regions or op in self._followed]
        return self._ops[block]

    def visit(self, op: Operation, state: Worlds) -> Worlds:
        if not self._known.isdisjoint(op.results):
            state = frozenset(_forgotten(world, op.results) for world in state)
        if op not in self._concerned:
            return state
        return self.joined(frozenset(self._after(op, world) for world in self._sorted(state)))

    def _after(self, op: Operation, world: World) -> World:
        match op:
            case AllocOp():
                return self._allocate(op, world)
            case DeallocOp():
                return self._free(op, world)
            case RetrieveOp():
                return self._retrieve(op, world)
            case RelinquishAllocPermitOp():
                return replace(world, permit=world.permit or op)
            case func.ReturnOp() | gpu.ReturnOp():
                for allocation in self._in_order(world.live):
                    self._report("left", op, allocation)
                return world
            case _:
                return self._use(op, world)

    def _allocate(self, op: AllocOp, world: World) -> World:
        if world.permit is not None:
            self._report("permit", op, world.permit)
        if op in world.live:
            self._report("again", op, op)
        if world.last is not None and columns_of(op) > columns_of(world.last):
            self._report("grows", op, world.last)
        live = self._in_order(world.live)
        if sum(map(columns_of, live)) + columns_of(op) > COLUMNS:
            self._report("full", op, live[-1])
        return replace(
            world,
            live=world.live | {op},
            freed=frozenset(freed for freed in world.freed if freed[0] is not op),
            slots=_bound(world.slots, slot_of(op), op),
            values=frozenset(value for value in world.values if value[1] is not op),
            last=op,
        )

    def _free(self, op: DeallocOp, world: World) -> World:
        allocation = dict(world.values).get(op.source) or self._likely(op, world)
        if allocation is None:
            return world
        if (before := dict(world.freed).get(allocation)) is not None:
            self._report("freed", op, before)
        if op.columns != columns_of(allocation):
            self._report("part", op, allocation)
        return replace(
            world, live=world.live - {allocation}, freed=world.freed | {(allocation, op)}
        )

    def _likely(self, op: DeallocOp, world: World) -> AllocOp | None:
        """The allocation that an address of unknown origin is taken to be of."""
        fitting = (allocation for allocation in world.live if columns_of(allocation) == op.columns)
        return next(iter(self._in_order(fitting)), None)

    def _retrieve(self, op: RetrieveOp, world: World) -> World:
        known = dict(world.slots).get(slot_of(op))
        if known is None:
            return world
        if op.result.type.get_shape()[1] > columns_of(known):
            self._report("wider", op, known)
        return self._naming(world, op.result, known)

    def _use(self, op: Operation, world: World) -> World:
        values, freed = dict(world.values), dict(world.freed)
        for value in op.operands:
            known = values.get(value)
            if known is not None and known in freed:
                self._report("freed", op, freed[known])
        if isinstance(op, SliceOp) and op.source in values:
            return self._naming(world, op.result, values[op.source])
        return world

    def _naming(self, world: World, value: SSAValue, op: AllocOp) -> World:
        """The world in which a value is the address of an allocation."""
        self._known.add(value)
        return replace(world, values=_bound(world.values, value, op))

    # What control flow does

    def branched(self, op: scf.IfOp, state: Worlds) -> Worlds:
        if not depends_on_thread(op.cond):
            return super().branched(op, state)
        for region in (op.true_region, op.false_region):
            state = self.branch(op, region, state)
        return state

    def passed(
        self, state: Worlds, dests: Sequence[SSAValue], sources: Sequence[SSAValue], op: Operation
    ) -> Worlds:
        worlds: set[World] = set()
        for world in state:
            values = dict(world.values)
            after = _forgotten(world, dests)
            for dest, source in zip(dests, sources, strict=True):
                if source in values:
                    after = self._naming(after, dest, values[source])
            worlds.add(after)
        return self.joined(frozenset(worlds))

    def assumed(self, state: Worlds, condition: SSAValue, holds: bool) -> Worlds:
        if (known := constant_integer(condition)) is not None:
            return state if bool(known) == holds else frozenset()
        same = self._first.setdefault(_expression(condition), condition)
        self._known.add(same)
        return frozenset(
            replace(world, conditions=world.conditions | {(same, holds)})
            for world in state
            if (same, not holds) not in world.conditions
        )

    def join(self, state: Worlds, other: Worlds) -> Worlds:
        return self.joined(state | other)

    def covers(self, state: Worlds, other: Worlds) -> bool:
        return self.joined(state | other) == state

    def joined(self, state: Worlds) -> Worlds:
        """Worlds that differ in conditions alone become one, of the conditions that they share."""
        if len(state) < 2:
            return state
        alike: dict[World, frozenset[tuple[SSAValue, bool]]] = {}
        for world in state:
            bare = replace(world, conditions=frozenset())
            alike[bare] = alike.get(bare, world.conditions) & world.conditions
        return frozenset(
            replace(world, conditions=conditions) for world, conditions in alike.items()
        )

    # Order, for messages that are the same in every run

    def _in_order(self, ops: Iterable[AllocOp]) -> list[AllocOp]:
        return sorted(ops, key=self._order.__getitem__)

    def _sorted(self, state: Worlds) -> list[World]:
        return sorted(
            state, key=lambda world: [self._order[op] for op in self._in_order(world.live)]
        )


def _concerned(ops: Iterable[Operation]) -> Iterator[Operation]:
    """The ops that have to do with tensor memory, or end the function."""
    for op in ops:
        if _is_asked(type(op)):
            yield op
        values = (*op.results, *(x for region in op.regions for b in region.blocks for x in b.args))
        for value in values:
            if in_tensor_memory(value):
                yield from users(value)


@cache
def _is_asked(op: type[Operation]) -> bool:
    return issubclass(
        op, AllocOp | RetrieveOp | RelinquishAllocPermitOp | func.ReturnOp | gpu.ReturnOp
    )


def _bound(
    pairs: frozenset[tuple[Key, AllocOp]], key: Key, op: AllocOp
) -> frozenset[tuple[Key, AllocOp]]:
    return frozenset(pair for pair in pairs if pair[0] != key) | {(key, op)}


def _forgotten(world: World, values: Sequence[SSAValue]) -> World:
    """The world once values are given anew."""
    gone = frozenset(values)
    if gone.isdisjoint([key for key, _ in (*world.conditions, *world.values)]):
        return world
    return replace(
        world,
        conditions=frozenset(
            condition for condition in world.conditions if condition[0] not in gone
        ),
        values=frozenset(value for value in world.values if value[0] not in gone),
    )


def _expression(value: SSAValue) -> object:
    """A key that two values have in common which are computed alike."""
    owner = value.owner
    if not isinstance(owner, arith.CmpiOp | arith.AndIOp | arith.OrIOp | arith.ConstantOp):
        return value
    properties = tuple(sorted((name, property_) for name, property_ in owner.properties.items()))
    return owner.name, str(properties), tuple(map(_expression, owner.operands))
