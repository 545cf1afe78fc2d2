"""xDSL's lexer, faster: what most tokens are is found by one regular expression."""

import re
from typing import Any

from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRLexer, MLIRToken, MLIRTokenKind

SPACE = r"(?:\s+|//[^\n]*\n?)*+"
"""Possessive: no part of a comment is a token."""

_COMMON = re.compile(
    SPACE + r"(?:([a-zA-Z_][a-zA-Z0-9_$.]*)"
    r"|(%(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))"
    r"|(!(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))"
    r"|(#(?:[0-9]+|[a-zA-Z$._][a-zA-Z0-9$._-]*))"
    r"|([0-9]+(?![0-9.x]))"
    r"|(->|[:,()\[\]<>=+/*?|}]))",
    re.ASCII,
)
_KINDS = (
    None, MLIRTokenKind.BARE_IDENT, MLIRTokenKind.PERCENT_IDENT, MLIRTokenKind.EXCLAMATION_IDENT,
    MLIRTokenKind.HASH_IDENT, MLIRTokenKind.INTEGER_LIT,
)  # fmt: skip


class _Token(Span[Any]):
    """A token that is its own span."""

    __setattr__ = object.__setattr__
    text: str = ""  # pyright: ignore[reportIncompatibleMethodOverride]

    def __init__(self, kind: MLIRTokenKind, text: str, end: int, input: Any):
        own: Any = self
        own.kind, own.text, own.input = kind, text, input
        own.start, own.end = end - len(text), end

    @property
    def span(self) -> Span[Any]:
        return self


_lex_any = MLIRLexer.lex


def lex(lexer: MLIRLexer) -> MLIRToken:
    """The next token of MLIR text; of assembly formats, whose words are others, xDSL's own."""
    match = _COMMON.match(lexer.input.content, lexer.pos) if type(lexer) is MLIRLexer else None
    if match is None:
        return _lex_any(lexer)
    group = match.lastindex or 0
    kind = _KINDS[group] if group < 6 else KIND_BY_PUNCTUATION_SPELLING[match[6]]
    assert kind is not None
    lexer.pos = match.end()
    token: Any = _Token(kind, match[group], lexer.pos, lexer.input)
    return token
