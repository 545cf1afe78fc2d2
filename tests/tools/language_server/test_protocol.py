"""The language server as an editor has it: one process, JSON-RPC on its stdin and stdout."""

from __future__ import annotations

import re
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from editor import Editor

from tilewright.tools.instructions.explanation import explanation
from tilewright.tools.language_server.outline import KINDS
from tilewright.tools.tilewright import main

ROOT = Path(__file__).parents[3]
MMA = (ROOT / "examples" / "mma.mlir").read_text()
BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
BLOCKS = """\
// 😀 %x is no value here
func.func @count(%n: index) -> index {
  %zero = arith.constant 0 : index
  cf.br ^head(%zero : index)
^head(%i: index):
  %done = arith.cmpi eq, %i, %n : index
  cf.cond_br %done, ^end, ^body
^body:
  %one = arith.constant 1 : index
  %next = arith.addi %i, %one : index
  cf.br ^head(%next : index)
^end:
  func.return %i : index
}
func.func @twice(%n: index) -> index {
  %a = func.call @count(%n) : (index) -> index
  func.return %a : index
}
"""
PTX = f"""\
.version 8.0
.target sm_90a // the target
.visible .entry k(.param .u64 k_param_0)
{{
  .reg .b32 %r<8>;
  .reg .pred %p1;
$again: ld.param.u64 %rd1, [k_param_0];
  @%p1 {BF16}
    {{%r0, %r1, %r2, %r3}}, {{%r0, %r1, %r2, %r3}}, {{%r4}}, {{%r0, %r1, %r2, %r3}};
  mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {{%r0}}, {{%r1}}, {{%r2}}, {{%r3}};
  bra $again;
  frobnicate.u32 %r1;
}}
"""


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    editor = Editor("--python")
    answer = editor.ask("initialize", {"capabilities": {}, "processId": None})["capabilities"]
    assert {"hoverProvider", "definitionProvider", "completionProvider"} <= answer.keys()
    editor.send("initialized", {})
    assert editor.open("mma.mlir", MMA) == []
    editor.open("blocks.mlir", BLOCKS)
    editor.open("kernel.ptx", PTX)
    yield editor
    editor.ask("shutdown", None)
    editor.send("exit", None)
    assert editor.server.wait(10) == 0


