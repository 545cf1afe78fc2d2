"""The pieces of the formats of ops: see `format`."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
)
from xdsl.ir import Attribute, Region
from xdsl.irdl import BaseAttr
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.constraints import IntegerOf, ListOf
from tilewright.dialects.cuda_tile.ops.declared import DeclaredOp
from tilewright.dialects.cuda_tile.ops.facts import SEGMENTS


@dataclass
class Read:
    """The parts of an op that have been read: by name, operands, types, properties."""

    op: type[DeclaredOp]
    start: int
    operands: dict[str, list[UnresolvedOperand]] = field(
        default_factory=dict[str, list[UnresolvedOperand]]
    )
    types: dict[str, list[Attribute]] = field(default_factory=dict[str, list[Attribute]])
    properties: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    regions: list[Region] = field(default_factory=list[Region])
    written: set[str] = field(default_factory=set[str])


class Piece(ABC):
    """A part of a format."""

    tight: ClassVar[bool] = False
    """True where it begins with a comma."""

    @abstractmethod
    def parse(self, parser: Parser, read: Read) -> None:
        """Read it."""

    def parse_optional(self, parser: Parser, read: Read) -> bool:
        """Read it if it is there."""
        raise NotImplementedError

    @abstractmethod
    def print(self, printer: Printer, op: DeclaredOp) -> str:
        """Write it, and say what must not be followed by a space: `` ` ``, or nothing."""

    def present(self, op: DeclaredOp) -> bool:
        """True where an op has it."""
        return True

    def fields(self) -> Iterable[str]:
        """The properties that stand in it."""
        return ()


_WORD = re.compile(r"\w+|->|[^\w\s]")


@dataclass(frozen=True)
class Literal(Piece):
    """A word or a sign."""

    text: str

    def parse(self, parser: Parser, read: Read) -> None:
        for word in _WORD.findall(self.text):
            _parse_literal(parser, word)

    def parse_optional(self, parser: Parser, read: Read) -> bool:
        first, *rest = _WORD.findall(self.text)
        there = (
            parser.parse_optional_keyword(first)
            if first.isidentifier()
            else parser.parse_optional_punctuation(first)
        )
        if there is None:
            return False
        for word in rest:
            _parse_literal(parser, word)
        return True

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        printer.print_string(self.text)
        return self.text


def _parse_literal(parser: Parser, word: str) -> None:
    if word.isidentifier():
        parser.parse_keyword(word)
    else:
        parser.parse_punctuation(word)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class OperandsPiece(Piece):
    """An operand, or those that a variadic one stands for."""

    name: str
    several: bool

    def parse(self, parser: Parser, read: Read) -> None:
        if self.several:
            operands = parser.parse_optional_undelimited_comma_separated_list(
                parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
            )
            read.operands[self.name] = list(operands or ())
        else:
            read.operands[self.name] = [parser.parse_unresolved_operand()]

    def parse_optional(self, parser: Parser, read: Read) -> bool:
        first = parser.parse_optional_unresolved_operand()
        if first is None:
            return False
        read.operands[self.name] = [first]
        while self.several and parser.parse_optional_punctuation(","):
            read.operands[self.name].append(parser.parse_unresolved_operand())
        return True

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        printer.print_list(op.values_of(self.name), printer.print_operand)
        return ""

    def present(self, op: DeclaredOp) -> bool:
        return bool(op.values_of(self.name))


@dataclass(frozen=True)
class Plain(Piece):
    """A property as it is; not written where it is what it is by default."""

    name: str
    constraint: Any
    default: Attribute | None

    def parse(self, parser: Parser, read: Read) -> None:
        read.properties[self.name] = self._parse(parser)

    def _parse(self, parser: Parser) -> Attribute:
        match self.constraint:
            case IntegerOf(width=width):
                return parse_integer_attr(parser, width)
            case ListOf(width=width):
                numbers = parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE, parser.parse_integer
                )
                return DenseArrayBase.from_list(IntegerType(width), numbers)
            case BaseAttr(attr=attr) if attr is StringAttr:
                return StringAttr(parser.parse_str_literal())
            case _:
                return parser.parse_attribute()

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        match value := op.properties[self.name]:
            case IntegerAttr():
                value.print_without_type(printer)
            case DenseArrayBase():
                numbers: Any = value
                printer.print_string(str(list(numbers.get_values())))
            case _:
                printer.print_attribute(value)
        return ""

    def present(self, op: DeclaredOp) -> bool:
        return op.properties.get(self.name, self.default) != self.default

    def fields(self) -> Iterable[str]:
        return (self.name,)


def parse_integer_attr(parser: Parser, width: int) -> IntegerAttr:
    """An integer of a width; `true` and `false` are 1 and 0. Raises ParseError beyond it."""
    start = parser.pos
    number = parser.parse_integer(allow_boolean=width == 1)
    if not -(1 << (width - 1)) <= number < 1 << max(width - 1, 1):
        parser.raise_error(f"expected an integer of {width} bits, got {number}", start, parser.pos)
    return IntegerAttr(number, width)


@dataclass(frozen=True)
class AttrDict(Piece):
    """Attributes, and properties that stand nowhere else, behind `attributes` where it says so."""

    keyword: bool
    elsewhere: frozenset[str]

    def parse(self, parser: Parser, read: Read) -> None:
        if self.keyword:
            attributes = parser.parse_optional_attr_dict_with_keyword()
            entries: Mapping[str, Attribute] = {} if attributes is None else attributes.data
        else:
            entries = parser.parse_optional_attr_dict()
        sort_attributes(read, entries)

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        printer.print_string("attributes " if self.keyword else "")
        printer.print_attribute(DictionaryAttr(self._entries(op)))
        return ""

    def present(self, op: DeclaredOp) -> bool:
        return bool(self._entries(op))

    def _entries(self, op: DeclaredOp) -> dict[str, Attribute]:
        return remaining_attributes(op, self.elsewhere)


def sort_attributes(read: Read, entries: Mapping[str, Attribute]) -> None:
    """Take each entry of a dictionary for the property or the attribute it is."""
    known = read.op.definition.properties
    for name, value in entries.items():
        (read.properties if name in known else read.attributes)[name] = value


def remaining_attributes(op: DeclaredOp, elsewhere: Iterable[str]) -> dict[str, Attribute]:
    """The attributes of an op, and its properties but for some, defaults left out."""
    known = op.definition.properties
    properties = {
        name: value
        for name, value in op.properties.items()
        if name not in elsewhere
        and name != SEGMENTS
        and not (name in known and value == known[name].default_value)
    }
    return {**properties, **op.attributes}


@dataclass(frozen=True)
class Group(Piece):
    """All of its pieces or none, by the first."""

    pieces: tuple[Piece, ...]

    def parse(self, parser: Parser, read: Read) -> None:
        first, *rest = self.pieces
        if first.parse_optional(parser, read):
            for piece in rest:
                piece.parse(parser, read)

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        return print_pieces(printer, op, self.pieces)

    def present(self, op: DeclaredOp) -> bool:
        named = [piece for piece in self.pieces if not isinstance(piece, Literal)]
        return all(piece.present(op) for piece in named)

    def fields(self) -> Iterable[str]:
        return (name for piece in self.pieces for name in piece.fields())


_TIGHT_BEFORE = (",", "]", "[")
_TIGHT_AFTER = re.compile(r"[\[`]$|\w=$")


def print_pieces(printer: Printer, op: DeclaredOp, pieces: Sequence[Piece]) -> str:
    """The pieces that an op has, with spaces between them; says what the last one ended with."""
    last = "`"
    for piece in pieces:
        if not piece.present(op):
            continue
        first = piece.pieces[0] if isinstance(piece, Group) else piece
        tight = piece.tight or (isinstance(first, Literal) and first.text in _TIGHT_BEFORE)
        if not tight and not _TIGHT_AFTER.search(last):
            printer.print_string(" ")
        last = piece.print(printer, op)
    return last
