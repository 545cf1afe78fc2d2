"""From text to verified IR, with every op knowing where it stands in the source."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute
from xdsl.parser import Parser
from xdsl.universe import Universe
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tilewright.diagnostic import CompileError, Diagnostic, InnerOpError, OpError, at
from tilewright.dialects.cuda_tile.bytecode.container import is_bytecode


class _Aliases(dict[str, Attribute]):
    """The aliases of a text; one that is used is looked for ahead, as MLIR writes those of
    locations behind all ops."""

    def __init__(self, parser: LocatedParser):
        super().__init__()
        self._parser = parser

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (
            isinstance(name, str) and self._parser.read_ahead(name)
        )


class LocatedParser(Parser):
    """xDSL's parser; an op without a `loc(...)` of its own gets the place it was read from.

    `line_offset` is added to line numbers, for a text that is part of a larger file.
    """

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0):
        super().__init__(ctx, text, name)
        self._file = StringAttr(name)
        self._starts = [0]
        self._line_offset = line_offset
        self._ahead: set[str] = set()
        self.attribute_aliases = _Aliases(self)
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def place(self, position: int) -> tuple[int, int]:
        """Line and column, both from 1, of a position in the text."""
        line = bisect_right(self._starts, position)
        return line + self._line_offset, position - self._starts[line - 1] + 1

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        op = super().parse_operation()
        if op.location is UNKNOWN_LOC:
            op.location = self.location(start)
        return op

    def location(self, position: int) -> FileLineColLoc:
        """A position in the text as the location of an op."""
        line, column = self.place(position)
        return FileLineColLoc(self._file, IntAttr(line), IntAttr(column))

    def _parse_alias_def(self) -> None:
        name = self._current_token.text
        if name in self._ahead:
            del self.attribute_aliases[name]
        self._ahead.add(name)
        super()._parse_alias_def()

    def read_ahead(self, name: str) -> bool:
        """Read the definition of an alias that stands further on, if there is one."""
        text = self.lexer.input.content
        definition = re.compile(rf"^{re.escape(name)}[ \t]*=", re.MULTILINE).search(text)
        if definition is None or name in self._ahead:
            return False
        self._ahead.add(name)
        here = self._current_token.span.start
        self._resume_from(definition.end())
        self.attribute_aliases[name] = self.parse_attribute()
        self._resume_from(here)
        return True

    def _parse_location(self) -> Any:
        """The inside of `loc(...)`: xDSL's, and debug info of CUDA Tile IR at any depth."""
        if (alias := self._parse_optional_token(MLIRTokenKind.HASH_IDENT)) is not None:
            found = self._parse_extended_type_or_attribute(alias.text[1:], False)
            if isinstance(found, LocationAttr) or found.name == "cuda_tile.di_loc":
                return found
            self.raise_error(f"expected a location, got {found}", alias.span)
        match self.parse_optional_keyword_in(("callsite", "fused")):
            case "callsite":
                with self.in_parens():
                    callee = self._parse_location()
                    self.parse_keyword("at")
                    return _location(CallSiteLoc, callee=callee, caller=self._parse_location())
            case "fused":
                places = self.parse_comma_separated_list(
                    self.Delimiter.SQUARE, self._parse_location
                )
                return _location(FusedLoc, locations=ArrayAttr(places), metadata=NoneAttr())
            case _:
                pass
        name = self.parse_optional_str_literal()
        if name is None:
            return super()._parse_location()
        if self.parse_optional_punctuation(":") is not None:
            line = self.parse_integer(False, False)
            self.parse_punctuation(":")
            column = self.parse_integer(False, False)
            return FileLineColLoc(StringAttr(name), IntAttr(line), IntAttr(column))
        place = NoneAttr()
        if self.parse_optional_punctuation("(") is not None:
            place = self._parse_location()
            self.parse_punctuation(")")
        return _location(NameLoc, desc=StringAttr(name), location=place)

    def _parse_builtin_dense_attr(self) -> Any:
        """`dense<...>`, of a tile too."""
        from tilewright.dialects.cuda_tile.elements_text import parse_dense_of_tile

        start = self.pos
        if (elements := parse_dense_of_tile(self)) is not None:
            return elements
        self._resume_from(start)
        return super()._parse_builtin_dense_attr()


def _location(class_: type[ParametrizedAttribute], **parameters: Attribute) -> Any:
    """A location, unverified: xDSL's take locations of no other dialect for their parts."""
    location = class_.__new__(class_)
    for name, value in parameters.items():
        object.__setattr__(location, name, value)
    return location


@cache
def default_context() -> Context:
    """A context that knows every dialect of xDSL and of tilewright, loaded as they are used."""
    context = Context()
    register_dialects(context)
    return context


