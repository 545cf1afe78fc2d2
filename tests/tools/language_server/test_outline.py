"""The tokens of texts, as an editor and the pages colour them."""

from __future__ import annotations

import re

import pytest

from tilewright.tools.language_server.outline import KINDS, LANGUAGES, tokens

MLIR = """// A comment.
func.func @f(%x: f32) attributes {#a} {
  ^bb: "s" 3
}"""
PTX = """/* Two
lines. */
.visible .entry f(
  .param .u64 f_0
) {
  @%p1 bra $L1;
  mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1}, [%rd2+16];
$L1:
  ret;
}"""
PYTHON = """# A comment.
@ct.kernel
def f(a):
    'Text.'
    return a[0] + "x"
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("k.mlir", MLIR,
         {"comment": "// A comment.", "keyword": "func.func", "function": "@f",
          "variable": "%x ^bb", "type": "f32", "decorator": "#a", "string": '"s"', "number": "3"}),
        ("k.ptx", PTX,
         {"comment": "/* Two\nlines. */", "decorator": ".visible .entry .param", "type": ".u64",
          "function": "f $L1", "variable": "%p1 %f1 %rd2", "number": "16",
          "keyword": "bra mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 ret"}),
        ("k.py", PYTHON,
         {"comment": "# A comment.", "decorator": "@ct.kernel", "keyword": "def return",
          "function": "f", "string": "'Text.' \"x\"", "number": "0"}),
    ],
)  # fmt: skip
def test_every_kind_of_token(name: str, text: str, expected: dict[str, str]):
    kinds: dict[str, dict[str, None]] = {}
    for start, end, kind in tokens(text, name):
        kinds.setdefault(KINDS[kind], {})[text[start:end]] = None
    assert {kind: " ".join(words) for kind, words in kinds.items()} == expected


def test_patterns_are_those_of_javascript():
    """Nothing that Python alone has: named groups, flags, anchors of its own."""
    for pattern, kinds in LANGUAGES.values():
        assert re.compile(pattern).groups == len(kinds) and set(kinds) <= set(KINDS)
        assert not re.search(r"\(\?(?!:|<=|=|!)|\\[AZ]", pattern)
