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
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    InferenceContext,
    IRDLOperation,
    OptionalDef,
    PropertyDef,
    ResultDef,
    VariadicDef,
    irdl_op_definition,
)

NUMBER = IntegerAttr.constr(type=i64)
"""A number as a property."""

Field: TypeAlias = SSAValue | Attribute | str | int | Sequence[Any] | None
"""An argument of a constructor."""


class FieldsOp(IRDLOperation):
    """An op that is made of its fields. Raises TypeError where these are not its own."""

    def __init__(self, *ordered: Field, **named: Field):
        shape = _shape(type(self))
        fields: dict[str, Any] = {
            **shape.known,
            **dict(zip(shape.order, ordered, strict=False)),
            **named,
        }
        wrong = named.keys() & {*shape.order[: len(ordered)]} or fields.keys() ^ shape.names
        if wrong or len(ordered) > len(shape.order):
            raise TypeError(
                f"'{self.name}' expected {', '.join(shape.order)}; {', '.join(shape.names)}, got "
                f"{len(ordered)} in order and {', '.join(named) or 'none'} by name"
            )
        definition = self.get_irdl_definition()
        super().__init__(
            operands=[fields[name] for name, _ in definition.operands],
            result_types=[fields[name] for name, _ in definition.results],
            properties={
                name: _property(field, fields[name])
                for name, field in definition.properties.items()
                if name in fields
            },
        )


_Op = TypeVar("_Op", bound=FieldsOp)


def fields_op(name: str, row: Any = None) -> Callable[[type[_Op]], type[_Op]]:
    """Define an op: its name, and the row of its instruction where one is that of all such ops."""

    def define(class_: type[_Op]) -> type[_Op]:
        class_.name = name
        defined: Any = irdl_op_definition(class_)
        if row is not None:
            defined.ROW = row
        return defined

    return define


def number(value: int) -> IntegerAttr[IntegerType]:
    """A number as a property."""
    return IntegerAttr(value, i64)


@dataclass(frozen=True)
class _Shape:
    """The fields of a class: all, those that come in order, and what others are if left out."""

    names: frozenset[str]
    order: tuple[str, ...]
    known: dict[str, Any]


@cache
def _shape(op: type[FieldsOp]) -> _Shape:
    definition = op.get_irdl_definition()
    fields = {**dict(definition.operands), **dict(definition.results), **definition.properties}
    fields.pop(AttrSizedOperandSegments.attribute_name, None)
    optional = {name: None for name, field in fields.items() if isinstance(field, OptionalDef)}
    types = {name: only for name, result in definition.results if (only := _only_type(result))}
    several = {name: () for name, field in fields.items() if isinstance(field, VariadicDef)}
    order = tuple(name for name in fields if name not in optional | types)
    return _Shape(frozenset(fields), order, several | optional | types)


def _only_type(result: ResultDef) -> Attribute | None:
    """The type of a result of which only one is possible."""
    known = result.constr.can_infer(frozenset(), length_known=True)
    return result.constr.infer(InferenceContext(), length=1)[0] if known else None


def _property(field: PropertyDef, value: Any) -> Attribute | None:
    """A property of what its attribute is of; None where it is what the field says by itself."""
    if value is None or value is False:
        return None
    if not isinstance(value, Attribute):
        bases = field.constr.get_bases()
        assert bases is not None and not isinstance(value, SSAValue), (field, value)
        (class_,) = bases
        value = _OF.get(class_, class_)(value)
    return None if value == field.default_value else value


_OF: dict[type[Attribute], Any] = {
    UnitAttr: lambda _: UnitAttr(),  # pyright: ignore[reportUnknownLambdaType]
    IntegerAttr: number,
    DenseArrayBase: partial(DenseArrayBase.from_list, i64),
}
"""The makers of attributes that take more than their value."""
