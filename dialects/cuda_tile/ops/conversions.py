"""Conversions between types of elements, element by element. Tile IR specification, conversions."""

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
from tilewright.dialects.cuda_tile.constraints import (
    ANY_FLOAT_TILE,
    ANY_INT_TILE,
    I64_TILE,
    INT_TILE,
    NUMBER_TILE,
    POINTER_TILE,
)
from tilewright.dialects.cuda_tile.enums import RoundingMode
from tilewright.dialects.cuda_tile.ops.elementwise import NO_OVERFLOW_RULE
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, tile_op
from tilewright.dialects.cuda_tile.versions import V13_4


class Reinterpretation(CudaTileOp):
    """`$op %x : tile<4xi32> -> tile<4xf32>`."""

    TEXT: ClassVar[str] = "$source attr-dict `:` type($source) `->` type($result)"
    SAME_SHAPES: ClassVar = (("source", "result"),)

    traits = traits_def(Pure())


@tile_op(0x09)
class BitcastOp(Reinterpretation):
    """The same bits, read as another type of numbers of the same width."""

    name = "cuda_tile.bitcast"

    source = operand_def(NUMBER_TILE)
    result = result_def(NUMBER_TILE)


@tile_op(0x33)
class IntToPtrOp(Reinterpretation):
    """Addresses from numbers."""

    name = "cuda_tile.int_to_ptr"

    source = operand_def(I64_TILE)
    result = result_def(POINTER_TILE)


@tile_op(0x56)
class PtrToIntOp(Reinterpretation):
    """Numbers from addresses."""

    name = "cuda_tile.ptr_to_int"

    source = operand_def(POINTER_TILE)
    result = result_def(I64_TILE)


@tile_op(0x57)
class PtrToPtrOp(Reinterpretation):
    """The same addresses, of another type of numbers."""

    name = "cuda_tile.ptr_to_ptr"

    source = operand_def(POINTER_TILE)
    result = result_def(POINTER_TILE)


class Conversion(CudaTileOp):
    """`$op %x ... : tile<4xi32> -> tile<4xf32>`; operand and result are called `from_` and `to`."""

    SAME_SHAPES: ClassVar = (("from_", "to"),)

    traits = traits_def(Pure())


@tile_op(0x25)
class ExtIOp(Conversion):
    """Wider integers: `exti %x signed : tile<i8> -> tile<i32>`."""

    name = "cuda_tile.exti"
    TEXT: ClassVar[str] = "$from_ word($signedness) attr-dict `:` type($from_) `->` type($to)"

    from_ = operand_def(ANY_INT_TILE)
    signedness = prop_def(SignednessAttr)
    to = result_def(ANY_INT_TILE)


@tile_op(0x6B)
class TruncIOp(Conversion):
    """Narrower integers: `trunci %x overflow<no_wrap> : tile<i32> -> tile<i8>`."""

    name = "cuda_tile.trunci"
    TEXT: ClassVar[str] = (
        "$from_ (`overflow` $overflow^)? attr-dict `:` type($from_) `->` type($to)"
    )

    from_ = operand_def(ANY_INT_TILE)
    overflow = opt_prop_def(IntegerOverflowAttr, NO_OVERFLOW_RULE)
    to = result_def(ANY_INT_TILE)


@tile_op(0x2A)
class FToFOp(Conversion):
    """Other floats: `ftof %x rounding<zero> : tile<f32> -> tile<f16>`."""

    name = "cuda_tile.ftof"
    TEXT: ClassVar[str] = (
        "$from_ rounding($rounding_mode) attr-dict `:` type($from_) `->` type($to)"
    )

    from_ = operand_def(ANY_FLOAT_TILE)
    rounding_mode = opt_prop_def(RoundingModeAttr, RoundingModeAttr(RoundingMode.NEAREST_EVEN))
    to = result_def(ANY_FLOAT_TILE)


@tile_op(0x2B, saturating=V13_4)
class FToIOp(Conversion):
    """Integers, towards zero: `ftoi %x signed saturating : tile<f32> -> tile<i32>`."""

    name = "cuda_tile.ftoi"
    TEXT: ClassVar[str] = (
        "$from_ word($signedness) rounding($rounding_mode) (`saturating` $saturating^)? "
        "attr-dict `:` type($from_) `->` type($to)"
    )

    from_ = operand_def(ANY_FLOAT_TILE)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(RoundingModeAttr)
    saturating = opt_prop_def(UnitAttr)
    to = result_def(INT_TILE)


@tile_op(0x3B)
class IToFOp(Conversion):
    """Floats: `itof %x signed : tile<i32> -> tile<f32>`."""

    name = "cuda_tile.itof"
    TEXT: ClassVar[str] = (
        "$from_ word($signedness) rounding($rounding_mode) attr-dict `:` type($from_) `->` type($to)"
    )

    from_ = operand_def(INT_TILE)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(RoundingModeAttr)
    to = result_def(ANY_FLOAT_TILE)
