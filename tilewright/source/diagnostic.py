"""Diagnostics: what is wrong, where in the source, with the line and a caret under it.

gemm.mlir:12:8: error: 'cute_nvgpu.sm80.mma' operand A expected 8 elements a thread, ...
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, ...
       ^
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, IntAttr, NameLoc
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import Error
from tilewright.dialects.once import once_each

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation


_BULKY = re.compile(r"(\S{120})\S{200,}(\S{60})")
"""A word whose middle a message leaves out: 5,000 digits, a string that nobody ended."""

_WIDTH = 200
"""Characters of a line that are shown on each side of the caret, at most."""


def messages(table: str) -> dict[str, str]:
    """The messages of a table, each on a line of its own: its name, a colon, its text, the lines
    behind the first one indented."""
    rows = re.findall(r"^(\S+): (.*(?:\n .*)*)", table, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in rows}


class OpError(PassFailedException):
    """The fault of one op. Passes, lowerings and targets raise it."""

    def __init__(self, op: Operation, message: str):
        super().__init__(message)
        self.op = op
        self.message = message


class InnerOpError(VerifyException):
    """The fault that an op finds with an op inside of it."""

    def __init__(self, op: Operation, message: str):
        super().__init__(message)
        self.op = op


class ExecutionError(Error, ValueError, RuntimeError):
    """A kernel that cannot run, or did what no kernel may do.

    `str()` is the whole diagnostic: the op, what it did, the block and thread, and the source line.
    """


class ArgumentError(ExecutionError, TypeError):
    """An argument that a function does not take, or a kernel: what is expected, and what it got.

    Every function checks what it is given before anything runs. Functions of atoms raise one that
    is an AtomError too, TensorMap one that is a TensorMapError.
    """


class CompileError(Error, ValueError):
    """IR that tilewright rejects. `str()` is the whole diagnostic; `message` its first words,
    `line` and `column` (from 1) where it points, or None; `further` what else is wrong."""

    def __init__(self, diagnostic: Diagnostic, further: Sequence[Diagnostic] = ()):
        super().__init__(str(diagnostic))
        self.diagnostic = diagnostic
        self.further = tuple(further)
        self.message = diagnostic.message
        self.line = diagnostic.line
        self.column = diagnostic.column

    def __reduce__(self) -> tuple[Any, ...]:
        return CompileError, (self.diagnostic, self.further)


@frozen
class Diagnostic:
    """One error or remark: the message and, where they are known, file, line and column (from 1)
    and the text of that line."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    text: str | None = None
    severity: str = "error"

    def __str__(self) -> str:
        message = _BULKY.sub(r"\1...\2", self.message)
        if self.line is None or self.column is None:
            head = f"{self.severity}: {message}"
            return f"{self.file}: {head}" if self.file else head
        head = f"{self.file}:{self.line}:{self.column}: {self.severity}: {message}"
        if self.text is None:
            return head
        first = max(self.column - 1 - _WIDTH, 0) if len(self.text) > 2 * _WIDTH else 0
        text, end = self.text[first : first + 2 * _WIDTH], self.text[first + 2 * _WIDTH :]
        left = "..." * bool(first) + text
        indent = re.sub(r"[^\t]", " ", left[: len(left) - len(text) + self.column - 1 - first])
        return f"{head}\n{left}{'...' * bool(end)}\n{indent}^"


_LIBRARY = "/cuda/tile/_stub.py"
"""Where cuTile's own methods are: of a call of one it is the call that a user wants to see."""


@once_each
def file_location(location: Attribute) -> FileLineColLoc | None:
    """The place in a file that a location names, looking through names, calls (at what is called),
    fused ones (at the first) and debug info (`cuda_tile.di_loc`); None where it is none."""
    described = False
    while not isinstance(location, FileLineColLoc):
        if isinstance(location, NameLoc):
            location = location.location
        elif isinstance(location, CallSiteLoc):
            called = file_location(location.callee)
            if called is not None and not called.filename.data.endswith(_LIBRARY):
                return called
            location = location.caller
        elif isinstance(location, FusedLoc):
            places: Any = location.locations
            if not places.data:
                return None
            location = places.data[0]
        elif (source := getattr(location, "source", None)) is not None:
            location, described = source, True
        else:
            return None
    if described and location.filename.data.endswith(".py"):
        # cuTile's debug info counts columns from 0, as Python's `ast` does.
        column = IntAttr(location.column.data + 1)
        return FileLineColLoc(location.filename, location.line, column)
    return location


def place_of(location: Attribute) -> tuple[str, int, int] | None:
    """File, line and column (from 1) of a location; None where it is none of a file."""
    place = file_location(location)
    return place and (place.filename.data, place.line.data, place.column.data)


def at(location: Attribute, message: str, source: str | None = None) -> Diagnostic:
    """The diagnostic of a message at a location; `source` is the file's text, where at hand."""
    place = place_of(location)
    if place is None:
        return Diagnostic(message)
    file, line, column = place
    return Diagnostic(message, file, line, column, line_of(file, line, source))


def named(op: Operation | None) -> str:
    """An op as a diagnostic of another one names it: what it is, and where."""
    if op is None:
        return "none"
    line = at(op.location, "").line
    return f"'{op.name}'" + (f" at line {line}" if line else "")


_CALL = re.compile(r"[A-Za-z_][\w.]*(?=\()")


def spelled(op: Operation) -> str:
    """An op as its user wrote it: one that accesses memory, or says something, by the function that
    is called at its place in Python, any other one by its name."""
    place, called = at(op.location, ""), None
    if op.name.endswith(("_tko", ".assert")) and place.text and str(place.file).endswith(".py"):
        called = _CALL.match(place.text, (place.column or 1) - 1)
    return f"'{called[0] if called else op.name}'"


def line_of(file: str, line: int, source: str | None = None) -> str | None:
    """The text of a line of a file; None where it cannot be read. Python may know a text that is
    not on the disk: a notebook's, an editor's."""
    try:
        if source is None and file in linecache.cache:
            source = "".join(linecache.getlines(file))
        # Bytecode may name any file: what is no plain one may never end.
        if source is None and not Path(file).is_file():
            return None
        lines = (Path(file).read_text() if source is None else source).splitlines()
    except (OSError, ValueError):
        return None
    return lines[line - 1] if 0 < line <= len(lines) else None
