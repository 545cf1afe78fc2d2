"""Groups of wgmmas: which are committed together, and where they are waited for.

At first every wgmma is a group of its own. Commits then leave loops, and go, as long as every wait
stays where it is and lets the same wgmmas stay in flight.
"""

from math import prod

from xdsl.dialects import gpu, scf
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.cute_nvgpu.lattice.sm90 import WARPGROUP
from tilewright.dialects.cute_nvgpu.ops import mbarrier, sync
from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.dialects.cute_nvgpu.ops.wgmma_sync import WgmmaCommitGroupOp, WgmmaWaitGroupOp
from tilewright.dialects.gpu import FunctionOp, known_extents
from tilewright.dialects.insertion import insert_after, insert_before
from tilewright.dialects.sequences import numbered
from tilewright.passes.analysis.wgmma_flow import Rule, WgmmaFlow, WgmmaHazard
from tilewright.passes.analysis.wgmma_state import State

BARRIERS = (gpu.BarrierOp, sync.BarSyncOp, sync.BarArriveOp, mbarrier.ArriveOp)
"""The ops that tell other threads that memory may be written, or read."""

_LOOPS = (scf.ForOp, scf.WhileOp)
_WAITED_FOR: tuple[Rule, ...] = ("result", "shape", "overwritten", "memory", "fragment", "end")

Plan = dict[Operation, frozenset[WarpgroupMmaOp]]
"""The op that each wait stands before, and the wgmmas that may be in flight after the wait."""


class WgmmaGroups:
    """The groups and waits of one function that has fences, but neither yet."""

    def __init__(self, function: FunctionOp):
        self._function = function
        self._order = numbered(function.walk())
        self._commits: list[Operation] = []
        self._waits: dict[Operation, WgmmaWaitGroupOp] = {}
        self._alone = prod(known_extents(function, "gpu.known_block_size") or ()) == WARPGROUP

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
        self._drop_commits()
        self._satisfy_check()

    # Commits

    def _leave_loops(self, index: int, plan: Plan) -> None:
        """Move a commit behind the outermost loop around it that does not wait for it."""
        while isinstance(loop := self._commits[index].parent_op(), _LOOPS):
            commit = self._commits[index]
            before = commit.prev_op
            assert before is not None, "a commit stands behind a wgmma"
            commit.detach()
            insert_after(commit, loop)
            if self._plan() != plan:
                commit.detach()
                insert_after(commit, before)
                return

    def _drop(self, index: int, plan: Plan) -> None:
        """Leave out a commit where a later one does."""
        commit = self._commits[index]
        before = commit.prev_op
        assert before is not None, "a commit stands behind a wgmma"
        commit.detach()
        if self._plan() == plan:
            commit.erase()
            del self._commits[index]
        else:
            insert_after(commit, before)

    def _drop_commits(self) -> None:
        """Leave out the commits without which the waits wait for less, and for enough."""
        for commit in self._commits[:-1]:
            following = commit.next_op
            assert following is not None, "a commit ends no block"
            commit.detach()
            if self._follow()[1]:
                insert_before(commit, following)
            else:
                commit.erase()

    # Waits

    def _satisfy_check(self) -> None:
        """Wait for more where the check, which counts no further than the waits do, takes two
        results of one wgmma for one."""
        while hazards := self._follow(checking=True)[1]:
            flow, _ = self._follow()
            if not self._wait_for(hazards[0], flow.before):
                return

    def _plan(self) -> Plan | None:
        """Put waits wherever they are needed, instead of those before; None where a wgmma that must
        be waited for is in no group yet."""
        for wait in self._waits.values():
            Rewriter.erase_op(wait)
        self._waits = {}
        flow, hazards = self._follow()
        while hazards:
            if not self._wait_for(hazards[0], flow.before):
                return None
            flow, hazards = self._follow()
        self._drop_waits()
        flow, _ = self._follow()
        return {
            anchor: frozenset(issue.op for issue in flow.before[anchor].pending)
            for anchor in self._waits
        }

    def _drop_waits(self) -> None:
        """Leave out the waits that others have made needless."""
        for anchor, wait in list(self._waits.items()):
            wait.detach()
            if self._follow()[1]:
                insert_before(wait, anchor)
            else:
                wait.erase()
                del self._waits[anchor]

    def _follow(self, *, checking: bool = False) -> tuple[WgmmaFlow, list[WgmmaHazard]]:
        hazards: dict[WgmmaHazard, None] = {}
        flow = WgmmaFlow(
            self._function,
            lambda hazard: hazards.setdefault(hazard),
            cautious=not checking,
            limit=None if checking else len(self._commits) + 1,
        )
        flow.follow(self._function.body)
        waited_for = (hazard for hazard in hazards if hazard.rule in _WAITED_FOR)
        return flow, sorted(waited_for, key=lambda hazard: self._order[hazard.op])

    def _wait_for(self, hazard: WgmmaHazard, before: dict[Operation, State]) -> bool:
        """Add the wait that a hazard needs, or let the one that is there wait for more."""
        for op, other in _conflicts(hazard, before):
            anchors = [_common(op, other), op]
            if hazard.rule == "memory" and not self._alone:
                anchors = [*_barrier_between(other, op), *anchors]
            for anchor in anchors:
                ages = _ages(before[anchor], other, hazard.value)
                if ages and (pending := min(ages) - 1) >= 0 and self._put(anchor, pending):
                    return True
        return False

    def _put(self, anchor: Operation, pending: int) -> bool:
        if anchor in self._waits:
            if self._waits[anchor].pending.value.data <= pending:
                return False
            self._waits[anchor].detach()
            self._waits[anchor].erase()
        wait = WgmmaWaitGroupOp(pending)
        wait.location = anchor.location
        insert_before(wait, anchor)
        self._waits[anchor] = wait
        return True


def _committed_after(op: Operation) -> Operation:
    commit = WgmmaCommitGroupOp()
    commit.location = op.location
    insert_after(commit, op)
    return commit


def _conflicts(
    hazard: WgmmaHazard, before: dict[Operation, State]
) -> list[tuple[Operation, WarpgroupMmaOp]]:
    """Pairs of an op and the wgmma that must be complete before it."""
    other = hazard.other
    assert isinstance(other, WarpgroupMmaOp)
    if hazard.rule != "overwritten":
        return [(hazard.op, other)]
    c = other.multiplicands_and_c[2]
    return [(other, mma) for mma, _ in before[other].in_flight.get(c, ())]


def _ages(state: State, wgmma: WarpgroupMmaOp, value: SSAValue | None) -> list[int]:
    """How many commits ago the wgmma was issued: where a value is its result, that one, which may
    be in flight several times; else any."""
    issued = () if value is None else state.in_flight.get(value, ())
    ages = [age for op, age in issued if op is wgmma]
    return ages or [issue.age for issue in state.pending if issue.op is wgmma]


def _barrier_between(wgmma: Operation, write: Operation) -> list[Operation]:
    """The last barrier on the way from a wgmma to a write of what it reads, if there is one; the
    way may lead around their loop."""
    last, first = _common(write, wgmma), _common(wgmma, write)
    block = last.parent
    if block is None or block is not first.parent:
        return []
    op = last.prev_op
    while op is not first:
        if op is None:
            op = block.last_op
            continue
        if isinstance(op, BARRIERS):
            return [op]
        op = op.prev_op
    return []


def _common(op: Operation, other: Operation) -> Operation:
    """The ancestor of the op, or the op itself, in the innermost region that has both."""
    while (parent := op.parent_op()) is not None and not parent.is_ancestor(other):
        op = parent
    return op
