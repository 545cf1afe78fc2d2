"""The names of an IR text: where each is defined and used, as the parser resolves them, up to the
place where it stops."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue
from xdsl.parser.core import UnresolvedOperand
from xdsl.traits import SymbolOpInterface
from xdsl.utils.lexer import Span

from tilewright.source.parsing import LocatedParser, default_context
from tilewright.source.recursion import deep_recursion

Range = tuple[int, int]
"""Where something begins and ends, in characters of the text."""


@dataclass(slots=True)
class Use:
    """A name in the text, and the one that defines it; None while that is not read yet."""

    at: Range
    definition: Definition | None


@dataclass(slots=True)
class Definition:
    """Where a value or a block gets its name; the values that it has."""

    at: Range
    values: Sequence[SSAValue] = ()


class NameIndex(LocatedParser):
    """A parser that notes the names that it reads, and every op with the range of its text."""

    def __init__(self, text: str, name: str):
        super().__init__(default_context(), text, name)
        self._known = None  # Names are noted as they are read, those of lines read before too.
        self.uses: list[Use] = []
        self.operations: list[tuple[Range, Operation]] = []
        self._defined: dict[SSAValue | Block, Definition] = {}
        self._awaited: dict[str, list[Use]] = {}
        self._successors: list[tuple[Use, Block]] = []

    @classmethod
    def of(cls, text: str, name: str) -> NameIndex:
        """The names of a text, of a wrong one those before what is wrong."""
        index = cls(text, name)
        # Whatever stops the parser, the diagnostics tell; what it had read by then stands.
        with deep_recursion(), suppress(Exception):
            index.parse_module()
        for use, block in index._successors:
            use.definition = index._defined.get(block)
        return index

    def definition(self, offset: int) -> Definition | None:
        """The definition of the name at that place of the text."""
        uses = (use for use in self.uses if use.at[0] <= offset <= use.at[1])
        return next((use.definition for use in uses), None)

    def operation(self, offset: int) -> Operation | None:
        """The innermost op whose text is at that place."""
        around = [(at, op) for at, op in self.operations if at[0] <= offset <= at[1]]
        return max(around, key=lambda pair: pair[0][0])[1] if around else None

    def symbol(self, name: str) -> Range | None:
        """Where an op defines that symbol."""
        text = self.lexer.input.content
        declared = (
            rf"([\w.]+)\"?(?:\s+(?:private|public|nested))?\s+(@{re.escape(name)})(?![\w$.-])"
        )
        for match in re.finditer(declared, text):
            op = default_context().get_optional_op(match[1])
            if op is not None and op.has_trait(SymbolOpInterface):
                return match.span(2)
        return None

    def parse_optional_unresolved_operand(self) -> UnresolvedOperand | None:
        operand = super().parse_optional_unresolved_operand()
        if operand is not None:
            values = self.ssa_values.get(operand.operand_name)
            use = Use(_range(operand.span), self._defined[values[0]] if values else None)
            self.uses.append(use)
            if not values:
                self._awaited.setdefault(operand.operand_name, []).append(use)
        return operand

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        definition = Definition(_range(span), values)
        self._defined |= dict.fromkeys(values, definition)
        for use in self._awaited.pop(name, []):
            use.definition = definition
        self.uses.append(Use(definition.at, definition))
        super()._register_ssa_definition(name, values, span)

    def parse_optional_successor(self) -> Block | None:
        token = self._current_token
        block = super().parse_optional_successor()
        if block is not None:
            use = Use(_range(token.span), None)
            self.uses.append(use)
            self._successors.append((use, block))
        return block

    def _parse_block(self) -> Block:
        token = self._current_token
        block = super()._parse_block()
        definition = self._defined[block] = Definition(_range(token.span))
        self.uses.append(Use(definition.at, definition))
        return block

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        op = super().parse_operation()
        self.operations.append(((start, self.pos), op))
        return op


def _range(span: Span) -> Range:
    return span.start, span.end
