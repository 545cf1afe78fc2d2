"""Ops that rework a layout."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, prop_def, result_def

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
from tilewright.dialects.cute.ops.operation import InferredOp, Syntax
from tilewright.dialects.cute.ops.properties import NumbersOp
from tilewright.dialects.cute.rules import layout_algebra
from tilewright.dialects.cute.rules.tensors import on_tensors, slice_tensor


@irdl_op_definition
class CompositionOp(InferredOp):
    """left after right."""

    name = "cute.composition"
    OPERANDS: ClassVar = (LAYOUT_OR_TENSOR, COMPOSITION_RHS)
    RESULTS: ClassVar = (LAYOUT_OR_TENSOR,)
    RULE: ClassVar = staticmethod(on_tensors(layout_algebra.composition))

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()


@irdl_op_definition
class CoalesceOp(InferredOp):
    """The same function with fewer modes, leaf by leaf of a profile where there is one."""

    name = "cute.coalesce"
    OPERANDS: ClassVar = (LAYOUT_OR_TENSOR, COORD)
    RESULTS: ClassVar = (LAYOUT_OR_TENSOR,)
    RULE: ClassVar = staticmethod(on_tensors(layout_algebra.coalesce))

    source = operand_def()
    target_profile = opt_operand_def()
    result = result_def()


@irdl_op_definition
class ComplementOp(InferredOp):
    """The indices that a layout leaves out, of a cotarget's where there is one."""

    name = "cute.complement"
    OPERANDS: ClassVar = (LAYOUT, COTARGET)
    RESULTS: ClassVar = (LAYOUT,)
    RULE: ClassVar = staticmethod(layout_algebra.complement)

    source = operand_def()
    cotarget = opt_operand_def()
    result = result_def()


class UnaryOp(InferredOp, ABC):
    """An op from one value to one."""

    source = operand_def()
    result = result_def()


@irdl_op_definition
class FlattenOp(UnaryOp):
    """The same leaves as one flat tuple."""

    name = "cute.flatten"
    OPERANDS: ClassVar = (INDEXABLE,)
    RESULTS: ClassVar = (INDEXABLE,)
    RULE: ClassVar = staticmethod(layout_algebra.flatten_modes)


@irdl_op_definition
class RightInverseOp(UnaryOp):
    """R with layout(R(i)) = i."""

    name = "cute.right_inverse"
    OPERANDS: ClassVar = (LAYOUT,)
    RESULTS: ClassVar = (LAYOUT,)
    RULE: ClassVar = staticmethod(layout_algebra.right_inverse)


@irdl_op_definition
class LeftInverseOp(UnaryOp):
    """L with L(layout(i)) = i."""

    name = "cute.left_inverse"
    OPERANDS: ClassVar = (LAYOUT,)
    RESULTS: ClassVar = (LAYOUT,)
    RULE: ClassVar = staticmethod(layout_algebra.left_inverse)


@irdl_op_definition
class GroupModesOp(NumbersOp):
    """Modes begin to end - 1 become one: `cute.group_modes<0, 2> (%x) : ...`."""

    name = "cute.group_modes"
    NUMBERS: ClassVar = ("begin", "end")
    OPERANDS: ClassVar = (LAYOUT_OR_TENSOR,)
    RESULTS: ClassVar = (LAYOUT_OR_TENSOR,)
    RULE: ClassVar = staticmethod(on_tensors(layout_algebra.group_modes))

    source = operand_def()
    begin = prop_def(IntegerAttr)
    end = prop_def(IntegerAttr)
    result = result_def()


@irdl_op_definition
class RecastLayoutOp(NumbersOp):
    """The same bytes as elements of another width: `cute.recast_layout<32, 8> (%x) : ...`."""

    name = "cute.recast_layout"
    NUMBERS: ClassVar = ("new_type_bits", "old_type_bits")
    OPERANDS: ClassVar = (ANY_LAYOUT,)
    RESULTS: ClassVar = (ANY_LAYOUT,)
    SYNTAX: ClassVar = Syntax.ARROW
    RULE: ClassVar = staticmethod(layout_algebra.recast_layout)

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


@irdl_op_definition
class SliceOp(KeepOp):
    """The modes opposite an underscore."""

    name = "cute.slice"
    RULE: ClassVar = staticmethod(slice_tensor(layout_algebra.slice_modes))


@irdl_op_definition
class DiceOp(KeepOp):
    """The modes opposite a number."""

    name = "cute.dice"
    RULE: ClassVar = staticmethod(layout_algebra.dice_modes)
