"""Types in bytecode: a tag, and behind it the parameters, as a row each.

Types name others by their index in the table of types. Optional parameters are announced by the
bits of a number before the parameters, from the version on that the row says; before 13.3 by a
byte before each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any

from xdsl.dialects.builtin import FunctionType
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
from tilewright.dialects.frozen import frozen

UNIFIED_FLAGS = V13_3
"""Since when one number announces all optional parameters of a type."""
DEEPEST = 8
"""How deep types nest at most: a view of a tensor view of numbers is three deep."""


@frozen
class ParameterKind:
    """How a parameter is encoded, as it is read, by its name, and as it is written; the types that
    it names; whether it may be missing."""

    read: Callable[[TypeReader, Cursor, str], Any]
    write: Callable[[TypeWriter, Encoder, Any], None]
    parts: Callable[[Any], Sequence[Attribute]] = lambda value: ()
    is_optional: bool = False


@frozen
class TypeParameter:
    """One parameter: its name in the type's `get`, its kind, since when it is, and its name in the
    type's class if that is another."""

    name: str
    kind: ParameterKind
    since: Version = V13_1
    field: str | None = None

    def of(self, type_: Attribute) -> Any:
        """That of a type."""
        return getattr(type_, self.field or self.name)


@frozen
class TypeRow:
    """A type with parameters, by its class, or one without."""

    tag: int
    type: type[Attribute] | Attribute
    make: Callable[..., Attribute]
    parameters: tuple[TypeParameter, ...] = ()
    since: Version = V13_1

    def flags_since(self) -> Version | None:
        """From which version on a number announces the optional parameters."""
        since = [parameter.since for parameter in self.parameters if parameter.kind.is_optional]
        return max(UNIFIED_FLAGS, min(since)) if since else None


def _view(types: TypeReader, entry: Cursor, name: str) -> Attribute:
    start = entry.position
    type_ = types.index(entry)
    if not isinstance(type_, TensorViewType):
        entry.fail(f"expected a tensor_view, got {type_}", start)
    return type_


def _unnested(types: TypeReader, entry: Cursor, name: str) -> list[Attribute]:
    """The types of a function's parameters, or of its results."""
    some: list[Attribute] = []
    for _ in range(entry.count(1, "types")):
        start = entry.position
        type_ = types.index(entry)
        if isinstance(type_, FunctionType):
            entry.fail("expected no function type within another", start)
        some.append(type_)
    return some


def _write_types(types: TypeWriter, out: Encoder, value: Any) -> None:
    out.varint(len(value.data))
    out.varints(map(types.index, value.data))


def _numbers(code: str, width: int) -> ParameterKind:
    """A counted list of numbers of fixed width."""
    what = "dimensions"
    return ParameterKind(
        lambda types, entry, name: entry.integers(code, entry.count(width, what), what),
        lambda types, out, value: out.counted(code, value),
    )


def _u32(types: TypeReader, entry: Cursor, name: str) -> int:
    start = entry.position
    value = entry.varint()
    if value >= 1 << 32:
        entry.fail(f"expected a number of 32 bits, got {value}", start)
    return value


def _choice(choices: type[TileEnum]) -> ParameterKind:
    """One of some words, or none."""

    def read(types: TypeReader, entry: Cursor, name: str) -> TileEnum:
        start = entry.position
        number = entry.varint()
        case = choices.of_number(number)
        if case is None:
            entry.fail(f"expected a number below {len(choices)} for {name}, got {number}", start)
        if (since := CASES_SINCE.get(case, V13_1)) > types.version:
            what = f"{name} {case.value}"
            entry.fail(needs(what, since, types.version, "file version is"), start)
        return case

    return ParameterKind(read, lambda types, out, value: out.varint(value.number), is_optional=True)


CASES_SINCE: dict[Any, Version] = {PtrAttr.MULTICAST: V13_5}
"""Since when the cases are that came after their parameter."""


def _write_type(types: TypeWriter, out: Encoder, value: Attribute) -> None:
    out.varint(types.index(value))


_TYPE = ParameterKind(
    lambda types, entry, name: types.index(entry), _write_type, lambda value: (value,)
)
_TYPES = ParameterKind(_unnested, _write_types, lambda value: value.data)
_I32S, _I64S = _numbers("i", 4), _numbers("q", 8)
_TILE = TypeParameter("tile_shape", _I32S)
_VIEW = TypeParameter("tensor_view", replace(_TYPE, read=_view))
_MAP = TypeParameter("dim_map", _I32S)
_PADDING = TypeParameter("padding_value", _choice(PaddingValue))
_POINTER = TypeParameter("attribute", _choice(PtrAttr), V13_4, "ptr_attr")
_ELEMENT = TypeParameter("element_type", _TYPE)
_SHAPE = TypeParameter("shape", _I64S)
_STEPS = TypeParameter("traversal_strides", _I32S)
_SPARSE = TypeParameter(
    "sparse_dim", ParameterKind(_u32, lambda types, out, value: out.varint(value))
)


def _simple(tag: int, type_: Attribute, since: Version = V13_1) -> TypeRow:
    return TypeRow(tag, type_, lambda: type_, since=since)


