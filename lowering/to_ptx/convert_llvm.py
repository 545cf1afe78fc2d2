"""Structs of `llvm` to `ptx`: each field has registers of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xdsl.dialects.llvm import ExtractValueOp, InsertValueOp, LLVMStructType
from xdsl.ir import Attribute

from tilewright.lowering.to_ptx.conversion import Conversion, lowers


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


@lowers(ExtractValueOp)
def _extract(op: ExtractValueOp, to: Conversion) -> None:
    value = to.values[op.container]
    for number in op.position.get_values():
        value = value[number]
    to[op.res] = value


@lowers(InsertValueOp)
def _insert(op: InsertValueOp, to: Conversion) -> None:
    path = [int(number) for number in op.position.get_values()]
    to[op.res] = _with(to.values[op.container], path, to.values[op.value])


def _with(fields: tuple[Any, ...], path: Sequence[int], value: Any) -> tuple[Any, ...]:
    """Fields with one replaced."""
    number, *inner = path
    replaced = _with(fields[number], inner, value) if inner else value
    return (*fields[:number], replaced, *fields[number + 1 :])
