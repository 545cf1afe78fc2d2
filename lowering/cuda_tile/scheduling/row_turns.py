"""Kernels that compute half of the rows of their tiles after the other half: MMAs of warps have all
of their sums in registers, those of two products beside operands.

    s = q k'; o += p v; store o        for i in 0, 1:  si = qi k'; oi += pi v; store oi
"""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint

from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp, ReturnOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.lowering.cuda_tile.analysis.cost_model import are_tall, is_full_of_sums
from tilewright.lowering.cuda_tile.analysis.split_dimensions import SplitTiles, UnsplitError
from tilewright.lowering.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.lowering.cuda_tile.scheduling.part_accesses import OpsAt
from tilewright.lowering.cuda_tile.scheduling.split_blocks import (
    check_ops,
    rewrite_parts,
    split_products,
)

_TURNS = 2


def turn_rows(entry: EntryOp, arch: Target | None) -> None:
    """Split the rows of an entry, where registers are too few for all of them."""
    if arch is None or not is_full_of_sums(entry, arch):
        return
    products = [op for op in entry.walk() if isinstance(op, Multiplication)]
    returns = [op for op in entry.walk() if isinstance(op, ReturnOp)]
    if not are_tall(products) or len(returns) > 1:
        return
    split = SplitTiles(entry, _TURNS)
    try:
        check_ops(entry)
        split.copy_cheap()
        split_products(split, lambda *_: 0)
    except UnsplitError:
        return
    body = Block(arg_types=[TileType.get((), i32)])
    rewrite_parts(split, body.args[0])
    source, last = entry.body.block, returns[0]
    for op in list(source.ops):
        if op is not last:
            op.detach()
            body.add_op(op)
    body.add_op(ContinueOp.create())
    at = OpsAt(InsertPoint.before(last), last)
    bounds = [at.constant(number, i32) for number in (0, _TURNS, 1)]
    turns = ForOp.create(operands=bounds, regions=[Region(body)])
    turns.location = last.location
    source.insert_op_before(turns, last)
