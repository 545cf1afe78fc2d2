"""What is wrong with a file, and at which byte."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from bytecode_kernels import kernel, located
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from tilewright.dialects.cuda_tile.bytecode.container import (
    MAGIC,
    SectionId,
    read_header,
    read_sections,
    write_header,
    write_section,
)
from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.encoder import Encoder
from tilewright.dialects.cuda_tile.bytecode.error import BytecodeError
from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode
from tilewright.dialects.cuda_tile.bytecode.write_module import write_bytecode
from tilewright.dialects.cuda_tile.versions import V13_1
from tilewright.source.diagnostic import CompileError, at
from tilewright.source.parsing import parse_module

HEAD = MAGIC + b"\x0d\x01\x00\x00"
EMPTY = write_bytecode(parse_module("cuda_tile.module @kernels {\n}\n"))


def error_of(data: bytes) -> str:
    with pytest.raises(CompileError) as caught:
        read_bytecode(data, "k.tileirbc")
    return str(caught.value)


def with_section(
    data: bytes, section: SectionId, change: Callable[[bytes], bytes], *, grow: bool = False
) -> bytes:
    """A file with one section changed, or added in front."""
    cursor = Cursor(data)
    out = Encoder()
    write_header(out, *read_header(cursor))
    sections = {
        each: data[part.position : part.end] for each, part in read_sections(cursor).items()
    }
    if grow:
        sections = {section: b"", **sections}
    for each, payload in sections.items():
        write_section(out, each, change(payload) if each is section else payload)
    out.append(0)
    return bytes(out)


HEADERS = [
    (b"", "invalid magic number: expected 7f 54 69 6c 65 49 52 00 (at byte 0)"),
    (b"\x7fTileIS\0", "invalid magic number: expected 7f 54 69 6c 65 49 52 00 (at byte 0)"),
    (MAGIC + b"\x12\0\0\0", "unsupported Tile version 18.0.0, this reader supports versions "
     "[13.1 - 13.5] (at byte 8)"),
    (MAGIC + b"\x0d\x06\0\0", "unsupported Tile version 13.6.0, this reader supports versions "
     "[13.1 - 13.5] (at byte 8)"),
    (MAGIC + b"\x0d", "expected one more byte, got the end (at byte 9)"),
    (HEAD, "expected one more byte, got the end (at byte 12)"),
    (HEAD + b"\xff\x00", "unknown section ID: 127 (at byte 12)"),
    (HEAD + b"\x00\x01", "end section is not the last section: expected no more bytes "
     "(at byte 12)"),
    (HEAD + b"\x00", "string section is mandatory, got none (at byte 0)"),
    (HEAD + b"\x01\x00\x00", "expected the STRING section at a power of two that is a multiple of "
     "4 bytes, got 1 (at byte 12)"),
    (HEAD + b"\x81\x08\x04", "expected 1 more bytes for padding to 4 bytes, got 0 (at byte 15)"),
    (HEAD + b"\x81\x08\x04\xcb\x00", "expected 8 more bytes for the STRING section, got 1 "
     "(at byte 16)"),
    (HEAD + b"\x07\x00\x07\x00\x00", "expected one PRODUCER section, got a second (at byte 14)"),
    (HEAD + b"\x81\x01\x04\xcb\x7f\x00", "expected at most 0 strings, got 127 (at byte 16)"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), HEADERS, ids=lambda value: str(value)[:40])
def test_headers_and_sections(data: bytes, message: str):
    assert error_of(data) == f"k.tileirbc: error: {message}"


FUNCTION = {
    "count": (lambda body: b"\x7f", "expected at most 0 functions, got 127"),
    "name": (lambda body: body[:1] + b"\x63" + body[2:], "expected an index of one of "),
    "flags": (lambda body: body[:3] + b"\x01" + body[4:], "expected an entry, got function"),
    "place": (lambda body: body[:4] + b"\x63" + body[5:], "functions with debug info, got 99"),
    "opcode": (lambda body: body[:6] + b"\x7f" + body[7:], "unsupported opcode 127 for bytecode"),
    "global": (lambda body: body[:6] + b"\x31" + body[7:], "unsupported opcode 49 for bytecode"),
}


@pytest.mark.parametrize("case", FUNCTION)
def test_functions(case: str):
    change, message = FUNCTION[case]
    text = "cuda_tile.module @kernels { entry @k() { %t = make_token : token return } }"
    data = with_section(write_bytecode(parse_module(text)), SectionId.FUNCTION, change)
    assert message in error_of(data)
    assert "(at byte " in error_of(data)


def test_operand_out_of_range():
    text = (
        "cuda_tile.module @kernels { entry @k(%x: tile<f32>) { %y = absf %x : tile<f32> return } }"
    )
    data = write_bytecode(parse_module(text))
    place = data.index(b"\x00\x01\x00\x5c")
    wrong = data[: place + 2] + b"\x05" + data[place + 3 :]
    assert f"expected an index of one of 1 values, got 5 (at byte {place + 2})" in error_of(wrong)


def test_unfinished_blocks():
    text = "cuda_tile.module @kernels { entry @k() { %t = make_token : token return } }"
    data = write_bytecode(parse_module(text))
    wrong = with_section(data, SectionId.FUNCTION, lambda b: b.replace(b"\x05\x44", b"\x02\x44"))
    assert "block is expected to have a terminator operation, got 'cuda_tile.make_token'" in (
        error_of(wrong)
    )


def test_what_does_not_verify_stands_at_its_place_in_the_source():
    """The error names the line that the debug info says, and the byte."""
    data = write_bytecode(located(kernel("memory.mlir")), V13_1)
    permutation = b"\x02" + (1).to_bytes(4, "little") + (0).to_bytes(4, "little")
    twice = permutation[:5] + permutation[1:5]
    wrong = with_section(data, SectionId.FUNCTION, lambda body: body.replace(permutation, twice))
    message = error_of(wrong)
    assert message.startswith("k.py:")
    assert "error: 'cuda_tile.permute' expected" in message
    assert "(at byte " in message


def test_types_that_a_version_lacks():
    data = write_bytecode(kernel("later_types.mlir"))
    old = data.replace(b"\x0d\x03\x00\x00", b"\x0d\x01\x00\x00", 1)
    assert "requires bytecode version 13.2+, file version is 13.1" in error_of(old)


def nested(count: int) -> bytes:
    """A kernel of loops within each other."""
    text = "cuda_tile.module @kernels { entry @k() { loop { loop { break } break } return } }"
    data = write_bytecode(parse_module(text))
    inner = b"\x41\x00\x00\x01\x01\x00"
    body = b"\x01\x0a\x00\x00"
    for _ in range(count):
        body = b"\x02" + inner + body + b"\x0a\x00\x00"
    out = Encoder(inner + body + b"\x5c\x00\x00")

    def change(old: bytes) -> bytes:
        new = Encoder(old[:5])
        new.varint(len(out))
        return bytes(new + out)

    return with_section(data, SectionId.FUNCTION, change)


def test_nesting():
    assert sum(1 for _ in read_bytecode(nested(90)).walk()) == 90 * 2 + 6
    assert "expected regions nested at most 100 deep, got more" in error_of(nested(5_000))


def test_debug_info_that_refers_to_itself():
    table = Encoder()
    table.varint(0)
    table.align(4)
    table.varint(0)
    table.align(8)
    table.varint(2)
    table.align(4)
    table.integers("I", (0, 3))
    table += b"\x06\x02\x02\x06\x01\x01"
    wrong = with_section(EMPTY, SectionId.DEBUG, lambda _: bytes(table), grow=True)
    assert "expected debug info nested at most 400 deep, got more at 1" in error_of(wrong)


def test_debug_info_that_doubles_itself():
    """Fifty calls, each by the one before from the one before: 2 ** 50 places."""
    table = Encoder()
    table.varint(0)
    table.align(4)
    table.varint(0)
    table.align(8)
    table.varint(51)
    table.align(4)
    table.integers("I", [0, *(1 + 3 * i for i in range(50))])
    table += b"\x00" + b"".join(bytes((6, i, i)) for i in range(1, 51))
    wrong = with_section(EMPTY, SectionId.DEBUG, lambda _: bytes(table), grow=True)
    assert "expected debug info of at most 65536 places, got 131071" in error_of(wrong)


def test_numbers():
    assert Cursor(b"\xac\x02").varint() == 300
    assert Cursor(b"\x03").signed_varint() == -2
    for data in (b"\x80" * 11, b"\x80"):
        with pytest.raises(BytecodeError, match=r"number.*\(at byte 0\)"):
            Cursor(data).varint()
    assert list(Cursor(b"\x01\xac\x02\x03").varints(3)) == [1, 300, 3]
    with pytest.raises(BytecodeError, match="expected a number, got the end"):
        Cursor(b"\x01\x02", end=1).varints(2)


@pytest.mark.parametrize("name", ["\0", "a" * 5000, "fifo"])
def test_files_named_by_debug_info(name: str, tmp_path: Path):
    """Bytecode may name any file: one that cannot be read, or never ends, shows no line."""
    os.mkfifo(tmp_path / "fifo")
    file = str(tmp_path / "fifo") if name == "fifo" else name
    location = FileLineColLoc(StringAttr(file), IntAttr(3), IntAttr(4))
    assert at(location, "wrong").text is None
