"""The properties that stand between an op's name and its operands.

cute.get<[1, 0]> (%x)       cute.group_modes<0, 2> (%x)       cute.append_to_rank<3> (%x, %e)
"""

from abc import ABC
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cute.ops.operation import CuteOp, InferredOp
from tilewright.dialects.cute.symbolic.scalar import fits
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.reading import read_text


def path_of(mode: Any) -> tuple[int, ...]:
    """The mode numbers of a property; none where it is missing."""
    return () if mode is None else tuple(mode.get_values())


def _same(attribute: Any) -> Any:
    return attribute


@dataclass(frozen=True, slots=True)
class PrefixPart:
    """A property: its name, how it is read, its text, what an op's rule is given of it, and what it
    is where it is left out behind others. `label` stands before it: `tile = "[128;64]"`. `fault`
    says what is wrong with one that was not read."""

    name: str
    read: Callable[[Parser], Attribute]
    text: Callable[[Any], str] = str
    value: Callable[[Any], Any] = _same
    default: Attribute | None = None
    label: str = ""
    fault: Callable[[Attribute], str | None] = lambda attribute: None


def _read_number(parser: Parser) -> int:
    start = parser.pos
    number = parser.parse_integer()
    if not fits(number, 32):
        parser.raise_error(f"expected an integer of 32 bits, got {number}", start, parser.pos)
    return number


def _read_path(parser: Parser) -> Attribute:
    return DenseArrayBase.from_list(
        i32,
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _read_number(parser)),
    )


def path(name: str, default: Attribute | None = None) -> PrefixPart:
    """A list of numbers, `[1, 0]`."""
    return PrefixPart(name, _read_path, lambda path: str(list(path_of(path))), path_of, default)


def number(name: str) -> PrefixPart:
    """A number."""
    return PrefixPart(
        name,
        lambda parser: IntegerAttr(_read_number(parser), i32),
        lambda number: str(number.value.data),
        lambda number: number.value.data,
    )


def word(name: str, words: Collection[str], what: str, listed: str) -> PrefixPart:
    """One of some words; diagnostics say what it is and how they are listed."""

    def read(parser: Parser) -> Attribute:
        start = parser.pos
        given = StringAttr(parser.parse_identifier(f" for {what}"))
        if (why := fault(given)) is not None:
            parser.raise_error(why, start, parser.pos)
        return given

    def fault(given: Any) -> str | None:
        return None if given.data in words else f"expected {listed}, got {given.data}"

    return PrefixPart(name, read, lambda word: word.data, lambda word: word.data, fault=fault)


def atom(name: str, kind: Any, what: str) -> PrefixPart:
    """An attribute of a kind."""

    def read(parser: Parser) -> Attribute:
        start = parser.pos
        given = parser.parse_attribute()
        if (why := fault(given)) is not None:
            parser.raise_error(why, start, parser.pos)
        return given

    def fault(given: Attribute) -> str | None:
        return None if isinstance(given, kind) else f"expected {what}, got {given}"

    return PrefixPart(name, read, fault=fault)


def spelled(name: str, read: Callable[[str], Typed], label: str = "") -> PrefixPart:
    """A value of the algebra as a string literal."""
    return PrefixPart(
        name,
        lambda parser: StringAttr(read_text(parser, name, read).text),
        str,
        lambda text: read(text.data),
        label=label,
    )


class PrefixOp(CuteOp, ABC):
    """An op with properties before its operands, between angle brackets: its PARTS, which may all
    be left out where the op says so."""

    PARTS: ClassVar[tuple[PrefixPart, ...]]
    IS_OPTIONAL: ClassVar[bool] = False

    @classmethod
    def parts(cls) -> tuple[PrefixPart, ...]:
        """The properties, in their order."""
        return cls.PARTS

    @classmethod
    def arguments(cls, properties: dict[str, Attribute]) -> tuple[Any, ...]:
        return tuple(part.value(properties.get(part.name)) for part in cls.parts())

    @classmethod
    def parse_prefix(cls, parser: Parser) -> dict[str, Attribute]:
        if cls.IS_OPTIONAL and parser.parse_optional_punctuation("<") is None:
            return {}
        if not cls.IS_OPTIONAL:
            parser.parse_punctuation("<")
        properties: dict[str, Attribute] = {}
        for i, part in enumerate(cls.parts()):
            if part.default is not None and parser.parse_optional_punctuation(",") is None:
                properties[part.name] = part.default
                continue
            if i and part.default is None:
                parser.parse_punctuation(",")
            if part.label:
                parser.parse_keyword(part.label)
                parser.parse_punctuation("=")
            properties[part.name] = part.read(parser)
        parser.parse_punctuation(">")
        return properties

    def verify_(self) -> None:
        for part in self.parts():
            if (value := self.properties.get(part.name)) is not None:
                self.refuse(part.fault(value))
        super().verify_()

    def print_prefix(self, printer: Printer) -> None:
        given = [(part, self.properties.get(part.name)) for part in self.parts()]
        texts = [
            f"{part.label} = {part.text(value)}" if part.label else part.text(value)
            for part, value in given
            if value is not None
        ]
        printer.print_string(f"<{', '.join(texts)}> " if texts else " ")


class ModePrefix(PrefixOp, ABC):
    """An op with a list of mode numbers, `<[1, 0]>`."""

    PARTS: ClassVar = (path("mode"),)
    IS_OPTIONAL: ClassVar = True


class ModeOp(ModePrefix, InferredOp, ABC):
    """One whose results its rule gives."""


class NumbersOp(PrefixOp, InferredOp, ABC):
    """An op with numbers, `<0, 2>`, each under a name of its own."""

    NUMBERS: ClassVar[tuple[str, ...]]

    @classmethod
    def parts(cls) -> tuple[PrefixPart, ...]:
        return tuple(map(number, cls.NUMBERS))
