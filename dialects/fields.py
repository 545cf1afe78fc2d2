"""Ops that are made of their fields: one constructor for all, which the declarations spell.

    class AllocOp(FieldsOp):
        slot = operand_def(MemRefType)
        indices = var_operand_def(IndexType())
        columns = prop_def(NUMBER)
        cta_group = opt_prop_def(NUMBER, ONE_CTA)

    AllocOp(slot, [i, j], 256)              AllocOp(slot, [i, j], 256, cta_group=2)

Operands, results and properties that an op must have come in this order, what it may have by name.
An operand is a value, a result its type (none where only one is possible), a property an attribute
or what its attribute is of: a number, a string, a case of an enumeration. None and False are not
there, and neither is what a field says by itself.

The text of an op is its `assembly_format`, in xDSL's language, or as much of the beginning as does
not follow from its fields. It is looked at when an op is first read or written: few of them are in
one program.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, Self, TypeAlias, TypeVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    InferenceContext,
    OptionalDef,
    PropertyDef,
    ResultDef,
    VariadicDef,
)
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.accepts import Accepts
from tilewright.dialects.definition import DefinedOp, define_op
from tilewright.dialects.field_counts import FieldCounts, field_counts, flattened, segments
from tilewright.dialects.frozen import factory, frozen

NUMBER = IntegerAttr.constr(type=i64)
"""A number as a property."""

Field: TypeAlias = SSAValue | Attribute | str | int | Sequence[Any] | None
"""An argument of a constructor."""


class FieldsOp(DefinedOp):
    """An op that is made of its fields. Raises TypeError where these are not its own."""

    def __init__(self, *ordered: Field, **named: Field):
        shape = _shape(type(self))
        if (given := (len(ordered), *named)) not in shape.legal:
            self._check_given(shape, *given)
        fields: dict[str, Any] = {**shape.known, **named}
        if ordered:
            fields.update(zip(shape.order, ordered, strict=False))
        properties: dict[str, Attribute] = {}
        for name, attribute_of, default in shape.properties:
            value = fields[name]
            if value is not None and value is not False:
                attribute = value if isinstance(value, Attribute) else attribute_of(value)
                if default is None or attribute != default:
                    properties[name] = attribute
        operands = [fields[name] for name in shape.operands]
        types = [fields[name] for name in shape.results]
        if shape.is_plain:
            Operation.__init__(self, operands=operands, result_types=types, properties=properties)
            return
        counts = shape.counts
        values = counts and flattened(operands, counts.operands, SSAValue)
        several = counts and flattened(types, counts.results, Attribute)
        if not (counts and values and several):
            super().__init__(operands=operands, result_types=types, properties=properties)
            return
        if counts.sizes:
            properties[AttrSizedOperandSegments.attribute_name] = segments(values[1])
        Operation.__init__(self, operands=values[0], result_types=several[0], properties=properties)

    @classmethod
    def of_fields(cls, **fields: Field) -> Self:
        """The op of all its fields, also where its constructor takes less."""
        made = cls.__new__(cls)
        FieldsOp.__init__(made, **fields)
        return made

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return text_format(cls).parse(parser, cls)

    def print(self, printer: Printer) -> None:
        text_format(type(self)).print(printer, self)

    @classmethod
    def read_format(cls) -> FormatProgram:
        """Its format, as it is looked at."""
        return FormatProgram.from_str(whole_format(cls), cls.get_irdl_definition())

    @classmethod
    def type_fields(cls) -> tuple[list[str], list[str]]:
        """The operands, and the results, whose types its text ends with where its format says
        none: those that it must have and that no constraint knows."""
        definition = cls.get_irdl_definition()
        operands, results = (
            [
                name
                for name, field in fields
                if not isinstance(field, OptionalDef)
                and not field.constr.can_infer(frozenset(), length_known=True)
            ]
            for fields in (definition.operands, definition.results)
        )
        return operands, results

    def _check_given(self, shape: "_Shape", count: int, *named: str) -> None:
        """Raise TypeError unless the op is made of so many fields in order, and of those."""
        first = shape.order[:count]
        missing = shape.names.symmetric_difference((*first, *named, *shape.known))
        if count > len(shape.order) or missing or not {*named}.isdisjoint(first):
            raise TypeError(
                f"'{self.name}' expected {', '.join(shape.order) or 'nothing'} in this order and "
                f"{', '.join(shape.known) or 'nothing'} by name, got {count} and "
                f"{', '.join(named) or 'none'}"
            )
        shape.legal.add((count, *named))


_Op = TypeVar("_Op", bound=FieldsOp)


def fields_op(name: str, *rows: Any) -> Callable[[type[_Op]], type[_Op]]:
    """Define an op: its name, and the rows of its instruction, of which the first one is that of
    all such ops unless their `row` says another."""

    def define(class_: type[_Op]) -> type[_Op]:
        class_.name = name
        # xDSL would look at the format at once.
        begin, class_.assembly_format = class_.assembly_format, None
        defined: Any = define_op(class_)
        defined.assembly_format = begin
        if rows:
            defined.ROW, defined.ROWS = rows[0], rows
        return defined

    return define


@cache
def text_format(op: type[FieldsOp]) -> FormatProgram:
    """The text of an op."""
    return op.read_format()


def whole_format(op: type[FieldsOp]) -> str:
    """The format of an op that says how its text begins: with its fields in order where nothing is
    said. What it may have follows by name, then types."""
    begin, definition = op.assembly_format, op.get_irdl_definition()
    if begin is not None and "attr-dict" in begin:
        return begin
    fields = {**dict(definition.operands), **definition.properties}
    fields.pop(AttrSizedOperandSegments.attribute_name, None)
    optional = [name for name, field in fields.items() if isinstance(field, OptionalDef)]
    if begin is None:
        begin = " `,` ".join(f"${name}" for name in fields if name not in optional)
    said = set(re.findall(r"\$(\w+)", begin))
    options = [f"(`{name}` ${name}^)?" for name in optional if name not in said]
    types = [" `,` ".join(f"type(${name})" for name in some) for some in op.type_fields() if some]
    return " ".join([begin, *options, "attr-dict", *["`:`"] * bool(types), " `->` ".join(types)])


@lru_cache(1 << 12, typed=True)
def number(value: int) -> IntegerAttr[IntegerType]:
    """A number as a property."""
    return IntegerAttr(value, i64)


@lru_cache(1 << 12)
def _numbers(*values: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, values)


@frozen
class _Shape:
    """The fields of a class: all, those that come in order, what others are if left out; and how to
    make the op of them. It is plain if each operand and result is one value; else `counts` says how
    many there are, where that is simple. What was given of them and `legal`: how many in order, and
    which by name."""

    names: frozenset[str]
    order: tuple[str, ...]
    known: dict[str, Any]
    operands: tuple[str, ...]
    results: tuple[str, ...]
    properties: tuple[tuple[str, Callable[[Any], Attribute], Attribute | None], ...]
    is_plain: bool
    counts: FieldCounts | None
    legal: set[tuple[int | str, ...]] = factory(set)


@cache
def _shape(op: type[FieldsOp]) -> _Shape:
    definition = op.get_irdl_definition()
    counts = field_counts(definition)
    properties = dict(definition.properties)
    properties.pop(AttrSizedOperandSegments.attribute_name, None)
    operands, results = dict(definition.operands), dict(definition.results)
    fields = {**operands, **results, **properties}
    optional = {name: None for name, field in fields.items() if isinstance(field, OptionalDef)}
    types = {name: only for name, result in results.items() if (only := _only_type(result))}
    several = {name: () for name, field in fields.items() if isinstance(field, VariadicDef)}
    return _Shape(
        frozenset(fields),
        tuple(name for name in fields if name not in optional | types),
        several | optional | types,
        tuple(operands),
        tuple(results),
        tuple((name, _maker(field), field.default_value) for name, field in properties.items()),
        several.keys().isdisjoint({*operands, *results}),
        counts if counts is not None and counts.sizes != "attributes" else None,
    )


def _only_type(result: ResultDef) -> Attribute | None:
    """The type of a result that can have one type alone."""
    known = result.constr.can_infer(frozenset(), length_known=True)
    return result.constr.infer(InferenceContext(), length=1)[0] if known else None


def _maker(field: PropertyDef) -> Callable[[Any], Attribute]:
    """The maker of a property's attribute of a number, a string or a case."""
    if isinstance(field.constr, Accepts):
        return field.constr.attribute_of
    bases = tuple(field.constr.get_bases() or (Attribute,))
    return _OF.get(bases[0], bases[0])


_OF: dict[type[Attribute], Any] = {
    UnitAttr: lambda _: UnitAttr(),  # pyright: ignore[reportUnknownLambdaType]
    IntegerAttr: number,
    StringAttr: lru_cache(1 << 12)(StringAttr),
    DenseArrayBase: lambda numbers: _numbers(*numbers),  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
}
"""The makers of attributes that take more than their value."""
