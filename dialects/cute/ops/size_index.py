"""Ops on sizes, coordinates and indices."""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

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
from tilewright.dialects.cute.ops.operation import InferredOp, Syntax, cute_op
from tilewright.dialects.cute.ops.properties import ModeOp, NumbersOp
from tilewright.dialects.cute.rules import size_index
from tilewright.dialects.cute.rules.tensors import layout_eval_tensor, on_tensors


@cute_op("cute.size", (SIZED_OR_TENSOR,), (INT_TUPLE,), on_tensors(size_index.size))
class SizeOp(ModeOp):
    """How many coordinates there are: `cute.size<[1]> (%x) : (T) -> !cute.int_tuple<"8">`."""

    source = operand_def()
    mode = opt_prop_def(DenseArrayBase)
    result = result_def()


@cute_op("cute.cosize", (ANY_LAYOUT,), (INT_TUPLE,), size_index.cosize)
class CosizeOp(ModeOp):
    """One more than the largest index."""

    source = operand_def()
    mode = opt_prop_def(DenseArrayBase)
    result = result_def()


@cute_op("cute.tuple_product", (PRODUCIBLE,), (PRODUCIBLE,), size_index.tuple_product)
class TupleProductOp(UnaryOp):
    """The product of the leaves."""


@cute_op("cute.tuple_product_each", (PRODUCIBLE,), (PRODUCIBLE,), size_index.tuple_product_each)
class TupleProductEachOp(UnaryOp):
    """The product of each mode's leaves."""


@cute_op(
    "cute.layout_eval",
    (COORD, LAYOUT_OR_TENSOR),
    (INT_TUPLE,),
    layout_eval_tensor(size_index.layout_eval),
)
class LayoutEvalOp(InferredOp):
    """The image of a coordinate; of a tensor of coordinates the element there."""

    coord = operand_def()
    layout = operand_def()
    result = result_def()


@cute_op("cute.crd2idx", (COORD, SHAPE), (INT_TUPLE,), size_index.crd2idx)
class Crd2IdxOp(InferredOp):
    """The column-major index of a coordinate."""

    coord = operand_def()
    shape = operand_def()
    result = result_def()


@cute_op("cute.idx2crd", (INT_TUPLE, SHAPE), (COORD,), size_index.idx2crd)
class Idx2CrdOp(InferredOp):
    """The coordinate of an index."""

    index = operand_def()
    shape = operand_def()
    result = result_def()


@cute_op("cute.increment_coord", (COORD, SHAPE), (COORD,), size_index.increment_coord)
class IncrementCoordOp(InferredOp):
    """The next coordinate of a shape."""

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


@cute_op("cute.append_to_rank", rule=size_index.append_to_rank)
class AppendToRankOp(PadOp):
    """The element appended up to a rank."""


@cute_op("cute.prepend_to_rank", rule=size_index.prepend_to_rank)
class PrependToRankOp(PadOp):
    """The element prepended up to a rank."""
