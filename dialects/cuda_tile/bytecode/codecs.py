"""How properties are encoded: each kind as it is read and as it is written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i32,
)
from xdsl.ir import Attribute
from xdsl.irdl import AllOf, AttrConstraint, BaseAttr

from tilewright.dialects.accepts import ARRAY, InstanceOf, IntegerOf, ListOf
from tilewright.dialects.cuda_tile.attributes import (
    AssumePredicateAttr,
    ChoiceAttr,
    OptimizationHintsAttr,
)
from tilewright.dialects.cuda_tile.bytecode.attributes import (
    AttributeReader,
    AttributeWriter,
    read_integer,
    read_numbers,
)
from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.encoder import Encoder
from tilewright.dialects.cuda_tile.constraints import NumberOf
from tilewright.dialects.cuda_tile.elements import ElementsAttr


@dataclass(frozen=True, slots=True)
class Codec:
    """A kind of property. It is read with a detail, which the property's definition gives, and
    the types of the op's results."""

    read: Callable[[AttributeReader, Cursor, Any, Sequence[Attribute]], Attribute | None]
    write: Callable[[AttributeWriter, Encoder, Any], None]


def _read_case(
    tables: AttributeReader,
    cursor: Cursor,
    cases: Sequence[Attribute | None],
    types: Sequence[Attribute],
) -> Attribute | None:
    start = cursor.position
    number = cursor.varint()
    if number >= len(cases):
        cursor.fail(
            f"invalid integer value for enum type: {number}, expected one below {len(cases)}",
            start,
        )
    return cases[number]


def _read_bools(
    tables: AttributeReader, cursor: Cursor, detail: None, types: Sequence[Attribute]
) -> Attribute:
    start = cursor.position
    numbers = read_numbers(cursor, "b")
    if set(numbers) - {0, 1}:
        cursor.fail(f"expected bytes that are 0 or 1, got {list(numbers)}", start)
    return tables.list_of(i1, numbers)


_UNIT = UnitAttr()
INTEGER = Codec(
    lambda tables, cursor, type_, types: read_integer(cursor, type_),
    lambda tables, out, value: out.varint(value.value.data & (1 << value.type.width.data) - 1),
)
CHOICE = Codec(_read_case, lambda tables, out, value: out.varint(value.data.number))
NUMBER = Codec(_read_case, INTEGER.write)
I32S = Codec(
    lambda tables, cursor, _, types: tables.list_of(i32, read_numbers(cursor, "i")),
    lambda tables, out, value: out.counted("i", value.get_values()),
)
BOOLS = Codec(
    _read_bools,
    lambda tables, out, value: out.counted("b", [flag & 1 for flag in value.get_values()]),
)
ATTRIBUTES = Codec(
    lambda tables, cursor, _, types: tables.array(cursor),
    lambda tables, out, value: tables.array(value, out),
)
CODECS: dict[type[Attribute], Codec] = {
    UnitAttr: Codec(lambda tables, cursor, _, types: _UNIT, lambda tables, out, value: None),
    StringAttr: Codec(
        lambda tables, cursor, _, types: tables.strings.attribute(cursor),
        lambda tables, out, value: out.varint(tables.strings.index(value.data)),
    ),
    SymbolRefAttr: Codec(
        lambda tables, cursor, _, types: SymbolRefAttr(tables.strings.name(cursor, "a symbol")),
        lambda tables, out, value: out.varint(tables.strings.index(value.root_reference.data)),
    ),
    FunctionType: Codec(
        lambda tables, cursor, _, types: tables.types.index(cursor),
        lambda tables, out, value: out.varint(tables.types.index(value)),
    ),
    OptimizationHintsAttr: Codec(
        lambda tables, cursor, _, types: tables.hints(cursor),
        lambda tables, out, value: tables.dictionary(value.value, out),
    ),
    ElementsAttr: Codec(
        lambda tables, cursor, _, types: tables.constants.index(cursor, types[0]),
        lambda tables, out, value: out.varint(tables.constants.index(value)),
    ),
    AssumePredicateAttr: Codec(
        lambda tables, cursor, _, types: tables.tagged(cursor),
        lambda tables, out, value: tables.tagged(value, out),
    ),
}
"""The encoding of attributes of a class; a unit's bit in the flags says all."""


def codec_of(constraint: AttrConstraint, default: Attribute | None) -> tuple[Codec, Any]:
    """The encoding of the attributes that a constraint takes, and its detail. The case that is the
    `default` is None: as in text, it is missing then."""
    match constraint:
        case IntegerOf(width=width):
            return INTEGER, IntegerType(width)
        case NumberOf(enum=enum):
            return NUMBER, [IntegerAttr(case.number, i32) for case in enum]
        case ListOf(width=width):
            return (BOOLS if width == 1 else I32S), None
        case BaseAttr(attr=class_) if issubclass(class_, ChoiceAttr):
            choices = cast(Any, class_)
            cases = [choices.of(case) for case in choices.CHOICES]
            return CHOICE, [None if case == default else case for case in cases]
        case InstanceOf(types=(class_,)) | BaseAttr(attr=class_):
            return CODECS[class_], None
        case SymbolNameConstraint():
            return CODECS[StringAttr], None
        case AllOf(attr_constrs=(first, *_)):
            return codec_of(first, default)
        case _:
            assert constraint is ARRAY, constraint
            return ATTRIBUTES, None
