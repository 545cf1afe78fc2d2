"""Attributes that say themselves what they are: a tag, and behind it the value.

Assumptions, hints, identities of reductions and the entries of dictionaries are such.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    FloatTF32Type,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i1,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.attributes import (
    BoundedAttr,
    DivByAttr,
    OptimizationHintsAttr,
    SameElementsAttr,
)
from tilewright.dialects.cuda_tile.bytecode.constants import ConstantReader, ConstantWriter
from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.encoder import Encoder, Table
from tilewright.dialects.cuda_tile.bytecode.strings import StringReader
from tilewright.dialects.cuda_tile.bytecode.types import TypeReader, TypeWriter
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.elements import ElementsAttr, dtype_of
from tilewright.dialects.frozen import factory, frozen

DEEPEST = 16
"""How deep attributes nest at most; hints by architecture are two deep."""
UNSUPPORTED = {"i": (-(1 << 31), (1 << 31) - 1), "q": (-(1 << 63), (1 << 63) - 1)}
"""Numbers that lists may not hold, by the width of the list's elements."""


def float_bits(type_: Attribute) -> int:
    """How many bits stand for a float in bytecode: tf32 has 19."""
    return 19 if isinstance(type_, FloatTF32Type) else ELEMENT_OF[type_].bits


def _shift(type_: Attribute) -> int:
    """The bits below a float's own in NumPy's type for it."""
    return 32 - float_bits(type_) if isinstance(type_, FloatTF32Type) else 0


def float_of_bits(bits: int, type_: Attribute) -> float:
    """The number that bits stand for."""
    dtype = dtype_of(type_)
    word = (bits << _shift(type_)).to_bytes(dtype.itemsize, "little")
    return float(np.frombuffer(word, dtype)[0])


def bits_of_float(value: float, type_: Attribute) -> int:
    """The bits of a number, rounded to its type."""
    with np.errstate(all="ignore"):
        word = np.asarray(value, np.float64).astype(dtype_of(type_)).tobytes()
    return int.from_bytes(word, "little") >> _shift(type_)


def read_numbers(cursor: Cursor, code: str) -> tuple[int, ...]:
    """A counted list of numbers of fixed width; `code` is `struct`'s letter."""
    start = cursor.position
    width = {"b": 1, "i": 4, "q": 8}[code]
    numbers = cursor.integers(code, cursor.count(width, "numbers"), "numbers")
    for number in UNSUPPORTED.get(code, ()):
        if number in numbers:
            cursor.fail(f"array contains unsupported value {number}", start)
    return numbers


@dataclass(slots=True)
class AttributeReader:
    """Reads attributes with the tables of one file."""

    strings: StringReader
    types: TypeReader
    constants: ConstantReader
    lists: dict[Any, Attribute] = factory(dict)
    depth: int = 0

    def list_of(self, type_: IntegerType, numbers: tuple[int, ...]) -> Attribute:
        """A dense list, one for all that are equal."""
        key = (type_, numbers)
        if (known := self.lists.get(key)) is None:
            known = self.lists[key] = DenseArrayBase.from_list(type_, numbers)
        return known

    def tagged(self, cursor: Cursor) -> Attribute:
        """The attribute whose tag stands at the cursor."""
        start = cursor.position
        tag = cursor.varint()
        if (row := ROW_OF_TAG.get(tag)) is None:
            cursor.fail(f"unsupported AttributeTag {tag} for self-contained attribute", start)
        if self.depth > DEEPEST:
            cursor.fail(f"expected attributes nested at most {DEEPEST} deep, got more", start)
        self.depth += 1
        try:
            return row.read(self, cursor)
        except VerifyException as error:
            cursor.fail(str(error).strip(), start)
        finally:
            self.depth -= 1


@frozen
class AttributeWriter:
    """Writes attributes with the tables of one file."""

    strings: Table[str]
    types: TypeWriter
    constants: ConstantWriter

    def tagged(self, attribute: Attribute, out: Encoder) -> None:
        """An attribute behind its tag. Raises ValueError for one that has none."""
        row = ROW_OF_CLASS.get(type(attribute))
        if isinstance(attribute, IntegerAttr) and attribute.type == i1:  # pyright: ignore
            row = ROW_OF_TAG[3]
        elif row is None and isinstance(attribute, TypeAttribute):
            row = ROW_OF_TAG[4]
        if row is None:
            raise ValueError(f"expected an attribute that bytecode has, got {attribute}")
        out.append(row.tag)
        row.write(self, out, attribute)


# --- numbers --------------------------------------------------------------------------------------


def read_integer(cursor: Cursor, type_: IntegerType) -> IntegerAttr[IntegerType]:
    """A number of a type's width; bits above it are wrong."""
    if type_ == i1:
        return IntegerAttr.from_bool(bool(cursor.byte()))
    start = cursor.position
    value, width = cursor.varint(), type_.width.data
    if value >> width:
        cursor.fail(f"value {value} does not fit in {width} bits", start)
    return IntegerAttr(value - (value >> (width - 1) << width), type_)


def write_integer(tables: AttributeWriter, out: Encoder, value: Any) -> None:
    """A number of its type's width."""
    out.varint(value.value.data & (1 << value.type.width.data) - 1)


def _read_typed_integer(tables: AttributeReader, cursor: Cursor) -> Attribute:
    start = cursor.position
    type_ = tables.types.index(cursor)
    if not isinstance(type_, IntegerType):
        cursor.fail(f"expected an integer type, got {type_}", start)
    return read_integer(cursor, cast("IntegerType", type_))


