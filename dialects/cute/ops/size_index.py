"""Ops on sizes, coordinates and indices."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.cute.ops.layout_algebra import UnaryOp
from tilewright.dialects.cute.ops.operands import (
    ANY_LAYOUT,
    COORD,
    INT_TUPLE,
    LAYOUT_OR_TENSOR,
    PRODUCIBLE,
    SHAPE,
    SIZED_OR_TENSOR,
    TUPLE_OR_LAYOUT,
)
from tilewright.dialects.cute.ops.operation import InferredOp, Syntax
from tilewright.dialects.cute.ops.properties import ModeOp, NumbersOp
from tilewright.dialects.cute.rules import size_index
from tilewright.dialects.cute.rules.tensors import layout_eval_tensor, on_tensors


@irdl_op_definition
class SizeOp(ModeOp):
    """How many coordinates there are: `cute.size<[1]> (%x) : (T) -> !cute.int_tuple<"8">`."""

    name = "cute.size"
    OPERANDS: ClassVar = (SIZED_OR_TENSOR,)
    RESULTS: ClassVar = (INT_TUPLE,)
    RULE: ClassVar = staticmethod(on_tensors(size_index.size))

    source = operand_def()
    mode = opt_prop_def(DenseArrayBase)
    result = result_def()


@irdl_op_definition
class CosizeOp(ModeOp):
    """One more than the largest index."""

    name = "cute.cosize"
    OPERANDS: ClassVar = (ANY_LAYOUT,)
    RESULTS: ClassVar = (INT_TUPLE,)
    RULE: ClassVar = staticmethod(size_index.cosize)

    source = operand_def()
    mode = opt_prop_def(DenseArrayBase)
    result = result_def()


@irdl_op_definition
class TupleProductOp(UnaryOp):
    """The product of the leaves."""

    name = "cute.tuple_product"
    OPERANDS: ClassVar = (PRODUCIBLE,)
    RESULTS: ClassVar = (PRODUCIBLE,)
    RULE: ClassVar = staticmethod(size_index.tuple_product)


@irdl_op_definition
class TupleProductEachOp(UnaryOp):
    """The product of each mode's leaves."""

    name = "cute.tuple_product_each"
    OPERANDS: ClassVar = (PRODUCIBLE,)
    RESULTS: ClassVar = (PRODUCIBLE,)
    RULE: ClassVar = staticmethod(size_index.tuple_product_each)


@irdl_op_definition
class LayoutEvalOp(InferredOp):
    """The image of a coordinate; of a tensor of coordinates the element there."""

    name = "cute.layout_eval"
    OPERANDS: ClassVar = (COORD, LAYOUT_OR_TENSOR)
    RESULTS: ClassVar = (INT_TUPLE,)
    RULE: ClassVar = staticmethod(layout_eval_tensor(size_index.layout_eval))

    coord = operand_def()
    layout = operand_def()
    result = result_def()


@irdl_op_definition
class Crd2IdxOp(InferredOp):
    """The column-major index of a coordinate."""

    name = "cute.crd2idx"
    OPERANDS: ClassVar = (COORD, SHAPE)
    RESULTS: ClassVar = (INT_TUPLE,)
    RULE: ClassVar = staticmethod(size_index.crd2idx)

    coord = operand_def()
    shape = operand_def()
    result = result_def()


@irdl_op_definition
class Idx2CrdOp(InferredOp):
    """The coordinate of an index."""

    name = "cute.idx2crd"
    OPERANDS: ClassVar = (INT_TUPLE, SHAPE)
    RESULTS: ClassVar = (COORD,)
    RULE: ClassVar = staticmethod(size_index.idx2crd)

    index = operand_def()
    shape = operand_def()
    result = result_def()


@irdl_op_definition
class IncrementCoordOp(InferredOp):
    """The next coordinate of a shape."""

    name = "cute.increment_coord"
    OPERANDS: ClassVar = (COORD, SHAPE)
    RESULTS: ClassVar = (COORD,)
    RULE: ClassVar = staticmethod(size_index.increment_coord)

    coord = operand_def()
    shape = operand_def()
    result = result_def()


class PadOp(NumbersOp, ABC):
    """An op that fills up to a rank: `cute.append_to_rank<3> (%x, %e) : T, E`."""

    NUMBERS: ClassVar = ("rank",)
    OPERANDS: ClassVar = (TUPLE_OR_LAYOUT, TUPLE_OR_LAYOUT)
    RESULTS: ClassVar = (TUPLE_OR_LAYOUT,)
    SYNTAX: ClassVar = Syntax.INFERRED

    rank = prop_def(IntegerAttr)
    source = operand_def()
    element = operand_def()
    result = result_def()


@irdl_op_definition
class AppendToRankOp(PadOp):
    """The element appended up to a rank."""

    name = "cute.append_to_rank"
    RULE: ClassVar = staticmethod(size_index.append_to_rank)


@irdl_op_definition
class PrependToRankOp(PadOp):
    """The element prepended up to a rank."""

    name = "cute.prepend_to_rank"
    RULE: ClassVar = staticmethod(size_index.prepend_to_rank)
