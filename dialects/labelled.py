"""Pieces of the text of types and ops: brackets, labels, and numbers that are not negative."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TypeVar

from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

Word = TypeVar("Word", bound=str)


class Bracketed(ParametrizedAttribute, ABC):
    """An attribute whose parameters stand in angle brackets."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return cls.parse_inside(parser)

    @classmethod
    @abstractmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read what is between them."""

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_inside(printer)

    @abstractmethod
    def print_inside(self, printer: Printer) -> None:
        """Print what is between them."""


def parse_label(parser: AttrParser, label: str) -> None:
    """`label=`"""
    parser.parse_keyword(label)
    parser.parse_punctuation("=")


def parse_word(parser: AttrParser, legal: Iterable[Word], what: str) -> Word:
    """One of the words that are legal."""
    start = parser.pos
    word = parser.parse_identifier(f" for a {what}")
    for one in legal:
        if one == word:
            return one
    parser.raise_error(f"expected {', '.join(legal)}, got {word}", start, parser.pos)


def parse_natural(parser: AttrParser) -> int:
    """A number from 0 on."""
    return parser.parse_integer(allow_boolean=False, allow_negative=False)
