"""Debug info in bytecode: a table of scopes and places, and for every function the index of its
own place and of that of each of its ops, in the order of the code. Index 0 is the unknown place.

    section = number of functions  padding  offset of each (u32)
              number of indices  padding  indices (u64)
              table of entries: tag, and behind it the parameters
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import Any, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from tilewright.dialects.cuda_tile.bytecode.container import read_table, write_table
from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.encoder import Encoder, Table
from tilewright.dialects.cuda_tile.bytecode.strings import StringReader
from tilewright.dialects.cuda_tile.debug_info import (
    DICompileUnitAttr,
    DIFileAttr,
    DILexicalBlockAttr,
    DILocAttr,
    DISubprogramAttr,
)
from tilewright.dialects.cuda_tile.versions import V13_5, Version
from tilewright.dialects.frozen import frozen
from tilewright.dialects.locations import unverified
from tilewright.source.diagnostic import OpError

DEEPEST = 400
"""How deep scopes and calls nest at most: each call that was inlined is a level."""
HEAVIEST = 1 << 16
"""How many places an entry may consist of when the ones it shares with itself are counted twice."""
UNKNOWN_TAG, PLACE_TAG = 0, 4


class EntryPart(Enum):
    """The kind of a parameter: a string, a number, or another entry."""

    TEXT = auto()
    NUMBER = auto()
    ZERO = auto()
    FILE = auto()
    UNIT = auto()
    SCOPE = auto()
    PLACE = auto()


UNKNOWN_ENTRY = (UNKNOWN_LOC, EntryPart.PLACE, 1)


ENTRIES = (EntryPart.FILE, EntryPart.UNIT, EntryPart.SCOPE, EntryPart.PLACE)
"""The parts that are entries themselves."""


def _place(scope: Attribute, file: StringAttr, line: IntAttr, column: IntAttr) -> Attribute:
    source = unverified(FileLineColLoc, filename=file, line=line, column=column)
    return unverified(DILocAttr, source=source, scope=scope)


def _place_parts(place: DILocAttr) -> tuple[Attribute, ...]:
    return place.scope, place.source.filename, place.source.line, place.source.column


def _call(callee: Attribute, caller: Attribute) -> Attribute:
    return unverified(CallSiteLoc, callee=callee, caller=caller)


def _parameters(entry: Any) -> tuple[Attribute, ...]:
    return entry.parameters


@frozen
class EntryRow:
    """A kind of entry: what it may stand for, its parameters, how to make it of them, how to take
    it apart."""

    tag: int
    type: type[Attribute]
    counts_as: EntryPart
    parts: tuple[EntryPart, ...]
    make: Callable[..., Attribute]
    take: Callable[[Any], tuple[Attribute, ...]] = _parameters

    def parts_of(self, version: Version) -> tuple[EntryPart, ...]:
        """The parameters in a version."""
        return self.parts if version >= V13_5 else tuple(p for p in self.parts if p is not ZERO)


T, N, ZERO = EntryPart.TEXT, EntryPart.NUMBER, EntryPart.ZERO
FILE, UNIT, SCOPE, PLACE = ENTRIES
ROWS = (
    EntryRow(1, DICompileUnitAttr, UNIT, (FILE,), DICompileUnitAttr),
    EntryRow(2, DIFileAttr, FILE, (T, T), DIFileAttr),
    EntryRow(3, DILexicalBlockAttr, SCOPE, (SCOPE, FILE, N, N), DILexicalBlockAttr),
    EntryRow(PLACE_TAG, DILocAttr, PLACE, (SCOPE, T, N, N), _place, _place_parts),
    EntryRow(5, DISubprogramAttr, SCOPE, (FILE, N, T, T, UNIT, N, ZERO), DISubprogramAttr),
    EntryRow(6, CallSiteLoc, PLACE, (PLACE, PLACE), _call),
)
"""Every kind; the number that ends a subprogram since 13.5 is always 0."""
ROW_OF_TYPE = {row.type: row for row in ROWS}


class DebugReader:
    """The debug info of one file. Without a section, `cursor` is None and every place unknown."""

    def __init__(self, cursor: Cursor | None, strings: StringReader, version: Version):
        self.offsets: Sequence[int] = ()
        self.indices: Sequence[int] = ()
        entries: list[Cursor] = []
        if cursor is not None:
            base = cursor.position
            self.offsets = _numbers(cursor, "I", base, "functions")
            self.indices = _numbers(cursor, "Q", base, "places of ops")
            entries = read_table(cursor, "I", base, "debug info entries")
        self._cursors = [Cursor(b""), *entries]
        self._strings = strings
        self._rows = {row.tag: (row, row.parts_of(version)) for row in ROWS}
        self._integers: dict[int, IntAttr] = {}
        self._open: list[int] = []
        self._read: list[tuple[Attribute, EntryPart, int] | None] = [None] * len(self._cursors)
        self._read[0] = UNKNOWN_ENTRY
        for index in range(1, len(self._cursors)):
            if self._read[index] is None:
                self._read_entry(index, self._cursors[index])
        known = [entry or UNKNOWN_ENTRY for entry in self._read]
        self.entries = [attribute for attribute, _, _ in known]
        self._places = [entry[0] if entry[1] is EntryPart.PLACE else None for entry in known]

    def places(self, cursor: Cursor) -> Callable[[], Attribute]:
        """A function that gives the places of a kernel, its own first; its index stands at the
        cursor."""
        start = cursor.position
        function = cursor.varint()
        if not function:
            return lambda: UNKNOWN_LOC
        if function > len(self.offsets):
            cursor.fail(
                f"expected an index of one of {len(self.offsets)} functions with debug info, "
                f"got {function}",
                start,
            )
        places, indices, next_ = self._places, self.indices, self.offsets[function - 1]

        def place() -> Attribute:
            nonlocal next_
            if next_ >= len(indices):
                cursor.fail("expected a place for every op in the debug info, got too few", start)
            index = indices[next_]
            next_ += 1
            if index >= len(places) or (known := places[index]) is None:
                cursor.fail(f"expected the index of a place in the debug info, got {index}", start)
            return known

        return place

    def _read_entry(self, index: int, asker: Cursor) -> tuple[Attribute, EntryPart, int]:
        """Read the entry of an index: what it is, as what it counts, of how many it consists."""
        if index in self._open or len(self._open) >= DEEPEST:
            asker.fail(f"expected debug info nested at most {DEEPEST} deep, got more at {index}")
        self._open.append(index)
        self._read[index] = read = self._parse(self._cursors[index])
        self._open.pop()
        return read

    def _parse(self, entry: Cursor) -> tuple[Attribute, EntryPart, int]:
        start = entry.position
        tag = entry.varint()
        if tag == UNKNOWN_TAG:
            return UNKNOWN_ENTRY
        if tag not in self._rows:
            entry.fail(f"unknown debug info tag: {tag}", start)
        if tag == PLACE_TAG:
            return self._parse_place(entry)
        row, parts = self._rows[tag]
        numbers = entry.varints(len(parts))
        weight = 1
        parameters: list[Attribute] = []
        for part, number in zip(parts, numbers, strict=True):
            if part is T:
                if number >= len(self._strings.attributes):
                    entry.fail(f"expected the index of a string, got {number}", start)
                parameters.append(self._strings.attributes[number])
            elif part is N:
                parameters.append(self._integer(number))
            elif part is not ZERO:
                attribute, more = self._part(number, part, entry)
                weight += more
                parameters.append(attribute)
            elif number:
                entry.fail(f"expected no flags of the function, got {number}", start)
        if weight > HEAVIEST:
            entry.fail(f"expected debug info of at most {HEAVIEST} places, got {weight}", start)
        if entry.remaining:
            entry.fail(f"expected the end of the entry, got {entry.remaining} more bytes")
        return row.make(*parameters), row.counts_as, weight

    def _parse_place(self, entry: Cursor) -> tuple[Attribute, EntryPart, int]:
        """An entry by the row of places, for these are most of the entries."""
        start = entry.position
        scope_at, file, line, column = entry.varints(4)
        if entry.position != entry.end:
            entry.fail(f"expected the end of the entry, got {entry.remaining} more bytes")
        scope, weight = self._part(scope_at, SCOPE, entry)
        if file >= len(self._strings.attributes):
            entry.fail(f"expected the index of a string, got {file}", start)
        place = _place(
            scope, self._strings.attributes[file], self._integer(line), self._integer(column)
        )
        return place, PLACE, weight + 1

    def _integer(self, number: int) -> IntAttr:
        """A number as an attribute, one for all that are equal."""
        integer = self._integers.get(number)
        if integer is None:
            integer = self._integers[number] = IntAttr(number)
        return integer

    def _part(self, index: int, wanted: EntryPart, asker: Cursor) -> tuple[Attribute, int]:
        """The entry of an index, which must count as a part, and its weight."""
        if index >= len(self._read):
            asker.fail(
                f"expected an index of one of {len(self._read) - 1} debug info entries, got {index}"
            )
        attribute, part, weight = self._read[index] or self._read_entry(index, asker)
        if part is not wanted:
            asker.fail(f"expected {wanted.name.lower()} of the entry, got {attribute.name}")
        return attribute, weight


def _numbers(cursor: Cursor, code: str, base: int, what: str) -> Sequence[int]:
    width = 4 if code == "I" else 8
    number = cursor.count(width, what)
    cursor.align(width, base)
    return cursor.integers(code, number, what)


class DebugWriter:
    """The debug info of a file that is being written. `seed` is what its table begins with;
    `always` numbers functions whose places are all unknown too, as cuTile does."""

    def __init__(
        self,
        strings: Table[str],
        version: Version,
        seed: Iterable[Attribute],
        always: bool,
    ):
        self._strings = strings
        self._version = version
        self._always = always
        self._entries = list(seed)
        self._indices = {id(entry): i for i, entry in reversed(list(enumerate(self._entries, 1)))}
        self._equal = {
            entry: index
            for index, entry in reversed(list(enumerate(self._entries, 1)))
            if not isinstance(entry, UnknownLoc | CallSiteLoc)
        }
        self._functions: list[list[int]] = []
        self._function: list[int] | None = None

    def begin(self, function: Operation) -> int:
        """Note the place of a function: the index that its debug info has."""
        place = self._index(function.location, function)
        if place or self._always:
            self._functions.append([place])
            return len(self._functions)
        return 0

    def enter(self, index: int) -> None:
        """Let the ops noted from now on be those of the function of an index."""
        self._function = self._functions[index - 1] if index else None

    def place(self, op: Operation) -> None:
        """Note the place of the function's next op."""
        index = self._index(op.location, op)
        if self._function is not None:
            self._function.append(index)

    def section(self, *, kept: bool = False) -> bytes | None:
        """The payload; None where nothing is known, unless it is `kept`."""
        if not self._functions and not self._entries and not kept:
            return None
        out = Encoder()
        out.varint(len(self._functions))
        out.align(4)
        offsets: list[int] = []
        size = 0
        for places in self._functions:
            offsets.append(size)
            size += len(places)
        out.integers("I", offsets)
        out.varint(size)
        out.align(8)
        out.integers("Q", [index for places in self._functions for index in places])
        # Readers fail on an empty table.
        write_table(out, "I", [self._encoded(e) for e in self._entries] or [bytes([UNKNOWN_TAG])])
        return bytes(out)

    def _index(self, entry: Attribute, op: Operation) -> int:
        if (known := self._indices.get(id(entry))) is not None:
            return known
        if isinstance(entry, UnknownLoc | FileLineColLoc):
            return 0
        if (row := ROW_OF_TYPE.get(type(entry))) is None:
            raise OpError(op, f"unsupported location, got {_location_name(entry)}, expected "
                          "DILocAttr or CallSiteLoc")  # fmt: skip
        for parameter, part in zip(row.take(entry), row.parts, strict=False):
            if part in ENTRIES:
                self._index(parameter, op)
        index = self._equal.setdefault(entry, len(self._entries) + 1)
        if index > len(self._entries):
            self._entries.append(entry)
        self._indices[id(entry)] = index
        return index

    def _encoded(self, entry: Attribute) -> bytes:
        out = Encoder()
        if isinstance(entry, UnknownLoc):
            return bytes([UNKNOWN_TAG])
        row = ROW_OF_TYPE[type(entry)]
        out.varint(row.tag)
        parameters = iter(row.take(entry))
        for part in row.parts_of(self._version):
            if part is EntryPart.ZERO:
                out.varint(0)
            elif part is EntryPart.TEXT:
                out.varint(self._strings.index(cast(StringAttr, next(parameters)).data))
            elif part is EntryPart.NUMBER:
                out.varint(cast(IntAttr, next(parameters)).data)
            else:
                out.varint(self._known(next(parameters)))
        return bytes(out)

    def _known(self, entry: Attribute) -> int:
        index = self._indices.get(id(entry))
        return self._equal.get(entry, 0) if index is None else index


def _location_name(location: Attribute) -> str:
    return type(location).__name__ if isinstance(location, FusedLoc | NameLoc) else location.name
