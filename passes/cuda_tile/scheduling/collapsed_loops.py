"""Two loops over ranges as one, where the inner one is all that the outer one repeats: copies ahead
do not begin anew in every iteration of the outer one.

    for i in 0 to 3 { for j in 0 to 5 { s = f(i, j, s) } }   ->   for n in 0 to 15 {
                                                                      s = f(n / 5, n mod 5, s) }
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.ops import integer
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.passes.cuda_tile.analysis.facts import counts_from_zero, known_integer
from tilewright.passes.cuda_tile.layouts.elements import element_of
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.legalization.shaped_builder import UNSIGNED, replace_others


def collapse_loops(entry: EntryOp) -> None:
    """Make one loop of two, the inner ones first, where the inner one multiplies and constants say
    how often both run, which the type of their variables has room for."""
    for outer in reversed(descendants(entry, ForOp)):
        inner = _only_loop(outer)
        if inner is None or inner.step.type != outer.step.type:
            continue
        counts = _count(outer), _count(inner)
        if 0 < prod(counts) < 1 << (ELEMENT_OF[element_of(outer.step)].bits - 1):
            _collapse(outer, inner, counts)


def _only_loop(outer: ForOp) -> ForOp | None:
    """The loop that carries what another one carries, which computes where it is and no more."""
    ops = list(outer.region.block.ops)
    if len(ops) < 2 or not isinstance(inner := ops[-2], ForOp):
        return None
    *others, _, last = ops
    carried = outer.region.block.args[1:]
    passes_on = (
        isinstance(last, ContinueOp)
        and list(inner.init_values) == list(carried)
        and list(last.operands) == list(inner.results)
        and all(value.has_one_use() for value in (*carried, *inner.results))
        and all(isinstance(op, PureOp) and not op.regions for op in others)
    )
    multiplies = any(isinstance(op, Multiplication) for op in inner.region.block.ops)
    return inner if passes_on and multiplies else None


def _count(loop: ForOp) -> int:
    """How often a loop runs that counts up from 0 by 1; 0 where that is not known."""
    bound = known_integer(loop.upper_bound) or 0
    return max(bound, 0) if counts_from_zero(loop) else 0


def _collapse(outer: ForOp, inner: ForOp, counts: Sequence[int]) -> None:
    body, own = outer.region.block, inner.region.block
    number, carried, last, again = body.args[0], body.args[1:], body.last_op, own.last_op
    assert last is not None and again is not None
    type_ = element_of(number)
    outer.operands[1] = TileBuilder(outer).constant(prod(counts), type_)
    at = TileBuilder(outer, InsertPoint.at_start(body))
    every = at.constant(counts[1], type_)
    i = at.add(integer.DivIOp, [number, every], **UNSIGNED)
    replace_others(number, i)
    j = at.add(integer.RemIOp, [number, every], **UNSIGNED)
    Rewriter.inline_block(own, InsertPoint.before(inner), (j, *carried))
    last.operands = again.operands
    Rewriter.erase_op(again)
    Rewriter.erase_op(inner)
