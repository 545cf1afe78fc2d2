"""The elements of tiles: numbers of 1 to 64 bits, and pointers."""

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IntegerType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition

from tilewright.dialects.cuda_tile.versions import V13_1, V13_2, V13_3, V13_4, Version
from tilewright.dialects.frozen import frozen


@irdl_attr_definition
class Float8E5M3FNUType(ParametrizedAttribute, TypeAttribute):
    """Unsigned floats of 5 exponent and 3 mantissa bits, NaN where all bits are set, no infinity:
    scale factors. MLIR has no such type."""

    name = "cuda_tile.fnv8E5M3FNU"


@frozen
class ElementRow:
    """A row: a type of numbers, its bits, since when there is one, and its tag in bytecode."""

    type: Attribute
    bits: int
    since: Version
    tag: int

    @property
    def is_float(self) -> bool:
        """True where these are floating-point numbers."""
        return not isinstance(self.type, IntegerType)


ELEMENTS = (
    ElementRow(IntegerType(1), 1, V13_1, 0),
    ElementRow(IntegerType(8), 8, V13_1, 1),
    ElementRow(IntegerType(16), 16, V13_1, 2),
    ElementRow(IntegerType(32), 32, V13_1, 3),
    ElementRow(IntegerType(64), 64, V13_1, 4),
    ElementRow(Float16Type(), 16, V13_1, 5),
    ElementRow(BFloat16Type(), 16, V13_1, 6),
    ElementRow(Float32Type(), 32, V13_1, 7),
    ElementRow(FloatTF32Type(), 32, V13_1, 8),
    ElementRow(Float64Type(), 64, V13_1, 9),
    ElementRow(Float8E4M3FNType(), 8, V13_1, 10),
    ElementRow(Float8E5M2Type(), 8, V13_1, 11),
    ElementRow(Float8E8M0FNUType(), 8, V13_2, 18),
    ElementRow(Float4E2M1FNType(), 4, V13_3, 19),
    ElementRow(IntegerType(4), 4, V13_3, 22),
    ElementRow(Float8E5M3FNUType(), 8, V13_4, 130),
)
"""Every type of numbers; i4 only passes between `pack`, `unpack`, `exti` and `trunci`."""

ELEMENT_OF: dict[Attribute, ElementRow] = {row.type: row for row in ELEMENTS}
"""The row of a type of numbers."""


def types_of(*names: str) -> tuple[Attribute, ...]:
    """Types of numbers by their names."""
    known = {str(row.type).removeprefix("!cuda_tile."): row.type for row in ELEMENTS}
    return tuple(known[name] for name in names)


INTEGERS = types_of("i1", "i8", "i16", "i32", "i64")
"""The operands of integer arithmetic."""
WIDE_FLOATS = types_of("f16", "bf16", "f32", "f64")
"""The operands of floating-point arithmetic."""
FLOATS = tuple(row.type for row in ELEMENTS if row.is_float)
NUMBERS = INTEGERS + FLOATS
"""The elements of memory."""
I4 = IntegerType(4)
