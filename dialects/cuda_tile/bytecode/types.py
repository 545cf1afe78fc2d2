"""Types in bytecode: a tag, and behind it the parameters, as a row each.

Types name others by their index in the table of types. Optional parameters are announced by the
bits of a number before the parameters, from the version on that the row says; before 13.3 by a
byte before each.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.encoder import Encoder, Table
from tilewright.dialects.cuda_tile.bytecode.error import BytecodeError, TooOldError
from tilewright.dialects.cuda_tile.element_types import ELEMENTS
from tilewright.dialects.cuda_tile.enums import PaddingValue, PtrAttr, TileEnum
from tilewright.dialects.cuda_tile.types import (
    TOKEN,
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
)
from tilewright.dialects.cuda_tile.versions import V13_1, V13_3, V13_4, V13_5, Version

FUNCTION_TAG = 16
UNIFIED_FLAGS = V13_3
"""Since when one number announces all optional parameters of a type."""
DEEPEST = 8
"""How deep types nest at most: a view of a tensor view of numbers is three deep."""


class ParameterKind(Enum):
    """How a parameter is encoded."""

    TYPE = auto()
    I64S = auto()
    I32S = auto()
    U32 = auto()
    PADDING = auto()
    POINTER = auto()


CHOICES: dict[ParameterKind, type[TileEnum]] = {
    ParameterKind.PADDING: PaddingValue,
    ParameterKind.POINTER: PtrAttr,
}
"""The parameters that are optional, and what they choose from."""


@dataclass(frozen=True, slots=True)
class TypeParameter:
    """One parameter: its name in the type's class and its `get`, its kind, since when it is."""

    name: str
    kind: ParameterKind
    since: Version = V13_1


@dataclass(frozen=True, slots=True)
class TypeRow:
    """A type with parameters."""

    tag: int
    type: type[Attribute]
    make: Callable[..., Attribute]
    parameters: tuple[TypeParameter, ...]
    since: Version = V13_1

    def flags_since(self) -> Version | None:
        """From which version on a number announces the optional parameters."""
        since = [parameter.since for parameter in self.parameters if parameter.kind in CHOICES]
        return max(UNIFIED_FLAGS, min(since)) if since else None


_TILE = TypeParameter("tile_shape", ParameterKind.I32S)
_VIEW = TypeParameter("tensor_view", ParameterKind.TYPE)
_MAP = TypeParameter("dim_map", ParameterKind.I32S)
_PADDING = TypeParameter("padding_value", ParameterKind.PADDING)
_POINTER = TypeParameter("attribute", ParameterKind.POINTER, V13_4)
CASES_SINCE: dict[Any, Version] = {PtrAttr.MULTICAST: V13_5}
"""Since when the cases are that came after their parameter."""
_ELEMENT = TypeParameter("element_type", ParameterKind.TYPE)
_SHAPE = TypeParameter("shape", ParameterKind.I64S)

ROWS = (
    TypeRow(12, PointerType, PointerType.get,
        (TypeParameter("pointee_type", ParameterKind.TYPE), _POINTER)),
    TypeRow(13, TileType, TileType.get, (_ELEMENT, _SHAPE)),
    TypeRow(14, TensorViewType, TensorViewType.get,
        (_ELEMENT, _SHAPE, TypeParameter("strides", ParameterKind.I64S), _POINTER)),
    TypeRow(15, PartitionViewType, PartitionViewType.get, (_TILE, _VIEW, _MAP, _PADDING)),
    TypeRow(20, GatherScatterViewType, GatherScatterViewType.get,
        (_TILE, _VIEW, TypeParameter("sparse_dim", ParameterKind.U32), _PADDING),
        V13_3),
    TypeRow(21, StridedViewType, StridedViewType.get,
        (_TILE, TypeParameter("traversal_strides", ParameterKind.I32S), _VIEW, _MAP, _PADDING),
        V13_3),
)  # fmt: skip
ROW_OF_TAG = {row.tag: row for row in ROWS}
ROW_OF_TYPE = {row.type: row for row in ROWS}

SIMPLE = ((17, TOKEN, V13_1), *((row.tag, row.type, row.since) for row in ELEMENTS))
"""Types without parameters: tag, type, since when."""
SIMPLE_OF_TAG = {tag: (type_, since) for tag, type_, since in SIMPLE}
SIMPLE_OF_TYPE = {type_: (tag, since) for tag, type_, since in SIMPLE}

