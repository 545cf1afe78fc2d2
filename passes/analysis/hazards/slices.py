"""A function cut down to what its events depend on."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, UnknownLoc, i1
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.ops import tmem_access
from tilewright.dialects.cute_nvgpu.ops.sync import OrdersThreads
from tilewright.dialects.ptx import tcgen05_access, wgmma
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp, EntryOp
from tilewright.dialects.ptx.registers import MovOp, NameOp
from tilewright.dialects.ptx.types import RegType
from tilewright.passes.analysis.hazards.aligned import is_aligned, parts_a_warp
from tilewright.passes.analysis.hazards.arrays import Arrays
from tilewright.passes.analysis.hazards.blocks import CountedLoop, condition_of, edges_of, loops_of
from tilewright.passes.analysis.hazards.effects import Effect
from tilewright.passes.analysis.hazards.events import effect_of
from tilewright.passes.analysis.hazards.launches import Leaf
from tilewright.passes.analysis.hazards.scopes import (
    effect_of_global,
    is_narrow,
    order_of,
    orders_others,
)
from tilewright.passes.analysis.hazards.thread_accesses import ORDERED

LOADS = (tmem_access.TmemAccessOp, tcgen05_access.LdOp, tcgen05_access.LdRedOp)
"""Ops that load registers from tensor memory."""
STRONG = (*ORDERED, OrdersThreads)
"""Ops that order threads by global memory, where they are strong."""
MMAS = (wgmma.WgmmaOp,)
"""Instructions that give registers once a group is complete; of the ops `wgmma_flow` knows more."""


class Slice:
    """The ops of a function that are events or hold some, and the values that they need."""

    def __init__(self, function: Operation):
        self.function = function
        self.memory: dict[tuple[Any, ...], Any] = {}
        self._slots: dict[SSAValue | Space, int] = {}
        self._initial: list[Any] = []
        self._body: Region = function.regions[0]
        self._loaded: set[SSAValue] = set()
        self._effects: dict[Operation, Effect | None] = {}
        self.arrays = Arrays(function)
        self._aligned: set[Operation] = set()
        # Branches and loops without events around some of those.
        self._apart: set[Operation] = set()
        self._strong: list[Operation] = []
        self._find(self._body)
        self._find_strong()
        self._find_aligned(self._body)
        self._forward_loaded()
        self._needed: set[SSAValue] = set()
        self._find_needed()

    @property
    def has_events(self) -> bool:
        """There is anything that may be in the wrong order."""
        return bool(self._effects)

    @property
    def is_followed(self) -> bool:
        """There is anything to check."""
        parts = bool(self._apart) or len(self._body.blocks) > 1
        return self.has_events or (bool(self._aligned) and parts)

    @property
    def loops(self) -> list[scf.ForOp] | list[CountedLoop]:
        """The loops that hold events, outer ones first."""
        if isinstance(self.function, EntryOp):
            return loops_of(self._body)
        return [op for op in self._effects if isinstance(op, scf.ForOp)]

    @property
    def effects(self) -> list[Effect]:
        """The effects of the ops."""
        return [effect for effect in self._effects.values() if effect is not None]

    @property
    def has_conditions(self) -> bool:
        """Some branch depends on a condition that an argument or memory gives."""
        return any(
            isinstance(value.owner, (Block, memref.LoadOp)) and value.type == i1
            for value in self._needed
        )

    @property
    def conditions(self) -> dict[Operation, SSAValue]:
        """The conditions that decide which events threads have, by the op that asks."""
        asked: dict[Operation, SSAValue] = {
            block.last_op: condition
            for block in self._body.blocks
            if block.last_op is not None and (condition := condition_of(block.last_op))
        }
        for op, effect in self._effects.items():
            if isinstance(op, scf.IfOp):
                asked[op] = op.cond
            elif effect is not None and effect.predicate is not None:
                asked[op] = effect.predicate
        return asked

    @property
    def arguments(self) -> set[Leaf]:
        """The numbers among the function's arguments that anything depends on."""
        return {
            argument
            for argument in self._body.blocks[0].args
            if argument in self._needed and argument.type != i1 and is_number(argument)
        }

    def _find(self, region: Region) -> bool:
        """Collect the ops that are events, or hold some."""
        any_events = False
        for block in region.blocks:
            for op in block.ops:
                if op.regions:
                    self._effects[op] = None
                    if not any([self._find(inner) for inner in op.regions]):
                        del self._effects[op]
                elif (effect := self._effect_of(op)) is not None:
                    self._effects[op] = effect
                    if isinstance(op, LOADS + MMAS):
                        self._loaded.update(op.results)
                elif _is_strong(type(op)) and order_of(op) is not None:
                    self._strong.append(op)
                any_events = any_events or op in self._effects
        return any_events

    @property
    def has_narrow_scopes(self) -> bool:
        """Some access to global memory is strong for a part of the GPU's threads alone."""
        return any(is_narrow(op) for op in self._strong if isinstance(op, ORDERED))

    @property
    def orders_blocks(self) -> bool:
        """Threads order others by what is in global memory."""
        return any(map(orders_others, self._strong))

    def _find_strong(self) -> None:
        """Accesses to global memory, and fences, are events where some are narrow."""
        for op in self.function.walk() if self.has_narrow_scopes else ():
            if op in self._effects or (effect := effect_of_global(op)) is None:
                continue
            for parent in reversed(list(ancestors(op, self.function))):
                self._effects.setdefault(parent, None)
            self._effects[op] = effect

    def _effect_of(self, op: Operation) -> Effect | None:
        effect = effect_of(op)
        if effect is None:
            return self.arrays.effect_of(op)
        corner = self.arrays.corner_of(op)
        return effect if corner is None else replace(effect, places=(*effect.places, corner))

    def _find_aligned(self, region: Region) -> None:
        """Collect the instructions of whole warps where events are, and the branches around others
        that warps may take apart."""
        for block in region.blocks:
            for op in block.ops:
                if is_aligned(type(op)):
                    self._aligned.add(op)
                elif op in self._effects:
                    for inner in op.regions:
                        self._find_aligned(inner)
                elif op.regions and parts_a_warp(op):
                    self._apart.add(op)
                    for inner in op.regions:
                        self._find_aligned(inner)

    def _forward_loaded(self) -> None:
        """Add what loops and branches hand on of loaded registers, and the ops that use any."""
        work = list(self._loaded)
        while work:
            value = work.pop()
            for use in value.uses:
                op = use.operation
                for handed in _handed_on(op, use.index):
                    if handed not in self._loaded:
                        self._loaded.add(handed)
                        work.append(handed)
                if not op.regions and not op.has_trait(IsTerminator) and op not in self._effects:
                    if _names(op):
                        continue
                    self._effects[op] = Effect("use")
                for parent in ancestors(op, self.function):
                    self._effects.setdefault(parent, None)

    def _find_needed(self) -> None:
        work: list[SSAValue | Space] = []
        for op, effect in self._effects.items():
            if effect is None:
                work += _decides(op)
            else:
                for place in (effect.barrier, *effect.places):
                    if place is not None:
                        work += (place.memref, *place.indices)
                work += effect.scalars
                if effect.predicate is not None:
                    work.append(effect.predicate)
        for op in self._apart:
            work += _decides(op)
        if len(self._body.blocks) > 1:
            for block in self._body.blocks:
                if (condition := condition_of(block.last_op)) is not None:
                    work.append(condition)
        work += self._loaded
        while work:
            value = work.pop()
            if value in self._slots:
                continue
            self._slots[value] = len(self._slots)
            if not isinstance(value, Space):
                self._needed.add(value)
                work += _sources(value)

    def slot(self, value: SSAValue) -> int:
        """Where a value is kept; of what is not needed, a place of its own."""
        return self._slots.setdefault(value, len(self._slots))


