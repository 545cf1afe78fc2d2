"""Types as CUDA Tile IR writes them: `tile<4x8xf32>` as well as `!cuda_tile.tile<4x8xf32>`."""

import re
from collections.abc import Callable, Sequence

from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.once import once_each

PREFIX = "cuda_tile."

_SHORT: dict[str, Callable[[AttrParser], Attribute]] = {}
"""The reader of the parameters of a type of this dialect, by the word the type is known by."""


def readable_without_prefix(word: str, parse: Callable[[AttrParser], Attribute]) -> None:
    """Let a type be known by its word alone."""
    _SHORT[word] = parse


# Three levels of brackets, without aliases: what it says does not depend on where it stands.
_SPELLED = re.compile(r"(\w+)(?:<(?:[^<>#!]|<(?:[^<>#!]|<[^<>#!]*>)*>)*>)?(?!\w|\s*<)")
_KNOWN: dict[str, Attribute] = {}
_REMEMBERED = 1 << 12


def parse_optional_type(parser: AttrParser) -> Attribute | None:
    """A type, with or without the dialect's prefix; None where none begins.

    One that was read before, spelled alike, is not read again."""
    spelled = _SPELLED.match(parser.lexer.input.content, parser.pos)
    if spelled is not None and (known := _KNOWN.get(spelled[0])) is not None:
        parser._resume_from(spelled.end())  # pyright: ignore[reportPrivateUsage]
        return known
    word = parser.parse_optional_keyword_in(_SHORT)
    if word is None:
        return parser.parse_optional_type()
    type_ = _SHORT[word](parser)
    if spelled is not None and "//" not in spelled[0]:
        if len(_KNOWN) >= _REMEMBERED:
            _KNOWN.clear()
        _KNOWN[spelled[0]] = type_
    return type_


def parse_type(parser: AttrParser) -> Attribute:
    """A type, with or without the dialect's prefix."""
    return parser.expect(
        lambda: parse_optional_type(parser),
        f"type expected: a builtin type or one of {', '.join(_SHORT)}",
    )


def parse_types(
    parser: AttrParser, delimiter: AttrParser.Delimiter = AttrParser.Delimiter.NONE
) -> list[Attribute]:
    """Types between commas; without a delimiter one at least."""
    return parser.parse_comma_separated_list(delimiter, lambda: parse_type(parser))


def print_type(printer: Printer, type_: Attribute) -> None:
    """A type without the dialect's prefix."""
    if type_.name.startswith(PREFIX):
        printer.print_string(type_.name.removeprefix(PREFIX))
        type_.print_parameters(printer)  # pyright: ignore
    else:
        printer.print_attribute(type_)


def print_types(printer: Printer, types: Sequence[Attribute]) -> None:
    """Types between commas."""
    printer.print_list(types, lambda type_: print_type(printer, type_))


@once_each
def shown(type_: Attribute) -> str:
    """A type as diagnostics name it."""
    return str(type_).removeprefix(f"!{PREFIX}")
