"""Which wgmmas are committed together, and where they are waited for.

At first every wgmma is a group of its own. Commits then leave loops, and go, as long as every wait
stays where it is and lets the same wgmmas stay in flight.
"""

from __future__ import annotations

from xdsl.dialects import func, gpu, scf
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.dialects.cute_nvgpu.ops.wgmma_sync import WgmmaCommitGroupOp, WgmmaWaitGroupOp
from tilewright.passes.wgmma_flow import Hazard, Rule, WgmmaFlow
from tilewright.passes.wgmma_state import State

_LOOPS = (scf.ForOp, scf.WhileOp)
_WAITED_FOR: tuple[Rule, ...] = ("result", "shape", "overwritten", "memory", "fragment", "end")

Plan = dict[Operation, frozenset[WarpgroupMmaOp]]
"""The op that each wait stands before, and the wgmmas that may be in flight after the wait."""


class WgmmaGroups:
    """The groups and waits of one function that has fences, but neither yet."""

    def __init__(self, function: func.FuncOp | gpu.FuncOp):
        self._function = function
        self._order = {op: index for index, op in enumerate(function.walk())}
        self._commits: list[Operation] = []
        self._waits: dict[Operation, WgmmaWaitGroupOp] = {}

    def insert(self) -> None:
        """Insert the commits and the waits."""
        for op in list(self._function.walk()):
            if isinstance(op, WarpgroupMmaOp):
                self._commits.append(_committed_after(op))
        plan = self._plan()
        assert plan is not None, "every wgmma is in a group of its own"
        for index in range(len(self._commits)):
            self._leave_loops(index, plan)
        for index in reversed(range(len(self._commits) - 1)):
            self._drop(index, plan)
        self._plan()

    # Commits

    def _leave_loops(self, index: int, plan: Plan) -> None:
        """Move a commit behind the outermost loop around it that does not wait for it."""
        while isinstance(loop := self._commits[index].parent_op(), _LOOPS):
            commit = self._commits[index]
            following = commit.next_op
            assert following is not None
            commit.detach()
            Rewriter.insert_op(commit, InsertPoint.after(loop))
            if self._plan() != plan:
                commit.detach()
                Rewriter.insert_op(commit, InsertPoint.before(following))
                return

    def _drop(self, index: int, plan: Plan) -> None:
        """Leave out a commit where a later one does."""
        commit = self._commits[index]
        following = commit.next_op
        assert following is not None
        commit.detach()
        if self._plan() == plan:
            commit.erase()
            del self._commits[index]
        else:
            Rewriter.insert_op(commit, InsertPoint.before(following))

    # Waits

    def _plan(self) -> Plan | None:
        """Put waits wherever they are needed, instead of those before; None where a wgmma that must
        be waited for is in no group yet."""
        for wait in self._waits.values():
            wait.detach()
            wait.erase()
        self._waits = {}
        while True:
            flow, hazards = self._follow()
            if not hazards:
                return {
                    anchor: frozenset(each.op for each in flow.before[anchor].pending)
                    for anchor in self._waits
                }
            if not self._wait_for(hazards[0], flow.before):
                return None

    def _follow(self) -> tuple[WgmmaFlow, list[Hazard]]:
        found: dict[Hazard, None] = {}
        flow = WgmmaFlow(
            self._function,
            lambda each: found.setdefault(each),
            cautious=True,
            limit=len(self._commits) + 1,
        )
        flow.follow(self._function.body)
        waited_for = (each for each in found if each.rule in _WAITED_FOR)
        return flow, sorted(waited_for, key=lambda each: self._order[each.op])

    def _wait_for(self, hazard: Hazard, before: dict[Operation, State]) -> bool:
        """Add the wait that a hazard needs, or let the one that is there wait for more."""
        for op, other in _conflicts(hazard, before):
            for anchor in (_common(op, other), op):
                ages = [each.age for each in before[anchor].pending if each.op is other]
                if ages and (pending := min(ages) - 1) >= 0 and self._put(anchor, pending):
                    return True
        return False

    def _put(self, anchor: Operation, pending: int) -> bool:
        if anchor in self._waits:
            if self._waits[anchor].pending.value.data <= pending:
                return False
            self._waits[anchor].erase()
        wait = WgmmaWaitGroupOp(pending)
        wait.location = anchor.location
        Rewriter.insert_op(wait, InsertPoint.before(anchor))
        self._waits[anchor] = wait
        return True


def _committed_after(op: Operation) -> Operation:
    commit = WgmmaCommitGroupOp()
    commit.location = op.location
    Rewriter.insert_op(commit, InsertPoint.after(op))
    return commit


def _conflicts(
    hazard: Hazard, before: dict[Operation, State]
) -> list[tuple[Operation, WarpgroupMmaOp]]:
    """Which op must not come before which wgmma is complete."""
    other = hazard.other
    assert isinstance(other, WarpgroupMmaOp)
    if hazard.rule != "overwritten":
        return [(hazard.op, other)]
    c = other.multiplicands_and_c[2]
    return [(other, each) for each, _ in before[other].held.get(c, ())]


def _common(op: Operation, other: Operation) -> Operation:
    """What encloses the op, or the op itself, in the innermost region that has both."""
    while (parent := op.parent_op()) is not None and not parent.is_ancestor(other):
        op = parent
    return op
