"""Facts of the integers and addresses of a kernel: their divisors, and what is zero."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, IfOp, LoopOp, YieldOp
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp, PtrToPtrOp, TruncIOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.passes.cuda_tile.layouts.elements import element_of

ANYTHING = 1 << 62
"""A divisor of zero."""


def divisor(value: SSAValue, depth: int = 8) -> int:
    """The largest power of two that is known to divide every element of a tile of integers, or of
    addresses in bytes; of a tensor view its address."""
    owner = value.owner
    if depth == 0:
        return 1
    if isinstance(owner, Block):
        return _of_argument(owner, value, depth)
    if isinstance(owner, IfOp):
        place, ends = owner.results.index(value), (one.block.last_op for one in owner.regions)
        yielded = [end.operands[place] for end in ends if isinstance(end, YieldOp)]
        return gcd(*(divisor(one, depth - 1) for one in yielded)) or 1
    return min(_divisor(owner, depth - 1), ANYTHING)


def _of_argument(block: Block, value: SSAValue, depth: int) -> int:
    loop = block.parent_op()
    if isinstance(loop, ForOp) and value is block.args[0]:
        return gcd(divisor(loop.lower_bound, depth - 1), divisor(loop.step, depth - 1))
    return 1


def _divisor(op: Operation, depth: int) -> int:
    match op:
        case AssumeOp(predicate=DivByAttr() as known) if known.every is None:
            return max(known.divisor, divisor(op.value, depth))
        case AssumeOp() | ExtIOp() | TruncIOp() | PtrToPtrOp():
            return divisor(op.operands[0], depth)
        case core.BroadcastOp() | core.ReshapeOp():
            return divisor(op.source, depth)
        case core.ConstantOp():
            return _of_constant(op)
        case integer.AddIOp() | integer.SubIOp() | integer.MinIOp() | integer.MaxIOp():
            return gcd(*(divisor(operand, depth) for operand in op.operands))
        case core.SelectOp():
            return gcd(*(divisor(operand, depth) for operand in op.operands[1:]))
        case integer.MulIOp():
            a, b = (divisor(operand, depth) for operand in op.operands)
            return min(a * b, ANYTHING)
        case integer.ShRIOp() if isinstance(by := op.rhs.owner, core.ConstantOp):
            amount = int(by.elements.array().max())
            return max(divisor(op.lhs, depth) >> amount, 1)
        case core.OffsetOp():
            size = pointee_bytes(op.ptr)
            moved = size * divisor(op.offset, depth) // (2 if is_packed(op.ptr) else 1)
            return gcd(divisor(op.ptr, depth), max(moved, 1))
        case _:
            return 1


def _pointee_bits(pointer: SSAValue) -> int:
    pointee: Any = element_of(pointer).pointee_type  # type: ignore[attr-defined]
    return ELEMENT_OF[pointee].bits


def pointee_bytes(pointer: SSAValue) -> int:
    """The bytes of an element that a tile of pointers points to."""
    return max(_pointee_bits(pointer) // 8, 1)


def is_packed(pointer: SSAValue) -> bool:
    """True of pointers to elements that lie two in a byte."""
    return _pointee_bits(pointer) == 4


def _of_constant(op: core.ConstantOp) -> int:
    value: Any = op.value
    array = value.array()
    if array.dtype.kind not in "iu":
        return 1
    common = 0
    for number in array.reshape(-1)[: 1 if value.is_splat else None].tolist():
        common = gcd(common, int(number))
    return ANYTHING if common == 0 else common & -common


def is_natural(value: SSAValue) -> bool:
    """True of integers none of which is negative."""
    return greatest(value) is not None


_GREATEST: dict[type[Operation], Callable[[int, int, int], int]] = {
    integer.AddIOp: lambda a, b, _: a + b,
    integer.MulIOp: lambda a, b, _: a * b,
    integer.DivIOp: lambda a, _, by: -(-a // max(by, 1)),
    integer.ShRIOp: lambda a, _, by: a >> by,
    integer.RemIOp: lambda a, b, _: min(a, b),
    integer.MinIOp: lambda a, b, _: min(a, b),
}
"""The greatest result of an op of two numbers up to others, the second of which is known, or 0."""


def greatest(value: SSAValue, depth: int = 8) -> int | None:
    """The number that no element of a tile of integers exceeds, where none is negative: of the
    number of a tile block, of what is assumed not to be negative, of the variable of a loop that
    counts up, and of results that have room in their type. None where one may be negative."""
    most = (1 << ELEMENT_OF[element_of(value)].bits - 1) - 1
    match op := value.owner:
        case core.GetTileBlockIdOp():
            return most
        case AssumeOp(predicate=BoundedAttr(lb=int(least), ub=last)) if least >= 0:
            bounds = last, greatest(op.value, depth)
            return min((bound for bound in bounds if bound is not None), default=most)
        case AssumeOp() | ExtIOp():
            return greatest(op.operands[0], depth)
        case Block() if depth and isinstance(loop := op.parent_op(), ForOp) and value is op.args[0]:
            low, high = (greatest(x, depth - 1) for x in (loop.lower_bound, loop.upper_bound))
            if low is None or (known_integer(loop.step) or 0) <= 0:
                return None
            if high is None:
                return None if loop.unsigned_cmp is not None else most
            return max(low, high)
        case core.ConstantOp():
            numbers = op.elements.array()
            return int(numbers.max()) if (numbers >= 0).all() else None
        case Operation() if depth and type(op) in _GREATEST:
            a, b = (greatest(operand, depth - 1) for operand in op.operands)
            if a is None or b is None:
                return None
            result = _GREATEST[type(op)](a, b, known_integer(op.operands[1]) or 0)
            return result if result <= most else None
        case _:
            return None


def always_holds(condition: SSAValue) -> bool:
    """True of a comparison that says of what is not negative that it is not."""
    op = condition.owner
    return (
        isinstance(op, integer.CmpIOp)
        and op.comparison_predicate.data is ComparisonPredicate.GREATER_THAN_OR_EQUAL
        and is_zero(op.rhs)
        and is_natural(op.lhs)
    )


def repeated(value: SSAValue) -> SSAValue:
    """The tile whose elements another one repeats, or has in another shape."""
    while isinstance(value.owner, core.ReshapeOp | core.BroadcastOp):
        value = value.owner.source
    return value


def _number(value: SSAValue) -> Any:
    """The number, as an array of one, that every element of a constant tile is; else None."""
    owner = repeated(value).owner
    if isinstance(owner, core.ConstantOp) and owner.elements.is_splat:
        return owner.elements.array().reshape(-1)[:1]
    return None


def known_integer(value: SSAValue) -> int | None:
    """The integer that every element of a tile is; None where that is not known."""
    number = _number(value)
    return None if number is None else int(number[0])


def is_zero(value: SSAValue) -> bool:
    """True of a constant tile of zeros."""
    number = _number(value)
    return number is not None and not number.view("u1").any()


def counts_from_zero(loop: ForOp) -> bool:
    """True of a loop whose variable is the number of its iteration."""
    return is_zero(loop.lower_bound) and known_integer(loop.step) == 1


def trips_of(loop: ForOp) -> int:
    """The most iterations that a loop can have one behind the other: as many as there are, where
    they are known, and it is in no other loop."""
    low, high, step = map(known_integer, (loop.lower_bound, loop.upper_bound, loop.step))
    inner = any(enclosing(loop, ForOp | LoopOp))
    return (
        ANYTHING if inner or low is None or high is None or not step else -(-(high - low) // step)
    )
