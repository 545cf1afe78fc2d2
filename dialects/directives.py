"""Custom directives of assembly formats that any declared op may use.

| directive | is |
|---|---|
| `custom<Word>($p)` | a property as one of the words of its choices, `signed` |
| `custom<Flags>($a, $b)` | properties that are there or not, in any order |

The constraint of a choice says its `cases`, by their words; so does a class of attributes.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer


class Anchor(CustomDirective):
    """A directive that begins an optional group, or is why there is one."""

    def is_optional_like(self) -> bool:
        return True

    def is_anchorable(self) -> bool:
        return True


class AllTypes(CustomDirective):
    """A directive that says the types of all operands and results."""


def cases_of(op: Any, attribute: AttributeVariable) -> Mapping[str, Attribute]:
    """The choices of a property, by their words."""
    constraint: Any = op.definition.properties[attribute.name].constr
    return getattr(constraint, "attr", constraint).cases


def word_of(op: Any, attribute: AttributeVariable) -> str:
    """The word of a property, or its number where it is none."""
    value = attribute.get(op)
    words = (word for word, case in cases_of(op, attribute).items() if case == value)
    return next(words, str(value.value.data) if isinstance(value, IntegerAttr) else str(value))


def parse_word(parser: Parser, words: Mapping[str, Any], what: str) -> Any:
    """The meaning of one of some words. Raises ParseError that names the nearest."""
    start = parser.pos
    given = parser.parse_optional_identifier() or ""
    if given not in words:
        near = get_close_matches(given, words, n=1, cutoff=0.0)
        parser.raise_error(
            f"expected {what} that is one of {', '.join(words)}, got {given or 'none'}; "
            f"nearest legal: {near[0]}",
            start,
        )
    return words[given]


@irdl_custom_directive
class Word(Anchor):
    """A property as a word."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        cases = cases_of(state.op_type, self.attribute)
        self.attribute.set(state, parse_word(parser, cases, self.attribute.name))

    def parse_optional(self, parser: Parser, state: ParsingState) -> None:
        cases = cases_of(state.op_type, self.attribute)
        if (word := parser.parse_optional_keyword_in(cases)) is not None:
            self.attribute.set(state, cases[word])

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        state.print_whitespace(printer)
        printer.print_string(word_of(op, self.attribute))

    def is_present(self, op: Any) -> bool:
        return self.attribute.is_present(op)


@irdl_custom_directive
class Flags(CustomDirective):
    """Two unit properties."""

    first: AttributeVariable
    second: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        left = [self.first.name, self.second.name]
        while left and (word := parser.parse_optional_keyword_in(left)) is not None:
            state.properties[word] = UnitAttr()
            left.remove(word)

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        for flag in (self.first, self.second):
            if flag.is_present(op):
                state.print_whitespace(printer)
                printer.print_string(flag.name)
