"""Text of CUDA Tile IR beyond that of single ops, which FileCheck tests have."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from tilewright.dialects.cuda_tile.ops import OP_OF_CODE, OPS
from tilewright.dialects.cuda_tile.ops.floating_point import PowOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.versions import VERSIONS
from tilewright.source.parsing import parse_module
from tilewright.source.printing import ShortPrinter
from tilewright.source.verification import verify

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "tests" / "filecheck" / "dialects" / "cuda_tile").glob("*.mlir"))
LEGAL = [path for path in FILES if not path.stem.endswith("_errors")]
WORD = re.compile(r"\w+")


def text_of(source: str, *, generic: bool = False, places: bool = False) -> str:
    """A module read, verified and printed."""
    module = parse_module(source)
    verify(module, source)
    output = io.StringIO()
    ShortPrinter(output, print_generic_format=generic, print_debuginfo=places).print_op(module)
    return output.getvalue()


def kernel(body: str, parameters: str = "%x: tile<f32>, %p: tile<ptr<f32>>, %c: tile<i1>") -> str:
    return f"cuda_tile.module @m {{\n  entry @k({parameters}) {{\n{body}\n  return\n  }}\n}}\n"


def test_every_op_is_in_a_file():
    tested = {word for path in LEGAL for word in WORD.findall(path.read_text())}
    assert not [op.name for op in OPS if op.name.removeprefix("cuda_tile.") not in tested]


def test_numbers_and_versions():
    assert len(OP_OF_CODE) == len(OPS)
    for op in OPS:
        assert op.since in VERSIONS
        fields = {*op.facts.place, *op.definition.accessor_names}
        for field, version in op.later.items():
            assert field in fields, f"{op.name} has no {field}"
            assert version > op.since


@pytest.mark.parametrize("path", LEGAL, ids=lambda path: path.stem)
def test_prefixes_may_stand(path: Path):
    """With and without prefixes, and in the generic form, a file is the same module."""
    source = path.read_text()
    short = text_of(source)
    assert text_of(short) == short
    assert text_of(text_of(source, generic=True)) == short
    ops = "|".join(op.name.removeprefix("cuda_tile.") for op in OPS)
    long = re.sub(rf"^(\s*(?:%[^=]*= )?)({ops})\b", r"\1cuda_tile.\2", short, flags=re.MULTILINE)
    types = r"(?<![\w.@\"])(tile|ptr|tensor_view|partition_view|token)\b(?=<|$|[,)])(?!=)"
    long = re.sub(types, r"!cuda_tile.\1", long, flags=re.MULTILINE)
    assert long.count("cuda_tile.") > short.count("cuda_tile.") + 4
    assert text_of(long) == short


def test_pow_has_two_names():
    source = kernel("%r = fpowf %x, %x : tile<f32>")
    module = parse_module(source)
    assert any(type(op) is PowOp for op in module.walk())
    assert "pow %x, %x : tile<f32>" in text_of(source)


def test_masks_and_padding_are_told_apart_by_their_types():
    loads = "\n".join(
        f"%{i}, %t{i} = load_ptr_tko weak %p{operands} : tile<ptr<f32>>{types} -> tile<f32>, token"
        for i, (operands, types) in enumerate(
            [("", ""), (", %c", ", tile<i1>"), (", %x", ", tile<f32>"),
             (", %c, %x", ", tile<i1>, tile<f32>")]
        )
    )  # fmt: skip
    module = parse_module(kernel(loads))
    found = [op for op in module.walk() if isinstance(op, LoadPtrTkoOp)]
    have = [(op.mask is not None, op.padding_value is not None) for op in found]
    assert have == [(False, False), (True, False), (False, True), (True, True)]


PLACES = """
#file = #cuda_tile.di_file<"k.py" in "/home">
#unit = #cuda_tile.di_compile_unit<file = #file>
#loc = loc("k.py":7:8)
cuda_tile.module @m {
  entry @k(%x: tile<f32>) {
    %y = negf %x : tile<f32> loc(#here)
    %z = negf %x : tile<f32> loc(callsite(#here at "k.py":9:1))
    return loc(unknown)
  } loc(#cuda_tile.di_loc<#loc in #function>)
} loc(unknown)
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k",
                                     compileUnit = #unit, scopeLine = 2>
#block = #cuda_tile.di_lexical_block<scope = #function, file = #file, line = 3>
#here = #cuda_tile.di_loc<#loc in #block>
"""


def test_places_are_named_behind_the_module():
    text = text_of(PLACES, places=True)
    assert text_of(text, places=True) == text
    body, _, names = text.partition("\n}\n")
    body, _, names = text.rpartition("} loc(unknown)\n")
    assert "negf %x : tile<f32> loc(#loc2)" in body
    assert 'loc(callsite(#loc2 at "k.py":9:1))' in body
    assert [line.partition(" = ")[0] for line in names.splitlines()] == [
        *("#loc1", "#di_file1", "#di_compile_unit1", "#di_subprogram1", "#di_lexical_block1"),
        *("#loc2", "#loc3"),
    ]
    assert "line = 3>" in names


def test_the_page_has_legal_examples():
    page = (ROOT / "docs" / "cuda_tile.md").read_text()
    (example,) = re.findall(r"^```mlir\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert text_of(example)


@pytest.mark.parametrize("generic", [False, True])
def test_strings_beyond_ascii(generic: bool):
    text = text_of(kernel('assert %c, "no \u00b2" : tile<i1>'), generic=generic)
    assert '"no \\C2\\B2"' in text
    assert text_of(text, generic=generic) == text
