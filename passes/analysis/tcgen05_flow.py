"""Work of tcgen05 in flight, followed over all paths of a function: what may be wrong at which op.

`cute-nvgpu-check-hazards` states the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects.cute_nvgpu.lattice.tmem import SHIFTED_COLUMNS, WINDOW
from tilewright.dialects.cute_nvgpu.ops import tcgen05_sync, tmem_access, wgmma_sync
from tilewright.dialects.cute_nvgpu.ops.mbarrier import WaitOp
from tilewright.dialects.cute_nvgpu.ops.tmem import DeallocOp
from tilewright.dialects.cute_nvgpu.ops.tmem_access import TmemAccessOp
from tilewright.dialects.cute_nvgpu.ops.tmem_copy import CopyOp, ShiftOp
from tilewright.dialects.cute_nvgpu.ops.umma import UmmaOp
from tilewright.passes.analysis.forward_flow import ForwardFlow
from tilewright.passes.analysis.shared_writes import (
    Access,
    in_async_proxy,
    matrix_of,
    overlap,
    written,
)
from tilewright.passes.analysis.tensor_columns import Columns, accessed, columns, columns_from

Rule = Literal["result", "memory", "registers", "stored", "loading", "proxy"]

HALVES = ("C", "F")
"""The data paths whose accumulators have 16 lanes of every 32."""

Asynchronous = UmmaOp | CopyOp | ShiftOp
"""The ops that one thread starts, and a `tcgen05.commit` completes."""


class Flight(NamedTuple):
    """An asynchronous op that nobody may rely on yet: the mbarriers of the commits behind it,
    whether one was waited for, whether its indices are those that their names still mean, and the
    conditions that turned out so on its way."""

    op: Asynchronous
    barriers: frozenset[SSAValue] = frozenset()
    waited: bool = False
    current: bool = True
    conditions: frozenset[tuple[SSAValue, bool]] = frozenset()


class Loading(NamedTuple):
    """A load whose registers, which `value` is, no `tmem.wait_load` has completed."""

    op: TmemAccessOp
    value: SSAValue


class Storing(NamedTuple):
    """A store to tensor memory that no `tmem.wait_store` has completed."""

    op: TmemAccessOp


class Unseen(NamedTuple):
    """A write of threads to shared memory that no `fence.proxy.async` has followed."""

    op: Operation
    current: bool = True


Fact = Flight | Loading | Storing | Unseen
State = frozenset[Fact]


class Hazard(NamedTuple):
    """A rule that an op breaks, and what it breaks it with."""

    rule: Rule
    op: Operation
    fact: Fact


class Tcgen05Flow(ForwardFlow[Fact]):
    """One function; `report` is told what is wrong, as it is found."""

    def __init__(self, function: Operation, report: Callable[[Hazard], None]):
        super().__init__()
        self._report = report
        self._order = {op: index for index, op in enumerate(function.walk())}
        self._matrices: dict[Operation, list[Access]] = {
            op: _matrices(op) for op in function.walk() if isinstance(op, UmmaOp | CopyOp)
        }
        self._writes = {op: access for op in function.walk() if (access := written(op))}

    # Conditions

    def assumed(self, state: State, condition: SSAValue, holds: bool) -> State:
        return frozenset(
            fact
            for fact in state
            if not (isinstance(fact, Flight) and (condition, not holds) in fact.conditions)
        )

    def left(self, before: State, after: State, condition: SSAValue, holds: bool) -> State:
        here = frozenset({(condition, holds)})
        return frozenset(
            fact._replace(conditions=fact.conditions | here)
            if isinstance(fact, Flight) and fact not in before
            else fact
            for fact in after
        )

    # Values

    def passed(self, state: State, dests: Sequence[SSAValue], sources: Sequence[SSAValue]) -> State:
        after = self._renewed(state, dests)
        return after | {
            Loading(fact.op, dest)
            for fact in state
            if isinstance(fact, Loading)
            for dest, source in zip(dests, sources, strict=True)
            if source is fact.value
        }

    def _renewed(self, state: State, values: Sequence[SSAValue]) -> State:
        """The facts once values are given anew."""
        if not state or not values:
            return state
        gone = frozenset(values)
        return frozenset(
            self._outdated(fact, gone)
            for fact in state
            if not (isinstance(fact, Loading) and fact.value in gone)
        )

    def _outdated(self, fact: Fact, gone: frozenset[SSAValue]) -> Fact:
        """A fact without what it says of values that are given anew."""
        if not isinstance(fact, Flight | Unseen):
            return fact
        if fact.current and self._names(fact.op, gone):
            fact = fact._replace(current=False)
        if isinstance(fact, Flight) and any(value in gone for value, _ in fact.conditions):
            kept = frozenset(condition for condition in fact.conditions if condition[0] not in gone)
            fact = fact._replace(conditions=kept)
        return fact

    def _names(self, op: Operation, values: frozenset[SSAValue]) -> bool:
        accesses = [self._writes[op]] if op in self._writes else self._matrices.get(op, [])
        return any(index in values for access in accesses for index in access.indices)

    # Ops

    def visit(self, op: Operation, state: State) -> State:
        state = self._renewed(state, op.results)
        if not op.has_trait(IsTerminator):
            self._check_registers(op, state)
        match op:
            case tmem_access.WaitLoadOp():
                return frozenset(fact for fact in state if not isinstance(fact, Loading))
            case tmem_access.WaitStoreOp():
                return frozenset(fact for fact in state if not isinstance(fact, Storing))
            case wgmma_sync.FenceProxyAsyncOp():
                return frozenset(fact for fact in state if not isinstance(fact, Unseen))
            case tcgen05_sync.FenceAfterThreadSyncOp():
                return frozenset(
                    fact for fact in state if not (isinstance(fact, Flight) and fact.waited)
                )
            case tcgen05_sync.CommitOp():
                return _committed(state, buffer(op.barrier))
            case WaitOp():
                return _waited(state, buffer(op.barrier))
            case UmmaOp() | CopyOp() | ShiftOp():
                return self._start(op, state)
            case TmemAccessOp():
                return self._access(op, state)
            case _:
                return self._other(op, state)

    def _check_registers(self, op: Operation, state: State) -> None:
        for fact in self._sorted(state):
            if isinstance(fact, Loading) and fact.value in op.operands:
                self._report(Hazard("registers", op, fact))

    def _start(self, op: Asynchronous, state: State) -> State:
        touched = _tensors(op)
        for fact in self._sorted(state):
            if isinstance(fact, Storing) and _meet(accessed(fact.op), touched):
                self._report(Hazard("stored", op, fact))
            if isinstance(fact, Unseen) and self._reads(op, fact.op, fact.current):
                self._report(Hazard("proxy", op, fact))
        return state | {Flight(op)}

    def _access(self, op: TmemAccessOp, state: State) -> State:
        self._check_complete(op, op.tile_operand[0], accessed(op), state)
        for fact in self._sorted(state):
            if isinstance(fact, Storing) and _touch(op, fact.op):
                self._report(Hazard("stored", op, fact))
            stores = isinstance(op, tmem_access.StoreOp)
            if stores and isinstance(fact, Loading) and _touch(op, fact.op):
                self._report(Hazard("loading", op, fact))
        if isinstance(op, tmem_access.StoreOp):
            return state | {Storing(op)}
        return state | {Loading(op, value) for value in op.results}

    def _check_complete(
        self, op: Operation, tensor: SSAValue, touched: Columns, state: State
    ) -> None:
        for fact in self._sorted(state):
            if not isinstance(fact, Flight) or _beside(fact.op, tensor):
                continue
            if _meet(touched, [_result(fact.op)]):
                self._report(Hazard("result", op, fact))

    def _other(self, op: Operation, state: State) -> State:
        if isinstance(op, DeallocOp):
            self._check_complete(op, op.source, columns(op.source), state)
        if op not in self._writes:
            return state
        for fact in self._sorted(state):
            if not isinstance(fact, Flight) or fact.waited:
                continue
            if self._reads(fact.op, op, fact.current):
                self._report(Hazard("memory", op, fact))
        return state if in_async_proxy(op) else state | {Unseen(op)}

    def _reads(self, op: Operation, write: Operation, current: bool) -> bool:
        access = self._writes[write]
        matrices = self._matrices.get(op, [])
        return any(overlap(matrix, access, current=current) == "same" for matrix in matrices)

    def _sorted(self, state: State) -> list[Fact]:
        """The facts in the order of the text, of one op what is missing most first."""

        def key(fact: Fact) -> tuple[int, bool, int, str]:
            late = isinstance(fact, Flight) and fact.waited
            barriers = len(fact.barriers) if isinstance(fact, Flight) else 0
            return self._order[fact.op], late, barriers, type(fact).__name__

        return sorted(state, key=key)


def buffer(barrier: SSAValue) -> SSAValue:
    """The array that an mbarrier is one of."""
    while isinstance(owner := barrier.owner, memref.ReinterpretCastOp | memref.CastOp):
        barrier = owner.source
    return barrier


def _committed(state: State, barrier: SSAValue) -> State:
    return frozenset(
        fact._replace(barriers=fact.barriers | {barrier}) if isinstance(fact, Flight) else fact
        for fact in state
    )


def _waited(state: State, barrier: SSAValue) -> State:
    return frozenset(
        fact._replace(waited=True)
        if isinstance(fact, Flight) and barrier in fact.barriers
        else fact
        for fact in state
    )


def _matrices(op: UmmaOp | CopyOp) -> list[Access]:
    """The matrices that it reads from shared memory, where their descriptors say of what."""
    values = [op.source] if isinstance(op, CopyOp) else list(op.sources.values())
    return [found for value in values if (found := matrix_of(value)) is not None]


def _tensors(op: Asynchronous) -> list[Columns]:
    """The tensors that it accesses."""
    if not isinstance(op, UmmaOp):
        return [_result(op)]
    tmem_operands = op.mma_atom.tmem_operands
    return [columns(value) for name, value in op.sources.items() if name in tmem_operands]


def _result(op: Asynchronous) -> Columns:
    """The tensor that it writes."""
    match op:
        case UmmaOp():
            return columns(op.sources["D"])
        case CopyOp():
            return columns_from(op.dest, op.indices, op.copy_shape.columns)
        case ShiftOp():
            return columns_from(op.source, op.indices, SHIFTED_COLUMNS)


def _beside(op: Asynchronous, tensor: SSAValue) -> bool:
    """A tensor may be in the lanes between those of an accumulator in every other 16."""
    if not isinstance(op, UmmaOp) or op.mma_atom.path.letter not in HALVES:
        return False
    return tensor is not op.sources["D"]


def _touch(op: TmemAccessOp, other: TmemAccessOp) -> bool:
    """Two accesses of a warp share cells: all of its 32 lanes, or the same 16."""
    halves = any(atom.access.shape.lanes < WINDOW for atom in (op, other))
    if halves and op.tile_operand[1][0] is not other.tile_operand[1][0]:
        return False
    return _meet(accessed(op), [accessed(other)])


def _meet(one: Columns, others: Sequence[Columns]) -> bool:
    return any(one.overlap(other) == "same" for other in others)
