"""Reading text: what is not legal is said where it stands."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from xdsl.parser import AttrParser

from tilewright.dialects.illegal import Illegal

_Value = TypeVar("_Value")


@contextmanager
def legal_text(parser: AttrParser, before: str = "") -> Generator[None]:
    """Raise ParseError at the text that is read within where that is not legal, the reason behind
    these words."""
    start = parser.pos
    try:
        yield
    except Illegal as error:
        parser.raise_error(f"{before}{error}", start, parser.pos)


def read_text(parser: AttrParser, what: str, read: Callable[[str], _Value]) -> _Value:
    """The value of a string literal. Raises ParseError where it is none."""
    start = parser.pos
    text = parser.parse_str_literal()
    try:
        return read(text)
    except Illegal as error:
        parser.raise_error(f'failed to parse {what} from "{text}": {error}', start, parser.pos)
