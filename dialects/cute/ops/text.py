"""Custom directives of the ops' text.

| directive | is |
|---|---|
| `custom<BracketedOperands>(operands)` | `(%x, %y)` |
| `custom<Brackets>()` | `()` where executing an op of no operands does something |
| `custom<Signature>()` | `: (T, T) -> R`, as the op's SYNTAX has the types, or nothing |
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import Any

from xdsl.ir import Attribute
from xdsl.irdl import VarIRConstruct
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    OperandsDirective,
    ParsingState,
    PrintingState,
    PunctuationDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from tilewright.dialects.accepts import ANY, Accepts
from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.directives import AllTypes
from tilewright.dialects.field_counts import Arity
from tilewright.dialects.op_facts import ValueField


class Syntax(Enum):
    """How an op writes its types."""

    FUNCTIONAL = auto()
    ARROW = auto()
    INFERRED = auto()


def parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    """`(%x, %y)`"""
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )


@irdl_custom_directive
class BracketedOperands(CustomDirective):
    """The operands in brackets, as many as the op takes."""

    operands: OperandsDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        op: Any = state.op_type
        start = parser.pos
        given = parse_operands(parser)
        arities = [place.arity for place in op.facts.operands]
        least = arities.count(Arity.ONE)
        if Arity.ANY not in arities and not least <= len(given) <= len(arities):
            wanted = least if least == len(arities) else f"{least} to {len(arities)}"
            parser.raise_error(f"expected {wanted} operands, got {len(given)}", start, parser.pos)
        self.operands._set_using_variadic_index(  # pyright: ignore[reportPrivateUsage]
            op, state.operands, VarIRConstruct.OPERAND, "operand", given
        )

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        PunctuationDirective("(").print(printer, state, op)
        printer.print_list(op.operands, printer.print_operand)
        PunctuationDirective(")").print(printer, state, op)


@irdl_custom_directive
class Brackets(CustomDirective):
    """Brackets, which text may leave out."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_punctuation("("):
            parser.parse_punctuation(")")

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        printer.print_string("()" if op.HAS_EFFECT else "")


def _typed_places(op: Any, counts: Sequence[int]) -> list[ValueField]:
    """The place of each of an op's operands whose type text says, of so many of each."""
    return [
        place
        for place, count in zip(op.facts.operands, counts, strict=True)
        for _ in range(0 if place.accepts.only else count)
    ]


@irdl_custom_directive
class Signature(AllTypes):
    """The types of operands, but for those that can be of one type alone, and of results."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        op: Any = state.op_type
        counts = [len(unresolved or ()) for unresolved in state.operands]
        places = _typed_places(op, counts)
        is_spelled = parser.parse_optional_punctuation(":") is not None
        if not is_spelled:
            types = [
                _type_above(parser, operand)
                for place, unresolved in zip(op.facts.operands, state.operands, strict=True)
                for operand in unresolved or ()
                if not place.accepts.only
            ]
        elif op.SYNTAX is Syntax.FUNCTIONAL:
            with parser.in_parens():
                types = _parse_types(parser, places)
        else:
            types = _parse_types(parser, places)
        if len(types) != len(places):
            parser.raise_error(f"expected {len(types)} operand types but had {len(places)}")
        rest = iter(types)
        for i, place in enumerate(op.facts.operands):
            if not place.accepts.only:
                state.operand_types[i] = [next(rest) for _ in range(counts[i])]
        if is_spelled and op.SYNTAX is not Syntax.INFERRED:
            parser.parse_punctuation("->")
            state.result_types[0] = [_parse_type(parser, op.facts.results[0].accepts)]

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        functional = op.SYNTAX is Syntax.FUNCTIONAL
        printer.print_string(" : (" if functional else " : ")
        values = op.facts.values(op)
        typed = [
            (value.type, place.accepts)
            for place in op.facts.operands
            for value in values[place.name]
            if not place.accepts.only
        ]
        printer.print_list(typed, lambda one: _print_type(printer, *one, op.SHORT_OPERANDS))
        printer.print_string(")" if functional else "")
        if op.SYNTAX is not Syntax.INFERRED:
            printer.print_string(" -> ")
            accepts = op.facts.results[0].accepts
            _print_type(printer, op.results[0].type, accepts, op.SHORT_RESULTS)


def _type_above(parser: Parser, operand: UnresolvedOperand) -> Attribute:
    """The type of an operand that is defined above an op that does not write it."""
    values = parser.ssa_values.get(operand.operand_name, ())
    if operand.index >= len(values):
        parser.raise_error("expected ':' and the types of operands", operand.span)
    return values[operand.index].type


def _class_of(accepts: Accepts) -> type[CuteType] | None:
    """The class of the types of a place, which text may then leave unnamed."""
    types: Sequence[type[Attribute]] = getattr(accepts, "types", ())
    return types[0] if len(types) == 1 and issubclass(types[0], CuteType) else None


def _parse_types(parser: Parser, places: Sequence[ValueField]) -> list[Attribute]:
    """Types up to the closing bracket, or the end of the op."""
    accepts = [place.accepts for place in places] or [ANY]
    first = _parse_optional_type(parser, accepts[0])
    if first is None:
        return []
    types = [first]
    while parser.parse_optional_punctuation(","):
        types.append(_parse_type(parser, accepts[min(len(types), len(accepts) - 1)]))
    return types


def _parse_type(parser: Parser, accepts: Accepts) -> Attribute:
    return parser.expect(lambda: _parse_optional_type(parser, accepts), "type expected")


def _parse_optional_type(parser: Parser, accepts: Accepts) -> Attribute | None:
    full = parser.parse_optional_type()
    class_ = _class_of(accepts)
    if full is None and class_ is not None and parser.parse_optional_punctuation("<"):
        return class_.new(class_.parse_text(parser))
    return full


def _print_type(printer: Printer, type_: Attribute, accepts: Accepts, short: bool) -> None:
    if short and isinstance(type_, CuteType) and type(type_) is _class_of(accepts):
        type_.print_parameters(printer)
    else:
        printer.print_attribute(type_)
