"""Divides and products."""

from abc import ABC

from xdsl.irdl import operand_def, opt_operand_def, result_def

from tilewright.dialects.cute.ops.operands import (
    ANY_LAYOUT,
    DIVIDER,
    INT_TUPLE,
    LAYOUT,
    LAYOUT_OR_TENSOR,
    SHAPE,
)
from tilewright.dialects.cute.ops.operation import InferredOp, cute_op
from tilewright.dialects.cute.rules import tiling as rules
from tilewright.dialects.cute.rules.tensors import on_tensors
from tilewright.dialects.cute.symbolic import tiling


class ProductOp(InferredOp, ABC):
    """A layout repeated as a tiler says."""

    lhs = operand_def(ANY_LAYOUT)
    rhs = operand_def(LAYOUT)
    result = result_def(ANY_LAYOUT)


@cute_op("cute.logical_product", rules.product_rule(tiling.logical_product))
class LogicalProductOp(ProductOp):
    """(layout, repetitions)."""


@cute_op("cute.zipped_product", rules.product_rule(tiling.zipped_product))
class ZippedProductOp(ProductOp):
    """((layout), (repetitions))."""


@cute_op("cute.tiled_product", rules.product_rule(tiling.tiled_product))
class TiledProductOp(ProductOp):
    """((layout), repetition, ...)."""


@cute_op("cute.flat_product", rules.product_rule(tiling.flat_product))
class FlatProductOp(ProductOp):
    """(mode, ..., repetition, ...)."""


@cute_op("cute.blocked_product", rules.product_rule(tiling.blocked_product))
class BlockedProductOp(ProductOp):
    """Mode by mode (layout, repetition)."""


@cute_op("cute.raked_product", rules.product_rule(tiling.raked_product))
class RakedProductOp(ProductOp):
    """Mode by mode (repetition, layout)."""


class DivideOp(InferredOp, ABC):
    """A layout cut into tiles."""

    source = operand_def(LAYOUT_OR_TENSOR)
    tiler = operand_def(DIVIDER)
    result = result_def(LAYOUT_OR_TENSOR)


@cute_op("cute.logical_divide", on_tensors(rules.divide_rule(tiling.logical_divide)))
class LogicalDivideOp(DivideOp):
    """Mode by mode (tile, rest)."""


@cute_op("cute.zipped_divide", on_tensors(rules.divide_rule(tiling.zipped_divide)))
class ZippedDivideOp(DivideOp):
    """((tile, ...), (rest, ...))."""


@cute_op("cute.tiled_divide", on_tensors(rules.divide_rule(tiling.tiled_divide)))
class TiledDivideOp(DivideOp):
    """((tile, ...), rest, ...)."""


@cute_op("cute.flat_divide", on_tensors(rules.divide_rule(tiling.flat_divide)))
class FlatDivideOp(DivideOp):
    """(tile, ..., rest, ...)."""


@cute_op("cute.tile_to_shape", rules.tile_to_shape)
class TileToShapeOp(InferredOp):
    """A block repeated over a shape, in an order of modes."""

    source = operand_def(ANY_LAYOUT)
    shape = operand_def(SHAPE)
    order = opt_operand_def(INT_TUPLE)
    result = result_def(ANY_LAYOUT)
