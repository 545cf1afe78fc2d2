"""The wgmmas of a function, followed over all its paths: what may be wrong at which op.

A forward dataflow to a fixpoint, over `scf.for`, `scf.if`, `scf.while` and branches between blocks.
`cute-nvgpu-check-hazards` states the rules.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from xdsl.dialects import cf, func, gpu, scf, ub
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects.cute_nvgpu.ops import wgmma_sync
from tilewright.dialects.cute_nvgpu.ops.fragment import register_sources
from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.passes.analysis.shared_writes import (
    SharedAccess,
    in_async_proxy,
    matrices,
    overlap,
    written,
)
from tilewright.passes.analysis.wgmma_state import CURRENT, STALE, Issue, State

Rule = Literal["result", "shape", "overwritten", "memory", "fragment", "end", "fence", "proxy"]


@dataclass(frozen=True, slots=True)
class WgmmaHazard:
    """A rule that an op breaks, and the op that it breaks it with: `value` is what it reads."""

    rule: Rule
    op: Operation
    other: Operation | None = None
    value: SSAValue | None = None


Report = Callable[[WgmmaHazard], None]


def same_shape(a: WarpgroupMmaOp, b: WarpgroupMmaOp) -> bool:
    """Wgmmas may follow each other in one accumulator without a wait or a fence."""
    return (a.mma_atom.shape, a.mma_atom.types[2]) == (b.mma_atom.shape, b.mma_atom.types[2])


class WgmmaFlow:
    """One function; `report` is told what is wrong, as it is found.

    Ages are counted up to `limit`, by default as far as any wait looks. With `cautious`, accesses
    that may meet count as those that do, and `before` holds what may be true before each op.
    """

    def __init__(
        self,
        function: Operation,
        report: Report,
        *,
        cautious: bool = False,
        limit: int | None = None,
    ):
        self.report = report
        self.before: dict[Operation, State] = {}
        self._cautious = cautious
        waits = (op for op in function.walk() if isinstance(op, wgmma_sync.WgmmaWaitGroupOp))
        highest = max((op.pending.value.data for op in waits), default=0)
        self._limit = highest + 1 if limit is None else limit
        wgmmas = [op for op in function.walk() if isinstance(op, WarpgroupMmaOp)]
        self._matrices = {op: matrices(op) for op in wgmmas}
        self._fragments = {op: _fragment(op) for op in wgmmas}
        # Most values are none of a wgmma's: `_define` is asked for every result on every path.
        self._in_fragments = frozenset[SSAValue]().union(*self._fragments.values())
        self._indices = {
            value
            for accesses in self._matrices.values()
            for access in accesses
            for value in access.indices
        }
        self._writes: dict[Operation, SharedAccess] = {}
        self._naming: dict[SSAValue, list[Operation]] = {}
        self._order = {op: index for index, op in enumerate(function.walk())}

    def follow(self, body: Region) -> None:
        """Follow all paths of a function's body."""
        entry = body.blocks[0]
        state = State()
        state.touched.update(
            (argument, None) for argument in entry.args if isinstance(argument.type, FragmentType)
        )
        known = {entry: state}
        work = [entry]
        while work:
            block = work.pop()
            after = self._block(block, known[block].copy())
            for dest, values in _branches(block.last_op):
                assert block.last_op is not None
                coming = self._pass(after, dest.args, values, block.last_op)
                if dest not in known or not known[dest].covers(coming):
                    known[dest] = coming.join(known[dest]) if dest in known else coming
                    work.append(dest)

    # Structure

    def _block(self, block: Block, state: State) -> State:
        for op in block.ops:
            if self._cautious:
                self.before[op] = state.copy()
            if not op.regions:
                self._op(op, state)
                continue
            match op:
                case scf.ForOp():
                    state = self._for(op, state)
                case scf.IfOp():
                    state = self._if(op, state)
                case scf.WhileOp():
                    state = self._while(op, state)
                case _:
                    self._op(op, state)
        return state

    def _for(self, op: scf.ForOp, state: State) -> State:
        body = op.body.block
        arguments, last = body.args[1:], _last(body)
        head = self._pass(state, arguments, op.iter_args, op)
        while True:
            entering = head.copy()
            self._define(entering, body.args[0], op)
            after = self._block(body, entering)
            back = self._pass(after, arguments, last.operands, last)
            if head.covers(back):
                break
            head = head.join(back)
        never = self._pass(state, op.results, op.iter_args, op)
        return never.join(self._pass(after, op.results, last.operands, last))

    def _if(self, op: scf.IfOp, state: State) -> State:
        joined: State | None = None
        for region in (op.true_region, op.false_region):
            after = state.copy()
            if region.blocks:
                last = _last(region.block)
                after = self._block(region.block, after)
                after = self._pass(after, op.results, last.operands, last)
            joined = after if joined is None else joined.join(after)
        assert joined is not None
        return joined

    def _while(self, op: scf.WhileOp, state: State) -> State:
        before, after = op.before_region.block, op.after_region.block
        condition, last = _last(before), _last(after)
        assert isinstance(condition, scf.ConditionOp)
        head = self._pass(state, before.args, op.arguments, op)
        while True:
            tested = self._block(before, head.copy())
            inside = self._pass(tested, after.args, condition.args, condition)
            back = self._pass(self._block(after, inside), before.args, last.operands, last)
            if head.covers(back):
                return self._pass(tested, op.results, condition.args, condition)
            head = head.join(back)

    def _pass(
        self,
        state: State,
        dests: Sequence[SSAValue],
        sources: Sequence[SSAValue],
        op: Operation,
    ) -> State:
        """The state once `dests` have been given the values of `sources`."""
        after = state.copy()
        for dest, source in zip(dests, sources, strict=True):
            if dest is not source:
                self._define(after, dest, op)
        for dest, source in zip(dests, sources, strict=True):
            for mine, theirs in ((after.touched, state.touched), (after.in_flight, state.in_flight),
                                 (after.gone, state.gone)):  # fmt: skip
                if source in theirs:
                    mine[dest] = theirs[source]  # type: ignore[assignment]
        return after

    def _define(self, state: State, value: SSAValue, op: Operation) -> None:
        """A value is given: what was known of its last one goes."""
        state.forget(value)
        if value in self._in_fragments:
            for issue in self._latest_first(state.pending):
                if value in self._fragments[issue.op]:
                    self.report(WgmmaHazard("fragment", op, issue.op, value))
        if value in self._indices:
            state.pending = frozenset(
                issue._replace(current=issue.current and not self._names(issue.op, value))
                for issue in state.pending
            )
        for write in self._naming.get(value, ()):
            if write in state.writes:
                state.writes[write] = STALE

    def _names(self, op: WarpgroupMmaOp, value: SSAValue) -> bool:
        """A wgmma's matrices lie where the value says."""
        return any(value in matrix.indices for matrix in self._matrices[op])

    # Ops

    def _op(self, op: Operation, state: State) -> None:
        ends, orders = _kind_of(type(op))
        if not ends:
            self._check_uses(op, state)
        if not orders:
            self._other(op, state)
            return
        match op:
            case wgmma_sync.WgmmaFenceOp():
                state.fence()
            case wgmma_sync.WgmmaCommitGroupOp():
                state.commit(self._limit)
            case wgmma_sync.WgmmaWaitGroupOp():
                state.wait(op.pending.value.data)
            case wgmma_sync.FenceProxyAsyncOp():
                state.writes.clear()
            case WarpgroupMmaOp():
                self._wgmma(op, state)
            case func.ReturnOp() | gpu.ReturnOp():
                for issue in self._latest_first(state.pending):
                    self.report(WgmmaHazard("end", op, issue.op))
            case _:
                self._other(op, state)

    def _check_uses(self, op: Operation, state: State) -> None:
        for value in op.operands:
            if value in state.gone:
                self.report(WgmmaHazard("overwritten", op, state.gone[value], value))
            for other, _ in sorted(
                state.in_flight.get(value, ()),
                key=lambda issued: (issued[1], self._order[issued[0]]),
            ):
                if not isinstance(op, WarpgroupMmaOp) or value is not op.multiplicands_and_c[2]:
                    self.report(WgmmaHazard("result", op, other, value))
                elif not same_shape(op, other):
                    self.report(WgmmaHazard("shape", op, other, value))

    def _wgmma(self, op: WarpgroupMmaOp, state: State) -> None:
        a, _, c = op.multiplicands_and_c
        if state.unfenced:
            self.report(WgmmaHazard("fence", op))
        for value in (a, c):
            if value in state.touched:
                self.report(WgmmaHazard("fence", op, state.touched[value], value))
        for write in sorted(state.writes, key=lambda writer: self._order[writer]):
            bits = state.writes[write]
            for matrix in self._matrices[op]:
                for bit in (CURRENT, STALE):
                    if bits & bit and self._meets(matrix, self._writes[write], bit == CURRENT):
                        self.report(WgmmaHazard("proxy", op, write))
        self._define(state, op.d, op)
        state.issue(op)

    def _other(self, op: Operation, state: State) -> None:
        if (access := written(op)) is not None:
            for issue in self._latest_first(state.pending):
                for matrix in self._matrices[issue.op]:
                    if self._meets(matrix, access, issue.current):
                        self.report(WgmmaHazard("memory", op, issue.op))
            if not in_async_proxy(op):
                if op not in self._writes:
                    for value in access.indices:
                        self._naming.setdefault(value, []).append(op)
                self._writes[op] = access
                state.writes[op] = CURRENT
        for result in op.results:
            self._define(state, result, op)
            if isinstance(result.type, FragmentType) and not isinstance(op, ub.PoisonOp):
                state.touched[result] = op

    def _latest_first(self, pending: frozenset[Issue]) -> list[Issue]:
        return sorted(
            pending, key=lambda issue: (issue.age, not issue.current, self._order[issue.op])
        )

    def _meets(self, matrix: SharedAccess, write: SharedAccess, current: bool) -> bool:
        met = overlap(matrix, write, current=current)
        return met == "same" or (self._cautious and met == "maybe")


_ORDER = (
    wgmma_sync.WgmmaFenceOp, wgmma_sync.WgmmaCommitGroupOp, wgmma_sync.WgmmaWaitGroupOp,
    wgmma_sync.FenceProxyAsyncOp, WarpgroupMmaOp, func.ReturnOp, gpu.ReturnOp,
)  # fmt: skip


@cache
def _kind_of(kind: type[Operation]) -> tuple[bool, bool]:
    """True where ops of a class end blocks, and where they change what is in flight themselves."""
    return kind.has_trait(IsTerminator), issubclass(kind, _ORDER)


def _fragment(op: WarpgroupMmaOp) -> frozenset[SSAValue]:
    """All values whose registers are those of A."""
    if op.mma_atom.frag_kind == "ss":
        return frozenset()
    return frozenset(register_sources(op.multiplicands_and_c[0]))


def _last(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def _branches(op: Operation | None) -> list[tuple[Block, Sequence[SSAValue]]]:
    match op:
        case cf.BranchOp():
            return [(op.successor, op.arguments)]
        case cf.ConditionalBranchOp():
            return [(op.then_block, op.then_arguments), (op.else_block, op.else_arguments)]
        case _:
            return []
