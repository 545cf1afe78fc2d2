"""Floating-point arithmetic, element by element.

Tile IR specification, floating point. Rounding is to the nearest, ties to even, where an op says
nothing else; `flush_to_zero` (f32 only) makes zeros of subnormal operands and results.
"""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

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
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, tile_op
from tilewright.dialects.cuda_tile.versions import V13_2, V13_3, V13_4

FULL = RoundingModeAttr(RoundingMode.FULL)


@tile_op(0x00)
class AbsFOp(UnaryFloat):
    """|x|."""

    name = "cuda_tile.absf"


@tile_op(0x02)
class AddFOp(RoundedFloat):
    """x + y."""

    name = "cuda_tile.addf"


@tile_op(0x6E, V13_2)
class Atan2Op(CudaTileOp):
    """The angle of the point (y, x): `atan2 %x, %y` is atan(x / y) in the right quadrant."""

    name = "cuda_tile.atan2"
    TEXT: ClassVar[str] = "$x `,` $y attr-dict `:` type($result)"
    SAME_TYPES: ClassVar = (("x", "y", "result"),)

    x = operand_def(FLOAT_TILE)
    y = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)

    traits = traits_def(Pure())


@tile_op(0x0D)
class CeilOp(UnaryFloat):
    """The least integer not below x."""

    name = "cuda_tile.ceil"


@tile_op(0x0E)
class CmpFOp(CudaTileOp):
    """`cmpf less_than ordered %x, %y : tile<4xf32> -> tile<4xi1>`."""

    name = "cuda_tile.cmpf"
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

    traits = traits_def(Pure())


@tile_op(0x12)
class CosOp(UnaryFloat):
    """cos x."""

    name = "cuda_tile.cos"


@tile_op(0x13)
class CosHOp(UnaryFloat):
    """cosh x."""

    name = "cuda_tile.cosh"


@tile_op(0x14)
class DivFOp(RoundedFloat):
    """x / y; `approx` multiplies by the reciprocal, `full` scales to err by 2 ulp at most."""

    name = "cuda_tile.divf"
    ROUNDINGS: ClassVar = (*IEEE, RoundingMode.APPROX, RoundingMode.FULL)
    F32_ONLY: ClassVar = (RoundingMode.APPROX, RoundingMode.FULL)


class FullOrApprox(UnaryFloat):
    """`$op %x rounding<approx> : tile<f32>`, `full` where nothing is said."""

    TEXT: ClassVar[str] = "$source choice(rounding, $rounding_mode) attr-dict `:` type($result)"

    ROUNDINGS: ClassVar = (RoundingMode.FULL, RoundingMode.APPROX)

    rounding_mode = opt_prop_def(RoundingModeAttr, FULL)


@tile_op(0x17, rounding_mode=V13_3)
class ExpOp(FullOrApprox):
    """e to the x."""

    name = "cuda_tile.exp"


class FlushingUnary(UnaryFloat):
    """`$op %x flush_to_zero : tile<f32>`."""

    TEXT: ClassVar[str] = "$source flags(flush_to_zero) attr-dict `:` type($result)"

    flush_to_zero = opt_prop_def(UnitAttr)


@tile_op(0x18)
class Exp2Op(FlushingUnary):
    """2 to the x."""

    name = "cuda_tile.exp2"


@tile_op(0x27)
class FloorOp(UnaryFloat):
    """The greatest integer not above x."""

    name = "cuda_tile.floor"


@tile_op(0x28)
class FmaOp(FloatOp):
    """x * y + z, rounded once: `fma %x, %y, %z : tile<f32>`."""

    name = "cuda_tile.fma"
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


@tile_op(0x3F)
class LogOp(UnaryFloat):
    """The natural logarithm."""

    name = "cuda_tile.log"


@tile_op(0x40)
class Log2Op(UnaryFloat):
    """The logarithm to base 2."""

    name = "cuda_tile.log2"


@tile_op(0x45)
class MaxFOp(ExtremeFloat):
    """The greater one; NaN is the lesser one, with `propagate_nan` the result."""

    name = "cuda_tile.maxf"


@tile_op(0x47)
class MinFOp(ExtremeFloat):
    """The lesser one; NaN is the greater one, with `propagate_nan` the result."""

    name = "cuda_tile.minf"


@tile_op(0x4C)
class MulFOp(RoundedFloat):
    """x * y."""

    name = "cuda_tile.mulf"


@tile_op(0x4F)
class NegFOp(UnaryFloat):
    """-x."""

    name = "cuda_tile.negf"


@tile_op(0x54)
class PowOp(CudaTileOp):
    """x to the y: `pow %x, %y : tile<f32>`."""

    name = "cuda_tile.pow"
    TEXT: ClassVar[str] = "$source `,` $exponent attr-dict `:` type($result)"
    SAME_TYPES: ClassVar = (("source", "exponent", "result"),)

    source = operand_def(FLOAT_TILE)
    exponent = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)

    traits = traits_def(Pure())


class FPowFOp(PowOp):
    """`fpowf`, as 13.5 calls `pow`."""

    name = "cuda_tile.fpowf"

    @classmethod
    def create(cls, *args: Any, **kwargs: Any) -> Any:
        return PowOp.create(*args, **kwargs)


@tile_op(0x79, V13_4)
class FPowIOp(CudaTileOp):
    """x to an integer: `fpowi %x, %n : tile<f32>, tile<i32>`. Since 13.4."""

    name = "cuda_tile.fpowi"
    TEXT: ClassVar[str] = "$source `,` $exponent attr-dict `:` type($source) `,` type($exponent)"
    SAME_TYPES: ClassVar = (("source", "result"),)
    SAME_SHAPES: ClassVar = (("source", "exponent"),)

    source = operand_def(FLOAT_TILE)
    exponent = operand_def(INT_TILE)
    result = result_def(FLOAT_TILE)

    traits = traits_def(Pure())


@tile_op(0x59)
class RemFOp(BinaryFloat):
    """x - trunc(x / y) * y, with the sign of x."""

    name = "cuda_tile.remf"


@tile_op(0x5D)
class RsqrtOp(FlushingUnary):
    """1 / sqrt(x)."""

    name = "cuda_tile.rsqrt"


@tile_op(0x62)
class SinOp(UnaryFloat):
    """sin x."""

    name = "cuda_tile.sin"


@tile_op(0x63)
class SinHOp(UnaryFloat):
    """sinh x."""

    name = "cuda_tile.sinh"


@tile_op(0x64)
class SqrtOp(UnaryFloat):
    """The square root: `sqrt %x rounding<approx> flush_to_zero : tile<f32>`."""

    name = "cuda_tile.sqrt"
    TEXT: ClassVar[str] = (
        "$source choice(rounding, $rounding_mode) flags(flush_to_zero) attr-dict `:` type($result)"
    )
    ROUNDINGS: ClassVar = (*IEEE, RoundingMode.APPROX)

    rounding_mode = prop_def(RoundingModeAttr)
    flush_to_zero = opt_prop_def(UnitAttr)


@tile_op(0x67)
class SubFOp(RoundedFloat):
    """x - y."""

    name = "cuda_tile.subf"


@tile_op(0x69)
class TanOp(UnaryFloat):
    """tan x."""

    name = "cuda_tile.tan"


@tile_op(0x6A, rounding_mode=V13_2)
class TanHOp(FullOrApprox):
    """tanh x."""

    name = "cuda_tile.tanh"
