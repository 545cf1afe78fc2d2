"""Floating-point arithmetic, element by element.

Tile IR specification, floating point. Rounding is to the nearest, ties to even, where an op says
nothing else; `flush_to_zero` (f32 only) makes zeros of subnormal operands and results.
"""

from typing import Any, ClassVar

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
    IEEE,
    BinaryFloat,
    ExtremeFloat,
    FloatOp,
    RoundedFloat,
    UnaryFloat,
)
from tilewright.dialects.cuda_tile.ops.operation import PureOp, tile_op
from tilewright.dialects.cuda_tile.versions import V13_2, V13_3, V13_4

FULL = RoundingModeAttr(RoundingMode.FULL)


@tile_op("cuda_tile.absf", 0x00)
class AbsFOp(UnaryFloat):
    """|x|."""


@tile_op("cuda_tile.addf", 0x02)
class AddFOp(RoundedFloat):
    """x + y."""


@tile_op("cuda_tile.atan2", 0x6E, V13_2)
class Atan2Op(PureOp):
    """The angle of the point (y, x): `atan2 %x, %y` is atan(x / y) in the right quadrant."""

    TEXT: ClassVar[str] = "$x `,` $y attr-dict `:` type($result)"
    SAME_TYPES: ClassVar = (("x", "y", "result"),)

    x = operand_def(FLOAT_TILE)
    y = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)


@tile_op("cuda_tile.ceil", 0x0D)
class CeilOp(UnaryFloat):
    """The least integer not below x."""


@tile_op("cuda_tile.cmpf", 0x0E)
class CmpFOp(PureOp):
    """`cmpf less_than ordered %x, %y : tile<4xf32> -> tile<4xi1>`."""

    TEXT: ClassVar[str] = (
        "word($comparison_predicate) word($comparison_ordering) $lhs `,` $rhs attr-dict `:` "
        "type($lhs) `->` type($result)"
    )
    SAME_TYPES: ClassVar = (("lhs", "rhs"),)
    SAME_SHAPES: ClassVar = (("lhs", "result"),)

    comparison_predicate = prop_def(ComparisonPredicateAttr)
    comparison_ordering = prop_def(ComparisonOrderingAttr)
    lhs = operand_def(FLOAT_TILE)
    rhs = operand_def(FLOAT_TILE)
    result = result_def(I1_TILE)


@tile_op("cuda_tile.cos", 0x12)
class CosOp(UnaryFloat):
    """cos x."""


@tile_op("cuda_tile.cosh", 0x13)
class CosHOp(UnaryFloat):
    """cosh x."""


@tile_op("cuda_tile.divf", 0x14)
class DivFOp(RoundedFloat):
    """x / y; `approx` multiplies by the reciprocal, `full` scales to err by 2 ulp at most."""

    ROUNDINGS: ClassVar = (*IEEE, RoundingMode.APPROX, RoundingMode.FULL)
    F32_ONLY: ClassVar = (RoundingMode.APPROX, RoundingMode.FULL)


class FullOrApprox(UnaryFloat):
    """`$op %x rounding<approx> : tile<f32>`, `full` where nothing is said."""

    TEXT: ClassVar[str] = "$source choice(rounding, $rounding_mode) attr-dict `:` type($result)"

    ROUNDINGS: ClassVar = (RoundingMode.FULL, RoundingMode.APPROX)

    rounding_mode = opt_prop_def(RoundingModeAttr, FULL)


@tile_op("cuda_tile.exp", 0x17, rounding_mode=V13_3)
class ExpOp(FullOrApprox):
    """e to the x."""


class FlushingUnary(UnaryFloat):
    """`$op %x flush_to_zero : tile<f32>`."""

    TEXT: ClassVar[str] = "$source flags(flush_to_zero) attr-dict `:` type($result)"

    flush_to_zero = opt_prop_def(UnitAttr)


@tile_op("cuda_tile.exp2", 0x18)
class Exp2Op(FlushingUnary):
    """2 to the x."""