def _read_float(tables: AttributeReader, cursor: Cursor) -> Attribute:
    """A type and the bits of a number."""
    start = cursor.position
    type_ = tables.types.index(cursor)
    if not isinstance(type_, AnyFloat):
        cursor.fail(f"expected a type of floats, got {type_}", start)
    width = float_bits(type_)
    start = cursor.position
    bits = cursor.byte() if width <= 8 else cursor.signed_varint() & (1 << 64) - 1
    if bits >> width:
        cursor.fail(f"value {bits} does not fit in {width} bits", start)
    return FloatAttr(float_of_bits(bits, type_), type_)


def _write_float(tables: AttributeWriter, out: Encoder, value: Any) -> None:
    bits = bits_of_float(value.value.data, value.type)
    if float_bits(value.type) <= 8:
        out.append(bits)
    else:
        out.signed_varint(bits - (bits >> 63 << 64))


def _read_optional(cursor: Cursor) -> tuple[int | None, int | None]:
    """Which of two numbers there are, and these."""
    flags = cursor.byte()
    first = cursor.signed_varint() if flags & 1 else None
    return first, cursor.signed_varint() if flags & 2 else None


def _write_optional(out: Encoder, first: int | None, second: int | None) -> None:
    out.append((first is not None) | (second is not None) << 1)
    for number in (first, second):
        if number is not None:
            out.signed_varint(number)


def _write_div_by(tables: AttributeWriter, out: Encoder, value: DivByAttr) -> None:
    out.varint(value.divisor)
    _write_optional(out, value.every, value.along)


# --- what holds attributes ------------------------------------------------------------------------


def _read_array(tables: AttributeReader, cursor: Cursor) -> ArrayAttr[Attribute]:
    count = cursor.count(1, "attributes")
    return ArrayAttr([tables.tagged(cursor) for _ in range(count)])


def _write_array(tables: AttributeWriter, out: Encoder, value: Any) -> None:
    out.varint(len(value.data))
    for attribute in value.data:
        tables.tagged(attribute, out)


def _read_dictionary(tables: AttributeReader, cursor: Cursor) -> DictionaryAttr:
    entries: dict[str, Attribute] = {}
    for index in range(cursor.count(2, "attributes")):
        start = cursor.position
        key = tables.strings.index(cursor)
        if not key:
            cursor.fail(f"invalid empty attribute name for DictionaryAttr element {index}", start)
        if key in entries:
            cursor.fail(f"expected one entry for {key}, got two", start)
        entries[key] = tables.tagged(cursor)
    return DictionaryAttr(entries)


def _write_dictionary(tables: AttributeWriter, out: Encoder, value: DictionaryAttr) -> None:
    out.varint(len(value.data))
    for name, attribute in value.data.items():
        out.varint(tables.strings.index(name))
        tables.tagged(attribute, out)


def _read_hints(tables: AttributeReader, cursor: Cursor) -> OptimizationHintsAttr:
    start = cursor.position
    try:
        return OptimizationHintsAttr(_read_dictionary(tables, cursor))
    except VerifyException as error:
        cursor.fail(str(error).strip(), start)


# --- the table ------------------------------------------------------------------------------------


@frozen
class TaggedRow:
    """Attributes of a class: their tag, and how they are read and written behind it."""

    tag: int
    type: type[Attribute] | None
    read: Callable[[AttributeReader, Cursor], Attribute]
    write: Callable[[AttributeWriter, Encoder, Any], None]


def _typed(write: Callable[[AttributeWriter, Encoder, Any], None]) -> Any:
    """The writer of a value behind its type."""

    def write_both(tables: AttributeWriter, out: Encoder, value: Any) -> None:
        out.varint(tables.types.index(value.type))
        write(tables, out, value)

    return write_both


ROWS = (
    TaggedRow(1, IntegerAttr, _read_typed_integer, _typed(write_integer)),
    TaggedRow(2, FloatAttr, _read_float, _typed(_write_float)),
    TaggedRow(3, None, lambda tables, cursor: read_integer(cursor, i1), write_integer),
    TaggedRow(
        4, None,
        lambda tables, cursor: tables.types.index(cursor),
        lambda tables, out, value: out.varint(tables.types.index(value)),
    ),
    TaggedRow(
        5, StringAttr,
        lambda tables, cursor: tables.strings.attribute(cursor),
        lambda tables, out, value: out.varint(tables.strings.index(value.data)),
    ),
    TaggedRow(6, ArrayAttr, _read_array, _write_array),
    TaggedRow(
        7, ElementsAttr,
        lambda tables, cursor: tables.constants.index(cursor, tables.types.index(cursor)),
        _typed(lambda tables, out, value: out.varint(tables.constants.index(value))),
    ),
    TaggedRow(
        8, DivByAttr,
        lambda tables, cursor: DivByAttr.get(cursor.varint(), *_read_optional(cursor)),
        _write_div_by,
    ),
    TaggedRow(
        9, SameElementsAttr,
        lambda tables, cursor: SameElementsAttr.get(read_numbers(cursor, "q")),
        lambda tables, out, value: out.counted("q", value.values),
    ),
    TaggedRow(10, DictionaryAttr, _read_dictionary, _write_dictionary),
    TaggedRow(
        11, OptimizationHintsAttr, _read_hints,
        lambda tables, out, value: _write_dictionary(tables, out, value.value),
    ),
    TaggedRow(
        12, BoundedAttr,
        lambda tables, cursor: BoundedAttr.get(*_read_optional(cursor)),
        lambda tables, out, value: _write_optional(out, value.lb, value.ub),
    ),
)  # fmt: skip
"""Every tag: 3 is a true or false, 4 a type."""
ROW_OF_TAG = {row.tag: row for row in ROWS}
ROW_OF_CLASS = {row.type: row for row in ROWS if row.type is not None}
