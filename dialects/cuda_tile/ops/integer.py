"""Integer arithmetic, element by element, modulo 2 ** width, and integer matrix multiplication.

Tile IR specification, integer and bitwise. Integers have no sign of their own: the ops say how
they read them.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tilewright.dialects.cuda_tile.attributes import (
    ComparisonPredicateAttr,
    IntegerOverflowAttr,
    RoundingModeAttr,
    SignednessAttr,
)
from tilewright.dialects.cuda_tile.constraints import I1_TILE, I8_TILE, INT_TILE, tiles_of
from tilewright.dialects.cuda_tile.element_types import types_of
from tilewright.dialects.cuda_tile.enums import RoundingMode
from tilewright.dialects.cuda_tile.ops.elementwise import (
    NO_OVERFLOW_RULE,
    BinaryInteger,
    OverflowingInteger,
    SignedInteger,
    UnaryInteger,
)
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, tile_op
from tilewright.dialects.cuda_tile.versions import V13_2


@tile_op(0x01)
class AbsIOp(UnaryInteger):
    """|x|, x signed, the result unsigned."""

    name = "cuda_tile.absi"


@tile_op(0x03)
class AddIOp(OverflowingInteger):
    """x + y."""

    name = "cuda_tile.addi"


@tile_op(0x04)
class AndIOp(BinaryInteger):
    """x and y, bit by bit."""

    name = "cuda_tile.andi"


@tile_op(0x0F)
class CmpIOp(CudaTileOp):
    """`cmpi less_than %x, %y, signed : tile<4xi32> -> tile<4xi1>`."""

    name = "cuda_tile.cmpi"
    TEXT: ClassVar[str] = (
        "word($comparison_predicate) $lhs `,` $rhs `,` word($signedness) attr-dict `:` "
        "type($lhs) `->` type($result)"
    )
    SAME_TYPES: ClassVar = (("lhs", "rhs"),)
    SAME_SHAPES: ClassVar = (("lhs", "result"),)

    comparison_predicate = prop_def(ComparisonPredicateAttr)
    lhs = operand_def(INT_TILE)
    rhs = operand_def(INT_TILE)
    signedness = prop_def(SignednessAttr)
    result = result_def(I1_TILE)

    traits = traits_def(Pure())


@tile_op(0x15)
class DivIOp(BinaryInteger):
    """x / y, towards zero or as said: `divi %x, %y signed rounding<negative_inf> : tile<i32>`."""

    name = "cuda_tile.divi"
    TEXT: ClassVar[str] = (
        "$lhs `,` $rhs word($signedness) (`rounding` $rounding^)? attr-dict `:` type($result)"
    )

    signedness = prop_def(SignednessAttr)
    rounding = opt_prop_def(RoundingModeAttr, RoundingModeAttr(RoundingMode.ZERO))


@tile_op(0x46)
class MaxIOp(SignedInteger):
    """The greater one."""

    name = "cuda_tile.maxi"


@tile_op(0x48)
class MinIOp(SignedInteger):
    """The lesser one."""

    name = "cuda_tile.mini"


I32_TILE = tiles_of(types_of("i32"))


@tile_op(0x4A)
class MmaIOp(CudaTileOp):
    """A B + C, of (batches of) matrices: `mmai %a, %b, %c signed unsigned : tile<4x8xi8>,
    tile<8x2xi8>, tile<4x2xi32>`."""

    name = "cuda_tile.mmai"
    TEXT: ClassVar[str] = (
        "$lhs `,` $rhs `,` $acc word($signedness_lhs) word($signedness_rhs) attr-dict `:` "
        "type($lhs) `,` type($rhs) `,` type($acc)"
    )
    SAME_TYPES: ClassVar = (("acc", "result"),)
    SAME_ELEMENTS: ClassVar = (("lhs", "rhs"),)
    SAME_RANKS: ClassVar = (("lhs", "rhs", "acc"),)

    lhs = operand_def(I8_TILE)
    rhs = operand_def(I8_TILE)
    acc = operand_def(I32_TILE)
    signedness_lhs = prop_def(SignednessAttr)
    signedness_rhs = prop_def(SignednessAttr)
    result = result_def(I32_TILE)

    traits = traits_def(Pure())


@tile_op(0x4E)
class MulIOp(OverflowingInteger):
    """x * y."""

    name = "cuda_tile.muli"


@tile_op(0x4D)
class MulhiIOp(CudaTileOp):
    """The upper half of x * y, unsigned: `mulhii %x, %y : tile<i32>`."""

    name = "cuda_tile.mulhii"
    TEXT: ClassVar[str] = "$x `,` $y attr-dict `:` type($result)"
    SAME_TYPES: ClassVar = (("x", "y", "result"),)

    x = operand_def(INT_TILE)
    y = operand_def(INT_TILE)
    result = result_def(INT_TILE)

    traits = traits_def(Pure())


@tile_op(0x50, overflow=V13_2)
class NegIOp(UnaryInteger):
    """-x: `negi %x overflow<no_signed_wrap> : tile<i32>`."""

    name = "cuda_tile.negi"
    TEXT: ClassVar[str] = "$source (`overflow` $overflow^)? attr-dict `:` type($result)"

    overflow = opt_prop_def(IntegerOverflowAttr, NO_OVERFLOW_RULE)


@tile_op(0x52)
class OrIOp(BinaryInteger):
    """x or y, bit by bit."""

    name = "cuda_tile.ori"


@tile_op(0x5A)
class RemIOp(SignedInteger):
    """x - trunc(x / y) * y, with the sign of x."""

    name = "cuda_tile.remi"


@tile_op(0x60)
class ShLIOp(OverflowingInteger):
    """x shifted left by y, y unsigned."""

    name = "cuda_tile.shli"


@tile_op(0x61)
class ShRIOp(SignedInteger):
    """x shifted right by y, y unsigned; `signed` fills with the sign."""

    name = "cuda_tile.shri"


@tile_op(0x68)
class SubIOp(OverflowingInteger):
    """x - y."""

    name = "cuda_tile.subi"


@tile_op(0x6C)
class XOrIOp(BinaryInteger):
    """x exclusive or y, bit by bit."""

    name = "cuda_tile.xori"