def test_diagnostics_follow_what_is_typed(editor: Editor):
    uri = "file:///folder/typed.mlir"
    assert editor.open("typed.mlir", MMA) == []
    place = editor.at("typed.mlir", "16x8x16")["position"]
    end = {"line": place["line"], "character": place["character"] + len("16x8x16")}
    change = {"range": {"start": place, "end": end}, "text": "16x8x12"}
    document = {"uri": uri, "version": 2}
    editor.send("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
    [wrong] = editor.published(uri, 2)
    editor.texts[uri] = MMA.replace("16x8x16", "16x8x12")
    assert editor.piece("typed.mlir", wrong["range"]) == (10, "16x8x12")
    assert wrong["message"].endswith("got 16x8x12; nearest legal: 16x8x8, 16x8x16")
    whole = {"textDocument": {"uri": uri, "version": 3}, "contentChanges": [{"text": MMA}]}
    editor.send("textDocument/didChange", whole)
    assert editor.published(uri, 3) == []


def test_diagnostics_of_the_stages(editor: Editor):
    text = (ROOT / "examples" / "gemm_sm100.mlir").read_text()
    [wrong] = editor.open("sm100.mlir", text)
    assert wrong["message"].endswith("got target sm_90a")
    assert editor.piece("sm100.mlir", wrong["range"])[1].startswith("cute_nvgpu.tmem.alloc")


def test_every_fault_has_its_place(editor: Editor):
    text = BLOCKS.replace("func.return %i", "func.return %done").replace(
        "arith.addi %i, %one", "arith.addi %i, %unknown"
    )
    [wrong] = editor.open("wrong.mlir", text)
    assert editor.piece("wrong.mlir", wrong["range"]) == (10, "%unknown")


def test_diagnostics_of_ptx(editor: Editor):
    """By the target that it names; an instruction that nobody judges is none."""
    wrong = editor.open("other.ptx", PTX)
    assert [one["range"]["start"]["line"] + 1 for one in wrong] == [8, 10]
    assert [one["range"]["start"]["character"] for one in wrong] == [7, 2]
    assert "got {%r4}" in wrong[0]["message"] and "16x8x8" in wrong[1]["message"]
    older = editor.open("older.ptx", PTX.replace("sm_90a", "sm_75").replace("{%r4}", "{%r4, %r5}"))
    assert "sm_80" in older[0]["message"]


@pytest.mark.parametrize(("name", "what"), [("mma.mlir", "sm80.mma"), ("kernel.ptx", "mma.sync")])
def test_hovers_explain_an_instruction(name: str, what: str, editor: Editor):
    shown = editor.ask("textDocument/hover", editor.at(name, what, 2))
    assert "\n".join(explanation(BF16)) in shown["contents"]["value"]


CUTILE = """\
import cuda.tile as ct


# tilewright: a=8:f32
@ct.kernel
def k(a):
    ct.store(a, (0,), ct.load(a, (0,), (3,)))
"""


def test_diagnostics_of_python(editor: Editor):
    """It answers nothing else of Python, which other servers know."""
    [wrong] = editor.open("k.py", CUTILE)
    assert editor.piece("k.py", wrong["range"]) == (7, "ct.load") and wrong["severity"] == 1
    assert "power of two" in wrong["message"]
    assert editor.ask("textDocument/hover", editor.at("k.py", "ct.load")) is None
    assert editor.ask("textDocument/documentSymbol", editor.at("k.py", "ct.load")) == []


def test_hovers_say_why_there_is_none(editor: Editor):
    shown = editor.ask("textDocument/hover", editor.at("kernel.ptx", "f32.tf32"))
    assert "nearest legal" in shown["contents"]["value"]


def test_without_pygls_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys: Any):
    server = "tilewright.tools.language_server.server"
    monkeypatch.delitem(sys.modules, server, raising=False)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    with pytest.raises(SystemExit) as leaving:
        main(["lsp"])
    assert leaving.value.code == 1
    assert capsys.readouterr().err.endswith("nearest legal: pip install tilewright[lsp]\n")


def test_hovers_know_values_and_ops(editor: Editor):
    shown = editor.ask("textDocument/hover", editor.at("blocks.mlir", "%one :", 1))
    assert "%one : index" in shown["contents"]["value"]
    assert editor.piece("blocks.mlir", shown["range"]) == (10, "%one")
    shown = editor.ask("textDocument/hover", editor.at("mma.mlir", "fragment.splat"))
    assert "Every element of the fragment is the scalar." in shown["contents"]["value"]
    assert editor.ask("textDocument/hover", editor.at("blocks.mlir", "😀")) is None


def test_hovers_draw_layouts(editor: Editor):
    editor.open(
        "layout.mlir", '!t = !cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">'
    )
    shown = editor.ask("textDocument/hover", editor.at("layout.mlir", "((4,8)"))["contents"][
        "value"
    ]
    [image] = re.findall(r"\(data:image/svg\+xml;base64,(.*?)\)", shown)
    cells = ElementTree.fromstring(b64decode(image)).findall("{*}text[@class='cell']")
    assert [cell.text for cell in cells[:9]] == [
        str(index) for index in (0, 16, 8, 24, 128, 144, 136, 152, 32)
    ]


