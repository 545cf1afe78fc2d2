"""Attributes that say themselves what they are: a tag, and behind it the value.

Assumptions, hints, identities of reductions and the entries of dictionaries are such.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class AttributeReader:
    """Reads attributes with the tables of one file."""

    strings: StringReader
    types: TypeReader
    constants: ConstantReader
    lists: dict[Any, Attribute] = field(default_factory=dict[Any, Attribute])

    def list_of(self, type_: IntegerType, numbers: tuple[int, ...]) -> Attribute:
        """A dense list, one for all that are equal."""
        key = (type_, numbers)
        if (known := self.lists.get(key)) is None:
            known = self.lists[key] = DenseArrayBase.from_list(type_, numbers)
        return known

    def tagged(self, cursor: Cursor, depth: int = 0) -> Attribute:
        """The attribute whose tag stands at the cursor."""
        start = cursor.position
        tag = cursor.varint()
        read = READERS.get(tag)
        if read is None:
            cursor.fail(f"unsupported AttributeTag {tag} for self-contained attribute", start)
        if depth > DEEPEST:
            cursor.fail(f"expected attributes nested at most {DEEPEST} deep, got more", start)
        try:
            return read(self, cursor, depth)
        except VerifyException as error:
            cursor.fail(str(error).strip(), start)

    def integer(self, cursor: Cursor, depth: int = 0) -> Attribute:
        """A type and a number."""
        start = cursor.position
        type_ = self.types.index(cursor)
        if not isinstance(type_, IntegerType):
            cursor.fail(f"expected an integer type, got {type_}", start)
        return read_integer(cursor, cast("IntegerType", type_))

    def float(self, cursor: Cursor, depth: int = 0) -> Attribute:
        """A type and the bits of a number."""
        start = cursor.position
        type_ = self.types.index(cursor)
        if not isinstance(type_, AnyFloat):
            cursor.fail(f"expected a type of floats, got {type_}", start)
        width = float_bits(type_)
        start = cursor.position
        bits = cursor.byte() if width <= 8 else cursor.signed_varint() & (1 << 64) - 1
        if bits >> width:
            cursor.fail(f"value {bits} does not fit in {width} bits", start)
        return FloatAttr(float_of_bits(bits, type_), type_)

    def array(self, cursor: Cursor, depth: int = 0) -> ArrayAttr[Attribute]:
        """A counted list of attributes."""
        return ArrayAttr([self.tagged(cursor, depth + 1) for _ in range(_count(cursor, 1))])

    def elements(self, cursor: Cursor, depth: int = 0) -> Attribute:
        """A type and a constant of it."""
        return self.constants.index(cursor, self.types.index(cursor))

    def dictionary(self, cursor: Cursor, depth: int = 0) -> DictionaryAttr:
        """Names and attributes."""
        entries: dict[str, Attribute] = {}
        for index in range(_count(cursor, 2)):
            start = cursor.position
            key = self.strings.index(cursor)
            if not key:
                cursor.fail(
                    f"invalid empty attribute name for DictionaryAttr element {index}", start
                )
            if key in entries:
                cursor.fail(f"expected one entry for {key}, got two", start)
            entries[key] = self.tagged(cursor, depth + 1)
        return DictionaryAttr(entries)

    def hints(self, cursor: Cursor, depth: int = 0) -> OptimizationHintsAttr:
        """A dictionary of dictionaries."""
        start = cursor.position
        try:
            return OptimizationHintsAttr(self.dictionary(cursor, depth))
        except VerifyException as error:
            cursor.fail(str(error).strip(), start)


def read_integer(cursor: Cursor, type_: IntegerType) -> IntegerAttr[IntegerType]:
    """A number of a type's width; bits above it are wrong."""
    if type_ == i1:
        return IntegerAttr.from_bool(bool(cursor.byte()))
    start = cursor.position
    value, width = cursor.varint(), type_.width.data
    if value >> width:
        cursor.fail(f"value {value} does not fit in {width} bits", start)
    return IntegerAttr(value - (value >> (width - 1) << width), type_)