ROWS = (
    TypeRow(12, PointerType, PointerType.get, (TypeParameter("pointee_type", _TYPE), _POINTER)),
    TypeRow(13, TileType, TileType.get, (_ELEMENT, _SHAPE)),
    TypeRow(14, TensorViewType, TensorViewType.get,
        (_ELEMENT, _SHAPE, TypeParameter("strides", _I64S), _POINTER)),
    TypeRow(15, PartitionViewType, PartitionViewType.get, (_TILE, _VIEW, _MAP, _PADDING)),
    TypeRow(16, FunctionType, FunctionType.from_lists,
        (TypeParameter("inputs", _TYPES), TypeParameter("outputs", _TYPES))),
    _simple(17, TOKEN),
    TypeRow(20, GatherScatterViewType, GatherScatterViewType.get,
        (_TILE, _VIEW, _SPARSE, _PADDING), V13_3),
    TypeRow(21, StridedViewType, StridedViewType.get,
        (_TILE, _STEPS, _VIEW, _MAP, _PADDING), V13_3),
    *(_simple(row.tag, row.type, row.since) for row in ELEMENTS),
)  # fmt: skip
ROW_OF_TAG = {row.tag: row for row in ROWS}
ROW_OF_TYPE = {row.type: row for row in ROWS}

NAMES = {18: "Float8E8M0FNU", 19: "Float4E2M1FN", 20: "GatherScatterViewType",
         21: "StridedViewType", 22: "Int4", 130: "FNV8E5M3FNU"}  # fmt: skip
"""The format's names of the types that came after 13.1."""


def row_of(type_: Attribute) -> TypeRow | None:
    """The row of a type."""
    return ROW_OF_TYPE.get(type(type_)) or ROW_OF_TYPE.get(type_)


def needs(what: str, since: Version, version: Version, verb: str) -> str:
    """The complaint about what a version does not have."""
    return f"{what} requires bytecode version {since}+, {verb} {version}"


class TypeReader:
    """The table of types of one file."""

    def __init__(self, entries: Sequence[Cursor], version: Version):
        self._entries = entries
        self.version = version
        self._types: list[Attribute | None] = [None] * len(entries)
        self._open: list[int] = []
        self.types = list(starmap(self.at, enumerate(entries)))

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
        if (row := ROW_OF_TAG.get(tag)) is None:
            entry.fail(f"unknown type tag: {tag}", start)
        if self.version < row.since:
            what = f"type '{NAMES[tag]}'"
            entry.fail(needs(what, row.since, self.version, "file version is"), start)
        flags_since = row.flags_since()
        unified = flags_since is not None and self.version >= flags_since
        flags = entry.varint() if unified else 0
        values: dict[str, Any] = {}
        for parameter in row.parameters:
            if parameter.since > self.version:
                continue
            if parameter.kind.is_optional:
                present = flags & 1 if unified else entry.byte()
                flags >>= 1
                if not present:
                    continue
            values[parameter.name] = parameter.kind.read(self, entry, parameter.name)
        return row.make(**values)


class TypeWriter:
    """The table of types of a file that is being written; `seed` is what it begins with."""

    def __init__(self, version: Version, seed: Iterable[Attribute]):
        self._version = version
        self._table = Table(seed)

    def index(self, type_: Attribute) -> int:
        """The index of a type; the types it names come before it."""
        if (index := self._table.indices.get(type_)) is not None:
            return index
        row = row_of(type_)
        for parameter in () if row is None else row.parameters:
            for part in parameter.kind.parts(parameter.of(type_)):
                self.index(part)
        return self._table.index(type_)

    def entries(self, module: Operation) -> list[bytes]:
        """The encoded types of a module. Raises OpError for one that the version lacks, ValueError
        for one that the format lacks."""
        return [bytes(self._encoded(type_, module)) for type_ in self._table.entries]

    def _encoded(self, type_: Attribute, module: Operation) -> Encoder:
        out = Encoder()
        if (row := row_of(type_)) is None:
            raise ValueError(f"unsupported type in bytecode writer: {type_}")
        self._check_since(f"type '{NAMES.get(row.tag)}'", row.since, "targeting", module)
        out.varint(row.tag)
        values = [(parameter, parameter.of(type_)) for parameter in row.parameters]
        flags_since = row.flags_since()
        unified = flags_since is not None and self._version >= flags_since
        if unified:
            optional = [value for parameter, value in values if parameter.kind.is_optional]
            out.varint(sum((value is not None) << bit for bit, value in enumerate(optional)))
        for parameter, value in values:
            kind, since = parameter.kind, parameter.since
            if kind.is_optional and value is not None:
                since = max(since, CASES_SINCE.get(value, V13_1))
                what = f"parameter '{parameter.name}'"
                self._check_since(what, since, "but targeting", module)
            if since > self._version:
                continue
            if kind.is_optional and not unified:
                out.append(value is not None)
            if not kind.is_optional or value is not None:
                kind.write(self, out, value)
        return out

    def _check_since(self, what: str, since: Version, verb: str, module: Operation) -> None:
        """Raise TooOldError where the version lacks a type or a parameter."""
        if since > self._version:
            raise TooOldError(module, needs(what, since, self._version, verb), since)
