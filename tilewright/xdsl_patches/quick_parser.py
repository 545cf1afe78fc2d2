"""xDSL's parser, faster: tokens without their spans, and types that were read before."""

import re
from typing import Any

from xdsl.context import Context
from xdsl.ir import TypeAttribute
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRToken,
    MLIRTokenKind,
    PunctuationSpelling,
)

from tilewright.xdsl_patches.lexer import SPACE


def _bracketed(nested: str = "") -> str:
    """The pattern of what stands in `<>`, which may be `nested` there: with no `#alias` and no
    `!alias`, which mean something else elsewhere."""
    return rf'<(?:[^<>"#!]|"[^"\\]*"|[#!]\w+(?:\.[\w.$]+|(?=<)){nested})*+>'


_NESTED = _bracketed("|" + _bracketed("|" + _bracketed()))
_TYPE = re.compile(rf"!?[\w.$]+{_NESTED}", re.ASCII)
_BLANK = re.compile(SPACE)
_MOST_TYPES = 1 << 12


class QuickParser(Parser):
    """A parser of MLIR text. With `types` it keeps the types that it reads, by their text: those
    that the same context has read."""

    def __init__(
        self, ctx: Context, text: str, name: str, types: dict[str, TypeAttribute] | None = None
    ):
        super().__init__(ctx, text, name)
        self._types = types

    def _consume_token(self, expected_kind: MLIRTokenKind | None = None) -> MLIRToken:
        state = self._parser_state
        token = state.current_token
        assert expected_kind is None or token.kind is expected_kind
        state.current_token = state.lexer.lex()
        return token

    def _parse_optional_token(self, expected_kind: MLIRTokenKind) -> MLIRToken | None:
        state = self._parser_state
        token = state.current_token
        if token.kind is not expected_kind:
            return None
        state.current_token = state.lexer.lex()
        return token

    def parse_optional_punctuation(self, punctuation: PunctuationSpelling) -> Any:
        kind = KIND_BY_PUNCTUATION_SPELLING[punctuation]
        return None if self._parse_optional_token(kind) is None else punctuation

    def parse_punctuation(self, punctuation: PunctuationSpelling, context_msg: str = "") -> Any:
        kind = KIND_BY_PUNCTUATION_SPELLING[punctuation]
        if self._parse_optional_token(kind) is None:
            self.raise_error(f"Expected '{punctuation}'{context_msg}", self._current_token.span)
        return punctuation

    def parse_optional_characters(self, text: str) -> str | None:
        state = self._parser_state
        if state.current_token.text != text:
            return None
        state.current_token = state.lexer.lex()
        return text

    def resolve_operand(self, operand: UnresolvedOperand, type: Any) -> Any:
        values = self.ssa_values.get(operand.span.text[1:])
        if values is not None and operand.index < len(values):
            value = values[operand.index]
            if value.type is type:
                return value
        return super().resolve_operand(operand, type)

    def parse_optional_type(self) -> TypeAttribute | None:
        if self._types is None:
            return super().parse_optional_type()
        lexer, start = self._parser_state.lexer, self.pos
        text: Any = lexer.input.content
        match = _TYPE.match(text, start)
        spelling = self._current_token.text if match is None else match[0]
        type_ = self._types.get(spelling)
        end = start + len(spelling)
        if type_ is not None:
            self._resume_from(end)
            return type_
        type_ = super().parse_optional_type()
        is_alias = match is None and spelling.startswith("!")
        if type_ is not None and not is_alias and _BLANK.fullmatch(text, end, self.pos):
            if len(self._types) >= _MOST_TYPES:
                self._types.clear()
            self._types[spelling] = type_
        return type_
