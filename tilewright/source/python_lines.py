"""Where in Python an op was built: locations of IR that a front end writes, and of its errors."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, StringAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tilewright.source.diagnostic import CompileError, at

_FILE: ContextVar[str | None] = ContextVar("file whose lines ops are located at", default=None)
_OURS = {__file__}
"""The files whose lines are nobody's: those that ask."""


@contextmanager
def lines_of(function: Callable[..., Any]) -> Generator[None]:
    """Meanwhile ops are located in the file of a kernel's function, however deep in a front end
    they are built. Raises CompileError, which points there, for a ValueError or VerifyException."""
    file = function.__code__.co_filename
    token = _FILE.set(file)
    try:
        yield
    except CompileError:
        raise
    except (ValueError, VerifyException) as error:
        place, trace = UnknownLoc(), error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == file:
                place = _location(trace.tb_frame.f_code, trace.tb_lasti)
            trace = trace.tb_next
        raise CompileError(at(place, str(error))) from error
    finally:
        _FILE.reset(token)


def python_line() -> LocationAttr:
    """The line of Python that is at work: the innermost one of the file of `lines_of`, elsewhere of
    whoever called what asks."""
    wanted = _FILE.get()
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        file = frame.f_code.co_filename
        if file == wanted if wanted is not None else file not in _OURS:
            return _location(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return UnknownLoc()


def beneath(file: str) -> None:
    """A file's lines are never those that built an op: it builds for others."""
    _OURS.add(file)


@cache
def _location(code: CodeType, instruction: int) -> LocationAttr:
    line, _, column, _ = next(islice(code.co_positions(), instruction // 2, None))
    file = StringAttr(code.co_filename)
    return FileLineColLoc(file, IntAttr(line or code.co_firstlineno), IntAttr((column or 0) + 1))


def located(op: Operation) -> Operation:
    """An op, at the line that is at work where it has no location yet."""
    if isinstance(op.location, UnknownLoc):
        op.location = python_line()
    return op
