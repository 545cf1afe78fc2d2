"""`cuda-tile-canonicalize`: the shorter of equal programs, as NVIDIA's dialect folds them.

    %n = xori %c, %true : tile<i1>                  if %c -> (tile<f32>) {
    %r = if %n -> (tile<f32>) {            ->         yield %y : tile<f32>
      yield %x : tile<f32>                          } else { yield %x : tile<f32> }
    } else { yield %y : tile<f32> }        ->       select %c, %y, %x : tile<i1>, tile<f32>

`select` and `if` of what is known of their condition or is the same either way, assumptions made
twice, and the product of a sum first, as `cuda-tile-fuse-fma` likes it. Constants are made once, at
the begin of the function, and what nobody uses goes.
"""

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsolatedFromAbove

from tilewright.dialects.cuda_tile.ops.control_flow import IfOp
from tilewright.dialects.cuda_tile.ops.core import ConstantOp, SelectOp
from tilewright.dialects.cuda_tile.ops.elementwise import RoundedFloat
from tilewright.dialects.cuda_tile.ops.floating_point import AddFOp, MulFOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.frozen import frozen
from tilewright.passes.cuda_tile_fold_if import IF_RULES
from tilewright.passes.cuda_tile_fold_select import SELECT_RULES

Rule = Callable[..., None]
"""Rewrites an op where it applies, else leaves it alone."""


@frozen
class CudaTileCanonicalizePass(ModulePass):
    """Fold CUDA Tile IR until nothing is left to fold."""

    name = "cuda-tile-canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(
            GreedyRewritePatternApplier([Rules()], ctx, dce_enabled=True)
        ).rewrite_module(op)


class Rules(RewritePattern):
    """The rules of an op's kind, the first that applies."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        for rule in RULES.get(type(op), ()):
            rule(op, rewriter)
            if rewriter.has_done_action:
                return


def product_first(op: RoundedFloat, rewriter: PatternRewriter) -> None:
    """addf(c, mulf(a, b))  ->  addf(mulf(a, b), c)"""
    if isinstance(op.rhs.owner, MulFOp) and not isinstance(op.lhs.owner, MulFOp):
        op.operands = [op.rhs, op.lhs]
        rewriter.notify_op_modified(op)


def assumed_before(op: AssumeOp, rewriter: PatternRewriter) -> None:
    """assume(p, assume(p, x))  ->  assume(p, x)"""
    if isinstance(op.value.owner, AssumeOp) and op.value.owner.predicate == op.predicate:
        rewriter.replace(op, (), [op.value])


def once(op: ConstantOp, rewriter: PatternRewriter) -> None:
    """A constant that is made before, or is made within a region."""
    block = function_block(op)
    if block is None:
        return
    for other in block.ops:
        if other is op:
            return
        if not isinstance(other, ConstantOp):
            break
        if other.elements == op.elements:
            rewriter.replace(op, (), [other.result])
            return
    if op.parent is not block:
        first = block.first_op
        assert first is not None
        op.detach()
        rewriter.insert(op, InsertPoint.before(first))


def function_block(op: Operation) -> Block | None:
    """The block of the function around an op."""
    block = op.parent
    while block is not None:
        parent = block.parent_op()
        if parent is None or parent.has_trait(IsolatedFromAbove):
            return block
        block = parent.parent
    return None


RULES: dict[type[Operation], tuple[Rule, ...]] = {
    AddFOp: (product_first,),
    AssumeOp: (assumed_before,),
    ConstantOp: (once,),
    SelectOp: SELECT_RULES,
    IfOp: IF_RULES,
}
"""The rules by the op they rewrite."""
