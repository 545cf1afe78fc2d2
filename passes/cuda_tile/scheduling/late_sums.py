"""Sums, as those of attention's weights, that are computed while a product is in flight that does
not need them.

    p = exp2 s                p = exp2 s
    l = reduce p         ->   o = mmaf p, v, o
    o = mmaf p, v, o          l = reduce p
"""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.traits import is_side_effect_free

from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication


def make_sums_late(product: Operation) -> None:
    """Move what is between the product before and this one, and it does not need, behind it."""
    block, needed, op = product.parent, {product}, product.prev_op
    assert block is not None
    while op is not None and not isinstance(op, Multiplication):
        before = op.prev_op
        users = {block.find_ancestor_op_in_block(x.operation) for y in op.results for x in y.uses}
        if users.isdisjoint(needed) and is_side_effect_free(op):
            op.detach()
            block.insert_op_after(op, product)
        else:
            needed.add(op)
        op = before
