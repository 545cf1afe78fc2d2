"""What is written is read again: in every version, with all debug info, as it was laid out."""

from __future__ import annotations

from io import StringIO

import pytest
from bytecode_kernels import LOWEST, call, kernel, located
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    CallSiteLoc,
    DenseArrayBase,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
)
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.bytecode.container import MAGIC, SectionId, is_bytecode
from tilewright.dialects.cuda_tile.bytecode.error import TooOldError
from tilewright.dialects.cuda_tile.bytecode.layout import layout_of
from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode
from tilewright.dialects.cuda_tile.bytecode.write_module import ModuleWriter, write_bytecode
from tilewright.dialects.cuda_tile.debug_info import DILocAttr
from tilewright.dialects.cuda_tile.versions import VERSIONS, Version
from tilewright.pipeline import verified
from tilewright.source.diagnostic import CompileError, OpError, file_location
from tilewright.source.parsing import parse_module


def text(module: ModuleOp) -> str:
    """A module as text, without names of values and lists of booleans that are all false."""
    for op in module.walk():
        for value in (
            *op.results,
            *(a for region in op.regions for b in region.blocks for a in b.args),
        ):
            value.name_hint = None
        flags = op.properties.get("inbounds")
        if isinstance(flags, DenseArrayBase) and not any(flags.get_values()):
            del op.properties["inbounds"]
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue()


@pytest.mark.parametrize("file", LOWEST)
def test_written_in_the_lowest_version_that_holds_it(file: str):
    data = write_bytecode(kernel(file))
    assert data[: len(MAGIC)] == MAGIC
    assert Version(*data[8:10]) == LOWEST[file]


@pytest.mark.parametrize("version", VERSIONS, ids=str)
@pytest.mark.parametrize("file", LOWEST)
def test_every_version_holds_the_same(file: str, version: Version):
    module = kernel(file)
    if version < LOWEST[file]:
        with pytest.raises(TooOldError, match=f"version {version}|targeting {version}"):
            write_bytecode(module, version)
        return
    data = write_bytecode(module, version)
    again = read_bytecode(data)
    assert text(again) == text(module)
    assert write_bytecode(again) == data


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]], ids=str)
def test_debug_info_is_kept(version: Version):
    module = located(kernel("control_flow.mlir"))
    again = read_bytecode(write_bytecode(module, version))
    places = [op.location for op in module.walk()]
    assert [op.location for op in again.walk()][2:] == [
        UNKNOWN_LOC if isinstance(place, FileLineColLoc) else place for place in places
    ][2:]
    assert sum(isinstance(place, DILocAttr | CallSiteLoc) for place in places) > 15
    assert {line.line.data for place in places if (line := file_location(place))} > {1, 2, 3}


def test_read_and_written_alike_is_the_same_file():
    """Tables and sections in an order of their own, as another writer may have them."""
    module = read_bytecode(write_bytecode(located(kernel("memory.mlir")), VERSIONS[3]))
    (tiles,) = module.body.block.ops
    layout = layout_of(tiles)
    assert layout is not None
    shuffled = type(layout)(
        layout.version,
        0,
        tuple(reversed(layout.sections)),
        tuple(reversed(layout.strings)),
        tuple(reversed(layout.types)),
        tuple(reversed(layout.constants)),
        tuple(reversed(layout.debug_entries)),
        padded_functions=False,
    )
    data = ModuleWriter(shuffled).write(tiles)  # pyright: ignore
    again = read_bytecode(data)
    assert write_bytecode(again) == data
    assert text(again) == text(module)
    (tiles,) = again.body.block.ops
    found = layout_of(tiles)
    assert found is not None
    assert found.sections == shuffled.sections
    assert found.types[0] == layout.types[-1]


def test_sections_without_contents_are_left_out():
    data = write_bytecode(parse_module("cuda_tile.module @kernels {\n}\n"))
    (tiles,) = read_bytecode(data).body.block.ops
    layout = layout_of(tiles)
    assert layout is not None
    assert layout.sections == (SectionId.FUNCTION, SectionId.TYPE, SectionId.STRING)


def test_modules_are_recognised_by_their_first_bytes():
    data = write_bytecode(kernel("control_flow.mlir"))
    module, source = verified(data)
    assert source is None
    again, source = verified(text(module).encode())
    assert source == text(module)
    assert text(again) == text(module)
    assert not is_bytecode(b"cuda_tile.module")
    with pytest.raises(CompileError, match=r"expected Tile IR bytecode or UTF-8 text, got neither"):
        verified(b"\xff\xfe")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("func.func @f() { func.return }", "expected one 'cuda_tile.module', got 'func.func'"),
        ("", "expected one 'cuda_tile.module', got nothing"),
    ],
)
def test_other_modules_are_refused(module: str, message: str):
    with pytest.raises(OpError, match=message):
        write_bytecode(parse_module(module))


def test_locations_that_bytecode_lacks_are_refused():
    module = kernel("control_flow.mlir")
    *_, last = module.walk()
    last.location = NameLoc(
        StringAttr("n"), FileLineColLoc(StringAttr("f"), IntAttr(1), IntAttr(1))
    )
    with pytest.raises(
        OpError, match="unsupported location, got NameLoc, expected DILocAttr or CallSiteLoc"
    ):
        write_bytecode(module)


def test_deep_calls():
    """A place within 300 calls, as recursion that was unrolled leaves it."""
    module = located(kernel("newest_ops.mlir"))
    *_, last = module.walk()
    place = next(op.location for op in module.walk() if isinstance(op.location, DILocAttr))
    chain = place
    for _ in range(300):
        chain = call(place, chain)
    last.location = chain  # pyright: ignore
    *_, again = read_bytecode(write_bytecode(module)).walk()
    assert file_location(again.location) == file_location(place)