def register_dialects(context: Context) -> None:
    """Let a context know every dialect of xDSL and of tilewright."""
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, _gpu if name == "gpu" else factory)


def _gpu() -> Dialect:
    from xdsl.dialects.gpu import GPU

    from tilewright.dialects.gpu import extended

    return extended(GPU)


def parse_module(
    text: str,
    name: str = "<string>",
    context: Context | None = None,
    *,
    line_offset: int = 0,
    implicit_module: bool = True,
) -> ModuleOp:
    """The module of an IR text. Raises CompileError, with line and caret, where it is none."""
    if implicit_module and _is_blank(text):
        return ModuleOp([])
    parser = None
    try:
        # The first token is read here already.
        parser = LocatedParser(context or default_context(), text, name, line_offset)
        return parser.parse_module(implicit_module)
    except ParseError as error:
        message = error.msg.strip()
        place = _place_meant(text, error.span.start, message)
    except VerifyException as error:
        # What does not verify is the last thing read, before the spaces the parser stands behind.
        message = str(error).strip()
        place = len(text[: parser.pos].rstrip()) - 1 if parser is not None else 0
    raise CompileError(_diagnostic(message, text, place, name, line_offset))


def read_module(source: str | bytes, name: str = "<string>") -> tuple[ModuleOp, str | None]:
    """The verified module of IR text or Tile IR bytecode, and the text where there is one.

    Bytes are bytecode if they begin as it does, else UTF-8 text. Raises CompileError.
    """
    if isinstance(source, str):
        module = parse_module(source, name)
        verify(module, source)
        return module, source
    if is_bytecode(source, name):
        from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode

        return read_bytecode(source, name), None
    try:
        return read_module(source.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        what = f"expected Tile IR bytecode or UTF-8 text, got neither ({error.reason})"
        raise CompileError(Diagnostic(f"{what} (at byte {error.start})", name)) from None


def _is_blank(text: str) -> bool:
    """Nothing but spaces and comments."""
    return all(not line or line.startswith("//") for line in map(str.strip, text.splitlines()))


_UNREGISTERED = re.compile(r"([\w.$]+)'? is not registered")
_UNDEFINED = re.compile(r"values used but not defined: \[(%[^,\]]+)")


def _place_meant(text: str, position: int, message: str) -> int:
    """Where a parse error belongs: names are complained of behind them, or at the end."""
    if (found := _UNREGISTERED.search(message)) is not None:
        named = text.rfind(found[1], 0, position)
        return position if named < 0 else named
    if message.startswith("Expected '"):
        # What is missing at the end of a line is missed there, not where the next one begins.
        ahead = text[:position]
        if not ahead.rpartition("\n")[2].strip():
            return len(ahead.rstrip()) - 1
    if (found := _UNDEFINED.search(message)) is not None:
        used = re.search(re.escape(found[1]) + r"(?![\w$.-])", text)
        return position if used is None else used.start()
    return position


def _diagnostic(message: str, text: str, position: int, name: str, line_offset: int) -> Diagnostic:
    position = max(min(position, len(text.rstrip()) - 1), 0)
    before = text[:position].splitlines(keepends=True) or [""]
    if before[-1].endswith(("\n", "\r")):
        before.append("")
    lines = text.splitlines()
    shown = lines[len(before) - 1] if len(before) <= len(lines) else None
    return Diagnostic(message, name, len(before) + line_offset, len(before[-1]) + 1, shown)


def verify(module: ModuleOp, text: str | None = None) -> None:
    """Verify a module. Raises CompileError at the op that is wrong."""
    try:
        module.verify()
    except VerifyException as error:
        first, *further = _faults(module, text) or [at(module.location, str(error), text)]
        raise CompileError(first, further) from None


def verify_diagnostic(
    module: ModuleOp, error: VerifyException, text: str | None = None
) -> Diagnostic:
    """Where a module does not verify: at the innermost op that rejects itself."""
    return next(iter(_faults(module, text)), at(module.location, str(error), text))


def _faults(module: ModuleOp, text: str | None) -> list[Diagnostic]:
    """What is wrong with every op that rejects itself, the innermost first."""
    found: list[Diagnostic] = []
    for op in module.walk(region_first=True):
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            wrong = error.op if isinstance(error, InnerOpError) else op
            found.append(at(wrong.location, _named(wrong, str(error)), text))
    return found


def _named(op: Operation, message: str) -> str:
    """The message, beginning with the op's name as ours do."""
    return message if message.startswith("'") else f"'{op.name}' {message}"


def op_diagnostic(error: OpError, text: str | None = None) -> Diagnostic:
    """The diagnostic of what a pass, a lowering or a target said of an op."""
    return at(error.op.location, error.message, text)
