"""Persistent kernels, whose CTAs compute one tile block after the other: what the next one loads
comes while the last one is stored.

A launch starts as many CTAs as fit, along x, and tells the grid of blocks by three more arguments,
and by two more which of these it takes:

    for %n in (%first + %cta to %end, step %ctas):
        x = n mod X Y mod X;  y = n mod X Y / X;  z = n / X Y

What no block's number has to do with stays in front of the loop: views of tensors, and scalars.
Where blocks differ in how long they take, as in causal attention, the longest come first, and CTAs
take them there and back, so that each has as much to do as the others:

    for %turn in (0 to as many as are left to it):    n = %turn %ctas + (%cta, or %ctas - 1 - %cta)
"""

from __future__ import annotations

from collections import Counter

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.attributes import BoundedAttr
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp, ReturnOp
from tilewright.dialects.cuda_tile.ops.memory import GdcWaitTkoOp, MemoryOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType, TokenType
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.control_flow import TAKES_BLOCKS
from tilewright.passes.cuda_tile.analysis.loaded_operands import loaded_by
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import is_added
from tilewright.passes.cuda_tile.legalization.shaped_builder import (
    EQUAL,
    INDEX,
    UNSIGNED,
    ShapedBuilder,
    at_start,
    loop_of,
)
from tilewright.passes.cuda_tile.scheduling.common_divisors import divide_by_reciprocals
from tilewright.passes.cuda_tile.scheduling.order_blocks import (
    are_simple,
    in_patches,
    long_dimension,
    numbers_of,
    share_both_ways,
    slow_dimension,
)

_PAIR, _MOST_ROWS = 2, 128
"""The products of a loop of attention, and the rows that one CTA has."""


@frozen
class CudaTileMakePersistentPass(ModulePass):
    """Let CTAs compute tile blocks one after the other, in kernels that load from views, of one
    product of matrices and blocks that take as long as each other, or of two in each of its loops,
    as in attention; no block waits for another. Blocks may all lie `along_x`, and be those `behind`
    the ones that a grid computes which ends first."""

    name = "cuda-tile-make-persistent"

    along_x: bool = False
    behind: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for entry in descendants(op, EntryOp):
            if _may_be_persistent(entry):
                _make_persistent(entry, self.along_x)
                if self.behind:
                    at_start(entry).insert(GdcWaitTkoOp.create(result_types=[TokenType()]))


def _may_be_persistent(entry: EntryOp) -> bool:
    """True of a kernel of one product, or of pairs in loops, that loads from views, and elsewhere
    perhaps."""
    ops = list(entry.walk())
    accesses = [op for op in ops if isinstance(op, MemoryOp)]
    products = Counter(op.parent_op() for op in ops if isinstance(op, Multiplication))
    alike = products.total() == 1 and long_dimension(ops) is None
    return (
        (alike or _are_pairs(products))
        and sum(isinstance(op, ReturnOp) for op in ops) == 1
        and any(isinstance(op, LoadViewTkoOp) for op in accesses)
        and are_simple(ops)
    )


def _are_pairs(products: Counter[Operation | None]) -> bool:
    """True of two products in each of some loops, of so few rows that threads have registers left,
    whose operands from outside come by TMA as they are. Beside sums of 8 bits, which are added,
    threads have registers for one loop alone."""
    loops = [loop for loop in products if isinstance(loop, ForOp)]
    own = [op for loop in loops for op in loop.region.block.ops if isinstance(op, Multiplication)]
    return (
        bool(products)
        and all(isinstance(loop, ForOp) and count == _PAIR for loop, count in products.items())
        and all(shape_of(op.result)[-2] <= _MOST_ROWS for op in own)
        and (sum(x.prev_op not in products for x in loops) == 1 or not any(map(is_added, own)))
        and all(_is_loaded(x) for op in own for x in op.operands[:2] if _parent(x) != op.parent)
    )


def _parent(value: SSAValue) -> Block | None:
    return value.owner.parent if isinstance(value.owner, Operation) else value.owner


def _is_loaded(operand: SSAValue) -> bool:
    source = loaded_by(operand)
    return source is not None and not source.converted


