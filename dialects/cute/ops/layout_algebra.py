"""Ops that rework a layout."""

from abc import ABC

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
from tilewright.dialects.cute.ops.operation import InferredOp, cute_op
from tilewright.dialects.cute.ops.properties import NUMBER
from tilewright.dialects.cute.ops.text import Syntax
from tilewright.dialects.cute.rules import layout_algebra
from tilewright.dialects.cute.rules.tensors import on_tensors, slice_tensor


@cute_op("cute.composition", on_tensors(layout_algebra.composition))
class CompositionOp(InferredOp):
    """left after right."""

    lhs = operand_def(LAYOUT_OR_TENSOR)
    rhs = operand_def(COMPOSITION_RHS)
    result = result_def(LAYOUT_OR_TENSOR)


@cute_op("cute.coalesce", on_tensors(layout_algebra.coalesce))
class CoalesceOp(InferredOp):
    """The same function with fewer modes, leaf by leaf of a profile where there is one."""

    source = operand_def(LAYOUT_OR_TENSOR)
    target_profile = opt_operand_def(COORD)
    result = result_def(LAYOUT_OR_TENSOR)


@cute_op("cute.complement", layout_algebra.complement)
class ComplementOp(InferredOp):
    """The indices that a layout leaves out, of a cotarget's where there is one."""

    source = operand_def(LAYOUT)
    cotarget = opt_operand_def(COTARGET)
    result = result_def(LAYOUT)


@cute_op("cute.flatten", layout_algebra.flatten_modes)
class FlattenOp(InferredOp):
    """The same leaves as one flat tuple."""

    source = operand_def(INDEXABLE)
    result = result_def(INDEXABLE)


@cute_op("cute.right_inverse", layout_algebra.right_inverse)
class RightInverseOp(InferredOp):
    """R with layout(R(i)) = i."""

    source = operand_def(LAYOUT)
    result = result_def(LAYOUT)


@cute_op("cute.left_inverse", layout_algebra.left_inverse)
class LeftInverseOp(InferredOp):
    """L with L(layout(i)) = i."""

    source = operand_def(LAYOUT)
    result = result_def(LAYOUT)


@cute_op("cute.group_modes", on_tensors(layout_algebra.group_modes))
class GroupModesOp(InferredOp):
    """Modes begin to end - 1 become one: `cute.group_modes<0, 2> (%x) : ...`."""

    source = operand_def(LAYOUT_OR_TENSOR)
    begin = prop_def(NUMBER)
    end = prop_def(NUMBER)
    result = result_def(LAYOUT_OR_TENSOR)


@cute_op("cute.recast_layout", layout_algebra.recast_layout)
class RecastLayoutOp(InferredOp):
    """The same bytes as elements of another width: `cute.recast_layout<32, 8> (%x) : ...`."""

    SYNTAX = Syntax.ARROW

    new_type_bits = prop_def(NUMBER)
    old_type_bits = prop_def(NUMBER)
    source = operand_def(ANY_LAYOUT)
    result = result_def(ANY_LAYOUT)


class KeepOp(InferredOp, ABC):
    """An op that keeps modes: `%r = cute.slice(%x, %c) : T, !cute.coord<"(_,1)">`."""

    SYNTAX = Syntax.INFERRED

    source = operand_def(SLICEABLE_OR_TENSOR)
    coord = operand_def(COORD)
    result = result_def(SLICEABLE_OR_TENSOR)


@cute_op("cute.slice", slice_tensor(layout_algebra.slice_modes))
class SliceOp(KeepOp):
    """The modes opposite an underscore."""


@cute_op("cute.dice", layout_algebra.dice_modes)
class DiceOp(KeepOp):
    """The modes opposite a number."""
