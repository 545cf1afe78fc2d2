"""Conversions between types of elements, element by element. Tile IR specification, conversions."""

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

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
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, ElementRow, types_of
from tilewright.dialects.cuda_tile.enums import RoundingMode
from tilewright.dialects.cuda_tile.ops.elementwise import (
    IEEE,
    NO_OVERFLOW_RULE,
    ROUNDED,
    verify_rounding,
)
from tilewright.dialects.cuda_tile.ops.operation import PureOp, tile_op
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.versions import V13_4

TF32, F32, F64, F8E8M0FNU = types_of("tf32", "f32", "f64", "f8E8M0FNU")


def element_of(value: SSAValue) -> ElementRow:
    """The row of the elements of a tile of numbers."""
    return ELEMENT_OF[value.type.element_type]  # pyright: ignore


def ftof_roundings(from_: ElementRow, to: ElementRow) -> tuple[RoundingMode, ...]:
    """How a conversion between floats may round, the first by default."""
    if to.type == F8E8M0FNU:
        return (RoundingMode.ZERO, RoundingMode.POSITIVE_INF)
    if to.bits <= 8:
        return (RoundingMode.NEAREST_EVEN,)
    if (from_.type, to.type) == (F32, TF32):
        return (RoundingMode.NEAREST_EVEN, RoundingMode.ZERO, RoundingMode.NEAREST_AWAY)
    if (from_.type, to.type) == (F64, F32):
        return IEEE
    if from_.bits < to.bits or (from_.type, to.type) == (TF32, F32):
        return (*IEEE, RoundingMode.NEAREST_AWAY)
    return (RoundingMode.NEAREST_EVEN, RoundingMode.ZERO)


class Reinterpretation(PureOp):
    """`$op %x : tile<4xi32> -> tile<4xf32>`."""

    SAME_SHAPES = "source result"


@tile_op("cuda_tile.bitcast", 0x09)
class BitcastOp(Reinterpretation):
    """The same bits, read as another type of numbers of the same width."""

    source = operand_def(NUMBER_TILE)
    result = result_def(NUMBER_TILE)

    def verify_types(self) -> None:
        source, result = element_of(self.source), element_of(self.result)
        widths = [19 if row.type == TF32 else row.bits for row in (source, result)]
        if widths[0] != widths[1]:
            raise self.fail(
                f"elements of one width, got {shown(source.type)} of {widths[0]} bits and "
                f"{shown(result.type)} of {widths[1]}"
            )


@tile_op("cuda_tile.int_to_ptr", 0x33)
class IntToPtrOp(Reinterpretation):
    """Addresses from numbers."""

    source = operand_def(I64_TILE)
    result = result_def(POINTER_TILE)


@tile_op("cuda_tile.ptr_to_int", 0x56)
class PtrToIntOp(Reinterpretation):
    """Numbers from addresses."""

    source = operand_def(POINTER_TILE)
    result = result_def(I64_TILE)


@tile_op("cuda_tile.ptr_to_ptr", 0x57)
class PtrToPtrOp(Reinterpretation):
    """The same addresses, of another type of numbers."""

    source = operand_def(POINTER_TILE)
    result = result_def(POINTER_TILE)


class ConversionOp(PureOp):
    """`$op %x ... : tile<4xi32> -> tile<4xf32>`; operand and result are called `from_` and `to`."""

    SAME_SHAPES = "from_ to"


@tile_op("cuda_tile.exti", 0x25)
class ExtIOp(ConversionOp):
    """Wider integers: `exti %x signed : tile<i8> -> tile<i32>`."""

    assembly_format = "$from_ custom<Word>($signedness)"

    from_ = operand_def(ANY_INT_TILE)
    signedness = prop_def(SignednessAttr)
    to = result_def(ANY_INT_TILE)

    def verify_types(self) -> None:
        source, result = element_of(self.from_), element_of(self.to)
        if result.bits <= source.bits:
            raise self.fail(f"to of wider elements than {source.type}, got {result.type}")


@tile_op("cuda_tile.trunci", 0x6B)
class TruncIOp(ConversionOp):
    """Narrower integers: `trunci %x overflow<no_wrap> : tile<i32> -> tile<i8>`."""

    assembly_format = "$from_ custom<OptionalWord>(`overflow`, $overflow)"

    from_ = operand_def(ANY_INT_TILE)
    overflow = opt_prop_def(IntegerOverflowAttr, NO_OVERFLOW_RULE)
    to = result_def(ANY_INT_TILE)

    def verify_types(self) -> None:
        source, result = element_of(self.from_), element_of(self.to)
        if result.bits >= source.bits:
            raise self.fail(f"to of narrower elements than {source.type}, got {result.type}")


@tile_op("cuda_tile.ftof", 0x2A)
class FToFOp(ConversionOp):
    """Other floats: `ftof %x rounding<zero> : tile<f32> -> tile<f16>`."""

    assembly_format = f"$from_ {ROUNDED}"

    from_ = operand_def(ANY_FLOAT_TILE)
    rounding_mode = opt_prop_def(RoundingModeAttr, RoundingModeAttr(RoundingMode.NEAREST_EVEN))
    to = result_def(ANY_FLOAT_TILE)

    def verify_types(self) -> None:
        source, result = element_of(self.from_), element_of(self.to)
        if source == result:
            raise self.fail(f"to of other elements than from, got {shown(result.type)} both")
        verify_rounding(self, "rounding_mode", ftof_roundings(source, result))


@tile_op("cuda_tile.ftoi", 0x2B, saturating=V13_4)
class FToIOp(ConversionOp):
    """Integers, towards zero: `ftoi %x signed saturating : tile<f32> -> tile<i32>`."""

    assembly_format = f"$from_ custom<Word>($signedness) {ROUNDED} (`saturating` $saturating^)?"

    ROUNDINGS = (RoundingMode.NEAREST_INT_TO_ZERO,)

    from_ = operand_def(ANY_FLOAT_TILE)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(RoundingModeAttr)
    saturating = opt_prop_def(UnitAttr)
    to = result_def(INT_TILE)

    def verify_types(self) -> None:
        verify_rounding(self, "rounding_mode")

    @property
    def is_truth(self) -> bool:
        """True where it gives one bit, which is `x != 0` to tileiras 13.5, and true of NaN."""
        return element_of(self.to).bits == 1 and self.saturating is None


@tile_op("cuda_tile.itof", 0x3B)
class IToFOp(ConversionOp):
    """Floats: `itof %x signed : tile<i32> -> tile<f32>`."""

    assembly_format = f"$from_ custom<Word>($signedness) {ROUNDED}"
    ROUNDINGS = (RoundingMode.NEAREST_EVEN,)

    from_ = operand_def(INT_TILE)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(RoundingModeAttr)
    to = result_def(ANY_FLOAT_TILE)

    def verify_types(self) -> None:
        verify_rounding(self, "rounding_mode")
        if element_of(self.to).type == F8E8M0FNU:
            raise self.fail("to of other elements than f8E8M0FNU, got that; nearest legal: f32")
