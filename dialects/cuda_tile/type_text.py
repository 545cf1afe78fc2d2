"""Types as CUDA Tile IR writes them: `tile<4x8xf32>` as well as `!cuda_tile.tile<4x8xf32>`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

PREFIX = "cuda_tile."

_SHORT: dict[str, Callable[[AttrParser], Attribute]] = {}
"""What reads the parameters of a type of this dialect, by the word the type is known by."""


def readable_without_prefix(word: str, parse: Callable[[AttrParser], Attribute]) -> None:
    """Let a type be known by its word alone."""
    _SHORT[word] = parse


def parse_optional_type(parser: AttrParser) -> Attribute | None:
    """A type, with or without the dialect's prefix; None where none begins."""
    word = parser.parse_optional_keyword_in(_SHORT)
    return parser.parse_optional_type() if word is None else _SHORT[word](parser)


def parse_type(parser: AttrParser) -> Attribute:
    """A type, with or without the dialect's prefix."""
    return parser.expect(
        lambda: parse_optional_type(parser),
        f"type expected: a builtin type or one of {', '.join(_SHORT)}",
    )


def parse_types(parser: AttrParser) -> list[Attribute]:
    """Types between commas, one at least."""
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_type(parser))


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


def shown(type_: Attribute) -> str:
    """A type as diagnostics name it."""
    return str(type_).removeprefix(f"!{PREFIX}")
