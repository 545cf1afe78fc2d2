"""Pointers and integers that a loop advances: what they are in an iteration follows from its
number.

    for %k in (0 to %n, step 1) iter_values(%p = %p0) { ...; %q = offset %p, %by; continue %q }
    for %k in (0 to %n, step 1) { %p = offset %p0, %k * %by; ... }

Then what is known of `%p0` and `%by` is known of `%p`, and loads of iterations ahead know where
they are.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from tilewright.dialects.ancestors import descendants, terminator
from tilewright.dialects.cuda_tile.enums import IntegerOverflow
from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.control_flow import BreakOp, ContinueOp, ForOp
from tilewright.dialects.cuda_tile.ops.integer import AddIOp, DivIOp, MulIOp, SubIOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.passes.cuda_tile.analysis.facts import is_zero, known_integer, repeated
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.layouts.passed_values import region_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import (
    SIGNED,
    ShapedBuilder,
    rebuilt,
)

_WRAPPING = {"overflow": IntegerOverflow.NONE}


def rewrite_advanced(entry: EntryOp, *, integers: bool = False) -> None:
    """Rewrite the pointers, and the `integers`, that an entry's loops advance by the same in every
    iteration."""
    kinds = (core.OffsetOp, AddIOp) if integers else (core.OffsetOp,)
    for op in list(entry.walk()):
        if isinstance(op, ForOp) and op.unsigned_cmp is None and _ends_once(op):
            _rewrite(op, kinds)


def _ends_once(loop: ForOp) -> bool:
    """True where every iteration ends at the end of the body."""
    last = loop.region.block.last_op
    leaving = descendants(loop, ContinueOp | BreakOp)
    return all(op is last or region_of(op) is not loop for op in leaving)


def _rewrite(loop: ForOp, kinds: tuple[type[Operation], ...]) -> None:
    block = loop.region.block
    last = terminator(block)
    carried: list[int] = []
    for i, pointer in enumerate(block.args[1:]):
        step = last.operands[i].owner
        amount = None
        if isinstance(step, kinds) and step.operands[0] is pointer:
            amount = _amount(step.operands[1], loop)
        if amount is None:
            carried.append(i)
            continue
        place = _place(loop, loop.init_values[i], amount)
        pointer.replace_uses_with_if(place, lambda use, step=step: use.operation is not step)
        if loop.result_values[i].first_use is not None:
            carried.append(i)
        elif not last.operands[i].has_one_use():
            pointer.replace_all_uses_with(place)
    if len(carried) < len(block.args) - 1:
        _carry(loop, carried)


def _amount(offset: SSAValue, loop: ForOp) -> SSAValue | None:
    """The scalar outside of the loop that every element of an offset is; None where it is none."""
    if (number := known_integer(offset)) is not None:
        return ShapedBuilder(loop).constant(number, element_of(offset))
    offset = repeated(offset)
    return None if shape_of(offset) or loop.is_ancestor(offset.owner) else offset


def _place(loop: ForOp, first: SSAValue, amount: SSAValue) -> SSAValue:
    """The pointers of an iteration: the first ones, as often moved as there were iterations."""
    block = loop.region.block
    assert block.first_op is not None
    before = ShapedBuilder(block.first_op)
    element = element_of(first)
    wide = element if isa(element, IntegerType) else i64
    number = before.resized(block.args[0], wide, SIGNED)
    if not is_zero(loop.lower_bound):
        lower = before.resized(loop.lower_bound, wide, SIGNED)
        number = before.add(SubIOp, [number, lower], **_WRAPPING)
    step, by = known_integer(loop.step), known_integer(amount)
    if step is not None and by is not None and by % step == 0:
        by = before.constant(by // step, wide)
    else:
        if step != 1:
            divisor = before.resized(loop.step, wide, SIGNED)
            if step is not None:
                divisor = before.constant(step, wide)
            number = before.add(DivIOp, [number, divisor], **SIGNED)
        by = before.resized(amount, wide, SIGNED)
    far = before.spread(before.add(MulIOp, [number, by], **_WRAPPING), shape_of(first))
    if element == wide:
        return before.add(AddIOp, [first, far], **_WRAPPING)
    return before.add(core.OffsetOp, [first, far])


def _carry(loop: ForOp, carried: list[int]) -> None:
    """Let a loop carry some of its values alone: the others have no readers but each other."""
    block, last = loop.region.block, loop.region.block.last_op
    assert last is not None
    steps = [last.operands[i].owner for i in range(len(block.args) - 1) if i not in carried]
    gone = [block.args[i + 1] for i in range(len(block.args) - 1) if i not in carried]
    last.operands = [last.operands[i] for i in carried]
    for step in steps:
        assert isinstance(step, Operation)
        if step.results[0].first_use is None:
            Rewriter.erase_op(step)
    for argument in gone:
        block.erase_arg(argument)
    results = [loop.result_values[i] for i in carried]
    operands = [*loop.operands[:3], *(loop.init_values[i] for i in carried)]
    new = rebuilt(loop, operands, [result.type for result in results])
    for result, other in zip(results, new.results, strict=True):
        other.name_hint = result.name_hint
        result.replace_all_uses_with(other)
    Rewriter.erase_op(loop)
