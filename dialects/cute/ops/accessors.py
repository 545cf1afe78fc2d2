"""Ops that take values apart, and the casts between kinds."""

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, var_result_def

from tilewright.dialects.cute.ops.operands import (
    ANY,
    ANY_TUPLE,
    CASTABLE,
    COMPOSED,
    COORD,
    INDEXABLE_OR_TENSOR,
    INNER,
    INT_TUPLE,
    LAYOUT,
    SCALARS,
    SHAPE,
    SHAPED_OR_TENSOR,
    SLOTS,
    STRIDE,
    TILE,
)
from tilewright.dialects.cute.ops.operation import REGULAR, InferredOp, cute_op
from tilewright.dialects.cute.ops.properties import PATH
from tilewright.dialects.cute.ops.text import Syntax
from tilewright.dialects.cute.rules import accessors
from tilewright.dialects.cute.rules.tensors import on_tensors
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.values import Typed


class AccessorOp(InferredOp, ABC):
    """An op with one operand and one result: `%r = cute.get_shape(%x) : T -> R`."""

    SYNTAX = Syntax.ARROW


@cute_op("cute.get_shape", on_tensors(accessors.get_shape))
class GetShapeOp(AccessorOp):
    """The shape of a layout, or of the layouts of a tile."""

    source = operand_def(SHAPED_OR_TENSOR)
    result = result_def(SHAPE)


@cute_op("cute.get_stride", accessors.get_stride)
class GetStrideOp(AccessorOp):
    """The stride of a layout."""

    SHORT_OPERANDS = True

    source = operand_def(LAYOUT)
    result = result_def(STRIDE)


@cute_op("cute.composed_get_inner", accessors.composed_get_inner)
class ComposedGetInnerOp(AccessorOp):
    """The part of a composed layout that is applied last."""

    SHORT_OPERANDS = True

    source = operand_def(COMPOSED)
    result = result_def(INNER)


@cute_op("cute.composed_get_offset", accessors.composed_get_offset)
class ComposedGetOffsetOp(AccessorOp):
    """The offset of a composed layout."""

    SHORT_OPERANDS = True

    source = operand_def(COMPOSED)
    result = result_def(INT_TUPLE)


@cute_op("cute.composed_get_outer", accessors.composed_get_outer)
class ComposedGetOuterOp(AccessorOp):
    """The layout of a composed layout that has the modes."""

    SHORT_OPERANDS = True
    SHORT_RESULTS = True

    source = operand_def(COMPOSED)
    result = result_def(LAYOUT)


@cute_op("cute.to_int_tuple", accessors.to_int_tuple)
class ToIntTupleOp(AccessorOp):
    """A tuple of numbers as an int_tuple."""

    source = operand_def(CASTABLE)
    result = result_def(INT_TUPLE)


@cute_op("cute.to_shape", accessors.cast_to("shape"))
class ToShapeOp(AccessorOp):
    """An int_tuple as a shape."""

    source = operand_def(INT_TUPLE)
    result = result_def(SHAPE)


@cute_op("cute.to_stride", accessors.cast_to("stride"))
class ToStrideOp(AccessorOp):
    """An int_tuple as a stride."""

    source = operand_def(INT_TUPLE)
    result = result_def(STRIDE)


@cute_op("cute.to_coord", accessors.cast_to("coord"))
class ToCoordOp(AccessorOp):
    """An int_tuple as a coordinate."""

    source = operand_def(INT_TUPLE)
    result = result_def(COORD)


# --- leaves ---------------------------------------------------------------------------------------


class PartsOp(InferredOp, ABC):
    """An op with as many results as its operand has parts."""

    SYNTAX = Syntax.INFERRED


@cute_op("cute.get_leaves", accessors.get_leaves)
class GetLeavesOp(PartsOp):
    """A value for each leaf: `%m, %n = cute.get_leaves(%s) : !cute.shape<"(4,?)">`."""

    source = operand_def(ANY_TUPLE)
    parts = var_result_def(SLOTS)


@cute_op("cute.get_layouts_from_tile", accessors.get_layouts_from_tile)
class GetLayoutsFromTileOp(PartsOp):
    """The layouts of a tile, without its underscores."""

    SHORT_OPERANDS = True

    source = operand_def(TILE)
    parts = var_result_def(LAYOUT)


@cute_op("cute.get_scalars", accessors.scalar_widths)
class GetScalarsOp(PartsOp):
    """The numbers of a value; only those that are not in its type with `<{only_dynamic}>`."""

    assembly_format = f"(`<` `{{` `only_dynamic` $only_dynamic^ `}}` `>`):(` `)? {REGULAR}"

    source = operand_def(ANY)
    only_dynamic = opt_prop_def(UnitAttr)
    parts = var_result_def(SCALARS)

    def evaluate(self, operands: Sequence[Typed]) -> list[Typed | Scalar]:
        return list(accessors.get_scalars(operands[0], *self.arguments(self.properties)))


# --- modes ----------------------------------------------------------------------------------------


@cute_op("cute.get", on_tensors(accessors.mode_at))
class GetOp(AccessorOp):
    """The mode at a path: `cute.get<[1]> (%x) : !cute.shape<"(2,3)"> -> !cute.shape<"3">`."""

    source = operand_def(INDEXABLE_OR_TENSOR)
    mode = opt_prop_def(PATH)
    result = result_def(INDEXABLE_OR_TENSOR)


@cute_op("cute.select", on_tensors(accessors.select))
class SelectOp(AccessorOp):
    """The named top-level modes."""

    source = operand_def(INDEXABLE_OR_TENSOR)
    mode = prop_def(PATH)
    result = result_def(INDEXABLE_OR_TENSOR)
