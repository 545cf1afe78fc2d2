"""Pieces of the text of types and ops: labels, and numbers that are not negative."""

from collections.abc import Iterable
from typing import TypeVar

from xdsl.parser import AttrParser

Word = TypeVar("Word", bound=str)


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
