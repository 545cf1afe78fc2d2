"""The faster lexer gives the tokens of xDSL's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind

from tilewright.xdsl_patches.lexer import _lex_any, lex  # pyright: ignore[reportPrivateUsage]

FILES = sorted((Path(__file__).parents[1] / "filecheck" / "dialects").rglob("*.mlir"))
ODD = (
    '// a\n// (c)\n  #x = "s" // d\n{-# -#} #-} {x} -> - ... @f @"g" !t ^b %0 %a.b 1.5e3 0x1F 4x8',
    "x // to the end",
    "%",
    "%0 \x00",
    "tileé",
    "..",
    '"open',
)


def tokens(
    lex: Callable[[MLIRLexer], MLIRToken], text: str
) -> list[tuple[MLIRTokenKind | str, int, int]]:
    lexer = MLIRLexer(Input(text, "x"))
    found: list[tuple[MLIRTokenKind | str, int, int]] = []
    try:
        while not found or found[-1][0] is not MLIRTokenKind.EOF:
            token = lex(lexer)
            found.append((token.kind, token.span.start, token.span.end))
    except ParseError as error:
        found.append((error.msg, error.span.start, error.span.end))
    return found


@pytest.mark.parametrize("text", [*ODD, *(path.read_text() for path in FILES[::4])])
def test_tokens_are_the_same(text: str):
    assert tokens(lex, text) == tokens(_lex_any, text)
