"""Regions as CUDA Tile IR writes them: one block, its end left out where it says nothing.

for %i in (%a to %b, step %s) : tile<i32> iter_values(%x = %x0) -> (tile<f32>) { ... }
reduce %x ... (%a: tile<f32>, %b: tile<f32>) { yield %s : tile<f32> }
"""

from collections.abc import Iterable
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from tilewright.dialects.cuda_tile.type_text import parse_type, print_type
from tilewright.dialects.directives import Anchor
from tilewright.source.diagnostic import InnerOpError


def parse_body(
    parser: Parser, arguments: Iterable[Parser.Argument], end: type[Operation] | None = None
) -> Region:
    """A region of a block; `end` ends it where nothing else does, and stands where it begins."""
    start = parser.pos
    region = parser.parse_region(list(arguments))
    if not region.blocks:
        region.add_block(Block())
    if end is not None:
        add_end(parser, start, region, end)
    return region


def add_end(parser: Parser, start: int, region: Region, end: type[Operation]) -> None:
    """End the last block of a region with an op, unless something ends it."""
    block = region.blocks.last
    last = None if block is None else block.last_op
    if block is None or (last and last.has_trait(IsTerminator, value_if_unregistered=False)):
        return
    op = end.create()
    # Ours of the parsers knows where in the text it is.
    locate = getattr(parser, "location", None)
    if locate is not None:
        op.location = locate(start)
    block.add_op(op)


def verify_defined_before(region: Region, known: set[SSAValue]) -> None:
    """Raise VerifyException for an op that uses what is not in `known`, defined before it in its
    block or an argument of one around it. Leaves `known` as it was."""
    mine: list[SSAValue] = []
    for block in region.blocks:
        mine += block.args
        known.update(block.args)
        for op in block.ops:
            for operand in op.operands:
                if operand not in known:
                    name = f"%{operand.name_hint}" if operand.name_hint else "one that is not"
                    raise InnerOpError(
                        op, f"'{op.name}' expected operands that are defined before it, got {name}"
                    )
            for inner in op.regions:
                verify_defined_before(inner, known)
            if op.results:
                mine += op.results
                known.update(op.results)
    known.difference_update(mine)


def print_body(printer: Printer, region: Region, end: type[Operation] | None = None) -> None:
    """A region without the arguments of its block, and without an `end` that has no operands, if
    its place is not to be printed."""
    block = region.blocks.last
    last = None if block is None else block.last_op
    silent = end is not None and isinstance(last, end) and not last.operands and not last.attributes
    if printer.print_debuginfo and last is not None and last.location is not UNKNOWN_LOC:
        silent = False
    printer.print_string(" ")
    printer.print_region(
        region,
        print_entry_block_args=False,
        print_empty_block=False,
        print_block_terminators=not silent,
    )


def parse_arguments(parser: Parser) -> list[Parser.Argument]:
    """`(%a: tile<f32>, %b: tile<f32>)`"""
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: _parse_argument(parser)
    )


def _parse_argument(parser: Parser) -> Parser.Argument:
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation(":")
    argument = name.resolve(parse_type(parser))
    argument.location = parser.parse_optional_location()
    return argument


def print_arguments(printer: Printer, arguments: Iterable[BlockArgument]) -> None:
    """`(%a: tile<f32>, %b: tile<f32>)`"""

    def print_argument(argument: BlockArgument) -> None:
        printer.print_ssa_value(argument)
        printer.print_string(": ")
        print_type(printer, argument.type)

    with printer.in_parens():
        printer.print_list(arguments, print_argument)


Assignment = tuple[Parser.UnresolvedArgument, UnresolvedOperand]


def parse_optional_assignments(parser: Parser) -> list[Assignment] | None:
    """`iter_values(%x = %x0, %y = %y0)`, if it is there."""
    if not parser.parse_optional_keyword("iter_values"):
        return None

    def parse_assignment() -> Assignment:
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        return argument, parser.parse_unresolved_operand()

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_assignment)


def print_assignments(
    printer: Printer, arguments: Iterable[BlockArgument], values: Iterable[SSAValue]
) -> None:
    """`iter_values(%x = %x0, %y = %y0)`"""

    def print_assignment(pair: tuple[BlockArgument, SSAValue]) -> None:
        printer.print_ssa_value(pair[0])
        printer.print_string(" = ")
        printer.print_ssa_value(pair[1])

    printer.print_string(" iter_values")
    with printer.in_parens():
        printer.print_list(zip(arguments, values, strict=True), print_assignment)


# --- in formats ---


@irdl_custom_directive
class Body(Anchor):
    """A region, which the op's BODY_END ends where nothing else does."""

    region: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        op: Any = state.op_type
        self.region.set(state, parse_body(parser, (), op.BODY_END))

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        print_body(printer, self.region.get(op), op.BODY_END)

    def is_present(self, op: Any) -> bool:
        return self.region.is_present(op)

    def set_empty(self, state: ParsingState) -> None:
        self.region.set(state, Region())


@irdl_custom_directive
class Combine(CustomDirective):
    """The function that an aggregate is of, on a line of its own: `(%a: tile<f32>) { ... }`."""

    region: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.region.set(state, parse_body(parser, parse_arguments(parser)))

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        region = self.region.get(op)
        printer._print_new_line()  # pyright: ignore[reportPrivateUsage]
        print_arguments(printer, region.block.args)
        print_body(printer, region)
