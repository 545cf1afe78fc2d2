"""The formats of elementwise ops: one, two or three tiles of a type give a tile of that type."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import ClassVar

from xdsl.dialects.builtin import Float32Type, UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.accepts import one_of
from tilewright.dialects.cuda_tile.attributes import (
    IntegerOverflowAttr,
    RoundingModeAttr,
    SignednessAttr,
    chosen,
)
from tilewright.dialects.cuda_tile.constraints import FLOAT_TILE, INT_TILE
from tilewright.dialects.cuda_tile.enums import IntegerOverflow, RoundingMode
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, PureOp

IEEE = (
    RoundingMode.NEAREST_EVEN,
    RoundingMode.ZERO,
    RoundingMode.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF,
)
"""The rounding modes of IEEE 754."""

NO_OVERFLOW_RULE = IntegerOverflowAttr(IntegerOverflow.NONE)

ROUNDED = "custom<OptionalWord>(`rounding`, $rounding_mode)"
FLUSHED = "(`flush_to_zero` $flush_to_zero^)?"
"""Parts of the formats."""

F32 = Float32Type()


class FloatOp(PureOp):
    """An op whose result is of floats, and which may be rounded or flushed.

    F32_ONLY are the rounding modes that are for f32 alone, as flushing is.
    """

    F32_ONLY: ClassVar[tuple[RoundingMode, ...]] = (RoundingMode.APPROX,)

    def verify_types(self) -> None:
        rounding = verify_rounding(self, "rounding_mode")
        element = self.results[0].type.element_type  # pyright: ignore
        if element == F32:
            return
        if rounding in self.F32_ONLY:
            raise self.fail(f"f32 where rounding<{rounding}> is, got {element}")
        if "flush_to_zero" in self.properties:
            raise self.fail(f"f32 where flush_to_zero is, got {element}")


def verify_rounding(
    op: CudaTileOp, name: str, roundings: Sequence[RoundingMode] | None = None
) -> RoundingMode | None:
    """The rounding mode of an op. Raises VerifyException where it is none of `roundings`, or of
    the op's."""
    definition = op.definition.properties.get(name)
    mode = chosen(op.properties.get(name, definition and definition.default_value), RoundingMode)
    if mode is None:
        return None
    legal_modes = op.ROUNDINGS if roundings is None else roundings
    if mode not in legal_modes:
        legal = [legal.value for legal in legal_modes]
        [near] = get_close_matches(mode.value, legal, n=1, cutoff=0.0)
        raise op.fail(f"rounding of {one_of(legal)}, got {mode}; nearest legal: {near}")
    return mode


class UnaryFloat(FloatOp):
    """`$op %x : tile<f32>`."""

    SAME_TYPES = "source result"

    source = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)


class UnaryInteger(PureOp):
    """`$op %x : tile<i32>`."""

    SAME_TYPES = "source result"

    source = operand_def(INT_TILE)
    result = result_def(INT_TILE)


class BinaryFloat(FloatOp):
    """`$op %x, %y : tile<f32>`."""

    SAME_TYPES = "lhs rhs result"

    lhs = operand_def(FLOAT_TILE)
    rhs = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)


class BinaryInteger(PureOp):
    """`$op %x, %y : tile<i32>`."""

    SAME_TYPES = "lhs rhs result"

    lhs = operand_def(INT_TILE)
    rhs = operand_def(INT_TILE)
    result = result_def(INT_TILE)


class OverflowingInteger(BinaryInteger):
    """`$op %x, %y overflow<no_wrap> : tile<i32>`."""

    assembly_format = "$lhs `,` $rhs custom<OptionalWord>(`overflow`, $overflow)"

    overflow = opt_prop_def(IntegerOverflowAttr, NO_OVERFLOW_RULE)


class SignedInteger(BinaryInteger):
    """`$op %x, %y signed : tile<i32>`."""

    assembly_format = "$lhs `,` $rhs custom<Word>($signedness)"

    signedness = prop_def(SignednessAttr)


class RoundedFloat(BinaryFloat):
    """`$op %x, %y rounding<zero> flush_to_zero : tile<f32>`."""

    assembly_format = f"$lhs `,` $rhs {ROUNDED} {FLUSHED}"

    ROUNDINGS = IEEE

    rounding_mode = prop_def(RoundingModeAttr)
    flush_to_zero = opt_prop_def(UnitAttr)


class ExtremeFloat(BinaryFloat):
    """`$op %x, %y flush_to_zero propagate_nan : tile<f32>`."""

    assembly_format = "$lhs `,` $rhs custom<Flags>($flush_to_zero, $propagate_nan)"

    propagate_nan = opt_prop_def(UnitAttr)
    flush_to_zero = opt_prop_def(UnitAttr)