def _make_persistent(entry: EntryOp, along_x: bool) -> None:
    block, body = entry.body.block, Block(arg_types=[INDEX])
    *ops, ending = block.ops
    *extents, first, end = (block.insert_arg(INDEX, len(block.args)) for _ in range(5))
    inputs = [*entry.function_type.inputs, *[INDEX] * 5]
    entry.properties["function_type"] = FunctionType.from_lists(inputs, [])
    at = ShapedBuilder(entry, InsertPoint.at_start(block))
    cta, ctas = at.grid(core.GetTileBlockIdOp), at.grid(core.GetNumTileBlocksOp)
    one = at.constant(1, i32)
    grid: list[SSAValue] = [extents[0], one, one] if along_x else [*extents]
    inner = ShapedBuilder(entry, InsertPoint.at_start(body))
    number, bounds = body.args[0], [at.add(integer.AddIOp, [first, cta[0]]), end, ctas[0]]
    slow, long = (find(entry.walk()) for find in (slow_dimension, long_dimension))
    if long is not None:
        total = at.add(integer.SubIOp, [end, first])
        bounds = [at.constant(0, i32), _turns(at, total, cta[0], ctas[0]), at.constant(1, i32)]
        taken = _there_and_back(inner, number, cta[0], ctas[0])
        number = inner.add(integer.AddIOp, [first, taken])
    dim = next((x for x in (long, slow) if x is not None), 2)
    zero = inner.constant(0, i32)
    numbers = [number, zero, zero] if along_x else numbers_of(inner, number, grid, dim)
    if not along_x and (long, slow) == (None, None) and share_both_ways(entry.walk()):
        numbers = in_patches(inner, numbers, grid)
    if long is not None:
        last = inner.add(integer.SubIOp, [grid[dim], 1])
        numbers[dim] = inner.add(integer.SubIOp, [last, numbers[dim]])
    numbers = [inner.add(AssumeOp, [x], predicate=BoundedAttr.get(0, None)) for x in numbers]
    own: set[Operation] = set(body.ops)
    for op in ops:
        if isinstance(op, core.GetTileBlockIdOp | core.GetNumTileBlocksOp):
            place = numbers if isinstance(op, core.GetTileBlockIdOp) else grid
            Rewriter.replace_op(op, (), place)
        elif not _is_common(op, own, body.args[0]):
            op.detach()
            body.add_op(op)
            own.add(op)
    body.add_op(ContinueOp.create())
    loop = loop_of(bounds, body)
    ShapedBuilder(entry, InsertPoint.before(ending)).insert(loop)
    divide_by_reciprocals(loop)
    entry.attributes[TAKES_BLOCKS] = StringAttr("alike" if long is None else "longest first")


def _there_and_back(at: ShapedBuilder, turn: SSAValue, cta: SSAValue, ctas: SSAValue) -> SSAValue:
    """The number of the block that a CTA takes at its turn."""
    one = at.constant(1, i32)
    back = at.compare(EQUAL, at.add(integer.AndIOp, [turn, one]), one)
    mirrored = at.add(integer.SubIOp, [at.add(integer.SubIOp, [ctas, one]), cta])
    place = at.select(back, mirrored, cta)
    return at.add(integer.AddIOp, [at.add(integer.MulIOp, [turn, ctas]), place])


def _turns(at: ShapedBuilder, total: SSAValue, cta: SSAValue, ctas: SSAValue) -> SSAValue:
    """The turns of a CTA: those that all have, and one if its place in the next is a block."""
    whole = at.add(integer.DivIOp, [total, ctas], **UNSIGNED)
    number = _there_and_back(at, whole, cta, ctas)
    has = at.compare(ComparisonPredicate.LESS_THAN, number, total)
    more = at.add(integer.AddIOp, [whole, 1])
    return at.select(has, more, whole)


def _is_common(op: Operation, own: set[Operation], number: SSAValue) -> bool:
    """True of an op that has the same scalars in all blocks."""
    return (
        not op.regions
        and not isinstance(op, MemoryOp)
        and bool(op.results)
        and not any(isinstance(x.type, TileType) and x.type.shape for x in op.results)
        and not any(x is number or x.owner in own for x in op.operands)
    )
