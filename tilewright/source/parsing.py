"""From text to verified IR, with every op knowing where it stands in the source."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from functools import cache
from traceback import walk_tb
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
from xdsl.ir import Attribute, Block, Dialect, Operation, TypeAttribute
from xdsl.irdl import IRDLOperation
from xdsl.universe import Universe
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tilewright import xdsl_patches
from tilewright.dialects import locations
from tilewright.dialects.collection import no_collection
from tilewright.dialects.locations import unverified
from tilewright.source.diagnostic import CompileError, Diagnostic
from tilewright.source.nearest_name import nearest_name
from tilewright.source.recursion import deep_recursion
from tilewright.xdsl_patches.assignments import LOADING
from tilewright.xdsl_patches.quick_parser import QuickParser, ReadBefore


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


class LocatedParser(QuickParser):
    """xDSL's parser; an op without a `loc(...)` of its own gets the place it was read from.

    `line_offset` is added to line numbers, for a text that is part of a larger file.
    """

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0):
        super().__init__(ctx, text, name, READ if ctx is default_context() else None)
        self._file, self._text = StringAttr(name), text
        self._starts = [0]
        self._line_offset = line_offset
        self._begun: set[str] = set()
        self._ahead: dict[int, int] = {}
        self._definitions: dict[str, re.Match[str]] | None = None
        self.attribute_aliases = _Aliases(self)
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def place(self, position: int) -> tuple[int, int]:
        """Line and column, both from 1, of a position in the text."""
        line = bisect_right(self._starts, position)
        return line + self._line_offset, position - self._starts[line - 1] + 1

    def undefined_use(self) -> int | None:
        """The position of the first use of a value that nothing has defined, or None."""
        uses: list[int] = []
        for name, values in self.forward_ssa_references.items():
            for use in (use for value in values.values() for use in value.uses):
                if isinstance(place := use.operation.location, FileLineColLoc):
                    line, start = place.line.data - self._line_offset, 0
                    # A location that is written may be of another file.
                    if place.filename == self._file and 0 < line < len(self._starts):
                        start = self._starts[line - 1] + place.column.data - 1
                    pattern = re.compile(re.escape(f"%{name}") + r"(?![\w$.-])")
                    match = pattern.search(self._text, start)
                    uses.append(start if match is None else match.start())
        return min(uses, default=None)

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        op = super().parse_operation()
        if op.location is UNKNOWN_LOC:
            op.location = self.location(start)
        return op

    def _parse_block(self) -> Block:
        name = self._current_token.text[1:]
        if name in self.blocks and name not in self.forward_block_references:
            self.raise_error(f"expected a name of its own for the block, got ^{name} once more")
        return super()._parse_block()

    def location(self, position: int) -> FileLineColLoc:
        """A position in the text as the location of an op."""
        line, column = self.place(position)
        return locations.place(self._file, line, column)

    def _parse_alias_def(self) -> None:
        token = self._current_token
        if self._definitions is None:
            self._find_definitions()
        end = self._ahead.get(token.span.start)
        if end is not None:
            self._resume_from(end)
            return
        self._begun.add(token.text)
        super()._parse_alias_def()

    def read_ahead(self, name: str) -> bool:
        """Read the definition of an alias that stands further on, if there is one."""
        if self._definitions is None:
            self._find_definitions()
            return name in self.attribute_aliases
        definition = self._definitions.get(name)
        if definition is None or name in self._begun:
            return False
        self._begun.add(name)
        here = self.pos
        self._resume_from(definition.end(1))
        self.parse_punctuation("=")
        self.attribute_aliases[name] = self.parse_attribute()
        self._ahead[definition.start()] = self.pos
        self._resume_from(here)
        return True

    def _find_definitions(self) -> None:
        """Find the first definition of each alias; read those of locations that say little, of
        which several in lines on end are passed at once."""
        self._definitions = definitions = dict[str, re.Match[str]]()
        read: list[re.Match[str]] = []
        for match in _DEFINITION.finditer(self._text):
            name, *short = match.groups()
            if definitions.setdefault(name, match) is match and name not in self._begun:
                location = self._short_location(*short) if any(short) else None
                if location is not None:
                    self.attribute_aliases[name] = location
                    read.append(match)
        for match in reversed(read):
            self._ahead[match.start()] = self._ahead.get(match.end() + 1, match.end())

    def parse_optional_location(self) -> Any:
        """`loc(...)`, without its tokens where it says little."""
        short = _LOCATION.match(self._text, self.pos) if self._current_token.text == "loc" else None
        location = None if short is None else self._short_location(*short.groups())
        if short is None or location is None:
            return super().parse_optional_location()
        self._resume_from(short.end())
        return location

    def _short_location(
        self, alias: str | None, text: str | None, line: str, column: str, *inner: str | None
    ) -> Any:
        if line:
            return locations.place(locations.string(text or ""), int(line), int(column))
        if alias and isinstance(known := self.attribute_aliases.get(alias), LocationAttr):
            return known
        names = [name for name in (alias, *inner) if name is not None]
        places = [self.attribute_aliases[x] for x in names if x in self.attribute_aliases]
        if len(places) < len(names) or not all(isinstance(x, LocationAttr) for x in places):
            return None
        match text, places:
            case None, [place]:
                return place
            case None, [callee, caller]:
                return unverified(CallSiteLoc, callee=callee, caller=caller)
            case _:
                return unverified(NameLoc, desc=locations.string(text or ""), location=places[0])

    def _parse_location(self) -> Any:
        """The inside of `loc(...)`: xDSL's, and debug info of CUDA Tile IR at any depth."""
        if (alias := self._parse_optional_token(MLIRTokenKind.HASH_IDENT)) is not None:
            attribute = self._parse_extended_type_or_attribute(alias.text[1:], False)
            if isinstance(attribute, LocationAttr) or attribute.name == "cuda_tile.di_loc":
                return attribute
            self.raise_error(f"expected a location, got {attribute}", alias.span)
        match self.parse_optional_keyword_in(("callsite", "fused")):
            case "callsite":
                with self.in_parens():
                    callee = self._parse_location()
                    self.parse_keyword("at")
                    return unverified(CallSiteLoc, callee=callee, caller=self._parse_location())
            case "fused":
                places = self.parse_comma_separated_list(
                    self.Delimiter.SQUARE, self._parse_location
                )
                return unverified(FusedLoc, locations=ArrayAttr(places), metadata=NoneAttr())
            case _:
                pass
        name = self.parse_optional_str_literal()
        if name is None:
            return super()._parse_location()
        if self.parse_optional_punctuation(":"):
            line = self.parse_integer(False, False)
            self.parse_punctuation(":")
            column = self.parse_integer(False, False)
            return FileLineColLoc(StringAttr(name), IntAttr(line), IntAttr(column))
        place = NoneAttr()
        if self.parse_optional_punctuation("(") is not None:
            place = self._parse_location()
            self.parse_punctuation(")")
        return unverified(NameLoc, desc=StringAttr(name), location=place)

    def parse_optional_str_literal(self) -> str | None:
        """A string literal, or None: xDSL takes one with escapes beyond ASCII for bytes."""
        start = self.pos
        if (raw := self.parse_optional_bytes_literal()) is None:
            return super().parse_optional_str_literal()
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self._resume_from(start)
            return None

    def _parse_optional_string_attr(self) -> StringAttr | None:
        text = self.parse_optional_str_literal()
        return None if text is None else StringAttr(text)

    def _parse_builtin_dense_attr(self) -> Any:
        """`dense<...>`, of a tile too."""
        from tilewright.dialects.cuda_tile.elements_text import parse_dense_of_tile

        start = self.pos
        if (elements := parse_dense_of_tile(self)) is not None:
            return elements
        self._resume_from(start)
        return super()._parse_builtin_dense_attr()


