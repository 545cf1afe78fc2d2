"""Ops that compute or compare leaf by leaf."""

from abc import ABC
from collections.abc import Callable, Sequence
from typing import ClassVar

from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import NoMemoryEffect

from tilewright.dialects.cute.int_tuple import congruent
from tilewright.dialects.cute.ops.operands import (
    ARITH_TUPLE,
    BOOL,
    CEIL_DIVISOR,
    COMPARED,
    EQUATED,
    SHAPE,
)
from tilewright.dialects.cute.ops.operation import CuteOp, InferredOp, cute_op, typed_value
from tilewright.dialects.cute.rules import arithmetic, required
from tilewright.dialects.cute.symbolic.scalar import Condition
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.traits import PURE


@cute_op("cute.tuple_add", arithmetic.tuple_add)
class TupleAddOp(InferredOp):
    """The sum leaf by leaf."""

    lhs = operand_def(ARITH_TUPLE)
    rhs = operand_def(ARITH_TUPLE)
    result = result_def(ARITH_TUPLE)


@cute_op("cute.tuple_sub", arithmetic.tuple_sub)
class TupleSubOp(InferredOp):
    """The difference leaf by leaf."""

    lhs = operand_def(ARITH_TUPLE)
    rhs = operand_def(ARITH_TUPLE)
    result = result_def(ARITH_TUPLE)


@cute_op("cute.shape_div", arithmetic.shape_div)
class ShapeDivOp(InferredOp):
    """The quotient of two shapes, where one divides the other."""

    traits = traits_def(NoMemoryEffect())

    lhs = operand_def(SHAPE)
    rhs = operand_def(SHAPE)
    result = result_def(SHAPE)


@cute_op("cute.ceil_div", arithmetic.ceil_div)
class CeilDivOp(InferredOp):
    """How many tiles cover a shape."""

    traits = traits_def(NoMemoryEffect())

    lhs = operand_def(ARITH_TUPLE)
    rhs = operand_def(CEIL_DIVISOR)
    result = result_def(ARITH_TUPLE)


class CompareOp(CuteOp, ABC):
    """An op from two values to an i1, which its RULE gives."""

    RULE: ClassVar[Callable[..., Condition]]

    result = result_def(BOOL)

    traits = PURE

    def values(self) -> tuple[Typed, Typed]:
        """The values that are compared."""
        left, right = map(typed_value, self.operand_types)
        return left, right

    def evaluate(self, operands: Sequence[Typed]) -> list[Condition]:
        """The truth of it for these operands, whatever their dynamic leaves are."""
        return [self.RULE(*operands)]


@cute_op("cute.elem_less", arithmetic.elem_less)
class ElemLessOp(CompareOp):
    """True where every leaf is less than its partner."""

    lhs = operand_def(COMPARED)
    rhs = operand_def(COMPARED)

    def verify_types(self) -> None:
        left, right = self.values()
        required(
            congruent(left.value, right.value),
            f"op expects congruent inputs, but got {left.quoted} and {right.quoted}",
        )


@cute_op("cute.equal", arithmetic.equal)
class EqualOp(CompareOp):
    """True where two values of one kind are the same."""

    lhs = operand_def(EQUATED)
    rhs = operand_def(EQUATED)

    def verify_types(self) -> None:
        left, right = self.values()
        required(
            left.kind == right.kind,
            f"op expects lhs and rhs to be the same kind, but got {left.quoted} and {right.quoted}",
        )
