"""Pieces of the text of types and ops: labels, and numbers that are not negative."""

from xdsl.parser import AttrParser


def parse_label(parser: AttrParser, label: str) -> None:
    """`label=`"""
    parser.parse_keyword(label)
    parser.parse_punctuation("=")


def parse_natural(parser: AttrParser) -> int:
    """A number from 0 on."""
    return parser.parse_integer(allow_boolean=False, allow_negative=False)
