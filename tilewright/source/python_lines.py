"""Where in Python an op was built: locations of IR that a front end writes, and of its errors."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any, TypeVar

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, StringAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tilewright.source.diagnostic import CompileError, at

_FILE: ContextVar[str | None] = ContextVar("file whose lines ops are located at", default=None)
_OURS: set[str | CodeType] = {__file__}
"""The files, and the functions, whose lines are nobody's: those that ask."""
_Front = TypeVar("_Front", str, Callable[..., Any])


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
        ours = file in _OURS or frame.f_code in _OURS
        if file == wanted if wanted is not None else not ours:
            return _location(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return UnknownLoc()


def beneath(front: _Front) -> _Front:
    """The lines of a front end's file, or of a function of it that this decorates, are never those
    that built an op: they build for others."""
    own: list[Any] = [getattr(front, "__code__", front)]
    for code in own:  # with the functions within it
        _OURS.add(code)
        own += [part for part in getattr(code, "co_consts", ()) if isinstance(part, CodeType)]
    return front


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
