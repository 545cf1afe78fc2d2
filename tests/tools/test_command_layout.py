"""`tilewright layout`, against the formulas of the PTX ISA."""

import re
from xml.etree import ElementTree

import pytest

from tilewright.dialects.cute_nvgpu.lookup import parse
from tilewright.tools.command_layout import fragments
from tilewright.tools.render_svg import colour
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
    assert layout == f"layout {parse(BF16).tv_layout(operand)}"
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
    expected = [f"T{thread}V{value}" for row in fragment.cells for thread, value in row]
    assert [cell.text for cell in cells] == expected
    assert len(list(root.iter(f"{name}rect"))) == len(cells) + 1
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for cell in cells:
        assert 0 < float(cell.get("x", 0)) < width and 0 < float(cell.get("y", 0)) < height
    # Nothing is referred to that the file does not hold.
    assert not re.search(r"href|url\(|@import", path.read_text())


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
        ([BF16, "A", "--svg", "/nowhere/a.svg"], "cannot write '/nowhere/a.svg': No such file"),
    ],
)
def test_wrong_input(words, said, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["layout", *words])
    captured = capsys.readouterr()
    assert leaving.value.code == 1 and not captured.out
    assert captured.err.startswith("error: ") and said in captured.err
