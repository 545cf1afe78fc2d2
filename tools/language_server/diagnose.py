"""Diagnostics of a text in an editor: those of `tilewright-opt` and `tilewright check-ptx`, each
with the range of the text that it is about."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from tilewright.dialects.frozen import frozen
from tilewright.pipeline import run_pipeline, stages_where, verified
from tilewright.source.diagnostic import CompileError, Diagnostic
from tilewright.tools.instructions.judge import is_legal, why_illegal
from tilewright.tools.language_server.ptx_statements import PtxText

_TOKEN = re.compile(r'"[^"\n]*"|[%@^!#]?[\w$.-]+|\S')


@frozen
class Finding:
    """One complaint, and the characters from `start` to `end` that it is about."""

    start: int
    end: int
    message: str
    severity: str = "error"


def diagnose(text: str, name: str, arch: str | None = None) -> list[Finding]:
    """All that is wrong with a text: PTX, or kernels in Python by the path of a `.py` file, or
    else IR.

    `arch` is the target of what does not name one itself: of IR it asks for all stages.
    """
    if name.endswith(".py"):
        from tilewright.tools.language_server.python_kernels import python_diagnostics

        return [located(one, text) for one in python_diagnostics(text, name, arch)]
    return _of_ptx(text, arch) if name.endswith(".ptx") else _of_ir(text, name, arch)


def _of_ir(text: str, name: str, arch: str | None) -> list[Finding]:
    try:
        module, source = verified(text, name)
        if arch is not None:
            run_pipeline(module, arch, source, stages=stages_where("ignore"))
    except CompileError as error:
        return [located(diagnostic, text) for diagnostic in (error.diagnostic, *error.further)]
    return []


def located(diagnostic: Diagnostic, text: str) -> Finding:
    """The token that a diagnostic points to; without a place, the first line."""
    start = 0
    if diagnostic.line is not None and diagnostic.column is not None:
        start = LineStarts(text).offset(diagnostic.line - 1, diagnostic.column - 1)
    token = _TOKEN.match(text, start)
    end = start + 1 if token is None else token.end()
    return Finding(start, end, diagnostic.message, diagnostic.severity)


def _of_ptx(text: str, arch: str | None) -> list[Finding]:
    ptx = PtxText(text)
    return list(_illegal(ptx, ptx.target or arch))


def _illegal(ptx: PtxText, arch: str | None) -> Iterator[Finding]:
    for statement in ptx.instructions:
        if is_legal(statement.text, arch) is False:
            why = why_illegal(statement.text, arch) or "expected an instruction"
            yield Finding(statement.mnemonic_start, statement.end, why)


class LineStarts:
    """The places at which the lines of a text begin, as Python splits them."""

    def __init__(self, text: str):
        self.lines = text.splitlines(keepends=True)
        self._starts = [0, *accumulate(map(len, self.lines))]

    def offset(self, line: int, column: int) -> int:
        """The place of a line and column, both from 0."""
        return self._starts[min(line, len(self._starts) - 1)] + column

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column, both from 0, of a place."""
        line = bisect_right(self._starts, offset) - 1
        return line, offset - self._starts[line]
