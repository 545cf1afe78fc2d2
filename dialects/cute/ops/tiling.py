"""Divides and products."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, result_def

from tilewright.dialects.cute.ops.operands import (
    ANY_LAYOUT,
    DIVIDER,
    INT_TUPLE,
    LAYOUT,
    LAYOUT_OR_TENSOR,
    SHAPE,
)
from tilewright.dialects.cute.ops.operation import InferredOp
from tilewright.dialects.cute.rules import tiling as rules
from tilewright.dialects.cute.rules.tensors import on_tensors
from tilewright.dialects.cute.symbolic import tiling


class ProductOp(InferredOp, ABC):
    """A layout repeated as a tiler says."""

    OPERANDS: ClassVar = (ANY_LAYOUT, LAYOUT)
    RESULTS: ClassVar = (ANY_LAYOUT,)

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()


@irdl_op_definition
class LogicalProductOp(ProductOp):
    """(layout, repetitions)."""

    name = "cute.logical_product"
    RULE: ClassVar = staticmethod(rules.product_rule(tiling.logical_product))


@irdl_op_definition
class ZippedProductOp(ProductOp):
    """((layout), (repetitions))."""

    name = "cute.zipped_product"
    RULE: ClassVar = staticmethod(rules.product_rule(tiling.zipped_product))


@irdl_op_definition
class TiledProductOp(ProductOp):
    """((layout), repetition, ...)."""

    name = "cute.tiled_product"
    RULE: ClassVar = staticmethod(rules.product_rule(tiling.tiled_product))


@irdl_op_definition
class FlatProductOp(ProductOp):
    """(mode, ..., repetition, ...)."""

    name = "cute.flat_product"
    RULE: ClassVar = staticmethod(rules.product_rule(tiling.flat_product))


@irdl_op_definition
class BlockedProductOp(ProductOp):
    """Mode by mode (layout, repetition)."""

    name = "cute.blocked_product"
    RULE: ClassVar = staticmethod(rules.product_rule(tiling.blocked_product))


@irdl_op_definition
class RakedProductOp(ProductOp):
    """Mode by mode (repetition, layout)."""

    name = "cute.raked_product"
    RULE: ClassVar = staticmethod(rules.product_rule(tiling.raked_product))


class DivideOp(InferredOp, ABC):
    """A layout cut into tiles."""

    OPERANDS: ClassVar = (LAYOUT_OR_TENSOR, DIVIDER)
    RESULTS: ClassVar = (LAYOUT_OR_TENSOR,)

    source = operand_def()
    tiler = operand_def()
    result = result_def()


@irdl_op_definition
class LogicalDivideOp(DivideOp):
    """Mode by mode (tile, rest)."""

    name = "cute.logical_divide"
    RULE: ClassVar = staticmethod(on_tensors(rules.divide_rule(tiling.logical_divide)))


@irdl_op_definition
class ZippedDivideOp(DivideOp):
    """((tile, ...), (rest, ...))."""

    name = "cute.zipped_divide"
    RULE: ClassVar = staticmethod(on_tensors(rules.divide_rule(tiling.zipped_divide)))


@irdl_op_definition
class TiledDivideOp(DivideOp):
    """((tile, ...), rest, ...)."""

    name = "cute.tiled_divide"
    RULE: ClassVar = staticmethod(on_tensors(rules.divide_rule(tiling.tiled_divide)))


@irdl_op_definition
class FlatDivideOp(DivideOp):
    """(tile, ..., rest, ...)."""

    name = "cute.flat_divide"
    RULE: ClassVar = staticmethod(on_tensors(rules.divide_rule(tiling.flat_divide)))


@irdl_op_definition
class TileToShapeOp(InferredOp):
    """A block repeated over a shape, in an order of modes."""

    name = "cute.tile_to_shape"
    OPERANDS: ClassVar = (ANY_LAYOUT, SHAPE, INT_TUPLE)
    RESULTS: ClassVar = (ANY_LAYOUT,)
    RULE: ClassVar = staticmethod(rules.tile_to_shape)

    source = operand_def()
    shape = operand_def()
    order = opt_operand_def()
    result = result_def()
