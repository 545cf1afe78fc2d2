"""Floating-point arithmetic, element by element.

Tile IR specification, floating point. Rounding is to the nearest, ties to even, where an op says
nothing else; `flush_to_zero` (f32 only) makes zeros of subnormal operands and results.
"""

from typing import Any

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.cuda_tile.attributes import (
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    RoundingModeAttr,
)
from tilewright.dialects.cuda_tile.constraints import FLOAT_TILE, I1_TILE, INT_TILE
from tilewright.dialects.cuda_tile.enums import RoundingMode
from tilewright.dialects.cuda_tile.ops.elementwise import (
    FLUSHED,
    IEEE,
    ROUNDED,
    BinaryFloat,
    ExtremeFloat,
    FloatOp,
    RoundedFloat,
    UnaryFloat,
)
from tilewright.dialects.cuda_tile.ops.operation import PureOp, tile_op, tile_row
from tilewright.dialects.cuda_tile.versions import V13_2, V13_3, V13_4

FULL = RoundingModeAttr(RoundingMode.FULL)


@tile_op("cuda_tile.atan2", 0x6E, V13_2)
class Atan2Op(PureOp):
    """The angle of the point (y, x): `atan2 %x, %y` is atan(x / y) in the right quadrant."""

    SAME_TYPES = "x y result"

    x = operand_def(FLOAT_TILE)
    y = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)


@tile_op("cuda_tile.cmpf", 0x0E)
class CmpFOp(PureOp):
    """`cmpf less_than ordered %x, %y : tile<4xf32> -> tile<4xi1>`."""

    assembly_format = (
        "custom<Word>($comparison_predicate) custom<Word>($comparison_ordering) $lhs `,` $rhs"
    )
    SAME_TYPES = "lhs rhs"
    SAME_SHAPES = "lhs result"

    comparison_predicate = prop_def(ComparisonPredicateAttr)
    comparison_ordering = prop_def(ComparisonOrderingAttr)
    lhs = operand_def(FLOAT_TILE)
    rhs = operand_def(FLOAT_TILE)
    result = result_def(I1_TILE)


@tile_op("cuda_tile.divf", 0x14)
class DivFOp(RoundedFloat):
    """x / y; `approx` multiplies by the reciprocal, `full` scales to err by 2 ulp at most."""

    ROUNDINGS = (*IEEE, RoundingMode.APPROX, RoundingMode.FULL)
    F32_ONLY = (RoundingMode.APPROX, RoundingMode.FULL)


class FullOrApprox(UnaryFloat):
    """`$op %x rounding<approx> : tile<f32>`, `full` where nothing is said."""

    assembly_format = f"$source {ROUNDED}"

    ROUNDINGS = (RoundingMode.FULL, RoundingMode.APPROX)

    rounding_mode = opt_prop_def(RoundingModeAttr, FULL)


class FlushingUnary(UnaryFloat):
    """`$op %x flush_to_zero : tile<f32>`."""

    assembly_format = f"$source {FLUSHED}"

    flush_to_zero = opt_prop_def(UnitAttr)


@tile_op("cuda_tile.fma", 0x28)
class FmaOp(FloatOp):
    """x * y + z, rounded once: `fma %x, %y, %z : tile<f32>`."""

    assembly_format = f"$lhs `,` $rhs `,` $acc {ROUNDED} {FLUSHED}"
    SAME_TYPES = "lhs rhs acc result"
    ROUNDINGS = IEEE

    lhs = operand_def(FLOAT_TILE)
    rhs = operand_def(FLOAT_TILE)
    acc = operand_def(FLOAT_TILE)
    rounding_mode = prop_def(RoundingModeAttr)
    flush_to_zero = opt_prop_def(UnitAttr)
    result = result_def(FLOAT_TILE)


@tile_op("cuda_tile.pow", 0x54)
class PowOp(PureOp):
    """x to the y: `pow %x, %y : tile<f32>`."""

    SAME_TYPES = "source exponent result"

    source = operand_def(FLOAT_TILE)
    exponent = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)


