"""Custom directives for the types of Tile IR, and for operands whose types say what they are.

| directive | is |
|---|---|
| `custom<MaskAndPadding>($m, $p)` | `, %mask, %padding`, of which each may be missing |
| `custom<MaskAndPaddingTypes>(ref($m), ref($p), type($m), type($p))` | their types |
| `custom<ViewType>(type($v), type($x))` | the type of a view, and with it that of its tensor |
| `custom<IndexTypes>(ref($x), type($x))` | the types of indices, one for all or one each |
| `custom<IndexAndTokenTypes>(ref($x), type($x), type($t))` | behind them that of a token |
| `custom<RankTypes>(type($r), ref($v))` | one type for as many results as a view has dimensions |
| `custom<TypesInParens>(type($x))` | `(tile<f32>, tile<i32>)` |
"""

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    OperandVariable,
    OptionalOperandVariable,
    ParsingState,
    PrintingState,
    TypeDirective,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.constraints import I1_TILE
from tilewright.dialects.cuda_tile.type_text import parse_type, parse_types, print_types, shown
from tilewright.dialects.cuda_tile.types import TensorViewType, TileView, TokenType
from tilewright.dialects.directives import Anchor


class ShortTypes(TypeDirective):
    """`type($x)`: types without the dialect's prefix."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        several = self.inner.is_variadic_like()
        self.set(state, parse_types(parser) if several else [parse_type(parser)])

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        if types := self.get(op):
            state.print_whitespace(printer)
            print_types(printer, types)


@irdl_custom_directive
class MaskAndPadding(CustomDirective):
    """`, %mask, %padding`, of which each may be missing: their types tell them apart."""

    mask: OptionalOperandVariable
    padding: OptionalOperandVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        for operand in (self.mask, self.padding):
            there = parser.parse_optional_punctuation(",") is not None
            operand.set(state, parser.parse_unresolved_operand() if there else None)

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        for operand in (self.mask.get(op), self.padding.get(op)):
            if operand is not None:
                printer.print_string(", ")
                printer.print_operand(operand)


@irdl_custom_directive
class MaskAndPaddingTypes(CustomDirective):
    """`, tile<4xi1>, tile<4xf32>` of a mask and a padding value."""

    mask: OptionalOperandVariable
    padding: OptionalOperandVariable
    mask_type: TypeDirective
    padding_type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        for directive in (self.mask_type, self.padding_type):
            there = parser.parse_optional_punctuation(",") is not None
            directive.set(state, [parse_type(parser)] if there else [])
        masks, types = state.operands[self.mask.index], state.operand_types[self.mask.index]
        if types and not state.operands[self.padding.index] and not I1_TILE.takes(types[0]):
            state.operands[self.padding.index], state.operands[self.mask.index] = masks, ()
            self.padding_type.set(state, types)
            self.mask_type.set(state, ())

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        for directive in (self.mask_type, self.padding_type):
            if types := directive.get(op):
                printer.print_string(", ")
                print_types(printer, types)


@irdl_custom_directive
class ViewType(CustomDirective):
    """The type of a view, which says that of its tensor."""

    view: TypeDirective
    tensor: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        view = parse_type(parser)
        if not isinstance(view, TileView):
            words = state.op_type.facts.results[0].accepts.words  # pyright: ignore
            parser.raise_error(f"expected {words}, got {shown(view)}", start)
        self.view.set(state, [view])
        self.tensor.set(state, [view.tensor_view])

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        self.view.print(printer, state, op)


def parse_index_types(parser: Parser, count: int, *, token: bool = False) -> list[Attribute]:
    """`, tile<i32>` for all of so many indices, or a type each; behind them a token's."""
    types: list[Attribute] = []
    start = parser.pos
    while parser.parse_optional_punctuation(","):
        types.append(parse_type(parser))
    if token and types and isinstance(types[-1], TokenType):
        types.pop()
    if len(types) == 1:
        types *= count
    if len(types) != count:
        parser.raise_error(
            f"expected the type of {count} indices, one for all or one each, got {len(types)}",
            start,
            parser.pos,
        )
    return types


def print_index_types(printer: Printer, types: Sequence[Attribute]) -> None:
    """`, tile<i32>` for all indices, or a type each."""
    alike = all(type_ == types[0] for type_ in types)
    for type_ in types[:1] if alike else types:
        printer.print_string(", ")
        print_types(printer, [type_])


@irdl_custom_directive
class IndexTypes(CustomDirective):
    """The types of indices."""

    index: VariadicOperandVariable
    types: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        count = len(state.operands[self.index.index] or ())
        self.types.set(state, parse_index_types(parser, count))

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        print_index_types(printer, self.types.get(op))


@irdl_custom_directive
class IndexAndTokenTypes(CustomDirective):
    """The types of indices and, where there is one, of a token."""

    index: VariadicOperandVariable
    types: TypeDirective
    token: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        count = len(state.operands[self.index.index] or ())
        self.types.set(state, parse_index_types(parser, count, token=True))

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        print_index_types(printer, self.types.get(op))
        print_index_types(printer, self.token.get(op))


@irdl_custom_directive
class RankTypes(CustomDirective):
    """One type for as many results as a view has dimensions."""

    results: TypeDirective
    operand: OperandVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        type_ = parse_type(parser)
        view: Any = (state.operand_types[self.operand.index] or (None,))[0]
        if isinstance(view, TileView):
            count = view.index_rank
        elif isinstance(view, TensorViewType):
            count = view.rank
        else:
            words = state.op_type.facts.operands[self.operand.index].accepts.words  # pyright: ignore
            parser.raise_error(f"expected {words}, got {shown(view)}", start)
        self.results.set(state, [type_] * count)

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        state.print_whitespace(printer)
        print_types(printer, self.results.get(op)[:1])


@irdl_custom_directive
class TypesInParens(Anchor):
    """`(tile<f32>, tile<i32>)`"""

    types: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.types.set(state, parse_types(parser, parser.Delimiter.PAREN))

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        state.print_whitespace(printer)
        with printer.in_parens():
            print_types(printer, self.types.get(op))

    def is_present(self, op: Any) -> bool:
        return bool(self.types.get(op))

    def set_empty(self, state: ParsingState) -> None:
        self.types.set(state, ())
