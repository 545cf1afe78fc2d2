"""Integer arithmetic, element by element, modulo 2 ** width.

Tile IR specification, integer and bitwise. Integers have no sign of their own: the ops say how
they read them.
"""

from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.cuda_tile.attributes import (
    ComparisonPredicateAttr,
    IntegerOverflowAttr,
    RoundingModeAttr,
    SignednessAttr,
)
from tilewright.dialects.cuda_tile.constraints import I1_TILE, INT_TILE
from tilewright.dialects.cuda_tile.enums import IntegerOverflow, RoundingMode
from tilewright.dialects.cuda_tile.ops.elementwise import (
    NO_OVERFLOW_RULE,
    BinaryInteger,
    OverflowingInteger,
    SignedInteger,
    UnaryInteger,
    verify_rounding,
)
from tilewright.dialects.cuda_tile.ops.operation import PureOp, tile_op, tile_row
from tilewright.dialects.cuda_tile.versions import V13_2


@tile_op("cuda_tile.cmpi", 0x0F)
class CmpIOp(PureOp):
    """`cmpi less_than %x, %y, signed : tile<4xi32> -> tile<4xi1>`."""

    assembly_format = (
        "custom<Word>($comparison_predicate) $lhs `,` $rhs `,` custom<Word>($signedness)"
    )
    SAME_TYPES = "lhs rhs"
    SAME_SHAPES = "lhs result"

    comparison_predicate = prop_def(ComparisonPredicateAttr)
    lhs = operand_def(INT_TILE)
    rhs = operand_def(INT_TILE)
    signedness = prop_def(SignednessAttr)
    result = result_def(I1_TILE)


@tile_op("cuda_tile.divi", 0x15)
class DivIOp(BinaryInteger):
    """x / y, towards zero or as said: `divi %x, %y signed rounding<negative_inf> : tile<i32>`.

    cuTile writes `//` of unsigned numbers with rounding<negative_inf>, which tileiras refuses."""

    assembly_format = (
        "$lhs `,` $rhs custom<Word>($signedness) custom<OptionalWord>(`rounding`, $rounding)"
    )
    ROUNDINGS = (RoundingMode.ZERO, RoundingMode.NEGATIVE_INF, RoundingMode.POSITIVE_INF)

    signedness = prop_def(SignednessAttr)
    rounding = opt_prop_def(RoundingModeAttr, RoundingModeAttr(RoundingMode.ZERO))

    def verify_types(self) -> None:
        verify_rounding(self, "rounding")


@tile_op("cuda_tile.mulhii", 0x4D)
class MulhiIOp(PureOp):
    """The upper half of x * y, unsigned: `mulhii %x, %y : tile<i32>`."""

    SAME_TYPES = "x y result"

    x = operand_def(INT_TILE)
    y = operand_def(INT_TILE)
    result = result_def(INT_TILE)


@tile_op("cuda_tile.negi", 0x50, overflow=V13_2)
class NegIOp(UnaryInteger):
    """-x: `negi %x overflow<no_signed_wrap> : tile<i32>`."""

    assembly_format = "$source custom<OptionalWord>(`overflow`, $overflow)"

    overflow = opt_prop_def(IntegerOverflowAttr, NO_OVERFLOW_RULE)

    def verify_types(self) -> None:
        if self.overflow.data is IntegerOverflow.NUW:
            raise self.fail(
                "overflow of none, no_signed_wrap or no_wrap, got no_unsigned_wrap (it is signed); "
                "nearest legal: no_signed_wrap"
            )


AbsIOp = tile_row(UnaryInteger, "cuda_tile.absi", 0x01, "|x|, x signed, the result unsigned.")
AddIOp = tile_row(OverflowingInteger, "cuda_tile.addi", 0x03, "x + y.")
AndIOp = tile_row(BinaryInteger, "cuda_tile.andi", 0x04, "x and y, bit by bit.")
MaxIOp = tile_row(SignedInteger, "cuda_tile.maxi", 0x46, "The greater one.")
MinIOp = tile_row(SignedInteger, "cuda_tile.mini", 0x48, "The lesser one.")
MulIOp = tile_row(OverflowingInteger, "cuda_tile.muli", 0x4E, "x * y.")
OrIOp = tile_row(BinaryInteger, "cuda_tile.ori", 0x52, "x or y, bit by bit.")
RemIOp = tile_row(
    SignedInteger, "cuda_tile.remi", 0x5A, "x - trunc(x / y) * y, with the sign of x."
)
ShLIOp = tile_row(OverflowingInteger, "cuda_tile.shli", 0x60, "x shifted left by y, y unsigned.")
ShRIOp = tile_row(
    SignedInteger,
    "cuda_tile.shri",
    0x61,
    "x shifted right by y, y unsigned; `signed` fills with the sign.",
)
SubIOp = tile_row(OverflowingInteger, "cuda_tile.subi", 0x68, "x - y.")
XOrIOp = tile_row(BinaryInteger, "cuda_tile.xori", 0x6C, "x exclusive or y, bit by bit.")
