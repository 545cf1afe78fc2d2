"""xDSL's lexer, faster: what most tokens are is found by one regular expression."""

from __future__ import annotations

import re

from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRLexer, MLIRToken, MLIRTokenKind

_COMMON = re.compile(
    r"(?:\s+|//[^\n]*\n?)*+"  # possessive: no part of a comment is a token
    r"(?:([a-zA-Z_][a-zA-Z0-9_$.]*)"
    r"|(%(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*))"
    r"|(->|[:,()\[\]<>=+/*?|}]))",
    re.ASCII,
)
_KINDS = (None, MLIRTokenKind.BARE_IDENT, MLIRTokenKind.PERCENT_IDENT)


class FastLexer(MLIRLexer):
    """A lexer of MLIR text."""

    def lex(self) -> MLIRToken:
        found = _COMMON.match(self.input.content, self.pos)
        if found is None:
            return super().lex()
        group = found.lastindex or 0
        kind = _KINDS[group] if group < 3 else KIND_BY_PUNCTUATION_SPELLING[found[3]]
        start, self.pos = found.span(group)
        assert kind is not None
        return Token(kind, Span(start, self.pos, self.input))
