"""Rules for `select`, and the values that they and those for `if` make.

%r = select %c, %true, %false : tile<i1>, tile<i1>     ->     %c
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects.cuda_tile.attributes import SignednessAttr
from tilewright.dialects.cuda_tile.builder import constant
from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate, Signedness
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp
from tilewright.dialects.cuda_tile.ops.core import BroadcastOp, ConstantOp, ReshapeOp, SelectOp
from tilewright.dialects.cuda_tile.ops.integer import CmpIOp, XOrIOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.layouts.elements import tile_type


def same_arms(op: SelectOp, rewriter: PatternRewriter) -> None:
    """select(c, x, x)  ->  x"""
    if op.val_if_true is op.val_if_false:
        rewriter.replace(op, (), [op.val_if_true])


def known_condition(op: SelectOp, rewriter: PatternRewriter) -> None:
    """select(true, x, y)  ->  x, and select(false, x, y)  ->  y"""
    if (known := all_of(op.cond)) is not None:
        rewriter.replace(op, (), [op.val_if_true if known else op.val_if_false])


def of_constants(op: SelectOp, rewriter: PatternRewriter) -> None:
    """select([1, 0], [a, b], [c, d])  ->  [a, d]"""
    owners = [operand.owner for operand in op.operands]
    if not all(isinstance(owner, ConstantOp) for owner in owners):
        return
    arrays: list[Any] = [owner.elements.array() for owner in owners]  # pyright: ignore
    condition, if_true, if_false = arrays
    chosen = np.where(condition.astype(bool), if_true, if_false).astype(if_true.dtype)  # pyright: ignore
    elements = ElementsAttr.of_array(tile_type(op.result), chosen)  # pyright: ignore
    rewriter.replace(
        op, ConstantOp.create(result_types=[op.result.type], properties={"value": elements})
    )


def condition_itself(op: SelectOp, rewriter: PatternRewriter) -> None:
    """select(c, true, false)  ->  c, and select(c, false, true)  ->  xori(c, true)"""
    if op.result.type == op.cond.type:
        arms = all_of(op.val_if_true), all_of(op.val_if_false)
        if arms == (1, 0):
            rewriter.replace(op, (), [op.cond])
        elif arms == (0, 1):
            rewriter.replace(op, (), [negated(op.cond, rewriter)])


def condition_widened(op: SelectOp, rewriter: PatternRewriter) -> None:
    """select(c, 1, 0)  ->  exti(c), and select(c, 0, 1)  ->  exti(xori(c, true))"""
    element: Any = tile_type(op.result).element_type
    arms = all_of(op.val_if_true), all_of(op.val_if_false)
    if not isinstance(element, IntegerType) or element == IntegerType(1):
        return
    if arms in ((1, 0), (0, 1)):
        condition = op.cond if arms == (1, 0) else negated(op.cond, rewriter)
        properties = {"signedness": SignednessAttr.of(Signedness.UNSIGNED)}
        rewriter.replace(
            op,
            ExtIOp.create(
                operands=[condition], result_types=[op.result.type], properties=properties
            ),
        )


def equal_arms(op: SelectOp, rewriter: PatternRewriter) -> None:
    """select(x == y, x, y)  ->  y, and select(x != y, x, y)  ->  x"""
    compare = op.cond.owner
    if not isinstance(compare, CmpIOp) or {compare.lhs, compare.rhs} != set(op.operands[1:]):
        return
    match compare.comparison_predicate.data:
        case ComparisonPredicate.EQUAL:
            rewriter.replace(op, (), [op.val_if_false])
        case ComparisonPredicate.NOT_EQUAL:
            rewriter.replace(op, (), [op.val_if_true])
        case _:
            pass


def negated_condition(op: SelectOp, rewriter: PatternRewriter) -> None:
    """select(xori(c, true), x, y)  ->  select(c, y, x)"""
    if (condition := negation_of(op.cond)) is not None:
        op.operands = [condition, op.val_if_false, op.val_if_true]
        rewriter.notify_op_modified(op)


def same_condition_within(op: SelectOp, rewriter: PatternRewriter) -> None:
    """select(c, select(c, x, y), z)  ->  select(c, x, z), and the like of the other arm"""
    for index in (1, 2):
        arm = op.operands[index].owner
        if isinstance(arm, SelectOp) and arm.cond is op.cond:
            op.operands[index] = arm.operands[index]
            rewriter.notify_op_modified(op)


SELECT_RULES: tuple[Callable[[SelectOp, PatternRewriter], None], ...] = (
    same_arms,
    known_condition,
    condition_itself,
    equal_arms,
    negated_condition,
    same_condition_within,
    of_constants,
    condition_widened,
)


# --- values ---


def all_of(value: SSAValue) -> int | None:
    """The integer that all elements of a constant are, i1 as 0 or 1; None for anything else."""
    op = value.owner
    if not isinstance(op, ConstantOp):
        return None
    elements = op.elements
    if not isinstance(elements.type.element_type, IntegerType) or not elements.is_splat:
        return None
    return int(elements.array().flat[0])


def negation_of(value: SSAValue) -> SSAValue | None:
    """The value that another is the negation of: c of xori(c, true)."""
    op = value.owner
    return op.lhs if isinstance(op, XOrIOp) and is_true(op.rhs) else None


def is_true(value: SSAValue) -> bool:
    """True where all elements of a tile are true."""
    return tile_type(value).element_type == IntegerType(1) and all_of(value) == 1


def negated(condition: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    """The negation of a condition, inserted."""
    type_ = tile_type(condition)
    one = rewriter.insert(constant(1, type_))
    return rewriter.insert(
        XOrIOp.create(operands=[condition, one.result], result_types=[type_])
    ).result


def selected(
    condition: SSAValue, if_true: SSAValue, if_false: SSAValue, rewriter: PatternRewriter
) -> SSAValue:
    """One tile or another by a scalar condition, inserted."""
    shape = tile_type(if_true).shape
    if shape:
        for op, dims in ((ReshapeOp, (1,) * len(shape)), (BroadcastOp, shape)):
            type_ = TileType.get(dims, IntegerType(1))
            condition = rewriter.insert(
                op.create(operands=[condition], result_types=[type_])
            ).results[0]
    return rewriter.insert(
        SelectOp.create(operands=[condition, if_true, if_false], result_types=[if_true.type])
    ).result