_ALIAS = r"(#[\w.$-]+)"
_LOCATION = re.compile(
    rf'loc\((?:{_ALIAS}|"([^"\\]*)"(?::(\d+):(\d+)|\({_ALIAS}\))'
    rf"|callsite\({_ALIAS} at {_ALIAS}\))\)",
    re.ASCII,
)
"""Locations that are another one, a place, a name of one, or a call."""
_DEFINITION = re.compile(
    rf"^([#!][\w.$-]+)[ \t]*=[ \t]*(?:{_LOCATION.pattern})?", re.ASCII | re.MULTILINE
)

READ: ReadBefore = {}
"""Types and ops that the default context has read."""


class SharedContext(Context):
    """A context that several threads read in: one of them loads a dialect, which the others know
    when it is whole. A name that is not there is looked up once more: a thread may have loaded its
    dialect between a look at the names and one at the dialects."""

    def _get_known_op(self, name: str) -> type[Operation] | None:
        return super()._get_known_op(name) or super()._get_known_op(name)

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        """The class of an attribute, or None."""
        return super().get_optional_attr(name) or super().get_optional_attr(name)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        """The class of a type, or None."""
        return super().get_optional_type(name) or super().get_optional_type(name)

    def load_registered_dialect(self, name: str) -> None:
        """Load a dialect that is registered, once."""
        with LOADING:
            if name not in self._loaded_dialects:
                dialect = self._registered_dialects[name]()
                for op in dialect.operations:
                    self.load_op(op)
                for attribute in dialect.attributes:
                    self.load_attr_or_type(attribute)
                self._loaded_dialects[name] = dialect


@cache
def default_context() -> Context:
    """A context that knows every dialect of xDSL and of tilewright, loaded as they are used; what
    is read in it is read by xDSL with our changes."""
    xdsl_patches.install()
    context = SharedContext()
    register_dialects(context)
    return context


def register_dialects(context: Context) -> None:
    """Let a context know every dialect of xDSL and of tilewright."""
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, _EXTENDED.get(name, factory))


