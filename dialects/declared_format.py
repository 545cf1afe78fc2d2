"""The text of declared ops: xDSL's assembly format, with less to say.

A type that is not written follows from one that it agrees with (SAME_TYPES), is the only one that a
constraint takes, or that the op infers; one may stand for many. A property is written as its
constraint has it, integers, lists of them and strings without their types. Properties that stand
nowhere else are among the attributes, where any may be read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttrDictDirective,
    AttributeVariable,
    FormatDirective,
    FormatProgram,
    OptionalOperandVariable,
    ParsingState,
    PrintingState,
)
from xdsl.irdl.declarative_assembly_format_parser import FormatParser
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.accepts import Accepts
from tilewright.dialects.directives import AllTypes
from tilewright.dialects.field_counts import segments
from tilewright.dialects.fields import whole_format
from tilewright.dialects.op_facts import SEGMENTS


@cache
def groups(names: str) -> list[tuple[str, ...]]:
    """The operands and results that agree with each other, of `lhs rhs, acc result`."""
    return [tuple(group.split()) for group in names.split(",") if names]


@dataclass(frozen=True)
class DeclaredFormat(FormatProgram):
    """The text of a declared op."""

    def parse(self, parser: Parser, op_type: Any) -> Any:
        """The op that is read. Raises ParseError where types do not fit."""
        start, state = parser.pos, ParsingState(op_type)
        for directive in self.stmts:
            directive.parse(parser, state)
        return made(parser, start, state)


def made(parser: Parser, start: int, state: ParsingState) -> Any:
    """The op of what was read from a place on. Raises ParseError where types do not fit."""
    op: Any = state.op_type
    operands = cast("list[Sequence[UnresolvedOperand]]", state.operands)
    types = _operand_types(parser, start, op, state)
    values = [
        parser.resolve_operand(operand, type_)
        for unresolved, given in zip(operands, types, strict=True)
        for operand, type_ in zip(unresolved, given, strict=True)
    ]
    if op.facts.segmented:
        state.properties[SEGMENTS] = segments(tuple(map(len, operands)))
    results = [type_ for given in state.result_types for type_ in given or ()]
    if not results:
        try:
            results = op.inferred(tuple(value.type for value in values), state.properties)
        except VerifyException as error:
            parser.raise_error(str(error), start, parser.pos)
    return op.create(
        operands=values,
        result_types=results,
        properties=state.properties,
        attributes=state.attributes,
        regions=[region for regions in state.regions for region in regions or ()],
    )


def _operand_types(
    parser: Parser, start: int, op: Any, state: ParsingState
) -> list[Sequence[Attribute]]:
    """The types of each operand; those of results are noted."""
    facts = op.facts
    fields = (*facts.operands, *facts.results)
    given = zip(fields, (*state.operand_types, *state.result_types), strict=True)
    types = {field.name: written for field, written in given if written}
    written = set(types)
    for group in groups(op.SAME_TYPES):
        known = next((types[name] for name in group if name in types), None)
        if known is not None:
            for name in group:
                types.setdefault(name, known)
    for field in fields:
        if field.accepts.only is not None:
            types.setdefault(field.name, (field.accepts.only,))
    for name, (source, type_of) in op.DERIVED.items():
        if name not in types and (known := types.get(source)):
            if not facts.place[source].accepts.takes(known[0]):
                words = facts.place[source].accepts.words
                parser.raise_error(str(op.misfit(source, "", words, known[0])), start, parser.pos)
            types[name] = (type_of(known[0]),)
    state.result_types = [types.get(field.name, ()) for field in facts.results]
    operand_types: list[Sequence[Attribute]] = []
    for field, unresolved in zip(facts.operands, state.operands, strict=True):
        count, known = len(unresolved or ()), types.get(field.name, ())
        if len(known) == 1 and count:
            known = [*known] * count
        if len(known) != count and (count or field.name in written):
            parser.raise_error(
                f"'{op.name}' expected {count} types of {field.name}, got {len(known)}",
                start,
                parser.pos,
            )
        operand_types.append(known[:count])
    return operand_types


class DeclaredFormatParser(FormatParser):
    """Reads the format of an op."""

    def __init__(self, op: Any):
        super().__init__(whole_format(op), op.get_irdl_definition())
        self._op = op

    def parse_format(self) -> FormatProgram:
        return DeclaredFormat(super().parse_format().stmts)

    def parse_type_directive(self, inside_ref: bool) -> FormatDirective:
        with self.in_parens():
            return self._op.TYPES(self.parse_typeable_directive(inside_ref))

    def parse_optional_variable(
        self, inside_ref: bool, *, qualified: bool = False
    ) -> FormatDirective | None:
        variable = super().parse_optional_variable(inside_ref, qualified=qualified)
        if isinstance(variable, OptionalOperandVariable):
            return PresentOperand(variable.name, variable.index)
        if isinstance(variable, AttributeVariable) and variable.is_property:
            name, constraint = variable.name, self.op_def.properties[variable.name].constr
            if isinstance(constraint, Accepts):
                optional, default = variable.is_optional, variable.default_value
                return WordedVariable(name, True, optional, default, constraint)
        return variable

    def parse_custom_directive(self) -> FormatDirective:
        directive = super().parse_custom_directive()
        if isinstance(directive, AllTypes):
            self.seen_operand_types = [True] * len(self.seen_operand_types)
            self.seen_result_types = [True] * len(self.seen_result_types)
        return directive

    def get_constraint_variables(self) -> set[str]:
        fields = [name for name, _ in (*self.op_def.operands, *self.op_def.results)]
        flags = (*self.seen_operand_types, *self.seen_result_types)
        seen = {name for name, is_seen in zip(fields, flags, strict=True) if is_seen}
        for group in groups(self._op.SAME_TYPES):
            if not seen.isdisjoint(group):
                seen.update(group)
        seen.update(self._op.DERIVED)
        self.seen_operand_types = [name in seen for name, _ in self.op_def.operands]
        self.seen_result_types = [name in seen for name, _ in self.op_def.results]
        return super().get_constraint_variables()

    def verify_properties(self, elements: list[FormatDirective], attr_dict_idx: int) -> None:
        """Properties that stand nowhere else are among the attributes."""
        entries: Any = elements[attr_dict_idx]
        elements[attr_dict_idx] = Entries(entries.with_keyword, self.seen_properties, set())


class PresentOperand(OptionalOperandVariable):
    """An optional operand, which is there if the optional group is that it stands in."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.set(state, parser.parse_unresolved_operand())

    def parse_optional(self, parser: Parser, state: ParsingState) -> None:
        super().parse(parser, state)


