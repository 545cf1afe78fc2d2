"""Persistent kernels, whose CTAs compute one tile block after the other: what the next one loads
comes while the last one is stored.

A launch starts as many CTAs as fit, along x, and tells the grid of blocks by three more arguments:

    for %n in (%cta to X Y Z, step %ctas):    x = n mod X Y mod X;  y = n mod X Y / X;  z = n / X Y

What no block's number has to do with stays in front of the loop: views of tensors, and scalars.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ReturnOp
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.ptx.control_flow import TAKES_BLOCKS
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.legalization.shaped_builder import INDEX, ShapedBuilder, loop_of
from tilewright.passes.cuda_tile.scheduling.order_blocks import (
    are_simple,
    long_dimension,
    numbers_of,
    slow_dimension,
)


@dataclass(frozen=True)
class CudaTileMakePersistentPass(ModulePass):
    """Let CTAs compute tile blocks one after the other, in kernels of one product that load from
    views, whose blocks neither wait for each other nor differ in how long they take."""

    name = "cuda-tile-make-persistent"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for entry in [inner for inner in op.walk() if isinstance(inner, EntryOp)]:
            if _may_be_persistent(entry):
                _make_persistent(entry)


def _may_be_persistent(entry: EntryOp) -> bool:
    """True of a kernel of one product that loads from views, and elsewhere perhaps."""
    ops = list(entry.walk())
    accesses = [op for op in ops if isinstance(op, MemoryOp)]
    return (
        sum(isinstance(op, Multiplication) for op in ops) == 1
        and sum(isinstance(op, ReturnOp) for op in ops) == 1
        and any(isinstance(op, LoadViewTkoOp) for op in accesses)
        and are_simple(ops)
        and long_dimension(ops) is None
    )


def _make_persistent(entry: EntryOp) -> None:
    block, body = entry.body.block, Block(arg_types=[INDEX])
    ops, end = list(block.ops)[:-1], block.last_op
    assert end is not None
    extents = [block.insert_arg(INDEX, len(block.args)) for _ in range(3)]
    inputs = [*entry.function_type.inputs, *[INDEX] * 3]
    entry.properties["function_type"] = FunctionType.from_lists(inputs, [])
    at = ShapedBuilder(entry, InsertPoint.at_start(block))
    cta, ctas = at.grid(core.GetTileBlockIdOp), at.grid(core.GetNumTileBlocksOp)
    x, y, z = extents
    row = at.add(integer.MulIOp, [x, y])
    total = at.add(integer.MulIOp, [row, z])
    inner = ShapedBuilder(entry, InsertPoint.at_start(body))
    number = body.args[0]
    dim = slow_dimension(entry.walk())
    numbers = numbers_of(inner, number, extents, 2 if dim is None else dim)
    own: set[Operation] = set(body.ops)
    for op in ops:
        if isinstance(op, core.GetTileBlockIdOp | core.GetNumTileBlocksOp):
            place = numbers if isinstance(op, core.GetTileBlockIdOp) else extents
            for old, new in zip(op.results, place, strict=True):
                old.replace_all_uses_with(new)
            Rewriter.erase_op(op)
        elif not _is_common(op, own, number):
            op.detach()
            body.add_op(op)
            own.add(op)
    body.add_op(ContinueOp.create())
    loop = loop_of([cta[0], total, ctas[0]], body)
    ShapedBuilder(entry, InsertPoint.before(end)).insert(loop)
    entry.attributes[TAKES_BLOCKS] = UnitAttr()


def _is_common(op: Operation, own: set[Operation], number: SSAValue) -> bool:
    """True of an op that has the same scalars in all blocks."""
    return (
        not op.regions
        and not isinstance(op, MemoryOp)
        and bool(op.results)
        and not any(isinstance(x.type, TileType) and x.type.shape for x in op.results)
        and not any(x is number or x.owner in own for x in op.operands)
    )