def _gpu() -> Dialect:
    from xdsl.dialects.gpu import GPU

    from tilewright.dialects.gpu import extended

    return extended(GPU)


def _llvm() -> Dialect:
    from tilewright.dialects.llvm import EXTENDED

    return EXTENDED


def _arith() -> Dialect:
    from tilewright.dialects.arith import EXTENDED

    return EXTENDED


_EXTENDED = {"arith": _arith, "gpu": _gpu, "llvm": _llvm}


def parse_module(
    text: str,
    name: str = "<string>",
    context: Context | None = None,
    *,
    line_offset: int = 0,
    implicit_module: bool = True,
) -> ModuleOp:
    """The module of an IR text, or of PTX. Raises CompileError, with line and caret, where it is
    none."""
    if _PTX.match(text):
        return _ptx(text, name, line_offset)
    if implicit_module and _is_blank(text):
        return ModuleOp([])
    parser = None
    try:
        text.encode()
        with deep_recursion():
            # The first token is read here already.
            parser = LocatedParser(context or default_context(), text, name, line_offset)
            return parser.parse_module(implicit_module)
    except ParseError as error:
        message = error.msg.strip()
        use = None if parser is None else parser.undefined_use()
        place = _place_meant(text, error.span.start, message) if use is None else use
    except UnicodeEncodeError as error:
        message = f"expected text that UTF-8 can hold, got {text[error.start]!r}"
        place = error.start
    except RecursionError:
        message, place = "expected IR that nests less deeply", _behind(parser, text)
    except struct.error as error:
        # Of an array, whose elements xDSL packs without asking.
        message, place = f"expected numbers that their type holds ({error})", _behind(parser, text)
    except NotImplementedError as error:
        message = f"expected what xDSL's parser implements ({error or 'here'})"
        place = _behind(parser, text)
    except (VerifyException, ValueError, OverflowError) as error:
        message, place = " ".join(map(str, error.args)).strip(), _behind(parser, text)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        message = f"internal error in the parser here, please report: {said}"
        if (foreign := _foreign_op(error)) is not None:
            message = f"'{foreign}' expected its operands and types as xDSL reads them, got {said}"
        place = _behind(parser, text)
        raise CompileError(_diagnostic(message, text, place, name, line_offset)) from error
    meant = nearest_name(message, text, place, context or default_context())
    message += "" if meant is None or "nearest" in message else f"; nearest legal: {meant}"
    raise CompileError(_diagnostic(message, text, place, name, line_offset))


_PTX = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*+\.version\s", re.DOTALL)
"""The beginning of PTX text."""


def _ptx(text: str, name: str, line_offset: int) -> ModuleOp:
    from tilewright.lowering.ptx.parsing.module import read_module
    from tilewright.lowering.ptx.parsing.statements import PtxError

    xdsl_patches.install()
    try:
        with no_collection(len(text)):
            return read_module(text, name, line_offset)
    except PtxError as error:
        diagnostic = _diagnostic(error.message, text, error.position, name, line_offset)
        raise CompileError(diagnostic) from None


def _foreign_op(error: BaseException) -> str | None:
    """The op of another dialect whose own parser stopped, or None."""
    name = None
    for frame, _ in walk_tb(error.__traceback__):
        class_ = frame.f_locals.get("cls")
        if isinstance(class_, type) and issubclass(class_, IRDLOperation):
            name = class_.name if class_.__module__.startswith("xdsl.") else None
    return name


def _behind(parser: LocatedParser | None, text: str) -> int:
    """The last thing read, before the spaces that the parser stands behind."""
    return len(text[: parser.pos].rstrip()) - 1 if parser is not None else 0


def _is_blank(text: str) -> bool:
    """Nothing but spaces and comments."""
    return all(not line or line.startswith("//") for line in map(str.strip, text.splitlines()))


_UNREGISTERED = re.compile(r"(?<![\w.$])([\w.$]+)'? is not registered")


def _place_meant(text: str, position: int, message: str) -> int:
    """Where a parse error belongs: names are complained of behind them."""
    if (match := _UNREGISTERED.search(message)) is not None:
        named = text.rfind(match[1], 0, position)
        return position if named < 0 else named
    if message.startswith("Expected '"):
        # What is missing at the end of a line is missed there, not where the next one begins.
        ahead = text[:position]
        if not ahead.rpartition("\n")[2].strip():
            return len(ahead.rstrip()) - 1
    return position


def _diagnostic(message: str, text: str, position: int, name: str, line_offset: int) -> Diagnostic:
    position = max(min(position, len(text.rstrip()) - 1), 0)
    before = text[:position].splitlines(keepends=True) or [""]
    if before[-1].endswith(("\n", "\r")):
        before.append("")
    lines = text.splitlines()
    shown = lines[len(before) - 1] if len(before) <= len(lines) else None
    return Diagnostic(message, name, len(before) + line_offset, len(before[-1]) + 1, shown)