class FPowFOp(PowOp):
    """`fpowf`, as 13.5 calls `pow`."""

    name = "cuda_tile.fpowf"

    @classmethod
    def create(cls, *args: Any, **kwargs: Any) -> Any:
        return PowOp.create(*args, **kwargs)


@tile_op("cuda_tile.fpowi", 0x79, V13_4)
class FPowIOp(PureOp):
    """x to an integer: `fpowi %x, %n : tile<f32>, tile<i32>`. Since 13.4."""

    SAME_TYPES = "source result"
    SAME_SHAPES = "source exponent"

    source = operand_def(FLOAT_TILE)
    exponent = operand_def(INT_TILE)
    result = result_def(FLOAT_TILE)


@tile_op("cuda_tile.sqrt", 0x64)
class SqrtOp(UnaryFloat):
    """The square root: `sqrt %x rounding<approx> flush_to_zero : tile<f32>`."""

    assembly_format = f"$source {ROUNDED} {FLUSHED}"
    ROUNDINGS = (*IEEE, RoundingMode.APPROX)

    rounding_mode = prop_def(RoundingModeAttr)
    flush_to_zero = opt_prop_def(UnitAttr)


AbsFOp = tile_row(UnaryFloat, "cuda_tile.absf", 0x00, "|x|.")
AddFOp = tile_row(RoundedFloat, "cuda_tile.addf", 0x02, "x + y.")
CeilOp = tile_row(UnaryFloat, "cuda_tile.ceil", 0x0D, "The least integer not below x.")
CosOp = tile_row(UnaryFloat, "cuda_tile.cos", 0x12, "cos x.")
CosHOp = tile_row(UnaryFloat, "cuda_tile.cosh", 0x13, "cosh x.")
ExpOp = tile_row(FullOrApprox, "cuda_tile.exp", 0x17, "e to the x.", rounding_mode=V13_3)
Exp2Op = tile_row(FlushingUnary, "cuda_tile.exp2", 0x18, "2 to the x.")
FloorOp = tile_row(UnaryFloat, "cuda_tile.floor", 0x27, "The greatest integer not above x.")
LogOp = tile_row(UnaryFloat, "cuda_tile.log", 0x3F, "The natural logarithm.")
Log2Op = tile_row(UnaryFloat, "cuda_tile.log2", 0x40, "The logarithm to base 2.")
MaxFOp = tile_row(
    ExtremeFloat,
    "cuda_tile.maxf",
    0x45,
    "The greater one; NaN is the lesser one, with `propagate_nan` the result.",
)
MinFOp = tile_row(
    ExtremeFloat,
    "cuda_tile.minf",
    0x47,
    "The lesser one; NaN is the greater one, with `propagate_nan` the result.",
)
MulFOp = tile_row(RoundedFloat, "cuda_tile.mulf", 0x4C, "x * y.")
NegFOp = tile_row(UnaryFloat, "cuda_tile.negf", 0x4F, "-x.")
RemFOp = tile_row(BinaryFloat, "cuda_tile.remf", 0x59, "x - trunc(x / y) * y, with the sign of x.")
RsqrtOp = tile_row(FlushingUnary, "cuda_tile.rsqrt", 0x5D, "1 / sqrt(x).")
SinOp = tile_row(UnaryFloat, "cuda_tile.sin", 0x62, "sin x.")
SinHOp = tile_row(UnaryFloat, "cuda_tile.sinh", 0x63, "sinh x.")
SubFOp = tile_row(RoundedFloat, "cuda_tile.subf", 0x67, "x - y.")
TanOp = tile_row(UnaryFloat, "cuda_tile.tan", 0x69, "tan x.")
TanHOp = tile_row(FullOrApprox, "cuda_tile.tanh", 0x6A, "tanh x.", rounding_mode=V13_2)
