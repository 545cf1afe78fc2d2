"""The pieces of the formats of ops: see `format`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Region
from xdsl.irdl import BaseAttr
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.attributes import ASSUMPTIONS, ChoiceAttr, OptimizationHintsAttr
from tilewright.dialects.cuda_tile.constraints import IntegerOf, ListOf, NumberOf
from tilewright.dialects.cuda_tile.enums import TileEnum
from tilewright.dialects.cuda_tile.ops.facts import SEGMENTS
from tilewright.dialects.cuda_tile.type_text import parse_type, print_type, print_types, shown
from tilewright.dialects.cuda_tile.types import TOKEN, TensorViewType, TileView, TokenType

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp


@dataclass
class Read:
    """What has been read of an op: by name, operands, types, properties."""

    op: type[CudaTileOp]
    start: int
    operands: dict[str, list[UnresolvedOperand]] = field(default_factory=dict)
    types: dict[str, list[Attribute]] = field(default_factory=dict)
    properties: dict[str, Attribute] = field(default_factory=dict)
    attributes: dict[str, Attribute] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    written: set[str] = field(default_factory=set)


class Piece(ABC):
    """A part of a format."""

    @abstractmethod
    def parse(self, parser: Parser, read: Read) -> None:
        """Read it."""

    def parse_optional(self, parser: Parser, read: Read) -> bool:
        """Read it if it is there."""
        raise NotImplementedError

    @abstractmethod
    def print(self, printer: Printer, op: CudaTileOp) -> str:
        """Write it, and say what must not be followed by a space: `` ` ``, or nothing."""

    def present(self, op: CudaTileOp) -> bool:
        """Whether an op has it."""
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

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        printer.print_string(self.text)
        return self.text


def _parse_literal(parser: Parser, word: str) -> None:
    if word.isidentifier():
        parser.parse_keyword(word)
    else:
        parser.parse_punctuation(word)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class Operands(Piece):
    """An operand, or those that a variadic one stands for."""

    name: str
    several: bool

    def parse(self, parser: Parser, read: Read) -> None:
        if self.several:
            found = parser.parse_optional_undelimited_comma_separated_list(
                parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
            )
            read.operands[self.name] = list(found or ())
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

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        printer.print_list(op.values_of(self.name), printer.print_operand)
        return ""

    def present(self, op: CudaTileOp) -> bool:
        return bool(op.values_of(self.name))


@dataclass(frozen=True)
class Plain(Piece):
    """A property as it is."""

    name: str
    constraint: Any

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
            case BaseAttr(attr=StringAttr):
                return StringAttr(parser.parse_str_literal())
            case _:
                return parser.parse_attribute()

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        match value := op.properties[self.name]:
            case IntegerAttr():
                value.print_without_type(printer)
            case DenseArrayBase():
                printer.print_string(str(list(value.get_values())))
            case _:
                printer.print_attribute(value)
        return ""

    def present(self, op: CudaTileOp) -> bool:
        return self.name in op.properties

    def fields(self) -> Iterable[str]:
        return (self.name,)


def parse_integer_attr(parser: Parser, width: int) -> IntegerAttr:
    """An integer of a width; `true` and `false` are 1 and 0. Raises ParseError beyond it."""
    start = parser.pos
    number = parser.parse_integer(allow_boolean=width == 1)
    if not -(1 << (width - 1)) <= number < 1 << max(width - 1, 1):
        parser.raise_error(f"expected an integer of {width} bits, got {number}", start, parser.pos)
    return IntegerAttr(number, width)


def words_of(constraint: Any) -> type[TileEnum]:
    """The words that a property chooses from."""
    return constraint.enum if isinstance(constraint, NumberOf) else constraint.attr.CHOICES


def choice_of(constraint: Any, word: TileEnum) -> Attribute:
    """The property that a word stands for."""
    if isinstance(constraint, NumberOf):
        return IntegerAttr(word.number, i32)
    class_: type[ChoiceAttr[Any]] = constraint.attr
    return class_.of(word)


def parse_word(parser: Parser, words: type[TileEnum], what: str) -> TileEnum:
    """One of some words. Raises ParseError that names the nearest."""
    start = parser.pos
    found = parser.parse_optional_identifier() or ""
    known = [word.value for word in words]
    if found not in known:
        near = get_close_matches(found, known, n=1, cutoff=0.0)
        parser.raise_error(
            f"expected {what} that is one of {', '.join(known)}, got {found or 'none'}; "
            f"nearest legal: {near[0]}",
            start,
        )
    return words(found)


@dataclass(frozen=True)
class Word(Piece):
    """A property as a word."""

    name: str
    constraint: Any

    def parse(self, parser: Parser, read: Read) -> None:
        word = parse_word(parser, words_of(self.constraint), self.name)
        read.properties[self.name] = choice_of(self.constraint, word)

    def parse_optional(self, parser: Parser, read: Read) -> bool:
        words = words_of(self.constraint)
        word = parser.parse_optional_keyword_in([each.value for each in words])
        if word is not None:
            read.properties[self.name] = choice_of(self.constraint, words(word))
        return word is not None

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        printer.print_string(word_of(op.properties[self.name], words_of(self.constraint)))
        return ""

    def present(self, op: CudaTileOp) -> bool:
        return self.name in op.properties

    def fields(self) -> Iterable[str]:
        return (self.name,)


def word_of(value: Attribute, words: type[TileEnum]) -> str:
    """The word of a choice, or its number where it is none."""
    if isinstance(value, ChoiceAttr):
        return value.data.value  # pyright: ignore
    assert isinstance(value, IntegerAttr)
    case = words.of_number(value.value.data)
    return str(value.value.data) if case is None else case.value


@dataclass(frozen=True)
class Choice(Piece):
    """A property that may be left out, `rounding<zero>`."""

    keyword: str
    name: str
    constraint: Any
    default: Attribute

    def parse(self, parser: Parser, read: Read) -> None:
        read.properties[self.name] = self.default
        if parser.parse_optional_keyword(self.keyword) is not None:
            with parser.in_angle_brackets():
                word = parse_word(parser, words_of(self.constraint), self.keyword)
            read.properties[self.name] = choice_of(self.constraint, word)

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        word = word_of(op.properties[self.name], words_of(self.constraint))
        printer.print_string(f"{self.keyword}<{word}>")
        return ""

    def present(self, op: CudaTileOp) -> bool:
        return op.properties.get(self.name, self.default) != self.default

    def fields(self) -> Iterable[str]:
        return (self.name,)


@dataclass(frozen=True)
class Flags(Piece):
    """Unit properties."""

    names: tuple[str, ...]

    def parse(self, parser: Parser, read: Read) -> None:
        left = [name for name in self.names if name not in read.properties]
        while left and (word := parser.parse_optional_keyword_in(left)) is not None:
            read.properties[word] = UnitAttr()
            left.remove(word)

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        printer.print_string(" ".join(name for name in self.names if name in op.properties))
        return ""

    def present(self, op: CudaTileOp) -> bool:
        return any(name in op.properties for name in self.names)

    def fields(self) -> Iterable[str]:
        return self.names


@dataclass(frozen=True)
class Hints(Piece):
    """`optimization_hints = <sm_100 = {latency = 2}>`."""

    equals: str

    def parse(self, parser: Parser, read: Read) -> None:
        if parser.parse_optional_keyword("optimization_hints") is not None:
            parser.parse_punctuation("=")
            read.properties["optimization_hints"] = OptimizationHintsAttr.new(
                OptimizationHintsAttr.parse_parameters(parser)
            )

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        hints = op.properties["optimization_hints"]
        assert isinstance(hints, OptimizationHintsAttr)
        printer.print_string(f"optimization_hints{self.equals}")
        hints.print_parameters(printer)
        return ""

    def present(self, op: CudaTileOp) -> bool:
        return "optimization_hints" in op.properties

    def fields(self) -> Iterable[str]:
        return ("optimization_hints",)


@dataclass(frozen=True)
class Inbounds(Piece):
    """`inbounds = [true, false]`, left out where none is."""

    def parse(self, parser: Parser, read: Read) -> None:
        if parser.parse_optional_keyword("inbounds") is not None:
            parser.parse_punctuation("=")
            values = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_boolean
            )
            read.properties["inbounds"] = DenseArrayBase.from_list(
                IntegerType(1), [int(value) for value in values]
            )

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        values = ("true" if value else "false" for value in self._values(op))
        printer.print_string(f"inbounds = [{', '.join(values)}]")
        return ""

    def present(self, op: CudaTileOp) -> bool:
        return any(self._values(op))

    def _values(self, op: CudaTileOp) -> Sequence[int]:
        value: Any = op.properties.get("inbounds")
        return () if value is None else value.get_values()

    def fields(self) -> Iterable[str]:
        return ("inbounds",)


@dataclass(frozen=True)
class Types(Piece):
    """The type of an operand or result, or the types of a variadic one."""

    name: str
    several: bool
    tensor: str = ""

    def parse(self, parser: Parser, read: Read) -> None:
        start = parser.pos
        types = [parse_type(parser)]
        if self.tensor and not isinstance(types[0], TileView):
            words = read.op.facts.place[self.name].accepts.words
            parser.raise_error(f"expected {words}, got {shown(types[0])}", start)
        while self.several and parser.parse_optional_punctuation(","):
            types.append(parse_type(parser))
        read.types[self.name] = types
        if self.tensor and isinstance(types[0], TileView):
            read.types[self.tensor] = [types[0].tensor_view]

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        print_types(printer, [value.type for value in op.values_of(self.name)])
        return ""

    def present(self, op: CudaTileOp) -> bool:
        return bool(op.values_of(self.name))


@dataclass(frozen=True)
class IndexTypes(Piece):
    """`, tile<i32>` for all indices, or a type each; with `token`, its type behind them."""

    name: str
    token: str = ""

    def parse(self, parser: Parser, read: Read) -> None:
        types: list[Attribute] = []
        start = parser.pos
        while parser.parse_optional_punctuation(",") is not None:
            types.append(parse_type(parser))
        if self.token and types and isinstance(types[-1], TokenType):
            types.pop()
        count = len(read.operands[self.name])
        if len(types) == 1:
            types *= count
        if len(types) != count:
            parser.raise_error(
                f"expected the type of {count} indices, one for all or one each, got {len(types)}",
                start,
                parser.pos,
            )
        read.types[self.name] = types

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        types = [value.type for value in op.values_of(self.name)]
        if all(type_ == types[0] for type_ in types):
            types = types[:1]
        if self.token and op.values_of(self.token):
            types.append(TOKEN)
        for type_ in types:
            printer.print_string(", ")
            print_type(printer, type_)
        return ""

    def present(self, op: CudaTileOp) -> bool:
        return bool(op.values_of(self.name)) or bool(self.token and op.values_of(self.token))


@dataclass(frozen=True)
class RankTypes(Piece):
    """One type for as many results as a view has dimensions."""

    name: str
    view: str

    def parse(self, parser: Parser, read: Read) -> None:
        start = parser.pos
        type_ = parse_type(parser)
        view = read.types[self.view][0]
        if isinstance(view, TileView):
            count = view.index_rank
        elif isinstance(view, TensorViewType):
            count = view.rank
        else:
            words = read.op.facts.place[self.view].accepts.words
            parser.raise_error(f"expected {words}, got {shown(view)}", start)
        read.types[self.name] = [type_] * count

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        print_type(printer, op.values_of(self.name)[0].type)
        return ""


@dataclass(frozen=True)
class Predicate(Piece):
    """`div_by<16>` and its like, with or without `#cuda_tile.`."""

    name: str

    def parse(self, parser: Parser, read: Read) -> None:
        value = parser.parse_optional_attribute()
        if value is None:
            known = {each.name.removeprefix("cuda_tile."): each for each in ASSUMPTIONS}
            start = parser.pos
            word = parser.parse_optional_identifier() or ""
            if word not in known:
                near = get_close_matches(word, known, n=1, cutoff=0.0)[0]
                parser.raise_error(
                    f"expected a predicate that is one of {', '.join(known)}, "
                    f"got {word or 'none'}; nearest legal: {near}",
                    start,
                )
            value = known[word].new(known[word].parse_parameters(parser))
        read.properties[self.name] = value

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        value = op.properties[self.name]
        printer.print_string(value.name.removeprefix("cuda_tile."))
        value.print_parameters(printer)  # pyright: ignore
        return ""

    def fields(self) -> Iterable[str]:
        return (self.name,)