NAMES = {10: "Float8E4M3FN", 11: "Float8E5M2", 18: "Float8E8M0FNU", 19: "Float4E2M1FN",
         20: "GatherScatterViewType", 21: "StridedViewType", 22: "Int4",
         130: "FNV8E5M3FNU"}  # fmt: skip
"""The format's names of the types that came after 13.1, or that other names are in use for."""


def needs(what: str, since: Version, version: Version, verb: str) -> str:
    """The complaint about what a version does not have."""
    return f"{what} requires bytecode version {since}+, {verb} {version}"


class TypeReader:
    """The table of types of one file."""

    def __init__(self, entries: Sequence[Cursor], version: Version):
        self._entries = entries
        self._version = version
        self._types: list[Attribute | None] = [None] * len(entries)
        self._open: list[int] = []
        self.types = [self.at(index, entry) for index, entry in enumerate(entries)]

    def index(self, cursor: Cursor) -> Attribute:
        """The type whose index stands at the cursor."""
        start = cursor.position
        index = cursor.varint()
        if index >= len(self._types):
            cursor.fail(f"expected an index of one of {len(self._types)} types, got {index}", start)
        return self._types[index] or self.at(index, cursor)

    def at(self, index: int, asker: Cursor) -> Attribute:
        """The type of an index; `asker` is where a type that holds itself is complained of."""
        if (known := self._types[index]) is not None:
            return known
        if index in self._open or len(self._open) >= DEEPEST:
            asker.fail(f"expected types nested at most {DEEPEST} deep, got more at type {index}")
        self._open.append(index)
        entry = self._entries[index]
        start = entry.position
        try:
            type_ = self._parse(entry)
        except VerifyException as error:
            raise BytecodeError(start, str(error).strip()) from None
        if entry.remaining:
            entry.fail(f"expected the end of type {index}, got {entry.remaining} more bytes")
        self._open.pop()
        self._types[index] = type_
        return type_

    def _parse(self, entry: Cursor) -> Attribute:
        start = entry.position
        tag = entry.varint()
        if (simple := SIMPLE_OF_TAG.get(tag)) is not None:
            type_, since = simple
        elif tag == FUNCTION_TAG:
            return FunctionType.from_lists(self._list(entry), self._list(entry))
        elif (row := ROW_OF_TAG.get(tag)) is not None:
            type_, since = row, row.since
        else:
            entry.fail(f"unknown type tag: {tag}", start)
        if self._version < since:
            name = NAMES.get(tag, str(tag))
            entry.fail(needs(f"type '{name}'", since, self._version, "file version is"), start)
        return self._parameters(type_, entry) if isinstance(type_, TypeRow) else type_

    def _list(self, entry: Cursor) -> list[Attribute]:
        types: list[Attribute] = []
        for _ in range(entry.count(1, "types")):
            start = entry.position
            type_ = self.index(entry)
            if isinstance(type_, FunctionType):
                entry.fail("expected no function type within another", start)
            types.append(type_)
        return types

    def _parameters(self, row: TypeRow, entry: Cursor) -> Attribute:
        flags_since = row.flags_since()
        unified = flags_since is not None and self._version >= flags_since
        flags = entry.varint() if unified else 0
        values: dict[str, Any] = {}
        for parameter in row.parameters:
            if parameter.since > self._version:
                continue
            if parameter.kind in CHOICES:
                present = flags & 1 if unified else entry.byte()
                flags >>= 1
                if not present:
                    continue
            values[parameter.name] = self._value(parameter, entry)
        return row.make(**values)

    def _value(self, parameter: TypeParameter, entry: Cursor) -> Any:
        start = entry.position
        match parameter.kind:
            case ParameterKind.TYPE:
                type_ = self.index(entry)
                if parameter is _VIEW and not isinstance(type_, TensorViewType):
                    entry.fail(f"expected a tensor_view, got {type_}", start)
                return type_
            case ParameterKind.I64S:
                return entry.integers("q", entry.count(8, "dimensions"), "dimensions")
            case ParameterKind.I32S:
                return entry.integers("i", entry.count(4, "dimensions"), "dimensions")
            case ParameterKind.U32:
                value = entry.varint()
                if value >= 1 << 32:
                    entry.fail(f"expected a number of 32 bits, got {value}", start)
                return value
            case ParameterKind.PADDING | ParameterKind.POINTER:
                number = entry.varint()
                case = CHOICES[parameter.kind].of_number(number)
                if case is None:
                    entry.fail(
                        f"expected a number below {len(CHOICES[parameter.kind])} for "
                        f"{parameter.name}, got {number}",
                        start,
                    )
                if (since := CASES_SINCE.get(case, V13_1)) > self._version:
                    what = f"{parameter.name} {case.value}"
                    entry.fail(needs(what, since, self._version, "file version is"), start)
                return case


