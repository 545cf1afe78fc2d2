"""`tilewright layout`, against the formulas of the PTX ISA."""

import re
from xml.etree import ElementTree

import pytest
from run_command import refused

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.drawing import colour
from tilewright.dialects.cute.swizzle import parse_layout
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.tools.commands.layout import fragments
from tilewright.tools.tilewright import main

BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"


def shown(capsys, *words):
    main(["layout", *words])
    return capsys.readouterr().out


def isa_a(thread, i):
    """PTX ISA 9.7.14.5.8, A of m16n8k16 with 16-bit elements: (row, column) of a_i."""
    group, place = thread // 4, thread % 4
    row = group if 0 <= i < 2 or 4 <= i < 6 else group + 8
    return row, place * 2 + (i & 1) + (0 if i < 4 else 8)


def isa_b(thread, i):
    group, place = thread // 4, thread % 4
    return place * 2 + (i & 1) + (0 if i < 2 else 8), group


def isa_c(thread, i):
    group, place = thread // 4, thread % 4
    return group + (0 if i < 2 else 8), place * 2 + (i & 1)


@pytest.mark.parametrize(
    ("operand", "formula", "values", "axes"),
    [
        ("A", isa_a, 8, ("m", "k")),
        ("B", isa_b, 4, ("k", "n")),
        ("C", isa_c, 4, ("m", "n")),
        ("D", isa_c, 4, ("m", "n")),
    ],
)
def test_rows_and_columns_are_those_of_the_isa(operand, formula, values, axes, capsys):
    title, layout, _, heading, *rows = shown(capsys, BF16, operand.lower()).splitlines()
    assert title.startswith(f"{BF16}: {operand}, {len(rows)} x {len(heading.split()) - 1} of ")
    assert title.endswith(f"rows {axes[0]}, columns {axes[1]}")
    assert layout == f"layout (thread, value) -> index: {parse(BF16).tv_layout(operand)}"
    assert heading.split()[0] == "\\".join(axes)
    table = [row.split()[1:] for row in rows]
    for thread in range(32):
        for value in range(values):
            row, column = formula(thread, value)
            assert table[row][column] == f"T{thread}V{value}"


def test_svg(tmp_path, capsys):
    path = tmp_path / "b.svg"
    assert shown(capsys, BF16, "B", "--svg", str(path)) == ""
    root = ElementTree.fromstring(path.read_text())
    name = "{http://www.w3.org/2000/svg}"
    cells = [text for text in root.iter(f"{name}text") if text.get("class") == "cell"]
    fragment = fragments(parse(BF16), "B")
    expected = [text for row in fragment.cells for text, _ in row]
    assert [cell.text for cell in cells] == expected
    assert len(list(root.iter(f"{name}rect"))) == len(cells) + 1
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for cell in cells:
        assert 0 < float(cell.get("x", 0)) < width and 0 < float(cell.get("y", 0)) < height
    # Nothing is referred to that the file does not hold.
    assert not re.search(r"href|url\(|@import", path.read_text())


@pytest.mark.parametrize(
    "text", ["(4,8):(8,1)", "((2,2),(2,4)):((1,4),(2,8))", "8:2", "S<2,0,3> o 0 o (8,4):(4,1)"]
)
def test_any_layout(text, capsys):
    layout = parse_layout(text)
    title, about, _, heading, *rows = shown(capsys, text).splitlines()
    assert title == text and about.endswith(f"cosize {layout.cosize()}")
    table = [list(map(int, row.split()[1:])) for row in rows]
    down = len(rows)
    assert heading.split()[1:] == [str(j) for j in range(len(table[0]))]
    for i, row in enumerate(table):
        assert row == [layout(i + down * j) for j in range(len(row))]
    root = ElementTree.fromstring(shown(capsys, text, "--svg", "-"))
    cells = [each.text for each in root.iter() if each.get("class") == "cell"]
    assert cells == [str(index) for row in table for index in row]
    assert ElementTree.fromstring(layout._repr_html_()).tag.endswith("svg")


def test_notebooks_show_coordinates_large_layouts_and_atoms():
    assert "(1,2)" in Layout.parse("(2,3):(1@0,1@1)")._repr_html_()
    assert Layout((512, 512))._repr_html_() == "<code>(512,512):(1,512)</code>"
    html = parse(BF16)._repr_html_()
    assert html.count("<svg") == 3 and "T31V3" in html


def test_svg_on_stdout(capsys):
    ElementTree.fromstring(shown(capsys, BF16, "A", "--svg", "-"))


def test_every_thread_of_a_warp_has_its_colour():
    assert len({colour(thread) for thread in range(32)}) == 32
    assert colour(128) == colour(0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mma.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32", "A"], "nearest legal mnemonic"),
        (["cp.async.cg.shared.global", "A"], "expected an MMA"),
        (
            [
                "(4,8):(8",
            ],
            "expected a layout such as (4,8):(8,1), expected",
        ),
        (["(4,8):(8,1)", "A"], "expected neither an operand, --select nor --idesc"),
        (["(256,256):(1,256)"], "at most 16384 elements to draw, got 65536"),
        ([BF16, "A", "--svg", "/nowhere/a.svg"], "cannot write '/nowhere/a.svg': No such file"),
    ],
)
def test_wrong_input(words, said, capsys):
    error = refused(capsys, main, ["layout", *words])
    assert error.startswith("error: ") and said in error


SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k{k}.row.col.{d}.{a}.{a}.{d}"
SCALED = (
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::{vector}X"
    ".f32.e2m1.e2m1.f32.{scale}"
)


def cells(capsys, mnemonic, operand, *words):
    """The (thread, value) of each row and column that `layout` prints."""
    lines = shown(capsys, mnemonic, operand, *words).splitlines()[4:]
    table = [[re.fullmatch(r"T(\d+)V(\d+)", cell) for cell in row.split()[1:]] for row in lines]
    return [[(int(cell[1]), int(cell[2])) for cell in row if cell] for row in table]


@pytest.mark.parametrize("selector", range(4))
def test_metadata_of_one_thread_in_four(selector, capsys):
    """PTX ISA 9.7.14.6.2.1: thread 4*g + selector holds rows g and g + 8 of an m16n8k16."""
    found = cells(capsys, SPARSE.format(k=16, a="bf16", d="f32"), "E", "--select", str(selector))
    assert len(found) == 16
    for row, columns in enumerate(found):
        assert columns == [(row % 8 * 4 + selector, row // 8 * 8 + j) for j in range(8)]


@pytest.mark.parametrize("selector", range(2))
def test_metadata_of_two_threads_in_four(selector, capsys):
    """PTX ISA 9.7.14.6.2.5: the pair of threads holds row g, and row g + 8, of an m16n8k32."""
    found = cells(capsys, SPARSE.format(k=32, a="s8", d="s32"), "e", "--select", str(selector))
    for row, columns in enumerate(found):
        thread = row % 8 * 4 + 2 * selector + row // 8
        assert columns == [(thread, j) for j in range(16)]


def test_metadata_of_every_thread(capsys):
    found = cells(capsys, SPARSE.format(k=64, a="e4m3", d="f32"), "E")
    assert {thread for row in found for thread, _ in row} == set(range(32))


@pytest.mark.parametrize("thread_id", range(2))
@pytest.mark.parametrize("byte_id", [0, 2])
def test_scale_factors_of_a(byte_id, thread_id, capsys):
    """PTX ISA 9.7.14.3: threads 4*g + 2*thread-id and the one after it hold rows g and g + 8."""
    mnemonic = SCALED.format(vector=2, scale="ue8m0")
    found = cells(capsys, mnemonic, "SFA", "--select", f"{byte_id},{thread_id}")
    for row, columns in enumerate(found):
        thread = row % 8 * 4 + 2 * thread_id + row // 8
        assert columns == [(thread, byte_id), (thread, byte_id + 1)]


@pytest.mark.parametrize("thread_id", range(4))
def test_scale_factors_of_b(thread_id, capsys):
    mnemonic = SCALED.format(vector=4, scale="ue4m3")
    found = cells(capsys, mnemonic, "SFB", "--select", f"0,{thread_id}")
    assert found == [[(4 * n + thread_id, s) for n in range(8)] for s in range(4)]


def test_the_first_selectors_are_the_default(capsys):
    mnemonic = SCALED.format(vector=2, scale="ue8m0")
    assert cells(capsys, mnemonic, "SFB") == cells(capsys, mnemonic, "SFB", "--select", "0,0")
    title = shown(capsys, mnemonic, "SFB").splitlines()[0]
    assert title.endswith("SFB, 2 x 8 of ue8m0, rows s, columns n, byte-id-b 0, thread-id-b 0")


def test_four_matrices(capsys):
    """PTX ISA 9.7.14.5.1: row-major A of m8n8k4, its four matrices one after the other."""
    found = cells(capsys, "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "A")
    for row, columns in enumerate(found):
        first = row % 4 + row // 4 * 16
        assert columns == [(first + 4 * pair, i) for pair in range(4) for i in range(4)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([BF16, "E"], f"{BF16} expected an operand of A, B, C, D, got E"),
        ([SPARSE.format(k=32, a="s8", d="s32"), "SFA"], "an operand of A, B, C, E, D, got SFA"),
        (
            [SPARSE.format(k=32, a="s8", d="s32"), "E", "--select", "2"],
            "expected a sparsity selector of 0, 1 for E, got '2'; nearest legal: 0",
        ),
        ([BF16, "A", "--select", "0"], "expected no selectors for A, got '0'; nearest legal: none"),
        (
            [SCALED.format(vector=2, scale="ue8m0"), "SFA", "--select", "1,1"],
            "expected a byte-id-a of 0, 2; a thread-id-a of 0, 1 for SFA, got '1,1'; "
            "nearest legal: 0,1",
        ),
        ([SCALED.format(vector=2, scale="ue8m0"), "SFA", "--select", "2"], "nearest legal: 2,0"),
    ],
)
def test_operands_and_selectors_that_it_does_not_have(words, said, capsys):
    error = refused(capsys, main, ["layout", *words])
    assert error.startswith("error: ") and said in error
