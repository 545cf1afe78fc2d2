"""The pieces of the formats of ops that are words: see `format`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, UnitAttr, i32
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.attributes import ASSUMPTIONS, ChoiceAttr, OptimizationHintsAttr
from tilewright.dialects.cuda_tile.constraints import NumberOf
from tilewright.dialects.cuda_tile.enums import TileEnum
from tilewright.dialects.cuda_tile.ops.declared import DeclaredOp
from tilewright.dialects.cuda_tile.ops.format_pieces import Piece, Read


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
    given = parser.parse_optional_identifier() or ""
    known = [word.value for word in words]
    if given not in known:
        near = get_close_matches(given, known, n=1, cutoff=0.0)
        parser.raise_error(
            f"expected {what} that is one of {', '.join(known)}, got {given or 'none'}; "
            f"nearest legal: {near[0]}",
            start,
        )
    return words(given)


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
        word = parser.parse_optional_keyword_in([case.value for case in words])
        if word is not None:
            read.properties[self.name] = choice_of(self.constraint, words(word))
        return word is not None

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        printer.print_string(word_of(op.properties[self.name], words_of(self.constraint)))
        return ""

    def present(self, op: DeclaredOp) -> bool:
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
class OptionalWord(Piece):
    """A property that may be left out, `rounding<zero>`."""

    keyword: str
    name: str
    constraint: Any
    default: Attribute
    required: bool
    """True where the property has to be there, where it is the default too."""

    def parse(self, parser: Parser, read: Read) -> None:
        chosen = self.default
        if parser.parse_optional_keyword(self.keyword) is not None:
            with parser.in_angle_brackets():
                word = parse_word(parser, words_of(self.constraint), self.keyword)
            chosen = choice_of(self.constraint, word)
        if self.required or chosen != self.default:
            read.properties[self.name] = chosen

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        word = word_of(op.properties[self.name], words_of(self.constraint))
        printer.print_string(f"{self.keyword}<{word}>")
        return ""

    def present(self, op: DeclaredOp) -> bool:
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

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        printer.print_string(" ".join(name for name in self.names if name in op.properties))
        return ""

    def present(self, op: DeclaredOp) -> bool:
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

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        hints = op.properties["optimization_hints"]
        assert isinstance(hints, OptimizationHintsAttr)
        printer.print_string(f"optimization_hints{self.equals}")
        hints.print_parameters(printer)
        return ""

    def present(self, op: DeclaredOp) -> bool:
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

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        values = ("true" if value else "false" for value in self._values(op))
        printer.print_string(f"inbounds = [{', '.join(values)}]")
        return ""

    def present(self, op: DeclaredOp) -> bool:
        return any(self._values(op))

    def _values(self, op: DeclaredOp) -> Sequence[int]:
        value: Any = op.properties.get("inbounds")
        return () if value is None else value.get_values()

    def fields(self) -> Iterable[str]:
        return ("inbounds",)


@dataclass(frozen=True)
class AssumedPredicate(Piece):
    """`div_by<16>` and its like, with or without `#cuda_tile.`."""

    name: str

    def parse(self, parser: Parser, read: Read) -> None:
        value = parser.parse_optional_attribute()
        if value is None:
            known = {
                predicate.name.removeprefix("cuda_tile."): predicate for predicate in ASSUMPTIONS
            }
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

    def print(self, printer: Printer, op: DeclaredOp) -> str:
        value = op.properties[self.name]
        printer.print_string(value.name.removeprefix("cuda_tile."))
        value.print_parameters(printer)  # pyright: ignore
        return ""

    def fields(self) -> Iterable[str]:
        return (self.name,)
