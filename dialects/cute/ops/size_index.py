"""Ops on sizes, coordinates and indices."""

from abc import ABC

from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

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
from tilewright.dialects.cute.ops.operation import InferredOp, cute_op
from tilewright.dialects.cute.ops.properties import NUMBER, PATH
from tilewright.dialects.cute.ops.text import Syntax
from tilewright.dialects.cute.rules import size_index
from tilewright.dialects.cute.rules.tensors import layout_eval_tensor, on_tensors


@cute_op("cute.size", on_tensors(size_index.size))
class SizeOp(InferredOp):
    """How many coordinates there are: `cute.size<[1]> (%x) : (T) -> !cute.int_tuple<"8">`."""

    source = operand_def(SIZED_OR_TENSOR)
    mode = opt_prop_def(PATH)
    result = result_def(INT_TUPLE)


@cute_op("cute.cosize", size_index.cosize)
class CosizeOp(InferredOp):
    """One more than the largest index."""

    source = operand_def(ANY_LAYOUT)
    mode = opt_prop_def(PATH)
    result = result_def(INT_TUPLE)


@cute_op("cute.tuple_product", size_index.tuple_product)
class TupleProductOp(InferredOp):
    """The product of the leaves."""

    source = operand_def(PRODUCIBLE)
    result = result_def(PRODUCIBLE)


@cute_op("cute.tuple_product_each", size_index.tuple_product_each)
class TupleProductEachOp(InferredOp):
    """The product of each mode's leaves."""

    source = operand_def(PRODUCIBLE)
    result = result_def(PRODUCIBLE)


@cute_op("cute.layout_eval", layout_eval_tensor(size_index.layout_eval))
class LayoutEvalOp(InferredOp):
    """The image of a coordinate; of a tensor of coordinates the element there."""

    coord = operand_def(COORD)
    layout = operand_def(LAYOUT_OR_TENSOR)
    result = result_def(INT_TUPLE)


@cute_op("cute.crd2idx", size_index.crd2idx)
class Crd2IdxOp(InferredOp):
    """The column-major index of a coordinate."""

    coord = operand_def(COORD)
    shape = operand_def(SHAPE)
    result = result_def(INT_TUPLE)


@cute_op("cute.idx2crd", size_index.idx2crd)
class Idx2CrdOp(InferredOp):
    """The coordinate of an index."""

    index = operand_def(INT_TUPLE)
    shape = operand_def(SHAPE)
    result = result_def(COORD)


@cute_op("cute.increment_coord", size_index.increment_coord)
class IncrementCoordOp(InferredOp):
    """The next coordinate of a shape."""

    coord = operand_def(COORD)
    shape = operand_def(SHAPE)
    result = result_def(COORD)


class PadOp(InferredOp, ABC):
    """An op that fills up to a rank: `cute.append_to_rank<3> (%x, %e) : T, E`."""

    SYNTAX = Syntax.INFERRED

    rank = prop_def(NUMBER)
    source = operand_def(TUPLE_OR_LAYOUT)
    element = operand_def(TUPLE_OR_LAYOUT)
    result = result_def(TUPLE_OR_LAYOUT)


@cute_op("cute.append_to_rank", size_index.append_to_rank)
class AppendToRankOp(PadOp):
    """The element appended up to a rank."""


@cute_op("cute.prepend_to_rank", size_index.prepend_to_rank)
class PrependToRankOp(PadOp):
    """The element prepended up to a rank."""
