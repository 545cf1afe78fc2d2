"""Ops that take values apart, and the casts between kinds."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

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
from tilewright.dialects.cute.ops.operation import InferredOp, Syntax
from tilewright.dialects.cute.ops.properties import ModeOp
from tilewright.dialects.cute.rules import accessors
from tilewright.dialects.cute.rules.tensors import on_tensors
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.values import Typed


class AccessorOp(InferredOp, ABC):
    """An op with one operand and one result: `%r = cute.get_shape(%x) : T -> R`."""

    SYNTAX: ClassVar = Syntax.ARROW

    source = operand_def()
    result = result_def()


@irdl_op_definition
class GetShapeOp(AccessorOp):
    """The shape of a layout, or of the layouts of a tile."""

    name = "cute.get_shape"
    OPERANDS: ClassVar = (SHAPED_OR_TENSOR,)
    RESULTS: ClassVar = (SHAPE,)
    RULE: ClassVar = staticmethod(on_tensors(accessors.get_shape))


@irdl_op_definition
class GetStrideOp(AccessorOp):
    """The stride of a layout."""

    name = "cute.get_stride"
    OPERANDS: ClassVar = (LAYOUT,)
    RESULTS: ClassVar = (STRIDE,)
    SHORT_OPERANDS: ClassVar = True
    RULE: ClassVar = staticmethod(accessors.get_stride)


@irdl_op_definition
class ComposedGetInnerOp(AccessorOp):
    """The part of a composed layout that is applied last."""

    name = "cute.composed_get_inner"
    OPERANDS: ClassVar = (COMPOSED,)
    RESULTS: ClassVar = (INNER,)
    SHORT_OPERANDS: ClassVar = True
    RULE: ClassVar = staticmethod(accessors.composed_get_inner)


@irdl_op_definition
class ComposedGetOffsetOp(AccessorOp):
    """The offset of a composed layout."""

    name = "cute.composed_get_offset"
    OPERANDS: ClassVar = (COMPOSED,)
    RESULTS: ClassVar = (INT_TUPLE,)
    SHORT_OPERANDS: ClassVar = True
    RULE: ClassVar = staticmethod(accessors.composed_get_offset)


@irdl_op_definition
class ComposedGetOuterOp(AccessorOp):
    """The layout of a composed layout that has the modes."""

    name = "cute.composed_get_outer"
    OPERANDS: ClassVar = (COMPOSED,)
    RESULTS: ClassVar = (LAYOUT,)
    SHORT_OPERANDS: ClassVar = True
    SHORT_RESULTS: ClassVar = True
    RULE: ClassVar = staticmethod(accessors.composed_get_outer)


@irdl_op_definition
class ToIntTupleOp(AccessorOp):
    """A tuple of numbers as an int_tuple."""

    name = "cute.to_int_tuple"
    OPERANDS: ClassVar = (CASTABLE,)
    RESULTS: ClassVar = (INT_TUPLE,)
    RULE: ClassVar = staticmethod(accessors.to_int_tuple)


@irdl_op_definition
class ToShapeOp(AccessorOp):
    """An int_tuple as a shape."""

    name = "cute.to_shape"
    OPERANDS: ClassVar = (INT_TUPLE,)
    RESULTS: ClassVar = (SHAPE,)
    RULE: ClassVar = staticmethod(accessors.cast_to("shape"))


@irdl_op_definition
class ToStrideOp(AccessorOp):
    """An int_tuple as a stride."""

    name = "cute.to_stride"
    OPERANDS: ClassVar = (INT_TUPLE,)
    RESULTS: ClassVar = (STRIDE,)
    RULE: ClassVar = staticmethod(accessors.cast_to("stride"))


@irdl_op_definition
class ToCoordOp(AccessorOp):
    """An int_tuple as a coordinate."""

    name = "cute.to_coord"
    OPERANDS: ClassVar = (INT_TUPLE,)
    RESULTS: ClassVar = (COORD,)
    RULE: ClassVar = staticmethod(accessors.cast_to("coord"))


# --- leaves ---------------------------------------------------------------------------------------


class PartsOp(InferredOp, ABC):
    """An op with as many results as its operand has parts."""

    SYNTAX: ClassVar = Syntax.INFERRED

    source = operand_def()
    parts = var_result_def()


@irdl_op_definition
class GetLeavesOp(PartsOp):
    """A value for each leaf: `%m, %n = cute.get_leaves(%s) : !cute.shape<"(4,?)">`."""

    name = "cute.get_leaves"
    OPERANDS: ClassVar = (ANY_TUPLE,)
    RESULTS: ClassVar = (SLOTS,)
    RULE: ClassVar = staticmethod(accessors.get_leaves)


@irdl_op_definition
class GetLayoutsFromTileOp(PartsOp):
    """The layouts of a tile, without its underscores."""

    name = "cute.get_layouts_from_tile"
    OPERANDS: ClassVar = (TILE,)
    RESULTS: ClassVar = (LAYOUT,)
    SHORT_OPERANDS: ClassVar = True
    RULE: ClassVar = staticmethod(accessors.get_layouts_from_tile)


@irdl_op_definition
class GetScalarsOp(PartsOp):
    """The numbers of a value; only those that are not in its type with `<{only_dynamic}>`."""

    name = "cute.get_scalars"
    OPERANDS: ClassVar = (ANY,)
    RESULTS: ClassVar = (SCALARS,)
    RULE: ClassVar = staticmethod(accessors.scalar_widths)

    only_dynamic = opt_prop_def(UnitAttr)

    @classmethod
    def arguments(cls, properties: dict[str, Attribute]) -> tuple[Any, ...]:
        return ("only_dynamic" in properties,)

    def evaluate(self, operands: Sequence[Typed]) -> list[Typed | Scalar]:
        return list(accessors.get_scalars(operands[0], *self.arguments(self.properties)))

    @classmethod
    def parse_prefix(cls, parser: Parser) -> dict[str, Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return {}
        with parser.in_braces():
            parser.parse_keyword("only_dynamic")
        parser.parse_punctuation(">")
        return {"only_dynamic": UnitAttr()}

    def print_prefix(self, printer: Printer) -> None:
        printer.print_string("<{only_dynamic}> " if self.only_dynamic is not None else " ")


# --- modes ----------------------------------------------------------------------------------------


@irdl_op_definition
class GetOp(ModeOp):
    """The mode at a path: `cute.get<[1]> (%x) : !cute.shape<"(2,3)"> -> !cute.shape<"3">`."""

    name = "cute.get"
    OPERANDS: ClassVar = (INDEXABLE_OR_TENSOR,)
    RESULTS: ClassVar = (INDEXABLE_OR_TENSOR,)
    SYNTAX: ClassVar = Syntax.ARROW
    RULE: ClassVar = staticmethod(on_tensors(accessors.get))

    source = operand_def()
    mode = opt_prop_def(DenseArrayBase)
    result = result_def()


@irdl_op_definition
class SelectOp(ModeOp):
    """The named top-level modes."""

    name = "cute.select"
    OPERANDS: ClassVar = (INDEXABLE_OR_TENSOR,)
    RESULTS: ClassVar = (INDEXABLE_OR_TENSOR,)
    SYNTAX: ClassVar = Syntax.ARROW
    MODE_IS_OPTIONAL: ClassVar[bool] = False
    RULE: ClassVar = staticmethod(on_tensors(accessors.select))

    source = operand_def()
    mode = prop_def(DenseArrayBase)
    result = result_def()