@pytest.mark.parametrize(
    ("name", "what", "more", "line", "defined"),
    [
        ("mma.mlir", "%a, %b", 1, 7, "%a"),
        ("mma.mlir", "!c\n", 1, 3, "!c"),
        ("blocks.mlir", "%i, %n", 0, 5, "%i"),
        ("blocks.mlir", "%n : index\n  cf", 1, 2, "%n"),
        ("blocks.mlir", "%n) :", 1, 15, "%n"),
        ("blocks.mlir", "^end, ", 1, 12, "^end"),
        ("blocks.mlir", "^head(%next", 1, 5, "^head"),
        ("blocks.mlir", "@count(%n) :", 1, 2, "@count"),
        ("kernel.ptx", "%r4}", 1, 5, "%r<8>"),
        ("kernel.ptx", "%p1 mma", 1, 6, "%p1"),
        ("kernel.ptx", "$again;", 1, 7, "$again"),
        ("kernel.ptx", "k_param_0]", 1, 3, "k_param_0"),
    ],
)  # fmt: skip
def test_definitions(name: str, what: str, more: int, line: int, defined: str, editor: Editor):
    found = editor.ask("textDocument/definition", editor.at(name, what, more))
    assert editor.piece(name, found["range"]) == (line, defined)


@pytest.mark.parametrize(
    ("name", "what", "lines"),
    [
        ("blocks.mlir", "%i, %n", [5, 6, 10, 13]),
        ("blocks.mlir", "^head(%next", [4, 5, 11]),
        ("blocks.mlir", "@count(%n) :", [2, 16]),
        ("mma.mlir", "!b\n", [2, 8, 10]),
        ("kernel.ptx", "%r4}", []),
    ],
)
def test_references_and_their_new_name(name: str, what: str, lines: list[int], editor: Editor):
    at = editor.at(name, what)
    places = editor.ask("textDocument/references", at | {"context": {"includeDeclaration": True}})
    shown = [editor.piece(name, place["range"]) for place in places]
    assert [line for line, _ in shown] == lines and {word for _, word in shown} <= {
        re.split(r"[^%^@!\w]", what)[0]
    }
    edit = editor.ask("textDocument/rename", at | {"newName": "fresh"})
    assert (edit is None) == (not lines)
    if edit is not None:
        [edits] = edit["changes"].values()
        pieces = [editor.piece(name, one["range"])[1] for one in edits]
        assert pieces == [word[1:] for _, word in shown]
        assert {one["newText"] for one in edits} == {"fresh"}


@pytest.mark.parametrize("new", ["%n", "a b", "1", ""])
def test_names_that_are_taken_or_none_are_refused(new: str, editor: Editor):
    at = editor.at("blocks.mlir", "%i, %n")
    assert editor.ask("textDocument/rename", at | {"newName": new}) is None


def test_the_outline_and_the_colours(editor: Editor):
    def document(name: str) -> dict[str, Any]:
        return {"textDocument": {"uri": f"file:///folder/{name}"}}

    names = {"blocks.mlir": ["count", "twice"], "mma.mlir": ["mma"], "kernel.ptx": ["k"]}
    for name, expected in names.items():
        listed = editor.ask("textDocument/documentSymbol", document(name))
        assert [one["name"] for one in listed] == expected
        words = [editor.piece(name, one["selectionRange"])[1] for one in listed]
        assert [word.lstrip("@") for word in words] == expected
    data = editor.ask("textDocument/semanticTokens/full", document("blocks.mlir"))["data"]
    tokens, line, column = [], 0, 0
    for below, ahead, length, kind, _ in zip(*[iter(data)] * 5, strict=True):
        line, column = line + below, ahead + (0 if below else column)
        ends = [{"line": line, "character": place} for place in (column, column + length)]
        [_, word] = editor.piece("blocks.mlir", dict(zip(("start", "end"), ends, strict=True)))
        tokens.append((word, KINDS[kind]))
    assert tokens[0] == ("// 😀 %x is no value here", "comment")
    for token in (("func.func", "keyword"), ("@count", "function"), ("^head", "variable"),
                  ("%n", "variable"), ("index", "type"), ("0", "number")):  # fmt: skip
        assert token in tokens


