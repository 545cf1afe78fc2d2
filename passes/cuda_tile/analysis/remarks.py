"""Remarks: what the compiler chose that a user may want to know, at the line that it is about.

    with collected() as remarks: ...            # what `remark(op, kind, text)` says in here

Outside of a `collected` block nothing is kept. A remark that is made twice is one.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from xdsl.ir import Operation

from tilewright.dialects.frozen import frozen
from tilewright.source.diagnostic import Diagnostic, line_of, place_of, spelled

RemarkKind = Literal[
    "conversion", "bank-conflict", "vector", "tma", "pipeline", "tensor-memory", "spill",
    "serialized", "hint", "retreat", "view", "order",
]  # fmt: skip


@frozen
class Remark:
    """A remark of a kind, and its place; `str()` is `file:line:column: remark: TEXT [kind]` with
    the line."""

    kind: RemarkKind
    text: str
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        text = None
        if self.file is not None and self.line is not None:
            text = line_of(self.file, self.line)
        message = f"{self.text} [{self.kind}]"
        return str(Diagnostic(message, self.file, self.line, self.column, text, "remark"))


Remarks = dict[Remark, None]
_COLLECTED: ContextVar[Remarks | None] = ContextVar("remarks", default=None)


def remark(op: Operation, kind: RemarkKind, text: str) -> None:
    """Say something of an op to whoever collects remarks; `text` names the op where it matters,
    which is told as its user wrote it."""
    remarks = _COLLECTED.get()
    if remarks is not None:
        file, line, column = place_of(op.location) or (None, None, None)
        text = text.replace(f"'{op.name}'", spelled(op))
        remarks.setdefault(Remark(kind, text, file, line, column))


@contextmanager
def collected() -> Generator[Remarks]:
    """Collect the remarks that are made inside of the block, in order."""
    remarks: Remarks = {}
    token = _COLLECTED.set(remarks)
    try:
        yield remarks
    finally:
        _COLLECTED.reset(token)
