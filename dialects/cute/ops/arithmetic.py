"""Ops that compute or compare leaf by leaf."""

from abc import ABC
from collections.abc import Callable, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.int_tuple import congruent
from tilewright.dialects.cute.ops.operands import (
    ARITH_TUPLE,
    BOOL,
    CEIL_DIVISOR,
    COMPARED,
    EQUATED,
    SHAPE,
)
from tilewright.dialects.cute.ops.operation import CuteOp, InferredOp, cute_op
from tilewright.dialects.cute.rules import arithmetic
from tilewright.dialects.cute.symbolic.scalar import Condition
from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.cute.values import Typed


class BinaryOp(InferredOp, ABC):
    """An op from two values to one."""

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()


@cute_op("cute.tuple_add", (ARITH_TUPLE, ARITH_TUPLE), (ARITH_TUPLE,), arithmetic.tuple_add)
class TupleAddOp(BinaryOp):
    """The sum leaf by leaf."""


@cute_op("cute.tuple_sub", (ARITH_TUPLE, ARITH_TUPLE), (ARITH_TUPLE,), arithmetic.tuple_sub)
class TupleSubOp(BinaryOp):
    """The difference leaf by leaf."""


@cute_op("cute.shape_div", (SHAPE, SHAPE), (SHAPE,), arithmetic.shape_div)
class ShapeDivOp(BinaryOp):
    """The quotient of shapes of which one divides the other."""

    traits = traits_def(NoMemoryEffect())


@cute_op("cute.ceil_div", (ARITH_TUPLE, CEIL_DIVISOR), (ARITH_TUPLE,), arithmetic.ceil_div)
class CeilDivOp(BinaryOp):
    """How many tiles cover a shape."""

    traits = traits_def(NoMemoryEffect())


class CompareOp(CuteOp, ABC):
    """An op from two values to an i1, which its RULE gives."""

    RESULTS: ClassVar = (BOOL,)
    RULE: ClassVar[Callable[..., Condition]]

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()

    traits = traits_def(Pure())

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: dict[str, Attribute]
    ) -> tuple[Attribute, ...]:
        return (i1,)

    def values(self) -> tuple[Typed, Typed]:
        """The values that are compared."""
        left, right = self.lhs.type, self.rhs.type
        assert isinstance(left, CuteType) and isinstance(right, CuteType)
        return left.typed, right.typed

    def evaluate(self, operands: Sequence[Typed]) -> list[Condition]:
        """The truth of it for these operands, whatever their dynamic leaves are."""
        return [self.RULE(*operands)]


@cute_op("cute.elem_less", operands=(COMPARED, COMPARED), rule=arithmetic.elem_less)
class ElemLessOp(CompareOp):
    """True where every leaf is less than its partner."""

    def verify_(self) -> None:
        super().verify_()
        left, right = self.values()
        if not congruent(left.value, right.value):
            raise VerifyException(
                f"'{self.name}' op expects congruent inputs, but got "
                f"{left.quoted} and {right.quoted}"
            )


@cute_op("cute.equal", operands=(EQUATED, EQUATED), rule=arithmetic.equal)
class EqualOp(CompareOp):
    """True where two values of one kind are the same."""

    def verify_(self) -> None:
        super().verify_()
        left, right = self.values()
        if left.kind != right.kind:
            raise VerifyException(
                f"'{self.name}' op expects lhs and rhs to be the same kind, but got "
                f"{left.quoted} and {right.quoted}"
            )
