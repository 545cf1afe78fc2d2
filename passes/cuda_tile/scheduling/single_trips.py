"""Loops over the tiles of rows that may be one tile: then nothing is a loop, and what several of
them load is loaded once.

    for j in 0 to n { s += load(j) }              if n == 1 { x = load(0); s = x; v = (x - s)^2 }
    for j in 0 to n { v += (load(j) - s)^2 }  ->  else { the loops }

Loops may count elements, a tile a step: those of step 4096 run once where n is from 1 to 4096.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.dialects.cuda_tile.ops import integer
from tilewright.dialects.cuda_tile.ops.control_flow import (
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LoopOp,
    ReturnOp,
    YieldOp,
)
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.op_facts import SEGMENTS
from tilewright.passes.cuda_tile.analysis.facts import is_zero, known_integer
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_repeatable
from tilewright.passes.cuda_tile.layouts.elements import element_of
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.legalization.shaped_builder import EQUAL, SIGNED, ShapedBuilder

_OTHER = (Multiplication, LoopOp, IfOp, BreakOp)


def split_single_trips(entry: EntryOp) -> None:
    """Give a kernel without products, whose loops all run once or all do not, a branch for either,
    if that saves a load."""
    block = entry.body.block
    loops = descendants(entry, ForOp)
    trips = {(loop.upper_bound, known_integer(loop.step)) for loop in loops}
    plain = all(loop.parent is block and _begins_at_zero(loop) for loop in loops)
    if len(trips) != 1 or not plain or descendants(entry, _OTHER):
        return
    before = list(block.ops)[: block.get_operation_index(loops[0])]
    behind = [op for op in list(block.ops)[len(before) :] if not isinstance(op, ReturnOp)]
    once = _Once(before)
    for op in behind:
        once.add(op)
    if not once.saved:
        once.block.erase()
        return
    ((count, step),) = trips
    at = ShapedBuilder(loops[0])
    one = at.constant(1, element_of(count))
    if step == 1:
        is_one = at.compare(EQUAL, count, one, SIGNED)
    else:
        last = at.add(integer.SubIOp, [count, one])
        is_one = at.compare(ComparisonPredicate.LESS_THAN, last, loops[0].step)
    for op in behind:
        op.detach()
    branches = (once.block, Block(behind))
    for branch in branches:
        branch.add_op(YieldOp.create())
    both = IfOp.create(operands=[is_one], regions=[Region(x) for x in branches])
    assert block.last_op is not None
    ShapedBuilder(loops[0], InsertPoint.before(block.last_op)).insert(both)


def _begins_at_zero(loop: ForOp) -> bool:
    """True of a loop from zero on, by a known step, that nothing leaves early."""
    known = is_zero(loop.lower_bound) and known_integer(loop.step) is not None
    return known and isinstance(loop.region.block.last_op, ContinueOp)


class _Once:
    """A block of ops behind others, of loops what one iteration does, and what is the same once."""

    def __init__(self, before: list[Operation]):
        self.block, self.saved = Block(), 0
        self._values: dict[SSAValue, SSAValue] = {}
        self._known = {self._key(op): op for op in before if _repeats(op)}

    def add(self, op: Operation) -> None:
        """Add an op."""
        if isinstance(op, ForOp):
            self._iterate(op)
            return
        key = self._key(op) if _repeats(op) else op
        if (known := self._known.get(key)) is not None:
            self.saved += isinstance(op, LoadViewTkoOp)
            self._values.update(zip(op.results, known.results, strict=True))
            return
        self._known[key] = new = op.clone(self._values)
        for one, other in zip(new.walk(), op.walk(), strict=True):
            one.location = other.location
        self.block.add_op(new)

    def _iterate(self, loop: ForOp) -> None:
        body, values = loop.region.block, self._values
        *ops, last = body.ops
        for argument, value in zip(body.args, (loop.lower_bound, *loop.init_values), strict=True):
            values[argument] = values.get(value, value)
        for op in ops:
            self.add(op)
        for result, value in zip(loop.results, last.operands, strict=True):
            values[result] = values.get(value, value)

    def _key(self, op: Operation) -> object:
        said = {**op.properties, **op.attributes}
        operands: Sequence[SSAValue] = op.operands
        if isinstance(op, LoadViewTkoOp):  # whatever it waits for writes nothing
            operands = [op.view, *op.index]
            del said[SEGMENTS]
        own = tuple(self._values.get(value, value) for value in operands)
        return type(op), own, frozenset(said.items()), tuple(op.result_types)


def _repeats(op: Operation) -> bool:
    """True of an op that has the same results again."""
    if isinstance(op, LoadViewTkoOp):
        return is_repeatable(op)
    return isinstance(op, PureOp) and not op.regions
