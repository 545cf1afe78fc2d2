"""The constraints of properties, which know their text, and what an op's rule is given of them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint
from xdsl.parser import Parser

from tilewright.dialects.accepts import Accepts, InstanceOf, StringOf, integer, list_of
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.reading import read_text

NUMBER: Any = integer(32)
PATH: Any = list_of(32)
"""The numbers of modes, `[1, 0]`."""


def path_of(mode: Any) -> tuple[int, ...]:
    """The mode numbers of a property; none where it is missing."""
    return PATH.value_of(mode)


def argument(constraint: AttrConstraint, value: Attribute | None) -> Any:
    """The argument of a rule for a property; of one without words, whether it is there."""
    return constraint.value_of(value) if isinstance(constraint, Accepts) else value is not None


@dataclass(frozen=True, kw_only=True)
class WordOf(StringOf):
    """One of some words, of `what`."""

    what: str

    def parse(self, parser: Parser) -> Attribute:
        start = parser.pos
        given = StringAttr(parser.parse_identifier(f" for {self.what}"))
        if not self.takes(given):
            parser.raise_error(f"expected {self.words}, got {given.data}", start, parser.pos)
        return given

    def print(self, printer: Any, attribute: Any) -> None:
        printer.print_string(attribute.data)


def word(words: Collection[str], what: str, listed: str) -> Any:
    """One of some words; diagnostics say what it is and how they are listed."""
    return WordOf(
        listed,
        lambda value: isinstance(value, StringAttr) and value.data in words,
        types=(StringAttr,),
        what=what,
    )


class InstructionOf(InstanceOf):
    """An attribute that is an instruction."""

    def parse(self, parser: Parser) -> Attribute:
        start = parser.pos
        given = parser.parse_attribute()
        if not self.takes(given):
            parser.raise_error(f"expected {self.words}, got {given}", start, parser.pos)
        return given


def instruction(kind: type[Any], words: str) -> Any:
    """An attribute of a kind of instructions."""
    return InstructionOf(words, lambda attribute: isinstance(attribute, kind), types=(kind,))


@dataclass(frozen=True, kw_only=True)
class SpelledOf(StringOf):
    """A value of the algebra as a string literal, `what` it is."""

    what: str
    read: Callable[[str], Typed]

    def value_of(self, attribute: Any) -> Typed | None:
        return None if attribute is None else self.read(attribute.data)

    def parse(self, parser: Parser) -> Attribute:
        return StringAttr(read_text(parser, self.what, self.read).text)


def spelled(what: str, read: Callable[[str], Typed], as_: type[SpelledOf] = SpelledOf) -> Any:
    """A value of the algebra as a string literal."""
    return as_("a string", lambda value: isinstance(value, StringAttr),
                     types=(StringAttr,), what=what, read=read)  # fmt: skip


class ElementTypeOf(Accepts):
    """The type of elements, by its name."""

    def value_of(self, attribute: Any) -> str | None:
        return None if attribute is None else str(attribute)

    def parse(self, parser: Parser) -> Attribute:
        return parser.parse_type()


ELEMENT_TYPE: Any = ElementTypeOf("a type", lambda attribute: True)
