"""The formats of elementwise ops: one, two or three tiles of a type give a tile of that type."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tilewright.dialects.cuda_tile.attributes import (
    IntegerOverflowAttr,
    RoundingModeAttr,
    SignednessAttr,
)
from tilewright.dialects.cuda_tile.constraints import FLOAT_TILE, INT_TILE
from tilewright.dialects.cuda_tile.enums import IntegerOverflow
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp

NO_OVERFLOW_RULE = IntegerOverflowAttr(IntegerOverflow.NONE)


class UnaryFloat(CudaTileOp):
    """`$op %x : tile<f32>`."""

    TEXT: ClassVar[str] = "$source attr-dict `:` type($result)"
    SAME_TYPES: ClassVar = (("source", "result"),)

    source = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)

    traits = traits_def(Pure())


class UnaryInteger(CudaTileOp):
    """`$op %x : tile<i32>`."""

    TEXT: ClassVar[str] = "$source attr-dict `:` type($result)"
    SAME_TYPES: ClassVar = (("source", "result"),)

    source = operand_def(INT_TILE)
    result = result_def(INT_TILE)

    traits = traits_def(Pure())


class BinaryFloat(CudaTileOp):
    """`$op %x, %y : tile<f32>`."""

    TEXT: ClassVar[str] = "$lhs `,` $rhs attr-dict `:` type($result)"
    SAME_TYPES: ClassVar = (("lhs", "rhs", "result"),)

    lhs = operand_def(FLOAT_TILE)
    rhs = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)

    traits = traits_def(Pure())


class BinaryInteger(CudaTileOp):
    """`$op %x, %y : tile<i32>`."""

    TEXT: ClassVar[str] = "$lhs `,` $rhs attr-dict `:` type($result)"
    SAME_TYPES: ClassVar = (("lhs", "rhs", "result"),)

    lhs = operand_def(INT_TILE)
    rhs = operand_def(INT_TILE)
    result = result_def(INT_TILE)

    traits = traits_def(Pure())


class OverflowingInteger(BinaryInteger):
    """`$op %x, %y overflow<no_wrap> : tile<i32>`."""

    TEXT: ClassVar[str] = "$lhs `,` $rhs (`overflow` $overflow^)? attr-dict `:` type($result)"

    overflow = opt_prop_def(IntegerOverflowAttr, NO_OVERFLOW_RULE)


class SignedInteger(BinaryInteger):
    """`$op %x, %y signed : tile<i32>`."""

    TEXT: ClassVar[str] = "$lhs `,` $rhs word($signedness) attr-dict `:` type($result)"

    signedness = prop_def(SignednessAttr)


class RoundedFloat(BinaryFloat):
    """`$op %x, %y rounding<zero> flush_to_zero : tile<f32>`."""

    TEXT: ClassVar[str] = (
        "$lhs `,` $rhs rounding($rounding_mode) (`flush_to_zero` $flush_to_zero^)? "
        "attr-dict `:` type($result)"
    )

    rounding_mode = prop_def(RoundingModeAttr)
    flush_to_zero = opt_prop_def(UnitAttr)


class ExtremeFloat(BinaryFloat):
    """`$op %x, %y flush_to_zero propagate_nan : tile<f32>`."""

    TEXT: ClassVar[str] = (
        "$lhs `,` $rhs flags(flush_to_zero, propagate_nan) attr-dict `:` type($result)"
    )

    propagate_nan = opt_prop_def(UnitAttr)
    flush_to_zero = opt_prop_def(UnitAttr)
