"""The wgmmas of a function, followed over all its paths: what may be wrong at which op.

`cute-nvgpu-check-hazards` states the rules.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal

from xdsl.dialects import func, gpu, ub
from xdsl.ir import Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cute_nvgpu.ops import wgmma_sync
from tilewright.dialects.cute_nvgpu.ops.fragment import register_sources
from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.frozen import frozen
from tilewright.dialects.sequences import numbered
from tilewright.passes.analysis.forward_flow import ForwardFlow
from tilewright.passes.analysis.shared_writes import (
    SharedAccess,
    in_async_proxy,
    matrices,
    overlap,
    written,
)
from tilewright.passes.analysis.wgmma_state import CURRENT, STALE, Issue, State

Rule = Literal["result", "shape", "overwritten", "memory", "fragment", "end", "fence", "proxy"]


@frozen
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


class WgmmaFlow(ForwardFlow[State]):
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
        waits = descendants(function, wgmma_sync.WgmmaWaitGroupOp)
        highest = max((op.pending.value.data for op in waits), default=0)
        self._limit = highest + 1 if limit is None else limit
        wgmmas = descendants(function, WarpgroupMmaOp)
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
        self._order = numbered(function.walk())

    def follow(self, body: Region, start: State | None = None) -> None:
        """Follow all paths of a function's body; at first its fragments are another's."""
        state = State() if start is None else start
        state.touched.update(
            (argument, None)
            for argument in body.blocks[0].args
            if isinstance(argument.type, FragmentType)
        )
        super().follow(body, state)

    # Structure

    def join(self, state: State, other: State) -> State:
        return state.join(other)

    def covers(self, state: State, other: State) -> bool:
        return state.covers(other)

    def copied(self, state: State) -> State:
        return state.copy()

    def structured(self, op: Operation, state: State) -> State:
        if self._cautious:
            self.before[op] = state.copy()
        return super().structured(op, state)

    def passed(
        self, state: State, dests: Sequence[SSAValue], sources: Sequence[SSAValue], op: Operation
    ) -> State:
        after = state.copy()
        renamed = {dest: source for dest, source in zip(dests, sources, strict=True)
                   if dest is not source}  # fmt: skip
        for dest in renamed:
            self._define(after, dest, op)
        for dest, source in zip(dests, sources, strict=True):
            for mine, theirs in ((after.touched, state.touched), (after.in_flight, state.in_flight),
                                 (after.gone, state.gone)):  # fmt: skip
                if source in theirs:
                    mine[dest] = theirs[source]  # type: ignore[assignment]
        after.rename(renamed, state)
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

    def visit(self, op: Operation, state: State) -> State:
        if self._cautious:
            self.before[op] = state.copy()
        ends, orders = _kind_of(type(op))
        if not ends:
            self._check_uses(op, state)
        if not orders:
            self._other(op, state)
            return state
        match op:
            case wgmma_sync.WgmmaFenceOp():
                state.fence()
            case wgmma_sync.WgmmaCommitGroupOp():
                state.commit(self._limit)
            case wgmma_sync.WgmmaWaitGroupOp():
                state.wait(op.pending.value.data)
            case wgmma_sync.FenceProxyAsyncOp() if op.is_of_shared:
                state.writes.clear()
            case WarpgroupMmaOp():
                self._wgmma(op, state)
            case func.ReturnOp() | gpu.ReturnOp():
                for issue in self._latest_first(state.pending):
                    self.report(WgmmaHazard("end", op, issue.op))
            case _:
                self._other(op, state)
        return state

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
