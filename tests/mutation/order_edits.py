"""Mutants of order: an op that comes twice, far from where it was, in a branch beside it or in half
a warp; both halves of a cluster's barrier gone; an mbarrier that is made anew."""

from __future__ import annotations

import re
from collections.abc import Iterator

from edits import Edit, acts, add_before, add_behind, number, synchronises
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i1
from xdsl.dialects.func import FuncOp
from xdsl.dialects.gpu import DimensionAttr, DimensionEnum, ThreadIdOp
from xdsl.ir import Block, Operation

from tilewright.dialects.cute_nvgpu.ops import mbarrier, tmem

TWICE = re.compile(
    r"\w+\.(mbarrier\.(init|inval|arrive.*)|cluster\.(mbarrier_)?arrive|barrier\.cluster\.arrive"
    r"|(tmem|tcgen05)\.(alloc|dealloc|relinquish_alloc_permit|commit)|bar\.arrive)"
)
"""Ops that do something else when they are done again."""

COMMITS = re.compile(r"\w+\.(wgmma|cp\.async|cp\.async\.bulk)\.commit_group")
"""Those that close a group, which a second one leaves empty."""

WHOLE_WARPS = re.compile(
    r"cute_nvgpu\.(elect\.sync|bar\.(warp\.)?sync|setmaxnreg|cluster\.(arrive|wait)"
    r"|tmem\.(alloc|dealloc|relinquish_alloc_permit|wait_\w+)|wgmma\.\w+)|gpu\.barrier"
)
"""Ops that all threads of a warp execute together."""

LIVES = re.compile(
    r"\w+\.((tmem|tcgen05)\.(alloc|dealloc|relinquish_alloc_permit)|mbarrier\.(init|inval))"
)
"""Those that begin or end the life of something."""

LANES = 32


def order_edits(op: Operation) -> Iterator[tuple[str, Edit]]:
    """The kinds and edits of where an op stands, and how often."""
    if TWICE.fullmatch(op.name):
        yield "twice", lambda op: add_behind(op, op.clone())
    elif COMMITS.fullmatch(op.name):
        yield "group: an empty one", lambda op: add_behind(op, op.clone())
    if LIVES.fullmatch(op.name):
        yield "far: first", _first
        yield "far: last", _last
    if synchronises(op) and not op.results:
        yield "role: into the branch before", _enter
    if WHOLE_WARPS.fullmatch(op.name):
        yield "divergence: half a warp", _in_half_a_warp
    if op.name.endswith("cluster.arrive"):
        yield "cluster: neither arrives nor waits", _remove_pair
    if isinstance(op, mbarrier.WaitOp):
        yield "reinit: behind the wait", _make_anew
    if isinstance(op, tmem.DeallocOp):
        yield "far: behind its allocation", _free_at_once


def _acting(op: Operation | None, step: int) -> Operation | None:
    """The first op on one side, itself too, that acts."""
    while op is not None and not acts(op):
        op = op.prev_op if step < 0 else op.next_op
    return op


def _block(op: Operation) -> Block:
    block = op.parent_block()
    assert block is not None
    return block


def _first(op: Operation) -> bool:
    """Before all that acts in its block, or behind what its operands come from; where that is one
    op before, it is another mutant."""
    block = _block(op)
    makers = [value.owner for value in op.operands if value.owner.parent is block]
    after = next((each for each in reversed(list(block.ops)) if each in makers), None)
    target = _acting(block.first_op if after is None else after.next_op, 1)
    if target is None or target in (op, _acting(op.prev_op, -1)):
        return False
    op.detach()
    block.insert_op_before(op, target)
    return True


def _last(op: Operation) -> bool:
    """Behind all that acts in its block."""
    block = _block(op)
    last = block.last_op
    if op.next_op is None or last is None or not (last.successors or last.name.endswith("yield")):
        return False
    target, beside = _acting(last.prev_op, -1), _acting(op.next_op, 1)
    if target is None or target in (op, beside):
        return False
    op.detach()
    block.insert_op_after(op, target)
    return True


def _enter(op: Operation) -> bool:
    """For those threads alone that took the branch before it."""
    branch = _acting(op.prev_op, -1)
    if not isinstance(branch, scf.IfOp) or branch.false_region.blocks:
        return False
    end = branch.true_region.block.last_op
    op.detach()
    if isinstance(end, scf.YieldOp):
        return add_before(end, op)
    branch.true_region.block.add_op(op)
    return True


def _in_half_a_warp(op: Operation) -> bool:
    """For the first 16 threads of each warp alone."""
    thread = ThreadIdOp(DimensionAttr(DimensionEnum.X))
    lanes, half = number(LANES, IndexType()), number(LANES // 2, IndexType())
    lane = arith.RemUIOp(thread.result, lanes.result)
    low = arith.CmpiOp(lane.result, half.result, "ult")
    inside = op.clone()
    no = number(0, i1)
    other = [no, scf.YieldOp(no.result)] if op.results else [scf.YieldOp()]
    branch = scf.IfOp(
        low, [result.type for result in op.results], [inside, scf.YieldOp(*inside.results)], other
    )
    add_before(op, thread, lanes, half, lane, low, branch)
    for old, new in zip(op.results, branch.results, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()
    return True


def _remove_pair(op: Operation) -> bool:
    """Neither an arrival at the cluster's barrier nor the next wait."""
    wait = op.next_op
    while wait is not None and not wait.name.endswith("cluster.wait"):
        wait = wait.next_op
    if wait is None:
        return False
    for each in (op, wait):
        each.detach()
        each.erase()
    return True


def _make_anew(op: Operation) -> bool:
    """End the mbarrier behind a wait, and make it with the count that it had."""
    assert isinstance(op, mbarrier.WaitOp)
    made = [use.operation for use in op.barrier.uses]
    init = next((each for each in made if isinstance(each, mbarrier.InitOp)), None)
    if init is None:
        return False
    again = mbarrier.InitOp(op.barrier, op.indices, init.count)
    return add_behind(op, mbarrier.InvalOp(op.barrier, op.indices), again)


def _free_at_once(op: Operation) -> bool:
    """Give tensor memory back as soon as its address is known, by the same threads."""
    assert isinstance(op, tmem.DeallocOp)
    branch, retrieve = op.parent_op(), op.source.owner
    if not isinstance(branch, scf.IfOp) or not isinstance(branch.parent_op(), FuncOp):
        return False
    if not isinstance(retrieve, tmem.RetrieveOp) or retrieve.parent is not branch.parent:
        return False
    branch.detach()
    return add_behind(retrieve, branch)
