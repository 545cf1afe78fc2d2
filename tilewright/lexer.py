"""xDSL's lexer, faster: what most tokens are is found by one regular expression."""

from __future__ import annotations

import re
from typing import Any

from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRLexer, MLIRToken, MLIRTokenKind

SPACE = r"(?:\s+|//[^\n]*\n?)*+"
"""Possessive: no part of a comment is a token."""

_COMMON = re.compile(
    SPACE + r"(?:([a-zA-Z_][a-zA-Z0-9_$.]*)"
    r"|(%(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))"
    r"|(->|[:,()\[\]<>=+/*?|}]))",
    re.ASCII,
)
_KINDS = (None, MLIRTokenKind.BARE_IDENT, MLIRTokenKind.PERCENT_IDENT)


class _Token(Token[Any, Any]):
    """A token whose span is made when it is asked for."""

    def __init__(self, kind: MLIRTokenKind, text: str, end: int, input: Any):
        self.kind, self._text, self._end, self._input = kind, text, end, input

    @property
    def span(self) -> Span[Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return Span(self._end - len(self._text), self._end, self._input)

    @property
    def text(self) -> str:
        return self._text


class FastLexer(MLIRLexer):
    """A lexer of MLIR text."""

    def lex(self) -> MLIRToken:
        match = _COMMON.match(self.input.content, self.pos)
        if match is None:
            return super().lex()
        group = match.lastindex or 0
        kind = _KINDS[group] if group < 3 else KIND_BY_PUNCTUATION_SPELLING[match[3]]
        assert kind is not None
        self.pos = match.end()
        return _Token(kind, match[group], self.pos, self.input)
