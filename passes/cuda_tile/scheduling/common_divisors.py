"""Quotients by what all iterations of a loop share, by a reciprocal that is computed before it:
ptxas divides by some twenty instructions, one behind the other, each time.

                                             %r = divi 0xffffffff, %d unsigned
    for ..                                   for ..
      %q = divi %n, %d unsigned      ->        %a = mulhii %n, %r
                                               %b = subi %n, (muli %a, %d)
                                               %q = select (cmpi %b >= %d), %a + 1, %a

As r is (2^32 - 1 - s) / d of some s < d, n r / 2^32 is less than n / d by less than n / 2^32: its
whole part is the quotient, or one less.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.attributes import BoundedAttr
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.operation import is_signed, word
from tilewright.passes.cuda_tile.analysis.facts import is_natural, known_integer
from tilewright.passes.cuda_tile.legalization.shaped_builder import (
    INDEX,
    UNSIGNED,
    ShapedBuilder,
)


def divide_by_reciprocals(loop: ForOp) -> None:
    """Divide the scalars of a loop so."""
    before = ShapedBuilder(loop, InsertPoint.before(loop))
    reciprocals: dict[SSAValue, SSAValue] = {}
    for op in list(loop.region.block.ops):
        if not isinstance(op, integer.DivIOp | integer.RemIOp) or not _is_common(op, loop):
            continue
        number, divisor = op.operands
        if divisor not in reciprocals:
            most = before.constant(-1, i32)
            reciprocals[divisor] = before.add(integer.DivIOp, [most, divisor], **UNSIGNED)
        at = ShapedBuilder(loop, InsertPoint.before(op))
        less = at.add(integer.MulhiIOp, [number, reciprocals[divisor]])
        product = at.add(integer.MulIOp, [less, divisor])
        left = at.add(integer.SubIOp, [number, product])
        exceeds = at.compare(ComparisonPredicate.GREATER_THAN_OR_EQUAL, left, divisor)
        if isinstance(op, integer.DivIOp):
            pair = at.add(integer.AddIOp, [less, at.constant(1, i32)]), less
        else:
            pair = at.add(integer.SubIOp, [left, divisor]), left
        result = at.add(core.SelectOp, [exceeds, *pair], INDEX)
        if is_natural(op.results[0]):
            result = at.add(AssumeOp, [result], predicate=BoundedAttr.get(0, None))
        op.results[0].replace_all_uses_with(result)
        Rewriter.erase_op(op)


def _is_common(op: Operation, loop: ForOp) -> bool:
    """True of a scalar quotient or remainder without signs, rounded down, by what is unknown and
    computed in front of the loop."""
    number, divisor = op.operands
    owner = divisor.owner
    block = owner.parent if isinstance(owner, Operation) else owner
    return (
        op.results[0].type == INDEX
        and block is loop.parent
        and known_integer(divisor) is None
        and (not is_signed(op) or (is_natural(number) and is_natural(divisor)))
        and (isinstance(op, integer.RemIOp) or word(op, "rounding", "zero") != "positive_inf")
    )
