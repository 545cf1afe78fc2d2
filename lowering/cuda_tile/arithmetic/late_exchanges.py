"""Exchanges of lanes, as those of attention's sums, behind the sums of a late product.

    l = p + shfl p, 2              l = p + shfl p, 2
    l = l + shfl l, 1         ->   wait;  o = o + pv;  o = o * a
    wait;  o = o + pv;  o = o * a  l = l + shfl l, 1

Lanes exchange while the registers of the product are added.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation
from xdsl.traits import is_side_effect_free

from tilewright.dialects.ancestors import users
from tilewright.dialects.cute_nvgpu.ops.shuffle import ShflSyncOp


def put_off_exchanges(branch: Operation) -> None:
    """Move behind a branch what is made of exchanged values in front of it that nothing needs up to
    there."""
    block = branch.parent
    assert block is not None
    free = _not_needed(branch, block)
    moved, last = set[object](), branch
    for op in reversed(free):
        owners = {operand.owner for operand in op.operands}
        if moved & owners or any(isinstance(x, ShflSyncOp) and x in free for x in owners):
            moved.add(op)
            op.detach()
            block.insert_op_after(op, last)
            last = op


def _not_needed(branch: Operation, block: Block) -> dict[Operation, None]:
    """The ops in front of a branch whose results nothing needs up to there, the last first."""
    free, op = dict[Operation, None](), branch.prev_op
    while op is not None:
        uses = users(*op.results)
        if is_moved(op) and all(block.find_ancestor_op_in_block(user) in free for user in uses):
            free[op] = None
        op = op.prev_op
    return free


def is_moved(op: Operation) -> bool:
    """True of an op that may stand anywhere between its operands and its uses, and is no branch."""
    return isinstance(op, ShflSyncOp) or (is_side_effect_free(op) and not op.regions)