class TypeWriter:
    """The table of types of a file that is being written; `seed` is what it begins with."""

    def __init__(self, version: Version, seed: Iterable[Attribute] = ()):
        self._version = version
        self._table = Table(seed)

    def index(self, type_: Attribute) -> int:
        """The index of a type; the types it names come before it."""
        if (index := self._table.indices.get(type_)) is not None:
            return index
        for part in _parts(type_):
            self.index(part)
        return self._table.index(type_)

    def entries(self, module: Operation) -> list[bytes]:
        """The encoded types of a module. Raises OpError for one that the version lacks, ValueError
        for one that the format lacks."""
        return [bytes(self._encoded(type_, module)) for type_ in self._table.entries]

    def _encoded(self, type_: Attribute, module: Operation) -> Encoder:
        out = Encoder()
        row = ROW_OF_TYPE.get(type(type_))
        if isinstance(type_, FunctionType):
            out.varint(FUNCTION_TAG)
            for types in (type_.inputs.data, type_.outputs.data):
                out.varint(len(types))
                out.varints(map(self.index, types))
            return out
        if row is None and type_ not in SIMPLE_OF_TYPE:
            raise ValueError(f"unsupported type in bytecode writer: {type_}")
        tag, since = SIMPLE_OF_TYPE[type_] if row is None else (row.tag, row.since)
        if since > self._version:
            name = NAMES.get(tag, str(type_))
            what = needs(f"type '{name}'", since, self._version, "targeting")
            raise TooOldError(module, what, since)
        out.varint(tag)
        if row is not None:
            self._encode_parameters(row, type_, out, module)
        return out

    def _encode_parameters(
        self, row: TypeRow, type_: Attribute, out: Encoder, module: Operation
    ) -> None:
        values = [_value_of(type_, parameter) for parameter in row.parameters]
        flags_since = row.flags_since()
        unified = flags_since is not None and self._version >= flags_since
        if unified:
            optional = [
                value is not None
                for value, parameter in zip(values, row.parameters, strict=True)
                if parameter.kind in CHOICES
            ]
            out.varint(sum(present << bit for bit, present in enumerate(optional)))
        for value, parameter in zip(values, row.parameters, strict=True):
            since = max(parameter.since, CASES_SINCE.get(value, V13_1))
            if since > self._version:
                if value is not None:
                    what = f"parameter '{parameter.name}'"
                    what = needs(what, since, self._version, "but targeting")
                    raise TooOldError(module, what, since)
            elif parameter.kind in CHOICES:
                if not unified:
                    out.append(value is not None)
                if value is not None:
                    out.varint(value.number)
            else:
                self._encode_value(parameter.kind, value, out)

    def _encode_value(self, kind: ParameterKind, value: Any, out: Encoder) -> None:
        match kind:
            case ParameterKind.TYPE:
                out.varint(self.index(value))
            case ParameterKind.I64S:
                out.counted("q", value)
            case ParameterKind.I32S:
                out.counted("i", value)
            case _:
                out.varint(value)


def _value_of(type_: Attribute, parameter: TypeParameter) -> Any:
    value = getattr(type_, parameter.name)
    if parameter.kind is ParameterKind.POINTER:
        return PtrAttr(value.data) if isinstance(value, StringAttr) else None
    return value


def _parts(type_: Attribute) -> Sequence[Attribute]:
    """The types that a type names."""
    if isinstance(type_, FunctionType):
        return (*type_.inputs.data, *type_.outputs.data)
    row = ROW_OF_TYPE.get(type(type_))
    parameters = () if row is None else row.parameters
    return [
        getattr(type_, parameter.name)
        for parameter in parameters
        if parameter.kind is ParameterKind.TYPE
    ]
