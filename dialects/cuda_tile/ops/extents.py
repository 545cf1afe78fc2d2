"""Sizes and strides as numbers and operands: `shape = [%n, 64], strides = [64, 1]`."""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.types import DYNAMIC
from tilewright.dialects.labelled import parse_label

Extent = tuple[int | UnresolvedOperand, int]
"""A number or an operand, and where it stands."""


def parse_extents(parser: Parser, label: str) -> tuple[list[Extent], int]:
    """`label = [%n, 64]`, and where the list begins."""
    parse_label(parser, label)
    begin = parser.pos

    def parse_extent() -> Extent:
        start = parser.pos
        operand = parser.parse_optional_unresolved_operand()
        return (parser.parse_integer() if operand is None else operand), start

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_extent), begin


def dynamic_of(extents: Sequence[Extent]) -> list[UnresolvedOperand]:
    """The operands among them."""
    return [extent for extent, _ in extents if isinstance(extent, UnresolvedOperand)]


def verify_extents(
    parser: Parser, given: tuple[list[Extent], int], wanted: Sequence[int], name: str
) -> None:
    """Raise ParseError where numbers or operands are not what the type has there."""
    extents, begin = given
    if len(extents) != len(wanted):
        parser.raise_error(
            f"expected {name} of {len(wanted)} dimensions as the tensor_view, got {len(extents)}",
            begin,
        )
    for i, ((extent, start), value) in enumerate(zip(extents, wanted, strict=True)):
        got = DYNAMIC if isinstance(extent, UnresolvedOperand) else extent
        if got != value:
            words = ["an operand" if extent == DYNAMIC else str(extent) for extent in (value, got)]
            parser.raise_error(
                f"expected {name} of dimension {i} to be {words[0]} as the tensor_view has it, "
                f"got {words[1]}",
                start,
            )


def print_extents(
    printer: Printer, label: str, extents: Sequence[int], operands: Sequence[SSAValue]
) -> None:
    """`, label = [%n, 64]`"""
    rest = iter(operands)

    def print_extent(extent: int) -> None:
        if extent == DYNAMIC:
            printer.print_operand(next(rest))
        else:
            printer.print_string(str(extent))

    printer.print_string(f", {label} = ")
    with printer.in_square_brackets():
        printer.print_list(extents, print_extent)
