"""Kernels whose CTAs take one tile block after the other, so that what the next one loads comes
while the last one is stored.

A launch starts as many CTAs as fit, along x, and tells the grid of blocks by three more arguments:

    for %n in (%cta to X Y Z, step %ctas):    x = n mod X Y mod X;  y = n mod X Y / X;  z = n / X Y

What no block's number has to do with stays in front of the loop: views of tensors, and scalars.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, UnitAttr, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp, ReturnOp
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, StoreViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.ptx.control_flow import TAKES_BLOCKS
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.scheduling.order_blocks import (
    are_simple,
    long_dimension,
    numbers_of,
    slow_dimension,
)

_INDEX = TileType.get((), i32)


@dataclass(frozen=True)
class CudaTileTakeBlocksPass(ModulePass):
    """Let CTAs take tile blocks in turn, in kernels of one product of matrices, of views, whose
    blocks neither wait for each other nor differ in how long they take."""

    name = "cuda-tile-take-blocks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for entry in [inner for inner in op.walk() if isinstance(inner, EntryOp)]:
            if _may_take(entry):
                _take_blocks(entry)


def _may_take(entry: EntryOp) -> bool:
    """True of a kernel of one product, that accesses views alone."""
    ops = list(entry.walk())
    accesses = [op for op in ops if isinstance(op, MemoryOp)]
    return (
        sum(isinstance(op, Multiplication) for op in ops) == 1
        and sum(isinstance(op, ReturnOp) for op in ops) == 1
        and all(isinstance(op, LoadViewTkoOp | StoreViewTkoOp) for op in accesses)
        and are_simple(ops)
        and long_dimension(ops) is None
    )


def _take_blocks(entry: EntryOp) -> None:
    block, body = entry.body.block, Block(arg_types=[_INDEX])
    ops, end = list(block.ops)[:-1], block.last_op
    assert end is not None
    extents = [block.insert_arg(_INDEX, len(block.args)) for _ in range(3)]
    inputs = [*entry.function_type.inputs, *[_INDEX] * 3]
    entry.properties["function_type"] = FunctionType.from_lists(inputs, [])
    at = TileBuilder(entry, InsertPoint.at_start(block))
    cta = at.insert(core.GetTileBlockIdOp.create(result_types=[_INDEX] * 3))
    ctas = at.insert(core.GetNumTileBlocksOp.create(result_types=[_INDEX] * 3))
    x, y, z = extents
    row = at.add(integer.MulIOp, [x, y])
    total = at.add(integer.MulIOp, [row, z])
    inner = TileBuilder(entry, InsertPoint.at_start(body))
    number = body.args[0]
    dim = slow_dimension(entry.walk())
    numbers = numbers_of(inner, number, extents, 2 if dim is None else dim)
    own: set[Operation] = set(body.ops)
    for op in ops:
        if isinstance(op, core.GetTileBlockIdOp | core.GetNumTileBlocksOp):
            place = numbers if isinstance(op, core.GetTileBlockIdOp) else extents
            for old, new in zip(op.results, place, strict=True):
                old.replace_all_uses_with(new)
            op.detach()
            op.erase()
        elif not _is_common(op, own, number):
            op.detach()
            body.add_op(op)
            own.add(op)
    body.add_op(ContinueOp.create())
    bounds = [cta.results[0], total, ctas.results[0]]
    loop = ForOp.create(operands=bounds, regions=[Region(body)])
    loop.location = entry.location
    Rewriter.insert_op(loop, InsertPoint.before(end))
    entry.attributes[TAKES_BLOCKS] = UnitAttr()


def _is_common(op: Operation, own: set[Operation], number: SSAValue) -> bool:
    """True of what all blocks compute alike, and no tiles."""
    return (
        not op.regions
        and not isinstance(op, MemoryOp)
        and bool(op.results)
        and not any(isinstance(x.type, TileType) and x.type.shape for x in op.results)
        and not any(x is number or x.owner in own for x in op.operands)
    )
