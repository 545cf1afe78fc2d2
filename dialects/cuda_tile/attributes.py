"""The attributes of CUDA Tile IR: choices, assumptions, hints, elements of constants.

#cuda_tile.rounding<nearest_even>        #cuda_tile.div_by<16, every 4 along 1>
#cuda_tile.bounded<0, ?>                 #cuda_tile.same_elements<[1, 4]>
#cuda_tile.optimization_hints<sm_100 = {num_cta_in_cga = 2}>
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntAttr, IntegerAttr, NoneAttr, i1, i64
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.enums import (
    ComparisonOrdering,
    ComparisonPredicate,
    IntegerOverflow,
    MultimemReductionKind,
    PtrAttr,
    RoundingMode,
    Signedness,
    SymbolVisibility,
    TileEnum,
)
from tilewright.dialects.labelled import Bracketed

Choice = TypeVar("Choice", bound=TileEnum)


class ChoiceAttr(Data[Choice], Generic[Choice]):
    """One of several words: `#cuda_tile.rounding<zero>`."""

    CHOICES: type[Choice]

    cases: Mapping[str, Attribute]
    """The attributes by their words."""

    @classmethod
    @cache
    def of(cls, choice: Choice) -> ChoiceAttr[Choice]:
        """The attribute of a choice."""
        return cls(choice)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Choice:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(cls.CHOICES)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)


def _choice_attr(word: str, choices: type[Choice]) -> type[ChoiceAttr[Choice]]:
    """The attribute of a choice, `#cuda_tile.WORD<CASE>`."""
    facts = {"name": f"cuda_tile.{word}", "CHOICES": choices, "__module__": __name__}
    class_: Any = type(f"{choices.__name__}Attr", (ChoiceAttr,), facts)
    _CHOICE_ATTRS[choices] = defined = irdl_attr_definition(class_)
    defined.cases = {choice.value: defined.of(choice) for choice in choices}
    return defined


_CHOICE_ATTRS: dict[type[TileEnum], Any] = {}


def choice_attr(choice: TileEnum) -> Attribute:
    """The attribute of a choice."""
    return _CHOICE_ATTRS[type(choice)].of(choice)


def chosen(attribute: Attribute | None, choices: type[Choice]) -> Choice | None:
    """The case that an attribute is of some choices; None where it is none of them."""
    data: Any = attribute.data if isinstance(attribute, ChoiceAttr) else None  # pyright: ignore
    return data if isinstance(data, choices) else None


SignednessAttr = _choice_attr("signedness", Signedness)
IntegerOverflowAttr = _choice_attr("overflow", IntegerOverflow)
RoundingModeAttr = _choice_attr("rounding", RoundingMode)
ComparisonOrderingAttr = _choice_attr("comparison_ordering", ComparisonOrdering)
ComparisonPredicateAttr = _choice_attr("comparison_predicate", ComparisonPredicate)
SymbolVisibilityAttr = _choice_attr("symbol_visibility", SymbolVisibility)
MultimemReductionKindAttr = _choice_attr("multimem_reduction_kind", MultimemReductionKind)
"""Since 13.5."""
PtrAttrAttr = _choice_attr("ptr_attr", PtrAttr)
"""Since 13.4."""


class AssumePredicateAttr(Bracketed):
    """An assumption of `assume`, of its value."""


def numbers(values: Sequence[int]) -> ArrayAttr[IntAttr]:
    """Numbers as a parameter."""
    return ArrayAttr([IntAttr(value) for value in values])


def values_of(numbers: ArrayAttr[IntAttr]) -> tuple[int, ...]:
    """The numbers of a parameter."""
    return tuple(number.data for number in numbers.data)


def _number_or_none(number: int | None) -> IntAttr | NoneAttr:
    return NoneAttr() if number is None else IntAttr(number)


def _value(number: IntAttr | NoneAttr) -> int | None:
    return number.data if isinstance(number, IntAttr) else None


@irdl_attr_definition
class DivByAttr(AssumePredicateAttr):
    """`div_by<16>`, `div_by<16, every 4 along 1>`: divisible, in each group of `every` the first
    element, of a tensor view its address."""

    name = "cuda_tile.div_by"

    divides: IntAttr
    group: IntAttr | NoneAttr
    dimension: IntAttr | NoneAttr

    @classmethod
    @cache
    def get(cls, divisor: int, every: int | None = None, along: int | None = None) -> DivByAttr:
        """The assumption."""
        return cls(IntAttr(divisor), _number_or_none(every), _number_or_none(along))

    @property
    def divisor(self) -> int:
        """The divisor."""
        return self.divides.data

    @property
    def every(self) -> int | None:
        """How many elements are a group."""
        return _value(self.group)

    @property
    def along(self) -> int | None:
        """The dimension that groups lie along."""
        return _value(self.dimension)

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        every = along = None
        divisor = parser.parse_integer(allow_boolean=False)
        if parser.parse_optional_punctuation(","):
            parser.parse_keyword("every")
            every = parser.parse_integer(allow_boolean=False)
            parser.parse_keyword("along")
            along = parser.parse_integer(allow_boolean=False)
        return IntAttr(divisor), _number_or_none(every), _number_or_none(along)

    def print_inside(self, printer: Printer) -> None:
        printer.print_string(str(self.divisor))
        if self.every is not None:
            printer.print_string(f", every {self.every} along {self.along}")


@irdl_attr_definition
class SameElementsAttr(AssumePredicateAttr):
    """`same_elements<[1, 4]>`: groups of so many elements along each dimension are equal."""

    name = "cuda_tile.same_elements"

    counts: ArrayAttr[IntAttr]

    @classmethod
    def get(cls, values: Sequence[int]) -> SameElementsAttr:
        """The assumption."""
        return cls(numbers(values))

    @property
    def values(self) -> tuple[int, ...]:
        """How many elements of each dimension are a group."""
        return values_of(self.counts)

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        if parser.parse_optional_keyword("array"):
            with parser.in_angle_brackets():
                parser.parse_keyword("i64")
                return (_parse_more_numbers(parser),)
        values = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        return (numbers(values),)

    def print_inside(self, printer: Printer) -> None:
        printer.print_string(str(list(self.values)))


def _parse_more_numbers(parser: AttrParser) -> ArrayAttr[IntAttr]:
    if not parser.parse_optional_punctuation(":"):
        return ArrayAttr([])
    values = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_integer)
    return numbers(values)


@irdl_attr_definition
class BoundedAttr(AssumePredicateAttr):
    """`bounded<0, ?>`: no element, read as a signed integer, lies outside."""

    name = "cuda_tile.bounded"

    lower: IntAttr | NoneAttr
    upper: IntAttr | NoneAttr

    @classmethod
    def get(cls, lb: int | None, ub: int | None) -> BoundedAttr:
        """The assumption."""
        return cls(_number_or_none(lb), _number_or_none(ub))

    @property
    def lb(self) -> int | None:
        """The least value."""
        return _value(self.lower)

    @property
    def ub(self) -> int | None:
        """The greatest value."""
        return _value(self.upper)

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        lower = _parse_bound(parser)
        parser.parse_punctuation(",")
        upper = _parse_bound(parser)
        return lower, upper

    def print_inside(self, printer: Printer) -> None:
        ends = ("?" if end is None else str(end) for end in (self.lb, self.ub))
        printer.print_string(", ".join(ends))


ASSUMPTIONS: tuple[type[AssumePredicateAttr], ...] = (DivByAttr, SameElementsAttr, BoundedAttr)
"""Every predicate of `assume`."""


def _parse_bound(parser: AttrParser) -> IntAttr | NoneAttr:
    if parser.parse_optional_punctuation("?"):
        return NoneAttr()
    return IntAttr(parser.parse_integer(allow_boolean=False))


@irdl_attr_definition
class OptimizationHintsAttr(ParametrizedAttribute):
    """`<sm_100 = {num_cta_in_cga = 2}, default = {occupancy = 1}>`: what the compiler may try, by
    architecture; `default` stands for those that are not named."""

    name = "cuda_tile.optimization_hints"

    value: DictionaryAttr

    def verify(self) -> None:
        for key, hints in self.value.data.items():
            if not isinstance(hints, DictionaryAttr):
                raise VerifyException(
                    f"'{self.name}' expected a dictionary of hints for {key}, got {hints}"
                )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        entries: dict[str, Attribute] = {}

        def parse_entry() -> None:
            start = parser.pos
            key = parser.parse_identifier_or_str_literal()
            if key in entries:
                parser.raise_error(f"expected one entry for {key}, got two", start, parser.pos)
            parser.parse_punctuation("=")
            entries[key] = parser.parse_attribute()

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_entry)
        return (DictionaryAttr(entries),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.value.data.items(), lambda entry: _print_hints(printer, *entry))


def _print_hints(printer: Printer, key: str, hints: Attribute) -> None:
    assert isinstance(hints, DictionaryAttr)
    printer.print_identifier_or_string_literal(key)
    printer.print_string(" = ")
    with printer.in_braces():
        printer.print_list(hints.data.items(), lambda hint: _print_hint(printer, *hint))


def _print_hint(printer: Printer, name: str, hint: Attribute) -> None:
    printer.print_identifier_or_string_literal(name)
    printer.print_string(" = ")
    number: Any = hint
    if isinstance(hint, IntegerAttr) and number.type in (i1, i64):
        number.print_without_type(printer)
    else:
        printer.print_attribute(number)
