"""Kernels that compute half of their tiles after the other half: MMAs of warps have all sums in
registers, beside operands, and tensor memory has so many columns.

    s = q k'; o += p v; store o        for i in 0, 1:  si = qi k'; oi += pi v; store oi
"""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Region

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp, ReturnOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.lowering.cuda_tile.analysis.cost_model import is_full_of_sums
from tilewright.lowering.cuda_tile.analysis.place_accumulators import lacks_columns
from tilewright.lowering.cuda_tile.analysis.split_dimensions import SplitTiles, UnsplitError
from tilewright.lowering.cuda_tile.scheduling.split_blocks import (
    check_ops,
    rewrite_parts,
    split_products,
)

_TURNS, _LEAST = 2, 128
"""The turns, and the least rows or columns of each: all warps multiply."""


def turn_kernel(entry: EntryOp, arch: Target | None) -> None:
    """Split the rows of an entry, or its columns, until there is room for sums."""
    while arch is not None and (is_full_of_sums(entry, arch) or lacks_columns(entry, arch)):
        if not any(_turn(entry, axis) for axis in (0, 1)):
            return


def _turn(entry: EntryOp, axis: int) -> bool:
    """Split an entry along a dimension of its products, if that can be."""
    returns = [op for op in entry.walk() if isinstance(op, ReturnOp)]
    split = SplitTiles(entry, _TURNS)

    def legal(*extents: int) -> int | None:
        return axis if extents[axis] >= _LEAST * _TURNS else None

    try:
        check_ops(entry)
        split.copy_cheap()
        split_products(split, legal)
    except UnsplitError:
        return False
    body, source, last = Block(arg_types=[TileType.get((), i32)]), entry.body.block, returns[0]
    if len(returns) > 1:
        return False
    rewrite_parts(split, body.args[0])
    for op in list(source.ops):
        if op is not last:
            op.detach()
            body.add_op(op)
    body.add_op(ContinueOp.create())
    at = TileBuilder(last)
    bounds = [at.constant(number, i32) for number in (0, _TURNS, 1)]
    turns = ForOp.create(operands=bounds, regions=[Region(body)])
    turns.location = last.location
    source.insert_op_before(turns, last)
    return True
