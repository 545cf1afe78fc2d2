"""Structs of `llvm` to `ptx`: each field has registers of its own, where blocks carry them too."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from xdsl.dialects.llvm import ExtractValueOp, InsertValueOp, LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.ptx.scalar_types import register_type
from tilewright.dialects.ptx.types import RegType
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.source.diagnostic import OpError


def fields_of(type_: Attribute, make: Callable[[Attribute], Any]) -> Any:
    """The value for each field, as nested tuples; of another type than a struct of itself."""
    if not isinstance(type_, LLVMStructType):
        return make(type_)
    return tuple(fields_of(field, make) for field in type_.types)


def leaves_of(
    type_: Attribute, path: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The numbers that lead to each field that is no struct, and its type."""
    if not isinstance(type_, LLVMStructType):
        yield path, type_
        return
    for number, field in enumerate(type_.types):
        yield from leaves_of(field, (*path, number))


# What blocks carry


def register_types(op: Operation, values: Sequence[SSAValue]) -> list[RegType]:
    """The registers of values that a block carries, of a struct those of its fields. Raises
    OpError."""
    types: list[RegType] = []
    for value in values:
        for _, type_ in leaves_of(value.type):
            register = register_type(type_)
            if register is None:
                raise OpError(
                    op,
                    f"'{op.name}' cannot carry a value of {value.type}; nearest legal: scalars, "
                    "fragments and structs of them (carry an index into the memref instead)",
                )
            types.append(register)
    return types


def registers_of(values: Sequence[SSAValue], to: Conversion) -> list[SSAValue]:
    """The registers of values, one after the other."""
    return [register for value in values for register in _flat(to.values[value])]


def give(values: Sequence[SSAValue], registers: Sequence[SSAValue], to: Conversion) -> None:
    """Say which registers hold values: the inverse of `registers_of`."""
    coming = iter(registers)
    for value in values:
        to[value] = fields_of(value.type, lambda _: next(coming))


def _flat(fields: Any) -> list[Any]:
    if not isinstance(fields, tuple):
        return [fields]
    return [leaf for field in cast("tuple[Any, ...]", fields) for leaf in _flat(field)]


# Their fields


@lowers
def _extract(op: ExtractValueOp, to: Conversion) -> SSAValue:
    value = to.values[op.container]
    for number in op.position.get_values():
        value = value[number]
    return value


@lowers
def _insert(op: InsertValueOp, to: Conversion) -> Any:
    path = [int(number) for number in op.position.get_values()]
    return _with(to.values[op.container], path, to.values[op.value])


def _with(fields: tuple[Any, ...], path: Sequence[int], value: Any) -> tuple[Any, ...]:
    """Fields with one replaced."""
    number, *inner = path
    replaced = _with(fields[number], inner, value) if inner else value
    return (*fields[:number], replaced, *fields[number + 1 :])
