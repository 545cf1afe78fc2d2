"""Custom directives for the properties of Tile IR.

| directive | is |
|---|---|
| `` custom<OptionalWord>(`rounding`, $p) `` | a property that may be left out, `rounding<zero>` |
| `custom<Inbounds>($p)` | which indices lie within the tensor, left out where none is known to |
| `custom<AssumedPredicate>($p)` | `div_by<16>` and its like, with or without `#cuda_tile.` |
| `custom<TileElements>($p)` | the elements of a tile, and its type |
| `custom<TypedTileElements>($p, type($x))` | these, and with them the type of a result |
"""

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    KeywordDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.attributes import ASSUMPTIONS
from tilewright.dialects.cuda_tile.elements_text import parse_elements, print_typed_elements
from tilewright.dialects.directives import cases_of, parse_word, word_of


@irdl_custom_directive
class OptionalWord(CustomDirective):
    """A property that may be left out: one that has to be there is the first of the op's ROUNDINGS
    then."""

    keyword: KeywordDirective
    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        default = chosen = self._default(state.op_type)
        if parser.parse_optional_keyword(self.keyword.keyword):
            cases = cases_of(state.op_type, self.attribute)
            with parser.in_angle_brackets():
                chosen = parse_word(parser, cases, self.keyword.keyword)
        if self.attribute.default_value is None or chosen != default:
            self.attribute.set(state, chosen)

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        if self.attribute.get(op) not in (None, self._default(op)):
            state.print_whitespace(printer)
            printer.print_string(f"{self.keyword.keyword}<{word_of(op, self.attribute)}>")

    def _default(self, op: Any) -> Attribute:
        default = self.attribute.default_value
        return cases_of(op, self.attribute)[op.ROUNDINGS[0]] if default is None else default


@irdl_custom_directive
class Inbounds(CustomDirective):
    """`inbounds = [true, false]`."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_keyword("inbounds"):
            parser.parse_punctuation("=")
            values = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_boolean
            )
            flags = [int(value) for value in values]
            self.attribute.set(state, DenseArrayBase.from_list(IntegerType(1), flags))

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        value: Any = self.attribute.get(op)
        flags: Sequence[int] = () if value is None else value.get_values()
        if any(flags):
            state.print_whitespace(printer)
            words = ", ".join("true" if flag else "false" for flag in flags)
            printer.print_string(f"inbounds = [{words}]")


_ASSUMPTIONS = {predicate.name.removeprefix("cuda_tile."): predicate for predicate in ASSUMPTIONS}


@irdl_custom_directive
class AssumedPredicate(CustomDirective):
    """A predicate of `assume`."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        value = parser.parse_optional_attribute()
        if value is None:
            predicate = parse_word(parser, _ASSUMPTIONS, "a predicate")
            value = predicate.new(predicate.parse_parameters(parser))
        self.attribute.set(state, value)

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        value: Any = self.attribute.get(op)
        state.print_whitespace(printer)
        printer.print_string(value.name.removeprefix("cuda_tile."))
        value.print_parameters(printer)


@irdl_custom_directive
class TileElements(CustomDirective):
    """`<f32: [1.0, 2.0]> : tile<2xf32>`."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.attribute.set(state, parse_elements(parser))

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        elements: Any = self.attribute.get(op)
        state.print_whitespace(printer)
        print_typed_elements(printer, elements)


@irdl_custom_directive
class TypedTileElements(TileElements):
    """The elements of a tile, which say its type."""

    attribute: AttributeVariable
    tile: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        elements = parse_elements(parser)
        self.attribute.set(state, elements)
        self.tile.set(state, [elements.type])
