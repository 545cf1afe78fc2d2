"""`cute-nvgpu-insert-wgmma-sync`: the fewest fences, commits and waits that wgmmas need."""

from collections.abc import Callable, Iterator

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cute_nvgpu.ops import wgmma_sync
from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.dialects.gpu import FunctionOp
from tilewright.dialects.insertion import insert_before
from tilewright.dialects.sequences import numbered
from tilewright.passes.analysis.wgmma_flow import Rule, WgmmaFlow, WgmmaHazard
from tilewright.passes.analysis.wgmma_groups import BARRIERS, WgmmaGroups
from tilewright.passes.check_hazards import has_wgmma
from tilewright.source.diagnostic import OpError

_LOOPS = (scf.ForOp, scf.WhileOp)
_GIVEN = (wgmma_sync.WgmmaFenceOp, wgmma_sync.WgmmaCommitGroupOp, wgmma_sync.WgmmaWaitGroupOp)


class InsertWgmmaSyncPass(ModulePass):
    """Order wgmmas that nothing orders yet; the result passes `cute-nvgpu-check-hazards`.

    - a `fence.proxy.async` before the first barrier that follows a write to shared memory which a
      wgmma reads;
    - a `wgmma.fence` where registers were written by another op, for all wgmmas that follow: none
      within a chain of one accumulator, and before a loop rather than in it where that is enough;
    - a `wgmma.commit_group` at the end of a run of wgmmas that are waited for together, behind a
      loop that does not wait;
    - a `wgmma.wait_group N` before the first op that needs a result or writes what a wgmma reads, N
      being the groups that it need not wait for; before the loop where the wgmma is not in it. A
      write is waited for before the barrier that precedes it: threads of other warpgroups may do
      it, unless `gpu.known_block_size` says that there is but one.

    Where threads write memory that a wgmma in flight may read, be it of another stage of a
    pipeline, the wgmma is waited for. What is ordered already is an error: the two would not know
    of each other.
    """

    name = "cute-nvgpu-insert-wgmma-sync"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in list(op.walk()):
            if isinstance(function, FunctionOp) and has_wgmma(function):
                _check_bare(function)
                _insert_proxy_fences(function)
                _insert_fences(function)
                WgmmaGroups(function).insert()


def _check_bare(function: Operation) -> None:
    for op in descendants(function, _GIVEN):
        raise OpError(
            op,
            f"cute-nvgpu-insert-wgmma-sync expected wgmmas that nothing orders, got "
            f"'{op.name}'; nearest legal: a function without it, or no such pass",
        )


def _hazards(function: FunctionOp, rule: Rule) -> list[WgmmaHazard]:
    """The hazards of one kind, in the order of the text."""
    hazards: dict[WgmmaHazard, None] = {}
    WgmmaFlow(function, lambda hazard: hazards.setdefault(hazard), cautious=True).follow(
        function.body
    )
    order = numbered(function.walk())
    return sorted(
        (hazard for hazard in hazards if hazard.rule == rule), key=lambda hazard: order[hazard.op]
    )


def _insert_before(anchor: Operation, op: Operation) -> None:
    op.location = anchor.location
    insert_before(op, anchor)


# Fences of the proxy


def _insert_proxy_fences(function: FunctionOp) -> None:
    placed: list[Operation] = []
    while hazards := _hazards(function, "proxy"):
        write, fence = hazards[0].other, wgmma_sync.FenceProxyAsyncOp(space="shared::cta")
        assert write is not None
        _insert_before(_after_write(write, hazards[0].op), fence)
        placed.append(fence)
    for fence in placed:
        _drop_unless_needed(fence, lambda: not _hazards(function, "proxy"))


def _after_write(write: Operation, reader: Operation) -> Operation:
    """The op that a fence of the proxy must precede: the first barrier after the write, or whatever
    leads to the reader."""
    anchor = write
    while True:
        following = anchor.next_op
        while following is not None:
            if isinstance(following, BARRIERS) or following.is_ancestor(reader):
                return following
            last, following = following, following.next_op
            if following is None and _leads_on(last, reader):
                return last
        parent = anchor.parent_op()
        assert parent is not None
        anchor = parent


def _leads_on(terminator: Operation, reader: Operation) -> bool:
    """The reader comes next only where the block is left: in the next round of its loop, or
    in another block."""
    parent = terminator.parent_op()
    return parent is not None and parent.is_ancestor(reader)


# Fences of registers


def _insert_fences(function: FunctionOp) -> None:
    placed: list[Operation] = []
    while hazards := _hazards(function, "fence"):
        placed.append(_place_fence(function, hazards[0].op))
    for fence in placed:
        _drop_unless_needed(fence, lambda: not _hazards(function, "fence"))


def _place_fence(function: FunctionOp, wgmma: Operation) -> Operation:
    """A fence in the earliest of its possible places that orders the wgmma."""
    for anchor in (*reversed(list(_loops_around(wgmma))), _run_start(wgmma)):
        fence = wgmma_sync.WgmmaFenceOp()
        _insert_before(anchor, fence)
        if all(hazard.op is not wgmma for hazard in _hazards(function, "fence")):
            return fence
        Rewriter.erase_op(fence)
    fence = wgmma_sync.WgmmaFenceOp()
    _insert_before(wgmma, fence)
    return fence


def _loops_around(op: Operation) -> Iterator[Operation]:
    """The loops that enclose it, innermost first, up to what is no loop: a branch may be for some
    warps only."""
    parent = op.parent_op()
    while isinstance(parent, _LOOPS):
        yield parent
        parent = parent.parent_op()


def _run_start(wgmma: Operation) -> Operation:
    """The first wgmma of its block since anything but plain values was computed."""
    first, op = wgmma, wgmma.prev_op
    while op is not None and not op.regions:
        if isinstance(op, WarpgroupMmaOp):
            first = op
        op = op.prev_op
    return first


def _drop_unless_needed(op: Operation, is_right: Callable[[], bool]) -> None:
    following = op.next_op
    assert following is not None
    op.detach()
    if is_right():
        op.erase()
    else:
        insert_before(op, following)
