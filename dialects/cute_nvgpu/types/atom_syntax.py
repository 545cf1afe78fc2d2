"""What the spellings of atoms between angle brackets are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.parser import AttrParser

from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MAJOR_MODES, MajorMode

Parsed = TypeVar("Parsed")


def after(keyword: str, parser: AttrParser, parse: Callable[[], Parsed]) -> list[Parsed]:
    """`, keyword = (x, y)`."""
    parser.parse_punctuation(",")
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse)


def major(parser: AttrParser) -> MajorMode:
    """`k` or `mn`."""
    return MAJOR_MODES[choice(parser, MAJOR_MODES)]


def choice(parser: AttrParser, legal: Sequence[str]) -> int:
    """Which of these words comes next."""
    start = parser.pos
    found = parser.parse_identifier()
    if found not in legal:
        parser.raise_error(f"expected {' or '.join(legal)}, got {found}", start, parser.pos)
    return legal.index(found)
