"""Ops that take values apart, and the casts between kinds."""

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, var_result_def
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
from tilewright.dialects.cute.ops.operation import InferredOp, Syntax, cute_op
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


@cute_op("cute.get_shape", (SHAPED_OR_TENSOR,), (SHAPE,), on_tensors(accessors.get_shape))
class GetShapeOp(AccessorOp):
    """The shape of a layout, or of the layouts of a tile."""


@cute_op("cute.get_stride", (LAYOUT,), (STRIDE,), accessors.get_stride)
class GetStrideOp(AccessorOp):
    """The stride of a layout."""

    SHORT_OPERANDS: ClassVar = True


@cute_op("cute.composed_get_inner", (COMPOSED,), (INNER,), accessors.composed_get_inner)
class ComposedGetInnerOp(AccessorOp):
    """The part of a composed layout that is applied last."""

    SHORT_OPERANDS: ClassVar = True


@cute_op("cute.composed_get_offset", (COMPOSED,), (INT_TUPLE,), accessors.composed_get_offset)
class ComposedGetOffsetOp(AccessorOp):
    """The offset of a composed layout."""

    SHORT_OPERANDS: ClassVar = True


@cute_op("cute.composed_get_outer", (COMPOSED,), (LAYOUT,), accessors.composed_get_outer)
class ComposedGetOuterOp(AccessorOp):
    """The layout of a composed layout that has the modes."""

    SHORT_OPERANDS: ClassVar = True
    SHORT_RESULTS: ClassVar = True


@cute_op("cute.to_int_tuple", (CASTABLE,), (INT_TUPLE,), accessors.to_int_tuple)
class ToIntTupleOp(AccessorOp):
    """A tuple of numbers as an int_tuple."""


@cute_op("cute.to_shape", (INT_TUPLE,), (SHAPE,), accessors.cast_to("shape"))
class ToShapeOp(AccessorOp):
    """An int_tuple as a shape."""


@cute_op("cute.to_stride", (INT_TUPLE,), (STRIDE,), accessors.cast_to("stride"))
class ToStrideOp(AccessorOp):
    """An int_tuple as a stride."""


@cute_op("cute.to_coord", (INT_TUPLE,), (COORD,), accessors.cast_to("coord"))
class ToCoordOp(AccessorOp):
    """An int_tuple as a coordinate."""


# --- leaves ---------------------------------------------------------------------------------------


class PartsOp(InferredOp, ABC):
    """An op with as many results as its operand has parts."""

    SYNTAX: ClassVar = Syntax.INFERRED

    source = operand_def()
    parts = var_result_def()


@cute_op("cute.get_leaves", (ANY_TUPLE,), (SLOTS,), accessors.get_leaves)
class GetLeavesOp(PartsOp):
    """A value for each leaf: `%m, %n = cute.get_leaves(%s) : !cute.shape<"(4,?)">`."""


@cute_op("cute.get_layouts_from_tile", (TILE,), (LAYOUT,), accessors.get_layouts_from_tile)
class GetLayoutsFromTileOp(PartsOp):
    """The layouts of a tile, without its underscores."""

    SHORT_OPERANDS: ClassVar = True


@cute_op("cute.get_scalars", (ANY,), (SCALARS,), accessors.scalar_widths)
class GetScalarsOp(PartsOp):
    """The numbers of a value; only those that are not in its type with `<{only_dynamic}>`."""

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


@cute_op("cute.get", (INDEXABLE_OR_TENSOR,), (INDEXABLE_OR_TENSOR,), on_tensors(accessors.get))
class GetOp(ModeOp):
    """The mode at a path: `cute.get<[1]> (%x) : !cute.shape<"(2,3)"> -> !cute.shape<"3">`."""

    SYNTAX: ClassVar = Syntax.ARROW

    source = operand_def()
    mode = opt_prop_def(DenseArrayBase)
    result = result_def()


@cute_op(
    "cute.select", (INDEXABLE_OR_TENSOR,), (INDEXABLE_OR_TENSOR,), on_tensors(accessors.select)
)
class SelectOp(ModeOp):
    """The named top-level modes."""

    SYNTAX: ClassVar = Syntax.ARROW
    IS_OPTIONAL: ClassVar = False

    source = operand_def()
    mode = prop_def(DenseArrayBase)
    result = result_def()
