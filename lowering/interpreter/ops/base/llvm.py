"""`llvm`: structs as tuples of values, and `printf`, which prints for every thread in turn."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import StringAttr, UnrealizedConversionCastOp
from xdsl.dialects.llvm import (
    AddressOfOp,
    CallOp,
    ExtractValueOp,
    GEPOp,
    GlobalOp,
    InsertValueOp,
    LLVMStructType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable

from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import listed
from tilewright.dialects.printf_format import FormatString
from tilewright.lowering.interpreter.builder import Builder, Effect, effects, runs
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import Compute, computes
from tilewright.lowering.interpreter.ops.base.lane_record import LaneRecord
from tilewright.lowering.interpreter.ops.base.printf import print_lines
from tilewright.lowering.interpreter.values import PartlyUndefined, Undefined
from tilewright.source.diagnostic import OpError


@frozen
class Struct(LaneRecord):
    """The fields of a struct in every thread."""

    fields: tuple[Any, ...]


def _fields(value: Any, type_: LLVMStructType) -> tuple[Any, ...]:
    """The fields of a struct, each undefined where nothing has written the struct."""
    match value:
        case Struct():
            return value.fields
        case PartlyUndefined():
            known = _fields(value.value, type_)
            return tuple(_partly(value, field) for field in known)
        case _:
            return (value,) * len(type_.types)


def _partly(value: PartlyUndefined, field: Any) -> Any:
    if isinstance(field, Undefined):
        return field
    return PartlyUndefined(value.origin, field, value.missing)


def _extracted(type_: Attribute, path: tuple[int, ...], value: Any) -> Any:
    for i in path:
        assert isinstance(type_, LLVMStructType)
        value, type_ = _fields(value, type_)[i], type_.types.data[i]
    return value


def _inserted(type_: Attribute, path: tuple[int, ...], value: Any, field: Any) -> Any:
    if not path:
        return field
    assert isinstance(type_, LLVMStructType)
    i, *inner = path
    fields = list(_fields(value, type_))
    fields[i] = _inserted(type_.types.data[i], tuple(inner), fields[i], field)
    return Struct(tuple(fields))


def _path(op: ExtractValueOp | InsertValueOp) -> tuple[int, ...]:
    """The place of the field. Raises OpError where the container is no struct of structs."""
    path = tuple(int(i) for i in op.position.iter_values())
    type_ = op.container.type
    for i in path:
        if not isinstance(type_, LLVMStructType):
            raise OpError(op, f"'{op.name}' expected a struct to be interpreted, got {type_}")
        type_ = type_.types.data[i]
    return path


@computes
def _extract_value(op: ExtractValueOp) -> Compute:
    return partial(_extracted, op.container.type, _path(op))


@computes
def _insert_value(op: InsertValueOp) -> Compute:
    return partial(_inserted, op.container.type, _path(op))


@effects
def _cast(op: UnrealizedConversionCastOp) -> Effect:
    """Values keep their types. Raises OpError for any other cast."""
    before, after = ([value.type for value in values] for values in (op.inputs, op.outputs))
    if before != after:
        was, is_ = (listed(types) for types in (before, after))
        raise OpError(op, f"'{op.name}' expected a cast to its own type, got {was} to {is_}")

    def run(machine: Machine, gang: Gang, *values: Any) -> Any:
        return list(values)

    return run


# --- printf ---------------------------------------------------------------------------------------


@runs
def _address(op: AddressOfOp | GEPOp, builder: Builder) -> None:
    """Nothing: printf looks up what its first argument is the address of."""


@runs
def _call(op: CallOp, builder: Builder) -> None:
    name = None if op.callee is None else op.callee.string_value()
    if name != "printf" or op.returned is None:
        raise OpError(op, f"'{op.name}' expected a call of printf to be interpreted, got {name}")
    format_, *values = op.args
    printed = FormatString.of(op, _text_at(op, format_), [value.type for value in values])
    slots, dest = builder.slots(values), builder.slot(op.returned)

    def step(machine: Machine, gang: Gang) -> None:
        lines = print_lines(
            machine.launch.say, op, printed, [gang.regs[slot] for slot in slots], gang.count
        )
        # The result is how many characters a thread has printed.
        gang.regs[dest] = np.array([len(line.encode()) for line in lines], dtype=np.uint32)

    builder.add(op, step, slots, builder.slots(op.results))


def _text_at(op: Operation, address: SSAValue) -> str:
    """The text of a constant, up to its NUL. Raises OpError where the address is of none."""
    owner = address.owner
    while isinstance(owner, GEPOp) and not any(owner.rawConstantIndices.iter_values()):
        owner = owner.ptr.owner
    if isinstance(owner, AddressOfOp):
        target = SymbolTable.lookup_symbol(op, owner.global_name)
        if isinstance(target, GlobalOp) and isinstance(target.value, StringAttr):
            return target.value.data.partition("\0")[0]
    raise OpError(op, f"'{op.name}' expected a format that is a constant, got {address.type}")
