"""From text to verified IR, with every op knowing where it stands in the source."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from traceback import walk_tb

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.universe import Universe
from xdsl.utils.exceptions import ParseError, VerifyException

from tilewright import xdsl_repairs
from tilewright.diagnostic import CompileError, Diagnostic
from tilewright.recursion import deep_recursion

xdsl_repairs.install()


class LocatedParser(Parser):
    """xDSL's parser; an op without a `loc(...)` of its own gets the place it was read from.

    `line_offset` is added to line numbers, for a text that is part of a larger file.
    """

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0):
        super().__init__(ctx, text, name)
        self._file, self._text = StringAttr(name), text
        self._starts = [0]
        self._line_offset = line_offset
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
                    line = place.line.data - self._line_offset
                    start = self._starts[line - 1] + place.column.data - 1
                    pattern = re.compile(re.escape(f"%{name}") + r"(?![\w$.-])")
                    match = pattern.search(self._text, start)
                    uses.append(start if match is None else match.start())
        return min(uses, default=None)

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        op = super().parse_operation()
        if isinstance(op.location, UnknownLoc):
            line, column = self.place(start)
            op.location = FileLineColLoc(self._file, IntAttr(line), IntAttr(column))
        return op


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
    except (VerifyException, ValueError, OverflowError) as error:
        message, place = " ".join(map(str, error.args)).strip(), _behind(parser, text)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        message = f"internal error in the parser here, please report: {said}"
        if (foreign := _foreign_op(error)) is not None:
            message = f"'{foreign}' expected its operands and types as xDSL reads them, got {said}"
        place = _behind(parser, text)
        raise CompileError(_diagnostic(message, text, place, name, line_offset)) from error
    raise CompileError(_diagnostic(message, text, place, name, line_offset))


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


_UNREGISTERED = re.compile(r"([\w.$]+)'? is not registered")


def _place_meant(text: str, position: int, message: str) -> int:
    """Where a parse error belongs: names are complained of behind them."""
    if (match := _UNREGISTERED.search(message)) is not None:
        named = text.rfind(match[1], 0, position)
        return position if named < 0 else named
    return position


def _diagnostic(message: str, text: str, position: int, name: str, line_offset: int) -> Diagnostic:
    position = max(min(position, len(text.rstrip()) - 1), 0)
    before = text[:position].splitlines(keepends=True) or [""]
    if before[-1].endswith(("\n", "\r")):
        before.append("")
    lines = text.splitlines()
    shown = lines[len(before) - 1] if len(before) <= len(lines) else None
    return Diagnostic(message, name, len(before) + line_offset, len(before[-1]) + 1, shown)