def _read_optional(cursor: Cursor) -> tuple[int | None, int | None]:
    """Which of two numbers there are, and these."""
    flags = cursor.byte()
    first = cursor.signed_varint() if flags & 1 else None
    return first, cursor.signed_varint() if flags & 2 else None


def _count(cursor: Cursor, item_bytes: int) -> int:
    return cursor.count(item_bytes, "attributes")


Read = Callable[[AttributeReader, Cursor, int], Attribute]
READERS: dict[int, Read] = {
    1: AttributeReader.integer,
    2: AttributeReader.float,
    3: lambda tables, cursor, depth: read_integer(cursor, i1),
    4: lambda tables, cursor, depth: tables.types.index(cursor),
    5: lambda tables, cursor, depth: tables.strings.attribute(cursor),
    6: AttributeReader.array,
    7: AttributeReader.elements,
    8: lambda tables, cursor, depth: DivByAttr.get(cursor.varint(), *_read_optional(cursor)),
    9: lambda tables, cursor, depth: SameElementsAttr.get(read_numbers(cursor, "q")),
    10: AttributeReader.dictionary,
    11: AttributeReader.hints,
    12: lambda tables, cursor, depth: BoundedAttr.get(*_read_optional(cursor)),
}
"""The reader of each tag."""


@dataclass(frozen=True, slots=True)
class AttributeWriter:
    """Writes attributes with the tables of one file."""

    strings: Table[str]
    types: TypeWriter
    constants: ConstantWriter

    def tagged(self, attribute: Attribute, out: Encoder) -> None:
        """An attribute behind its tag. Raises ValueError for one that has none."""
        match attribute:
            case IntegerAttr(type=type_) if type_ == i1:
                out += bytes((3, attribute.value.data & 1))
            case IntegerAttr(type=IntegerType() as type_):
                self._typed(1, type_, out)
                out.varint(attribute.value.data & (1 << type_.width.data) - 1)
            case FloatAttr(type=type_):
                self._typed(2, type_, out)
                bits = bits_of_float(attribute.value.data, type_)
                if float_bits(type_) <= 8:
                    out.append(bits)
                else:
                    out.signed_varint(bits - (bits >> 63 << 64))
            case StringAttr():
                out.append(5)
                out.varint(self.strings.index(attribute.data))
            case ArrayAttr():
                out.append(6)
                self.array(attribute, out)
            case ElementsAttr():
                self._typed(7, attribute.type, out)
                out.varint(self.constants.index(attribute))
            case DictionaryAttr():
                out.append(10)
                self.dictionary(attribute, out)
            case OptimizationHintsAttr():
                out.append(11)
                self.dictionary(attribute.value, out)
            case TypeAttribute():
                self._typed(4, attribute, out)
            case _:
                self._assumption(attribute, out)

    def _assumption(self, attribute: Attribute, out: Encoder) -> None:
        match attribute:
            case DivByAttr():
                out.append(8)
                out.varint(attribute.divisor)
                _write_optional(out, attribute.every, attribute.along)
            case SameElementsAttr():
                out.append(9)
                out.counted("q", attribute.values)
            case BoundedAttr():
                out.append(12)
                _write_optional(out, attribute.lb, attribute.ub)
            case _:
                raise ValueError(f"expected an attribute that bytecode has, got {attribute}")

    def _typed(self, tag: int, type_: Attribute, out: Encoder) -> None:
        out.append(tag)
        out.varint(self.types.index(type_))

    def array(self, array: ArrayAttr[Attribute], out: Encoder) -> None:
        """A counted list of attributes."""
        out.varint(len(array.data))
        for attribute in array.data:
            self.tagged(attribute, out)

    def dictionary(self, dictionary: DictionaryAttr, out: Encoder) -> None:
        """Names and attributes."""
        out.varint(len(dictionary.data))
        for name, attribute in dictionary.data.items():
            out.varint(self.strings.index(name))
            self.tagged(attribute, out)


def _write_optional(out: Encoder, first: int | None, second: int | None) -> None:
    """Which of two numbers there are, and these."""
    out.append((first is not None) | (second is not None) << 1)
    for number in (first, second):
        if number is not None:
            out.signed_varint(number)
