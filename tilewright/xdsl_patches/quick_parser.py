"""xDSL's parser, faster: tokens without their spans, and types and ops that were read before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue, TypeAttribute
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
_VALUE = re.compile(r"(%[\w$.-]+(?:#[0-9]+)?)")
_MEANT_ELSEWHERE = re.compile(r"[\"#^]|//|![\w$-]+(?![\w$.<-])", re.ASCII)
"""Parts of a line that mean something else elsewhere, or may hold a `%`."""
_NEXT = re.compile(r"\n\s*([%}])")
"""The next line of an op that ends with its own, as another one of the same line did."""
_MOST = 1 << 14


@frozen
class ReadOp:
    """An op but for its values: its operands are those that its text names at places, of types."""

    class_: type[Operation]
    operands: Sequence[tuple[int, Attribute]]
    rest: dict[str, Any]


ReadBefore = dict[Any, Any]
"""Parts of texts that a context has read: types and dictionaries, and ops of one line but for its
place and the names of values, by that line and what comes behind it."""


class _OpLine(NamedTuple):
    """A line of a text: where it begins, its place does, if it says one, and it ends; what it is
    but for values, the names of these, and whether the first is of its results."""

    start: int
    place: int
    end: int
    key: Any
    names: Sequence[str]
    bound: bool


@lru_cache(1 << 12)
def _hint(name: str) -> str | None:
    """The hint of a value that a text names so; None where it is a number."""
    return SSAValue.extract_valid_name(name) if SSAValue.is_valid_name(name) else None


def _keep(known: ReadBefore, text: Any, what: Any) -> None:
    if len(known) >= _MOST:
        known.clear()
    known[text] = what


class QuickParser(Parser):
    """A parser of MLIR text, which keeps what it reads where it is given what is `known`."""

    def __init__(self, ctx: Context, text: str, name: str, known: ReadBefore | None = None):
        super().__init__(ctx, text, name)
        self._known = known
        self._unknown: _OpLine | None = None
        """The line where the parser stands, which it is to know."""

    def location(self, position: int) -> LocationAttr:
        """A position in the text as the location of an op that says none."""
        return UNKNOWN_LOC

    def parse_operation(self) -> Operation:
        line, self._unknown = self._unknown, None
        op = super().parse_operation()
        if line is None or self._known is None or op.regions or op.successors:
            return op
        if _MEANT_ELSEWHERE.search(line.key[0]):
            return op
        values = self._values(line.names[1:] if line.bound else line.names)
        places = [values.index(x) if x in values else -1 for x in op.operands]
        text: Any = self.lexer.input.content
        if sorted(places) == [*range(len(values))] and _BLANK.fullmatch(text, line.end, self.pos):
            rest = {"result_types": op.result_types, "properties": {**op.properties},
                    "attributes": {**op.attributes}}  # fmt: skip
            operands = [*zip(places, op.operand_types, strict=True)]
            _keep(self._known, line.key, ReadOp(type(op), operands, rest))
        return op

    def _parse_block_body(self, block: Block) -> None:
        while self._known is not None:
            self._read_again(block, self._known)
            if (op := self.parse_optional_operation()) is None:
                return
            block.add_op(op)
        super()._parse_block_body(block)

    def _read_again(self, block: Block, known: ReadBefore) -> None:
        """Add the ops of lines like those that were read before to a block, as long as there are
        such; what they name has to fit. Between them are no tokens."""
        text: Any = self.lexer.input.content
        aliases = dict[str, Any].get  # those of locations are read before what names them
        start = first = self.pos
        while (line := self._line(text, start)) is not None:
            read: ReadOp | None = known.get(line.key)
            if read is None or (op := self._again(read, line)) is None:
                self._unknown = line if read is None else None
                break
            place = text[line.place + 5 : line.end - 1]
            location = aliases(self.attribute_aliases, place) if line.place >= 0 else None
            if line.place < 0 or (isinstance(location, LocationAttr) and text[line.end - 1] == ")"):
                start = _BLANK.match(text, line.end).end()  # pyright: ignore
            else:
                self._resume_from(line.place)
                location, start = self.parse_optional_location(), self.pos
            if location is None or location is UNKNOWN_LOC:
                location = self.location(line.start)
            op.location = location
            block.add_op(op)
        if start != first:
            self._resume_from(start)

    def _line(self, text: str, start: int) -> _OpLine | None:
        """The line from a position on, if it is of an op that may be known."""
        end = text.find("\n", start)
        place = text.rfind(" loc(", start, end)
        # An op without a place may go on in the next line.
        following = None if place >= 0 or end < 0 else _NEXT.match(text, end)
        if end < 0 or (place < 0 and following is None):
            return None
        parts = _VALUE.split(text[start : end if place < 0 else place])
        key = ("%".join(parts[::2]), following and following[1], *self._parser_state.dialect_stack)
        return _OpLine(start, place, end, key, parts[1::2], not parts[0])

    def _again(self, read: ReadOp, line: _OpLine) -> Operation | None:
        """The op of a line like one that was read; None where it names what does not fit."""
        names, bound = line.names, None
        if line.bound:
            bound, *names = names
            bound = bound[1:]
            if bound in self.ssa_values or bound in self.forward_ssa_references:
                return None
        values = self._values(names)
        operands = [values[place] for place, _ in read.operands]
        for value, (_, type_) in zip(operands, read.operands, strict=True):
            if value is None or (value.type is not type_ and value.type != type_):
                return None
        op = read.class_.create(operands=operands, **read.rest)
        if bound is not None:
            self.ssa_values[bound] = results = op.results
            for result in results:
                result._name = _hint(bound)  # pyright: ignore[reportPrivateUsage]
        return op

    def _values(self, names: Sequence[str]) -> list[Any]:
        """The values of names, None for those that nothing before them defines."""
        values: list[Any] = []
        for name in names:
            known = self.ssa_values.get(name[1:])
            if known is None:
                name, _, index = name.partition("#")
                known, i = self.ssa_values.get(name[1:], ()), int(index or 0)
                values.append(known[i] if i < len(known) else None)
            else:
                values.append(known[0])
        return values

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
        match = _DICTIONARY.match(self._parser_state.lexer.input.content, self.pos)
        if self._known is None or match is None:
            return super().parse_optional_dictionary_attr_dict()
        attributes = self._known.get(match[0])
        if attributes is None:
            attributes = super().parse_optional_dictionary_attr_dict()
            _keep(self._known, match[0], attributes)
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
        type_ = self._known.get(spelling)
        end = start + len(spelling)
        if type_ is not None:
            self._resume_from(end)
            return type_
        type_ = super().parse_optional_type()
        is_alias = match is None and spelling.startswith("!")
        if type_ is not None and not is_alias and _BLANK.fullmatch(text, end, self.pos):
            _keep(self._known, spelling, type_)
        return type_