@dataclass(frozen=True)
class AttrDict(Piece):
    """Attributes, and properties that stand nowhere else, behind `attributes` where it says so."""

    keyword: bool
    elsewhere: frozenset[str]

    def parse(self, parser: Parser, read: Read) -> None:
        if self.keyword:
            found = parser.parse_optional_attr_dict_with_keyword()
            entries: Mapping[str, Attribute] = {} if found is None else found.data
        else:
            entries = parser.parse_optional_attr_dict()
        sort_attributes(read, entries)

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        printer.print_string("attributes " if self.keyword else "")
        printer.print_attribute(DictionaryAttr(self._entries(op)))
        return ""

    def present(self, op: CudaTileOp) -> bool:
        return bool(self._entries(op))

    def _entries(self, op: CudaTileOp) -> dict[str, Attribute]:
        return remaining_attributes(op, self.elsewhere)


def sort_attributes(read: Read, entries: Mapping[str, Attribute]) -> None:
    """Take each entry of a dictionary for the property or the attribute it is."""
    known = read.op.definition.properties
    for name, value in entries.items():
        (read.properties if name in known else read.attributes)[name] = value


def remaining_attributes(op: CudaTileOp, elsewhere: Iterable[str]) -> dict[str, Attribute]:
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

    def print(self, printer: Printer, op: CudaTileOp) -> str:
        return print_pieces(printer, op, self.pieces)

    def present(self, op: CudaTileOp) -> bool:
        named = [piece for piece in self.pieces if not isinstance(piece, Literal)]
        return all(piece.present(op) for piece in named)

    def fields(self) -> Iterable[str]:
        return (name for piece in self.pieces for name in piece.fields())


_TIGHT_BEFORE = (",", "]", "[")
_TIGHT_AFTER = re.compile(r"[\[`]$|\w=$")


def print_pieces(printer: Printer, op: CudaTileOp, pieces: Sequence[Piece]) -> str:
    """The pieces that an op has, with spaces between them; says what the last one ended with."""
    last = "`"
    for piece in pieces:
        if not piece.present(op):
            continue
        first = piece.pieces[0] if isinstance(piece, Group) else piece
        tight = isinstance(piece, IndexTypes) or (
            isinstance(first, Literal) and first.text in _TIGHT_BEFORE
        )
        if not tight and not _TIGHT_AFTER.search(last):
            printer.print_string(" ")
        last = piece.print(printer, op)
    return last
