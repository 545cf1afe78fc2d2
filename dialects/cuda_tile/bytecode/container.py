"""The file around the code: header, sections, and tables of entries found by their offsets.

file    = magic (8 bytes)  major (u8)  minor (u8)  tag (u16)  section*  00
section = id | 0x80 where aligned (u8)  length  [alignment  padding]  payload
table   = number of entries  padding  offset of each entry (u32 or u64)  entries
"""

from collections.abc import Sequence
from enum import IntEnum

from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.encoder import Encoder
from tilewright.dialects.cuda_tile.versions import VERSIONS, Version

MAGIC = b"\x7fTileIR\x00"
SUFFIX = ".tileirbc"
PREVIEW = 1
"""The tag of a file that uses features which are not in a release."""


class SectionId(IntEnum):
    """The sections, by what they hold."""

    END = 0
    STRING = 1
    FUNCTION = 2
    DEBUG = 3
    CONSTANT = 4
    TYPE = 5
    GLOBAL = 6
    PRODUCER = 7


ALIGNMENT = {
    SectionId.STRING: 4,
    SectionId.TYPE: 4,
    SectionId.FUNCTION: 8,
    SectionId.DEBUG: 8,
    SectionId.CONSTANT: 8,
    SectionId.GLOBAL: 1,
    SectionId.PRODUCER: 1,
}
"""The least alignment of each section's payload in the file."""


def is_bytecode(data: bytes, name: str = "") -> bool:
    """True where bytes begin as Tile IR bytecode does, or the file's name says that they should."""
    return data[: len(MAGIC)] == MAGIC or name.endswith(SUFFIX)


def read_header(cursor: Cursor) -> tuple[Version, int]:
    """The version that the file says it has, and its tag."""
    if cursor.bytes(min(len(MAGIC), cursor.remaining), "the magic number") != MAGIC:
        cursor.fail(f"invalid magic number: expected {MAGIC.hex(' ')}", 0)
    start = cursor.position
    version = Version(cursor.byte(), cursor.byte())
    tag = cursor.byte() | cursor.byte() << 8
    if version not in VERSIONS or tag not in (0, PREVIEW):
        cursor.fail(
            f"unsupported Tile version {version}.{tag}, this reader supports versions "
            f"[{VERSIONS[0]} - {VERSIONS[-1]}]",
            start,
        )
    return version, tag


def write_header(out: Encoder, version: Version, tag: int) -> None:
    """Magic number and version."""
    out += MAGIC + bytes(version) + tag.to_bytes(2, "little")


def read_sections(cursor: Cursor) -> dict[SectionId, Cursor]:
    """The payload of every section, in the order of the file."""
    sections: dict[SectionId, Cursor] = {}
    while True:
        start = cursor.position
        head = cursor.byte()
        if head == SectionId.END:
            if cursor.remaining:
                cursor.fail("end section is not the last section: expected no more bytes", start)
            return sections
        number = head & 0x7F
        if number not in ALIGNMENT:
            cursor.fail(f"unknown section ID: {number}", start)
        section = SectionId(number)
        if section in sections:
            cursor.fail(f"expected one {section.name} section, got a second", start)
        length = cursor.varint()
        alignment = cursor.varint() if head & 0x80 else 1
        if alignment.bit_count() != 1 or alignment % ALIGNMENT[section]:
            cursor.fail(
                f"expected the {section.name} section at a power of two that is a multiple of "
                f"{ALIGNMENT[section]} bytes, got {alignment}",
                start,
            )
        cursor.align(alignment)
        sections[section] = cursor.part(length, f"the {section.name} section")


def write_section(out: Encoder, section: SectionId, payload: bytes) -> None:
    """One section, aligned as it must be."""
    alignment = ALIGNMENT[section]
    out.append(section | (0x80 if alignment > 1 else 0))
    out.varint(len(payload))
    if alignment > 1:
        out.varint(alignment)
        out.align(alignment)
    out += payload


def read_table(cursor: Cursor, code: str, base: int, what: str) -> list[Cursor]:
    """The entries of the table that takes the rest of a payload which begins at `base`.

    `code` is `struct`'s letter for the width of its offsets.
    """
    width = 4 if code == "I" else 8
    number = cursor.count(width, what)
    if not number:
        return []
    cursor.align(width, base)
    offsets_at = cursor.position
    offsets = cursor.integers(code, number, f"offsets of {what}")
    start, size = cursor.position, cursor.remaining
    entries: list[Cursor] = []
    for index, (first, last) in enumerate(zip(offsets, (*offsets[1:], size), strict=True)):
        if not first <= last <= size:
            cursor.fail(
                f"expected rising offsets up to {size} for {what}, got {first} before {last}",
                offsets_at + index * width,
            )
        entries.append(Cursor(cursor.data, start + first, start + last))
    return entries


def write_table(out: Encoder, code: str, entries: Sequence[bytes]) -> None:
    """A table that takes the rest of a payload."""
    out.varint(len(entries))
    out.align(4 if code == "I" else 8)
    offsets, size = [0], 0
    for entry in entries:
        size += len(entry)
        offsets.append(size)
    out.integers(code, offsets[:-1])
    out += b"".join(entries)
