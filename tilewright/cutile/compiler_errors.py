"""Errors of tilewright's compiler as cuTile's own."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from tilewright.source.diagnostic import CompileError


@contextmanager
def compiler_errors() -> Generator[None]:
    """Let what tilewright rejects be an error of cuTile's compiler too, where cuTile is there."""
    try:
        yield
    except CompileError as error:
        exceptions = sys.modules.get("cuda.tile._exception")
        raise error if exceptions is None else _compiler_error(exceptions)(error) from None


@cache
def _compiler_error(exceptions: Any) -> Callable[[CompileError], CompileError]:
    """Makes the CompileError that is one of cuTile's `exceptions` too."""

    class TileCompileError(CompileError, exceptions.TileCompilerExecutionError):
        def __init__(self, error: CompileError):
            CompileError.__init__(self, error.diagnostic, error.further)
            self.loc = exceptions.Loc(self.line or 0, (self.column or 1) - 1, error.diagnostic.file)
            self.compiler_flags, self.compiler_version = "", None

        __str__ = ValueError.__str__

    return TileCompileError
