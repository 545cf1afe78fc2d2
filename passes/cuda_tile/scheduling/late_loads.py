"""Loads that are made one product ahead of their use: registers are not for all that a kernel of
products one after the other loads.

    a, b, t = load, load, load              a, b = load, load
    x = mmaf a, b, 0                        x = mmaf a, b, 0
    y = mmaf b, a, 0                   ->   t = load
    z = y * t                               y = mmaf b, a, 0
                                            z = y * t
"""

from __future__ import annotations

from xdsl.ir import Block, Operation

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication

_LOADS = LoadViewTkoOp | LoadPtrTkoOp
_MOVED = (core.ReshapeOp, core.ExtractOp, core.PermuteOp, core.BroadcastOp)


def make_loads_late(entry: EntryOp) -> None:
    """Move the weak loads of an entry, outside of loops, and what only moves their elements."""
    block = entry.body.block
    for op in reversed(list(block.ops)):
        weak = isinstance(op, _LOADS) and is_weak(op)
        if not weak and not isinstance(op, _MOVED):
            continue
        products, use = _before_use(op, block)
        later = use if not weak else products[-1] if products else None
        if len(products) > weak and later is not None:
            op.detach()
            block.insert_op_before(op, later)


def _before_use(op: Operation, block: Block) -> tuple[list[Operation], Operation | None]:
    """The products of a block between an op and the first use of its results, and that use."""
    users = {
        block.find_ancestor_op_in_block(use.operation)
        for result in op.results
        for use in result.uses
    }
    products: list[Operation] = []
    following = op.next_op
    while following is not None and following not in users:
        if isinstance(following, Multiplication):
            products.append(following)
        following = following.next_op
    return (products, following) if users else ([], None)
