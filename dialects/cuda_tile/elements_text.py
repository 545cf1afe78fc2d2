"""The text of constants: `[[1.0, 2.0], [0x7F800000, -4.0]]`, or one number for all.

Integers are decimal or hexadecimal, signed or not; i1 is `true` or `false` too. Floats have a
point, or are hexadecimal: then they are bits.
"""

import re
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, NUMBERS
from tilewright.dialects.cuda_tile.elements import ElementsAttr, dtype_of
from tilewright.dialects.cuda_tile.type_text import parse_type, print_type, shown
from tilewright.dialects.cuda_tile.types import TileType

Shape = tuple[int, ...]

_OF_A_DIALECT = re.compile(r'<[^>"]*>\s*:\s*!')


def parse_literal(parser: AttrParser) -> tuple[list[tuple[str, int]], Shape]:
    """Numbers as they are written, each with its place, and the shape that brackets give them."""
    numbers: list[tuple[str, int]] = []
    return numbers, _parse_nested(parser, numbers)


def parse_dense_of_tile(parser: AttrParser) -> ElementsAttr | None:
    """`<[1.0, 2.0]> : !cuda_tile.tile<2xf32>` behind `dense`; None where it is no tile's."""
    if _OF_A_DIALECT.match(parser.lexer.input.content, parser.pos) is None:
        return None
    parser.parse_punctuation("<")
    numbers, shape = parse_literal(parser)
    parser.parse_punctuation(">")
    parser.parse_punctuation(":")
    type_ = parser.parse_type()
    return elements_of(parser, numbers, shape, type_) if isinstance(type_, TileType) else None


def _parse_nested(parser: AttrParser, numbers: list[tuple[str, int]]) -> Shape:
    start = parser.pos
    if not parser.parse_optional_punctuation("["):
        numbers.append((_parse_number_text(parser), start))
        return ()
    shapes = [_parse_nested(parser, numbers)]
    while parser.parse_optional_punctuation(","):
        place = parser.pos
        shapes.append(_parse_nested(parser, numbers))
        if shapes[-1] != shapes[0]:
            parser.raise_error(
                f"expected elements of shape {list(shapes[0])}, got {list(shapes[-1])}", place
            )
    parser.parse_punctuation("]")
    return (len(shapes), *shapes[0])


def _parse_number_text(parser: AttrParser) -> str:
    start = parser.pos
    if (word := parser.parse_optional_keyword_in(("true", "false"))) is not None:
        return word
    if parser.parse_optional_number() is None:
        parser.raise_error("expected a number", start)
    return parser.lexer.input.content[start : parser.pos].split("//")[0].strip()


def elements_of(
    parser: AttrParser, numbers: list[tuple[str, int]], shape: Shape, type_: TileType
) -> ElementsAttr:
    """The elements that a literal gives a tile. Raises ParseError where they do not fit it."""
    start = numbers[0][1]
    if shape and shape != type_.shape:
        parser.raise_error(
            f"expected numbers of shape {list(type_.shape)} as the tile, got {list(shape)}", start
        )
    element = type_.element_type
    read: Any = _integer if isinstance(element, IntegerType) else _float_bits
    dtype = dtype_of(element)  # pyright: ignore
    container: Any = np.dtype(f"uint{8 * dtype.itemsize}")
    bits = [read(parser, text, place, element) for text, place in numbers]
    array = np.array(bits, container).view(dtype)
    return ElementsAttr.of_array(type_, array)


def parse_elements(parser: AttrParser) -> ElementsAttr:
    """`<f32: [1.0, 2.0]> : tile<2xf32>`. Raises ParseError where they are no elements of a tile."""
    parser.parse_punctuation("<")
    start = parser.pos
    element = parse_type(parser)
    if element not in NUMBERS:
        legal = ", ".join(map(shown, NUMBERS))
        parser.raise_error(f"expected a type of {legal}, got {shown(element)}", start, parser.pos)
    parser.parse_punctuation(":")
    numbers, shape = parse_literal(parser)
    parser.parse_punctuation(">")
    parser.parse_punctuation(":")
    start = parser.pos
    type_ = parse_type(parser)
    if not isinstance(type_, TileType) or type_.element_type != element:
        parser.raise_error(f"expected a tile of {shown(element)}, got {shown(type_)}", start)
    return elements_of(parser, numbers, shape, type_)


def print_typed_elements(printer: Printer, elements: ElementsAttr) -> None:
    """`<f32: [1.0, 2.0]> : tile<2xf32>`"""
    printer.print_string(f"<{shown(elements.type.element_type)}: ")
    elements.print_numbers(printer)
    printer.print_string("> : ")
    print_type(printer, elements.type)


def _integer(parser: AttrParser, text: str, place: int, type_: Attribute) -> int:
    """An integer as unsigned bits of its container."""
    assert isinstance(type_, IntegerType)
    width = type_.bitwidth
    words = {"true": "1", "false": "0"} if width == 1 else {}
    try:
        value = int(words.get(text, text), 0)
    except ValueError:
        parser.raise_error(f"expected an integer, got {text}", place)
    least, most = (-1, 1) if width == 1 else (-(1 << (width - 1)), (1 << width) - 1)
    if not least <= value <= most:
        parser.raise_error(
            f"expected an integer of {least} to {most} as i{width}, got {text}", place
        )
    if width == 1:
        return value & 1
    signed = value - (1 << width) if value >= 1 << (width - 1) else value
    return signed & ((1 << max(width, 8)) - 1)


def _float_bits(parser: AttrParser, text: str, place: int, type_: Attribute) -> int:
    """A float as the bits of its container."""
    dtype = dtype_of(type_)
    if text.lower().startswith("0x"):
        bits = int(text, 16)
        if bits >> max(ELEMENT_OF[type_].bits, 4):
            parser.raise_error(
                f"expected at most {ELEMENT_OF[type_].bits} bits as {shown(type_)}, got {text}",
                place,
            )
        return bits
    if "." not in text or dtype.kind == "u":
        parser.raise_error(f"expected a float with a point, or its bits in hex, got {text}", place)
    value = float(text)
    if shown(type_) == "f8E8M0FNU" and value < 0:
        parser.raise_error(f"expected a float of 0 or more as f8E8M0FNU, got {text}", place)
    with np.errstate(over="ignore"):
        array = np.array(value).astype(dtype)
    bits = int(array.view(f"uint{8 * dtype.itemsize}"))
    return _rounded_to_tf32(bits) if shown(type_) == "tf32" else bits


def _rounded_to_tf32(bits: int) -> int:
    """The bits of an f32 without the last 13 of its fraction, to nearest even."""
    return (bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000