@dataclass(frozen=True)
class WordedVariable(AttributeVariable):
    """A property of a constraint with words, which knows its text."""

    constraint: Accepts

    def parse_attr(self, parser: Parser) -> Attribute:
        return self.constraint.parse(parser)

    def print_attr(self, printer: Printer, attr: Attribute) -> None:
        self.constraint.print(printer, attr)


class Entries(AttrDictDirective):
    """Attributes, and properties that stand nowhere else."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if self.with_keyword:
            attributes = parser.parse_optional_attr_dict_with_keyword()
            entries: Mapping[str, Attribute] = {} if attributes is None else attributes.data
        else:
            entries = parser.parse_optional_attr_dict()
        put_entries(entries, state.op_type, state)

    def print(self, printer: Printer, state: PrintingState, op: Any) -> None:
        if entries := remaining_entries(op, self.reserved_attr_names):
            state.print_whitespace(printer)
            printer.print_string("attributes " if self.with_keyword else "")
            printer.print_attribute(DictionaryAttr(entries))


def put_entries(entries: Mapping[str, Attribute], op: Any, into: Any) -> None:
    """Take each entry of a dictionary for the property or the attribute it is."""
    known = op.get_irdl_definition().properties
    for name, value in entries.items():
        (into.properties if name in known else into.attributes)[name] = value


def remaining_entries(op: IRDLOperation, elsewhere: Iterable[str]) -> dict[str, Attribute]:
    """The attributes of an op, and its properties but for some, defaults left out."""
    known = op.get_irdl_definition().properties
    properties = {
        name: value
        for name, value in op.properties.items()
        if name not in elsewhere
        and name != SEGMENTS
        and not (name in known and value == known[name].default_value)
    }
    return {**properties, **op.attributes}