@pytest.mark.parametrize(
    ("name", "typed", "expected"),
    [
        ("t.mlir", "  cute_nvgpu.wgmma.f", ["cute_nvgpu.wgmma.fence"]),
        ("t.mlir", "  cute_nvg", ["cute_nvgpu."]),
        ("t.mlir", "  %d = cute_nvgpu.sm89.mma %a, %b, %c <16x8x1", ["16x8x16, "]),
        ("t.mlir", "!t = !cute_nvgpu.sm90.mma<64x8x8, ", [
            "64x8x8, elem_type = (tf32, tf32, f32), ",
        ]),
        ("t.mlir", "  %d = cute_nvgpu.sm100.mma %a, %b, %c <", []),
        ("t.mlir", "  func.return %la", ["%lane"]),
        ("t.ptx", "  mma.sync.aligned.m16n8k32.row.col.f32.e", [
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.",
            "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.",
        ]),
    ],
)  # fmt: skip
def test_completions(name: str, typed: str, expected: list[str], editor: Editor):
    """Of what sm_90a runs: a piece where more may follow, all where nothing else does."""
    number = next(editor.numbers)
    name = f"{number}{name}"
    ahead = MMA.partition("  func.return")[0] if name.endswith("mlir") else ".target sm_90a\n"
    editor.open(name, f"{ahead}{typed}\n}}")
    listed = editor.ask("textDocument/completion", editor.at(name, f"{typed}\n}}", len(typed)))
    assert [item["label"] for item in listed["items"]] == expected
    for item in listed["items"]:
        assert typed.endswith(editor.piece(name, item["textEdit"]["range"])[1])


ENDLESS = "func.func @f() {\n" + "".join(
    f"  %v{number} = arith.constant {number} : i32\n" for number in range(40_000)
) + "  func.return\n}\n"  # fmt: skip
"""A text whose analysis takes longer than any limit of these tests."""


def changed(editor: Editor, name: str, text: str, version: int) -> str:
    uri = f"file:///folder/{name}"
    editor.texts[uri] = text
    document = {"uri": uri, "version": version}
    changes = {"textDocument": document, "contentChanges": [{"text": text}]}
    editor.send("textDocument/didChange", changes)
    return uri


def test_a_text_that_takes_too_long():
    """It gets a warning; meanwhile other requests are answered, and a new text is looked at."""
    editor = Editor("--seconds", "1.5")
    editor.ask("initialize", {"capabilities": {}, "processId": None})
    editor.send("initialized", {})
    python = editor.show("k.py", CUTILE)
    assert editor.open("mma.mlir", MMA) == []
    assert python not in editor.diagnostics  # nobody has asked for --python
    [warning] = editor.open("endless.mlir", ENDLESS)
    assert warning["message"] == "not analysed: expected an answer within 1.5 seconds, got none"
    assert warning["severity"] == 2
    uri = changed(editor, "endless.mlir", ENDLESS + "\n", 2)
    said = editor.ask("textDocument/hover", editor.at("mma.mlir", "sm80.mma"))
    assert "sm80.mma" in said["contents"]["value"]
    # Asked while the text was looked at: that is not over.
    assert editor.diagnostics[uri]["version"] == 1
    changed(editor, "endless.mlir", MMA, 3)
    assert editor.published(uri, 3) == []
    editor.ask("shutdown", None)
    editor.send("exit", None)
    assert editor.server.wait(10) == 0


def test_a_text_that_changed_meanwhile():
    """The analysis of the older one is ended, long before its time is up; it is not published."""
    editor = Editor("--seconds", "300")
    editor.ask("initialize", {"capabilities": {}, "processId": None})
    editor.send("initialized", {})
    assert editor.open("mma.mlir", MMA) == []
    uri = changed(editor, "mma.mlir", ENDLESS, 2)
    time.sleep(0.3)
    changed(editor, "mma.mlir", MMA, 3)
    assert editor.published(uri, 3) == []
    # Leaving does not wait for what is looked at either.
    changed(editor, "mma.mlir", ENDLESS, 4)
    time.sleep(0.2)
    editor.ask("shutdown", None)
    editor.send("exit", None)
    assert editor.server.wait(10) == 0
