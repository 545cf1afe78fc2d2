"""Ops that rework a layout."""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr
from xdsl.irdl import operand_def, opt_operand_def, prop_def, result_def

from tilewright.dialects.cute.ops.operands import (
    ANY_LAYOUT,
    COMPOSITION_RHS,
    COORD,
    COTARGET,
    INDEXABLE,
    LAYOUT,
    LAYOUT_OR_TENSOR,
    SLICEABLE_OR_TENSOR,
)
from tilewright.dialects.cute.ops.operation import InferredOp, Syntax, cute_op
from tilewright.dialects.cute.ops.properties import NumbersOp
from tilewright.dialects.cute.rules import layout_algebra
from tilewright.dialects.cute.rules.tensors import on_tensors, slice_tensor


@cute_op(
    "cute.composition",
    (LAYOUT_OR_TENSOR, COMPOSITION_RHS),
    (LAYOUT_OR_TENSOR,),
    on_tensors(layout_algebra.composition),
)
class CompositionOp(InferredOp):
    """left after right."""

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()


@cute_op(
    "cute.coalesce",
    (LAYOUT_OR_TENSOR, COORD),
    (LAYOUT_OR_TENSOR,),
    on_tensors(layout_algebra.coalesce),
)
class CoalesceOp(InferredOp):
    """The same function with fewer modes, leaf by leaf of a profile where there is one."""

    source = operand_def()
    target_profile = opt_operand_def()
    result = result_def()


@cute_op("cute.complement", (LAYOUT, COTARGET), (LAYOUT,), layout_algebra.complement)
class ComplementOp(InferredOp):
    """The indices that a layout leaves out, of a cotarget's where there is one."""

    source = operand_def()
    cotarget = opt_operand_def()
    result = result_def()


class UnaryOp(InferredOp, ABC):
    """An op from one value to one."""

    source = operand_def()
    result = result_def()


@cute_op("cute.flatten", (INDEXABLE,), (INDEXABLE,), layout_algebra.flatten_modes)
class FlattenOp(UnaryOp):
    """The same leaves as one flat tuple."""


@cute_op("cute.right_inverse", (LAYOUT,), (LAYOUT,), layout_algebra.right_inverse)
class RightInverseOp(UnaryOp):
    """R with layout(R(i)) = i."""


@cute_op("cute.left_inverse", (LAYOUT,), (LAYOUT,), layout_algebra.left_inverse)
class LeftInverseOp(UnaryOp):
    """L with L(layout(i)) = i."""


@cute_op(
    "cute.group_modes",
    (LAYOUT_OR_TENSOR,),
    (LAYOUT_OR_TENSOR,),
    on_tensors(layout_algebra.group_modes),
)
class GroupModesOp(NumbersOp):
    """Modes begin to end - 1 become one: `cute.group_modes<0, 2> (%x) : ...`."""

    NUMBERS: ClassVar = ("begin", "end")

    source = operand_def()
    begin = prop_def(IntegerAttr)
    end = prop_def(IntegerAttr)
    result = result_def()


@cute_op("cute.recast_layout", (ANY_LAYOUT,), (ANY_LAYOUT,), layout_algebra.recast_layout)
class RecastLayoutOp(NumbersOp):
    """The same bytes as elements of another width: `cute.recast_layout<32, 8> (%x) : ...`."""

    NUMBERS: ClassVar = ("new_type_bits", "old_type_bits")
    SYNTAX: ClassVar = Syntax.ARROW

    new_type_bits = prop_def(IntegerAttr)
    old_type_bits = prop_def(IntegerAttr)
    source = operand_def()
    result = result_def()


class KeepOp(InferredOp, ABC):
    """An op that keeps modes: `%r = cute.slice(%x, %c) : T, !cute.coord<"(_,1)">`."""

    OPERANDS: ClassVar = (SLICEABLE_OR_TENSOR, COORD)
    RESULTS: ClassVar = (SLICEABLE_OR_TENSOR,)
    SYNTAX: ClassVar = Syntax.INFERRED

    source = operand_def()
    coord = operand_def()
    result = result_def()


@cute_op("cute.slice", rule=slice_tensor(layout_algebra.slice_modes))
class SliceOp(KeepOp):
    """The modes opposite an underscore."""


@cute_op("cute.dice", rule=layout_algebra.dice_modes)
class DiceOp(KeepOp):
    """The modes opposite a number."""
