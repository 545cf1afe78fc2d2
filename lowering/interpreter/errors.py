"""Errors of a running kernel."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array


class Fault(Exception):
    """Something an op did that no kernel may do. The machine adds the op and where it stands.

    `lane` is the thread that did it, as an index into the running threads of the op (None where
    it is no single one's doing).
    """

    def __init__(self, message: str, lane: int | None = None):
        super().__init__(message)
        self.message = message
        self.lane = lane


class Unwritten(Fault):
    """A use of what nothing has written: no error where nothing depends on it."""


OCTET: ContextVar[int | None] = ContextVar("OCTET", default=None)
"""The byte that stands where nothing has written, if reading that is no error."""


def first_of(wrong: Any) -> int | None:
    """The first thread, or row, of which something holds; None where it holds of none."""
    return int(np.argmax(wrong != 0)) // (wrong.size // len(wrong)) if wrong.any() else None


def first_place(wrong: BoolArray) -> tuple[int, int]:
    """The row and the column of the first place where something holds."""
    row, column = np.argwhere(wrong)[0]
    return int(row), int(column)


@contextmanager
def faults_of(threads: Int64Array) -> Generator[None]:
    """Faults of an access by some threads of a gang, told of the gang's threads."""
    try:
        yield
    except Fault as fault:
        if fault.lane is not None:
            fault.lane = int(threads[fault.lane])
        raise
