"""Constraints with the words that diagnostics say for what they take, and the text of it."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i32,
)
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, InferenceContext, IntConstraint, VerificationContext
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


@dataclass(frozen=True)
class Accepts(AttrConstraint):
    """A set of types or attributes, and the words for it; `only` is the one that there is."""

    words: str
    takes: Callable[[Attribute], bool]
    only: Attribute | None = None

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.takes(attr):
            raise VerifyException(f"expected {self.words}, got {attr}")

    def can_infer(self, var_constraint_names: Set[str]) -> bool:
        return self.only is not None

    def infer(self, context: InferenceContext) -> Attribute:
        assert self.only is not None
        return self.only

    def attribute_of(self, value: Any) -> Attribute:
        """The attribute of a number, several or a word, as a constructor may be given it."""
        return value

    def value_of(self, attribute: Any) -> Any:
        """The number, several or the word that an attribute is of."""
        return attribute

    def parse(self, parser: Parser) -> Attribute:
        """A property as text has it. Raises ParseError."""
        return parser.parse_attribute()

    def print(self, printer: Printer, attribute: Attribute) -> None:
        """The text that `parse` reads."""
        printer.print_attribute(attribute)

    def mapping_type_vars(  # pyright: ignore
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> Any:
        return self


def one_of(words: Sequence[str]) -> str:
    """Words as a sentence lists them: `a, b or c`."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


ANY = Accepts("any type", lambda type_: True)


@dataclass(frozen=True, kw_only=True)
class InstanceOf(Accepts):
    """Types or attributes of some classes."""

    types: tuple[type[Attribute], ...]


class StringOf(InstanceOf):
    """A string."""

    def attribute_of(self, value: Any) -> Attribute:
        return StringAttr(value)

    def value_of(self, attribute: Any) -> Any:
        return attribute.data

    def parse(self, parser: Parser) -> Attribute:
        return StringAttr(parser.parse_str_literal())


@dataclass(frozen=True, kw_only=True)
class IntegerOf(Accepts):
    """Integers of a width, which text does not say."""

    width: int

    def attribute_of(self, value: Any) -> Attribute:
        return IntegerAttr(value, self.width)

    def value_of(self, attribute: Any) -> Any:
        return attribute.value.data

    def parse(self, parser: Parser) -> Attribute:
        return IntegerAttr(parse_number(parser, self.width), self.width)

    def print(self, printer: Printer, attribute: Attribute) -> None:
        if isinstance(attribute, IntegerAttr):
            attribute.print_without_type(printer)
        else:
            printer.print_attribute(attribute)


@dataclass(frozen=True, kw_only=True)
class ListOf(Accepts):
    """Dense lists of integers of a width: `[1, 0]`."""

    width: int

    def attribute_of(self, value: Any) -> Attribute:
        return DenseArrayBase.from_list(IntegerType(self.width), value)

    def value_of(self, attribute: Any) -> Any:
        return () if attribute is None else tuple(attribute.get_values())

    def parse(self, parser: Parser) -> Attribute:
        return self.attribute_of(
            parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parse_number(parser, self.width)
            )
        )

    def print(self, printer: Printer, attribute: Attribute) -> None:
        printer.print_string(str(list(self.value_of(attribute))))


@dataclass(frozen=True, kw_only=True)
class ChoiceOf(Accepts):
    """A choice as an i32: the number of its word."""

    cases: Mapping[str, Attribute] = field(compare=False)

    def attribute_of(self, value: Any) -> Attribute:
        return self.cases[value]

    def value_of(self, attribute: Any) -> Any:
        return next(word for word, case in self.cases.items() if case == attribute)


def choice_of(numbers: Mapping[str, int]) -> ChoiceOf:
    """One of the numbers of some words."""
    cases = {word: IntegerAttr(number, i32) for word, number in numbers.items()}
    words = one_of([f"{number} ({word})" for word, number in numbers.items()])
    return ChoiceOf(f"an i32 that is {words}", lambda it: it in cases.values(), cases=cases)


def parse_number(parser: Parser, width: int) -> int:
    """An integer of a width; `true` and `false` are 1 and 0 of one bit. Raises ParseError beyond
    it."""
    start = parser.pos
    number = parser.parse_integer(allow_boolean=width == 1)
    if not -(1 << (width - 1)) <= number < 1 << max(width - 1, 1):
        parser.raise_error(f"expected an integer of {width} bits, got {number}", start, parser.pos)
    return number


def instance_of(words: str, *types: type[Attribute]) -> InstanceOf:
    """Types or attributes of some classes."""
    return InstanceOf(words, lambda attribute: isinstance(attribute, types), types=types)


ARRAY = instance_of("an array of attributes", ArrayAttr)
STRING: Any = StringOf("a string", lambda value: isinstance(value, StringAttr), types=(StringAttr,))


def integer(width: int, least: int | None = None) -> IntegerOf:
    """Integers of a width, of `least` or more."""
    type_ = IntegerType(width)

    def takes(attribute: Any) -> bool:
        return (  # pyright: ignore
            isinstance(attribute, IntegerAttr)
            and attribute.type == type_  # pyright: ignore
            and (least is None or attribute.value.data >= least)
        )

    words = f"an i{width}" + ("" if least is None else f" of {least} or more")
    return IntegerOf(words, takes, width=width)


def list_of(width: int) -> ListOf:
    """Dense lists of integers of a width."""
    type_ = IntegerType(width)

    def takes(attribute: Any) -> bool:
        return isinstance(attribute, DenseArrayBase) and bool(attribute.elt_type == type_)  # pyright: ignore

    return ListOf(f"an array of i{width}", takes, width=width)