@cache
def _is_strong(kind: type[Operation]) -> bool:
    return issubclass(kind, STRONG)


def is_number(value: SSAValue) -> bool:
    """An integer."""
    return isinstance(value.type, IndexType | IntegerType | RegType)


def _names(op: Operation) -> bool:
    """It gives registers another name: what reads PTX text adds moves between kinds of registers,
    that of the instruction that writes them and that of their declaration."""
    if isinstance(op, MovOp) and isinstance(writer := op.operands[0].owner, Operation):
        return op.location == writer.location != UnknownLoc()
    return isinstance(op, NameOp)


def _handed_on(op: Operation, index: int) -> Sequence[SSAValue]:
    """The values that a loop, a branch or a terminator gives an operand to."""
    parent = op.parent_op()
    match op, parent:
        case scf.ForOp(), _ if index >= 3:
            return (op.body.block.args[index - 2], op.results[index - 3])
        case scf.YieldOp(), scf.ForOp():
            return (parent.body.block.args[index + 1], parent.results[index])
        case scf.YieldOp(), scf.IfOp():
            return (parent.results[index],)
        case _ if _names(op):
            return op.results
        case ((BraOp() | CondBraOp()), _):
            value = op.operands[index]
            return [
                argument
                for dest, values in edges_of(op)
                for argument, given in zip(dest.args, values, strict=True)
                if given is value
            ]
        case _:
            return ()


def _decides(op: Operation) -> list[SSAValue]:
    """The values that say where control goes at an op with regions."""
    match op:
        case scf.ForOp():
            return [op.lb, op.ub, op.step]
        case scf.IfOp():
            return [op.cond]
        case scf.WhileOp():
            last = op.before_region.block.last_op
            return [last.operands[0]] if last is not None else []
        case _:
            return []


def _sources(value: SSAValue) -> list[SSAValue]:
    """The values that one is computed from."""
    owner = value.owner
    if isinstance(owner, Block):
        return _given(value, owner)
    match owner:
        case scf.IfOp():
            place = owner.results.index(value)  # type: ignore[arg-type]
            lasts = [region.block.last_op for region in owner.regions if region.blocks]
            return [owner.cond, *(last.operands[place] for last in lasts if last is not None)]
        case scf.ForOp():
            place = owner.results.index(value)  # type: ignore[arg-type]
            return [owner.body.block.args[place + 1], *_decides(owner)]
        case scf.WhileOp():
            return [*_decides(owner), *owner.operands, *_yielded(owner)]
        case memref.LoadOp():
            return []
        case tmem_access.TmemAccessOp() | tcgen05_access.AccessOp() | wgmma.WgmmaOp():
            return []
        case _:
            return [
                operand for operand in owner.operands
                if isinstance(operand.type, IndexType | IntegerType | MemRefType | RegType)
            ]  # fmt: skip


def _yielded(op: Operation) -> list[SSAValue]:
    lasts = [region.blocks[0].last_op for region in op.regions]
    return [operand for last in lasts if last is not None for operand in last.operands]


def _given(value: SSAValue, block: Block) -> list[SSAValue]:
    """The values that a block's argument may have."""
    parent, place = block.parent_op(), cast(BlockArgument, value).index
    if isinstance(parent, scf.ForOp):
        if place == 0:
            return _decides(parent)
        assert block.last_op is not None
        return [parent.iter_args[place - 1], block.last_op.operands[place - 1], *_decides(parent)]
    if isinstance(parent, scf.WhileOp):
        return [*_decides(parent), *parent.operands, *_yielded(parent)]
    return [
        values[place]
        for op in dict.fromkeys(use.operation for use in block.uses)
        for dest, values in edges_of(op)
        if dest is block
    ]
