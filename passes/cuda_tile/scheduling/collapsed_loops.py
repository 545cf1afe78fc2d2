"""Loops over ranges, of which one is all that another one repeats, as one loop: what it loads ahead
is not begun anew in every turn of the outer one.

    for i in 0 to 3 { for j in 0 to 5 { s = f(i, j, s) } }   ->   for n in 0 to 15 {
                                                                      s = f(n / 5, n mod 5, s) }
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.passes.cuda_tile.analysis.facts import is_zero
from tilewright.passes.cuda_tile.layouts.elements import element_of
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication

_MOST = 1 << 31
"""The turns that a variable of 32 bits cannot count."""


def collapse_loops(entry: EntryOp) -> None:
    """Make one loop of two, the inner ones first, where the inner one multiplies and constants say
    how often both run."""
    for outer in reversed([op for op in entry.walk() if isinstance(op, ForOp)]):
        inner = _only_loop(outer)
        turns = [0 if loop is None else _turns(loop) for loop in (outer, inner)]
        alike = inner is not None and inner.step.type == outer.step.type
        if inner is not None and alike and 0 < prod(turns) < _MOST:
            _collapse(outer, inner, turns)


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
        and all(len(list(value.uses)) == 1 for value in (*carried, *inner.results))
        and all(isinstance(op, PureOp) and not op.regions for op in others)
    )
    multiplies = any(isinstance(op, Multiplication) for op in inner.region.block.ops)
    return inner if passes_on and multiplies else None


def _turns(loop: ForOp) -> int:
    """How often a loop runs that counts up from 0 by 1; 0 where that is not known."""
    step, bound = (_constant(value) for value in (loop.step, loop.upper_bound))
    return max(bound, 0) if is_zero(loop.lower_bound) and step == 1 else 0


def _constant(value: SSAValue) -> int:
    owner = value.owner
    return int(owner.elements.array().reshape(-1)[0]) if isinstance(owner, core.ConstantOp) else 0


def _collapse(outer: ForOp, inner: ForOp, turns: Sequence[int]) -> None:
    body, own = outer.region.block, inner.region.block
    number, carried, last, again = body.args[0], body.args[1:], body.last_op, own.last_op
    assert last is not None and again is not None
    type_ = element_of(number)
    outer.operands[1] = TileBuilder(outer).constant(prod(turns), type_)
    at = TileBuilder(outer, InsertPoint.at_start(body))
    every = at.constant(turns[1], type_)
    i = at.add(integer.DivIOp, [number, every], signedness=Signedness.UNSIGNED)
    number.replace_uses_with_if(i, lambda use: use.operation is not i.owner)
    j = at.add(integer.RemIOp, [number, every], signedness=Signedness.UNSIGNED)
    for argument, value in zip(own.args, (j, *carried), strict=True):
        argument.replace_all_uses_with(value)
    last.operands = again.operands
    again.detach()
    again.erase()
    for op in own.ops:
        op.detach()
        body.insert_op_before(op, inner)
    inner.detach()
    inner.erase()