@tile_op("cuda_tile.floor", 0x27)
class FloorOp(UnaryFloat):
    """The greatest integer not above x."""


@tile_op("cuda_tile.fma", 0x28)
class FmaOp(FloatOp):
    """x * y + z, rounded once: `fma %x, %y, %z : tile<f32>`."""

    TEXT: ClassVar[str] = (
        "$lhs `,` $rhs `,` $acc choice(rounding, $rounding_mode) flags(flush_to_zero) "
        "attr-dict `:` type($result)"
    )
    SAME_TYPES: ClassVar = (("lhs", "rhs", "acc", "result"),)
    ROUNDINGS: ClassVar = IEEE

    lhs = operand_def(FLOAT_TILE)
    rhs = operand_def(FLOAT_TILE)
    acc = operand_def(FLOAT_TILE)
    rounding_mode = prop_def(RoundingModeAttr)
    flush_to_zero = opt_prop_def(UnitAttr)
    result = result_def(FLOAT_TILE)


@tile_op("cuda_tile.log", 0x3F)
class LogOp(UnaryFloat):
    """The natural logarithm."""


@tile_op("cuda_tile.log2", 0x40)
class Log2Op(UnaryFloat):
    """The logarithm to base 2."""


@tile_op("cuda_tile.maxf", 0x45)
class MaxFOp(ExtremeFloat):
    """The greater one; NaN is the lesser one, with `propagate_nan` the result."""


@tile_op("cuda_tile.minf", 0x47)
class MinFOp(ExtremeFloat):
    """The lesser one; NaN is the greater one, with `propagate_nan` the result."""


@tile_op("cuda_tile.mulf", 0x4C)
class MulFOp(RoundedFloat):
    """x * y."""


@tile_op("cuda_tile.negf", 0x4F)
class NegFOp(UnaryFloat):
    """-x."""


@tile_op("cuda_tile.pow", 0x54)
class PowOp(PureOp):
    """x to the y: `pow %x, %y : tile<f32>`."""

    TEXT: ClassVar[str] = "$source `,` $exponent attr-dict `:` type($result)"
    SAME_TYPES: ClassVar = (("source", "exponent", "result"),)

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

    TEXT: ClassVar[str] = "$source `,` $exponent attr-dict `:` type($source) `,` type($exponent)"
    SAME_TYPES: ClassVar = (("source", "result"),)
    SAME_SHAPES: ClassVar = (("source", "exponent"),)

    source = operand_def(FLOAT_TILE)
    exponent = operand_def(INT_TILE)
    result = result_def(FLOAT_TILE)


@tile_op("cuda_tile.remf", 0x59)
class RemFOp(BinaryFloat):
    """x - trunc(x / y) * y, with the sign of x."""


@tile_op("cuda_tile.rsqrt", 0x5D)
class RsqrtOp(FlushingUnary):
    """1 / sqrt(x)."""


@tile_op("cuda_tile.sin", 0x62)
class SinOp(UnaryFloat):
    """sin x."""


@tile_op("cuda_tile.sinh", 0x63)
class SinHOp(UnaryFloat):
    """sinh x."""


@tile_op("cuda_tile.sqrt", 0x64)
class SqrtOp(UnaryFloat):
    """The square root: `sqrt %x rounding<approx> flush_to_zero : tile<f32>`."""

    TEXT: ClassVar[str] = (
        "$source choice(rounding, $rounding_mode) flags(flush_to_zero) attr-dict `:` type($result)"
    )
    ROUNDINGS: ClassVar = (*IEEE, RoundingMode.APPROX)

    rounding_mode = prop_def(RoundingModeAttr)
    flush_to_zero = opt_prop_def(UnitAttr)


@tile_op("cuda_tile.subf", 0x67)
class SubFOp(RoundedFloat):
    """x - y."""


@tile_op("cuda_tile.tan", 0x69)
class TanOp(UnaryFloat):
    """tan x."""


@tile_op("cuda_tile.tanh", 0x6A, rounding_mode=V13_2)
class TanHOp(FullOrApprox):
    """tanh x."""
