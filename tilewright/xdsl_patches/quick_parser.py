"""xDSL's parser, faster: tokens without their spans, and types and ops that were read before."""

import re
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from xdsl.context import Context
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRToken,
    MLIRTokenKind,
    PunctuationSpelling,
)

from tilewright.dialects.frozen import frozen
from tilewright.xdsl_patches.lexer import SPACE


def _bracketed(nested: str = "") -> str:
    """The pattern of what stands in `<>`, which may be `nested` there: with no `#alias` and no
    `!alias`, which mean something else elsewhere."""
    return rf'<(?:[^<>"#!]|"[^"\\]*"|[#!]\w+(?:\.[\w.$]+|(?=<)){nested})*+>'


_NESTED = _bracketed("|" + _bracketed("|" + _bracketed()))
_TYPE = re.compile(rf"!?[\w.$]+{_NESTED}", re.ASCII)
_DICTIONARY = re.compile(r'{(?:[^{}"#!/]|"[^"\\]*")*+}', re.ASCII)
"""A dictionary of attributes without those that mean something else elsewhere."""
_BLANK = re.compile(SPACE)
_VALUE = re.compile(r"%[\w$.-]+(?:#[0-9]+)?")
_MEANT_ELSEWHERE = re.compile(r"[\"#^]|//|![\w$-]+(?![\w$.<-])", re.ASCII)
"""Parts of a line that mean something else elsewhere, or may hold a `%`."""
_NEXT = re.compile(r"\n\s*([%}])")
"""The next line of an op that ends with its own, as another one of the same line did."""
_MOST = 1 << 12


@frozen
class ReadOp:
    """An op but for its values: its operands are those that its text names at places, of types."""

    class_: type[Operation]
    operands: Sequence[tuple[int, Attribute]]
    rest: dict[str, Any]


@frozen
class ReadBefore:
    """Parts of texts that a context has read: types, dictionaries, and ops of one line but for its
    place and the names of values, by that line and what comes behind it."""

    types: dict[str, TypeAttribute] = field(default_factory=dict[str, TypeAttribute])
    dictionaries: dict[str, dict[str, Attribute]] = field(
        default_factory=dict[str, dict[str, Attribute]]
    )
    ops: dict[Any, ReadOp] = field(default_factory=dict[Any, ReadOp])


def _keep(known: dict[Any, Any], text: Any, what: Any) -> None:
    if len(known) >= _MOST:
        known.clear()
    known[text] = what


class QuickParser(Parser):
    """A parser of MLIR text, which keeps what it reads where it is given what is `known`."""

    def __init__(self, ctx: Context, text: str, name: str, known: ReadBefore | None = None):
        super().__init__(ctx, text, name)
        self._known = known

    def parse_operation(self) -> Operation:
        start, text = self.pos, self.lexer.input.content
        end = text.find("\n", start)
        place = text.rfind(" loc(", start, end)
        # An op without a place may go on in the next line.
        following = None if place >= 0 or end < 0 else _NEXT.match(text, end)
        if self._known is None or (place < 0 and following is None):
            return super().parse_operation()
        line = text[start : end if place < 0 else place]
        key = (_VALUE.sub("%", line), following and following[1], *self._parser_state.dialect_stack)
        read = self._known.ops.get(key)
        if read is not None and (op := self._again(read, line)) is not None:
            return op
        op = super().parse_operation()
        if read is None and not (op.regions or op.successors or _MEANT_ELSEWHERE.search(key[0])):
            _, values = self._values(line)
            places = [values.index(x) if x in values else -1 for x in op.operands]
            if sorted(places) == [*range(len(values))] and _BLANK.fullmatch(text, end, self.pos):
                rest = {"result_types": op.result_types, "properties": {**op.properties},
                        "attributes": {**op.attributes}}  # fmt: skip
                operands = [*zip(places, op.operand_types, strict=True)]
                _keep(self._known.ops, key, ReadOp(type(op), operands, rest))
        return op

    def _again(self, read: ReadOp, line: str) -> Operation | None:
        """The op of a line like one that was read; None where it names what does not fit."""
        bound, values = self._values(line)
        operands = [values[place] for place, _ in read.operands]
        for value, (_, type_) in zip(operands, read.operands, strict=True):
            if value is None or (value.type is not type_ and value.type != type_):
                return None
        if bound in self.ssa_values:
            return None
        self._resume_from(self.pos + len(line))
        op = read.class_.create(operands=operands, **read.rest)
        if (location := self.parse_optional_location()) is not None:
            op.location = location
        if bound is not None:
            self._register_ssa_definition(bound, op.results, self._current_token.span)
        return op

    def _values(self, line: str) -> tuple[str | None, list[Any]]:
        """The name that an op's line gives to its results, and the values that it names, None for
        those that nothing before it defines."""
        names = [name[1:].partition("#") for name in _VALUE.findall(line)]
        bound = names.pop(0)[0] if line.startswith("%") else None
        values: list[Any] = []
        for name, _, index in names:
            known, i = self.ssa_values.get(name, ()), int(index or 0)
            values.append(known[i] if i < len(known) else None)
        return bound, values

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

    def parse_optional_dictionary_attr_dict(self) -> dict[str, Attribute]:
        start = self.pos
        match = self._known and _DICTIONARY.match(self._parser_state.lexer.input.content, start)
        if self._known is None or match is None:
            return super().parse_optional_dictionary_attr_dict()
        attributes = self._known.dictionaries.get(match[0])
        if attributes is None:
            attributes = super().parse_optional_dictionary_attr_dict()
            _keep(self._known.dictionaries, match[0], attributes)
        else:
            self._resume_from(match.end())
        return {**attributes}

    def parse_optional_type(self) -> TypeAttribute | None:
        if self._known is None:
            return super().parse_optional_type()
        lexer, start = self._parser_state.lexer, self.pos
        text: Any = lexer.input.content
        match = _TYPE.match(text, start)
        spelling = self._current_token.text if match is None else match[0]
        type_ = self._known.types.get(spelling)
        end = start + len(spelling)
        if type_ is not None:
            self._resume_from(end)
            return type_
        type_ = super().parse_optional_type()
        is_alias = match is None and spelling.startswith("!")
        if type_ is not None and not is_alias and _BLANK.fullmatch(text, end, self.pos):
            _keep(self._known.types, spelling, type_)
        return type_
