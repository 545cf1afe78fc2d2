"""The state of a thread, as diagnostics and breakpoints show it: values by their names, memory
around an address, and the line of another access."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.lowering.interpreter.address_windows import window_of
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneValue
from tilewright.lowering.interpreter.arithmetic.typed_words import DTYPES
from tilewright.lowering.interpreter.array_types import AnyArray, is_array
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.memref import View
from tilewright.lowering.interpreter.ops.tile.tensor_access import GlobalBase, SharedBase
from tilewright.lowering.interpreter.values import Undefined

_ELEMENT = re.compile(r"(bf16|f16|f32|f64)(?!\w)")
_OTHER = re.compile(r" at ([^ :]+):(\d+)")
FEW = 8
"""Elements of a value, or words of memory on each side, that are shown."""

Registers = Mapping[SSAValue, int]


def dtype_of(type_: Attribute) -> Any:
    """The dtype in which the bits of a type are read; None where they are integers."""
    element = _ELEMENT.search(str(type_))
    return None if element is None else np.dtype(DTYPES[element[1]])


def shown(value: Any, type_: Attribute, lane: int) -> str:
    """A register's value in a thread of its gang, by index."""
    if isinstance(value, Undefined):
        return "undefined or in flight"
    if isinstance(value, LaneValue):
        return value.at(lane).text
    if isinstance(value, View):
        address = int(value.address[lane % len(value.address)])
        return f"{type_} at byte {address:#x} of {value.space}"
    if not is_array(value):
        return str(value)
    row = np.ascontiguousarray(value[lane % len(value)]).ravel()
    dtype, size = dtype_of(type_), row.dtype.itemsize
    if dtype is not None and size % dtype.itemsize == 0 and row.dtype != np.bool_:
        row = row.view(dtype)
    elif isinstance(type_, IndexType | IntegerType) and row.dtype.kind == "u":
        row = row.view(f"i{size}")
    if row.size == 1:
        return str(row[0])
    words = [str(word) for word in row[:FEW]]
    return f"[{', '.join(words)}{', ...' * (row.size > FEW)}]"


def name_of(value: SSAValue) -> str | None:
    """The name of a value in the text; None where it has none."""
    return None if value.name_hint is None else f"%{value.name_hint}"


def thread_state(
    registers: Registers,
    machine: Machine,
    gang: Gang,
    op: Operation,
    lane: int | None,
    message: str,
) -> list[str]:
    """The state that matters of a thread in which an op went wrong: its operands, the memory around
    where it went, and the line of the other access that the message names."""
    notes: list[str] = []
    # Values of any kind may be there: what cannot be shown must not hide what went wrong.
    with suppress(Exception):
        notes += _operands(registers, gang, op, lane)
        notes += _window(registers, machine, gang, op, lane)
    if (other := _OTHER.search(message)) is not None and machine.launch.source is not None:
        lines = machine.launch.source.splitlines()
        if 0 < int(other[2]) <= len(lines):
            notes.append(f"note: the other access is\n{lines[int(other[2]) - 1].rstrip()}")
    return notes


def _value(registers: Registers, gang: Gang, value: SSAValue) -> Any:
    slot = registers.get(value)
    return None if slot is None or slot >= len(gang.regs) else gang.regs[slot]


def _index(gang: Gang, lane: int | None) -> int:
    return 0 if lane is None else int(np.searchsorted(gang.lanes, lane)) % gang.count


def _operands(registers: Registers, gang: Gang, op: Operation, lane: int | None) -> Iterator[str]:
    """The operands that are no memory; of a tensor where it begins. What types say in full is not
    said again."""
    index = _index(gang, lane)
    values: list[str] = []
    for number, operand in enumerate(op.operands):
        value = _value(registers, gang, operand)
        if isinstance(value, View | None) or (isinstance(value, LaneValue) and not value.leaves()):
            continue
        said = shown(value, operand.type, index)
        if isinstance(value, LaneValue) and (start := value.start(index)) is not None:
            said = f"{value.typed.value.space} from element {start} on"
        values.append(f"{name_of(operand) or f'operand {number}'} = {said}")
    if values:
        yield f"note: there {', '.join(values)}"


def _window(
    registers: Registers, machine: Machine, gang: Gang, op: Operation, lane: int | None
) -> Iterator[str]:
    """The words around the one that an access of memory names."""
    index = _index(gang, lane)
    place = _address(registers, gang, op, index)
    if place is None:
        return
    address, width, shared, element = place
    name, first = "shared memory", address
    if shared:
        cta = int(machine.cta_of(gang.lanes)[index])
        data = machine.shared.data[cta * machine.shared.stride :][: machine.shared.size]
    else:
        allocations = machine.memory.allocations
        number = window_of(address)
        if not 0 <= number < len(allocations):
            return
        near = allocations[number]
        name, first, data = f"'{near.name}'", address - near.base, near.data[: near.size]
    word = min(max(first // width, 0), max(len(data) // width - 1, 0))
    start, stop = max(word - FEW // 2, 0), min(word + FEW // 2 + 1, len(data) // width)
    if start >= stop:
        return
    row = data[start * width : stop * width].copy().view(element or f"u{width}")
    words = [
        f"[{value}]" if number * width == first else str(value)
        for number, value in enumerate(row.tolist(), start)
    ]
    where = "" if 0 <= first < len(data) else f", byte {first} is outside"
    yield (
        f"note: {name} has {' '.join(words)} in bytes {start * width} to {stop * width - 1} of "
        f"{len(data)}{where}"
    )


def _address(
    registers: Registers, gang: Gang, op: Operation, index: int
) -> tuple[int, int, bool, Any] | None:
    """The byte that an access goes to, the bytes of an element, whether it is one of shared memory,
    and the elements' dtype, if they are floats."""
    values = [(_value(registers, gang, operand), operand.type) for operand in op.operands]
    chosen = np.array([index])
    for number, (value, type_) in enumerate(values):
        if isinstance(value, View):
            view = value.take(chosen)
            rank = len(view.sizes)
            given = [index for index, type_ in values[number + 1 :] if isinstance(type_, IndexType)]
            if len(given) < rank or not all(map(is_array, given)):
                return None
            indices = [rows[index % len(rows) :][:1].astype(np.uint64) for rows in given[:rank]]
            address = int(view.locate(indices, check=False)[0])
            element = dtype_of(type_)
            element = element if element is not None and element.itemsize == view.width else None
            return address, view.width, str(view.space) == "smem", element
        base = getattr(value.typed.value, "base", None) if isinstance(value, LaneValue) else None
        if isinstance(base, GlobalBase | SharedBase) and value.typed.value.bits >= 8:
            width, element = value.typed.value.bits // 8, dtype_of(type_)
            address = base.address + value.start(index) * width
            return address, width, isinstance(base, SharedBase), element
    space = getattr(getattr(op, "space", None), "data", "")
    address: Any = getattr(op, "address", None)
    if space not in ("global", "shared") or address is None:
        return None
    value = _value(registers, gang, address)
    if not is_array(value):
        return None
    offset = getattr(getattr(getattr(op, "offset", None), "value", None), "data", 0)
    types = [result.type for result in op.results] or [operand.type for operand in op.operands[1:]]
    element = dtype_of(types[0]) if types else None
    return (
        int(value[index % len(value)]) + offset,
        4,
        space == "shared",
        (element if element is not None and element.itemsize == 4 else None),
    )


def uniform(value: Any) -> bool:
    """True where a register holds one value for all threads of its gang."""
    rows: AnyArray | None = value if is_array(value) else None
    return rows is not None and (len(rows) == 1 or bool((rows == rows[:1]).all()))
