"""How properties are encoded: each kind as it is read and as it is written."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
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

from tilewright.dialects.accepts import InstanceOf, IntegerOf, ListOf
from tilewright.dialects.cuda_tile.attributes import (
    AssumePredicateAttr,
    ChoiceAttr,
    OptimizationHintsAttr,
)
from tilewright.dialects.cuda_tile.bytecode.attributes import (
    ROW_OF_CLASS,
    ROW_OF_TAG,
    AttributeReader,
    AttributeWriter,
    TaggedRow,
    read_integer,
    read_numbers,
    write_integer,
)
from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.encoder import Encoder
from tilewright.dialects.cuda_tile.constraints import NumberOf
from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.frozen import frozen


@frozen
class Codec:
    """A kind of property, as it is read, by the types of the op's results too, and as it is
    written."""

    read: Callable[[AttributeReader, Cursor, Sequence[Attribute]], Attribute | None]
    write: Callable[[AttributeWriter, Encoder, Any], None]


def _untagged(row: TaggedRow) -> Codec:
    """The encoding of attributes as behind their tag."""
    return Codec(lambda tables, cursor, types: row.read(tables, cursor), row.write)


def _case(
    cases: Sequence[Attribute | None], write: Callable[[AttributeWriter, Encoder, Any], None]
) -> Codec:
    """One of some attributes, by its number."""

    def read(
        tables: AttributeReader, cursor: Cursor, types: Sequence[Attribute]
    ) -> Attribute | None:
        start = cursor.position
        number = cursor.varint()
        if number >= len(cases):
            cursor.fail(
                f"invalid integer value for enum type: {number}, expected one below {len(cases)}",
                start,
            )
        return cases[number]

    return Codec(read, write)


def _read_bools(tables: AttributeReader, cursor: Cursor, types: Sequence[Attribute]) -> Attribute:
    start = cursor.position
    numbers = read_numbers(cursor, "b")
    if set(numbers) - {0, 1}:
        cursor.fail(f"expected bytes that are 0 or 1, got {list(numbers)}", start)
    return tables.list_of(i1, numbers)


_UNIT = UnitAttr()
I32S = Codec(
    lambda tables, cursor, types: tables.list_of(i32, read_numbers(cursor, "i")),
    lambda tables, out, value: out.counted("i", value.get_values()),
)
BOOLS = Codec(
    _read_bools,
    lambda tables, out, value: out.counted("b", [flag & 1 for flag in value.get_values()]),
)
CODECS: dict[type[Attribute], Codec] = {
    UnitAttr: Codec(lambda tables, cursor, types: _UNIT, lambda tables, out, value: None),
    StringAttr: _untagged(ROW_OF_CLASS[StringAttr]),
    SymbolRefAttr: Codec(
        lambda tables, cursor, types: SymbolRefAttr(tables.strings.name(cursor, "a symbol")),
        lambda tables, out, value: out.varint(tables.strings.index(value.root_reference.data)),
    ),
    FunctionType: _untagged(ROW_OF_TAG[4]),
    OptimizationHintsAttr: _untagged(ROW_OF_CLASS[OptimizationHintsAttr]),
    ElementsAttr: Codec(
        lambda tables, cursor, types: tables.constants.index(cursor, types[0]),
        lambda tables, out, value: out.varint(tables.constants.index(value)),
    ),
    AssumePredicateAttr: Codec(
        lambda tables, cursor, types: tables.tagged(cursor),
        lambda tables, out, value: tables.tagged(value, out),
    ),
    ArrayAttr: _untagged(ROW_OF_CLASS[ArrayAttr]),
}
"""The encoding of attributes of a class; a unit's bit in the flags says all."""


def codec_of(constraint: AttrConstraint, default: Attribute | None) -> Codec:
    """The encoding of the attributes that a constraint takes. The case that is the `default` is
    None: as in text, it is missing then."""
    match constraint:
        case IntegerOf(width=width):
            type_ = IntegerType(width)
            return Codec(lambda tables, cursor, types: read_integer(cursor, type_), write_integer)
        case NumberOf(enum=enum):
            return _case([IntegerAttr(case.number, i32) for case in enum], write_integer)
        case ListOf(width=width):
            return BOOLS if width == 1 else I32S
        case BaseAttr(attr=class_) if issubclass(class_, ChoiceAttr):
            choices = cast(Any, class_)
            cases = [choices.of(case) for case in choices.CHOICES]
            return _case(
                [None if case == default else case for case in cases],
                lambda tables, out, value: out.varint(value.data.number),
            )
        case InstanceOf(types=(class_,)) | BaseAttr(attr=class_):
            return CODECS[class_]
        case SymbolNameConstraint():
            return CODECS[StringAttr]
        case _:
            assert isinstance(constraint, AllOf), constraint
            return codec_of(constraint.attr_constrs[0], default)
