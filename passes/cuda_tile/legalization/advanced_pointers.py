"""Pointers that a loop advances: where they are in an iteration follows from its number.

    for %k in (0 to %n, step 1) iter_values(%p = %p0) { ...; %q = offset %p, %by; continue %q }
    for %k in (0 to %n, step 1) { %p = offset %p0, %k * %by; ... }

So that what is known of `%p0` and `%by` is known of `%p`, and loads of iterations ahead know where
they are.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.enums import IntegerOverflow, Signedness
from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.control_flow import BreakOp, ContinueOp, ForOp
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp
from tilewright.dialects.cuda_tile.ops.integer import DivIOp, MulIOp, SubIOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.analysis.facts import is_zero
from tilewright.passes.cuda_tile.analysis.split_dimensions import region_of
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.legalization.before import Before

_SCALAR = TileType.get((), i64)
_SIGNED = {"signedness": Signedness.SIGNED}
_WRAPPING = {"overflow": IntegerOverflow.NONE}


def rewrite_advanced_pointers(entry: EntryOp) -> None:
    """Rewrite the pointers that an entry's loops advance by the same in every iteration."""
    for op in list(entry.walk()):
        if isinstance(op, ForOp) and op.unsigned_cmp is None and _ends_once(op):
            _rewrite(op)


def _ends_once(loop: ForOp) -> bool:
    """True where every iteration ends at the end of the body."""
    last = loop.region.block.last_op
    leaving = [op for op in loop.walk() if isinstance(op, ContinueOp | BreakOp)]
    return all(op is last or region_of(op) is not loop for op in leaving)


def _rewrite(loop: ForOp) -> None:
    block = loop.region.block
    last = block.last_op
    assert last is not None
    kept: list[int] = []
    for i, pointer in enumerate(block.args[1:]):
        step = last.operands[i].owner
        amount = None
        if isinstance(step, core.OffsetOp) and step.ptr is pointer:
            amount = _amount(step.offset, loop)
        if amount is None:
            kept.append(i)
            continue
        place = _place(loop, loop.init_values[i], amount)
        pointer.replace_uses_with_if(place, lambda use, step=step: use.operation is not step)
        if loop.result_values[i].first_use is not None or pointer.has_more_than_one_use():
            kept.append(i)
    if len(kept) < len(block.args) - 1:
        _carry(loop, kept)


def _amount(offset: SSAValue, loop: ForOp) -> SSAValue | None:
    """The scalar outside of the loop that every element of an offset is; None where it is none."""
    while isinstance(offset.owner, core.ReshapeOp | core.BroadcastOp):
        offset = offset.owner.source
    constant: Any = offset.owner.value if isinstance(offset.owner, core.ConstantOp) else None
    if constant is not None and constant.is_splat:
        number = int(constant.array().reshape(-1)[0])
        return Before(loop).constant(number, element_of(offset))
    return None if shape_of(offset) or loop.is_ancestor(offset.owner) else offset


def _place(loop: ForOp, first: SSAValue, amount: SSAValue) -> SSAValue:
    """The pointers of an iteration: the first ones, as often moved as there were iterations."""
    block = loop.region.block
    assert block.first_op is not None
    before, number = Before(block.first_op), _wide(Before(block.first_op), block.args[0])
    if not is_zero(loop.lower_bound):
        number = before.add(SubIOp, [number, _wide(before, loop.lower_bound)], _SCALAR, **_WRAPPING)
    if _constant(loop.step) != 1:
        number = before.add(DivIOp, [number, _wide(before, loop.step)], _SCALAR, **_SIGNED)
    far = before.add(MulIOp, [number, _wide(before, amount)], _SCALAR, **_WRAPPING)
    shape = shape_of(first)
    if shape:
        far = before.add(core.ReshapeOp, [far], TileType.get((1,) * len(shape), i64))
        far = before.broadcast(far, shape)
    return before.add(core.OffsetOp, [first, far], first.type)


def _constant(value: SSAValue) -> int | None:
    constant: Any = value.owner
    if not isinstance(constant, core.ConstantOp):
        return None
    elements: Any = constant.value
    return int(elements.array().reshape(-1)[0])


def _wide(before: Before, value: SSAValue) -> SSAValue:
    """An integer of 64 bits."""
    return value if value.type == _SCALAR else before.add(ExtIOp, [value], _SCALAR, **_SIGNED)


def _carry(loop: ForOp, kept: list[int]) -> None:
    """Let a loop carry some of its values alone: the others have no readers but each other."""
    block, last = loop.region.block, loop.region.block.last_op
    assert last is not None
    steps = [last.operands[i].owner for i in range(len(block.args) - 1) if i not in kept]
    gone = [block.args[i + 1] for i in range(len(block.args) - 1) if i not in kept]
    last.operands = [last.operands[i] for i in kept]
    for step in steps:
        assert isinstance(step, Operation)
        Rewriter.erase_op(step)
    for argument in gone:
        block.erase_arg(argument)
    results = [loop.result_values[i] for i in kept]
    new = ForOp.create(
        operands=[*loop.operands[:3], *(loop.init_values[i] for i in kept)],
        result_types=[result.type for result in results],
        properties=loop.properties,
        attributes=loop.attributes,
        regions=[loop.detach_region(loop.region)],
    )
    new.location = loop.location
    Rewriter.insert_op(new, InsertPoint.before(loop))
    for result, other in zip(results, new.results, strict=True):
        other.name_hint = result.name_hint
        result.replace_all_uses_with(other)
    Rewriter.erase_op(loop)
