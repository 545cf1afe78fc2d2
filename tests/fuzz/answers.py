"""What counts as an answer: never a traceback, a wrong exit status, an internal error or a hang."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import get_ident
from typing import Any

from campaign import in_time

SECONDS = 20
LEAKS = ("Traceback", "internal error")


class Broken(Exception):
    """The promise that this mutant breaks: one line that names the kind."""


def _kind(said: str) -> str:
    """The line of a message that says what it should not, without its place."""
    line = next(line for line in said.splitlines() if any(leak in line for leak in LEAKS))
    return re.sub(r"^\S+:\d+:\d+: ", "", line)[:160]


def _sink() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8")


@cache
def _folder() -> TemporaryDirectory[str]:
    """One folder of this process: to make and remove one takes longer than most mutants do."""
    return TemporaryDirectory()


def file_of(mutated: str | bytes, suffix: str) -> Path:
    """A mutant as a file, which the next one of this thread overwrites."""
    path = Path(_folder().name, f"{os.getpid()}_{get_ident()}{suffix}")
    if isinstance(mutated, str):
        mutated = mutated.encode(errors="surrogatepass")
    path.write_bytes(mutated)
    return path


def judged(run: Callable[[], Any], *answers: type[Exception]) -> None:
    """Runs, and nobody sees what it prints; `answers` are the errors that the entry point
    documents."""
    try:
        with in_time(SECONDS), contextlib.redirect_stdout(_sink()):
            run()
    except answers as error:
        if any(leak in str(error) for leak in LEAKS):
            raise Broken(_kind(str(error))) from error
    except Broken:
        raise
    except TimeoutError as error:
        raise Broken(f"hang: {error}") from None
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = next((f for f in reversed(frames) if "tests/fuzz" not in f.filename), frames[-1])
        where = f"{'/'.join(Path(place.filename).parts[-3:])}:{place.name}"
        raise Broken(f"{type(error).__name__} in {where}: {str(error)[:100]}") from error


def command(main: Callable[[Sequence[str]], None], arguments: list[str], stdin: str = "") -> None:
    """A command of the shell: status 0, 1 or 2, and an error message where it is not 0."""
    err = io.StringIO()
    status: object = 0

    def run() -> None:
        nonlocal status
        try:
            main(arguments)
        except SystemExit as leave:
            status = leave.code or 0

    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode(errors="surrogateescape")), "utf-8")
    try:
        with contextlib.redirect_stderr(err):
            judged(run)
    finally:
        sys.stdin = before
    said = err.getvalue()
    if status not in (0, 1, 2):
        raise Broken(f"exit status {status}")
    if any(leak in said for leak in LEAKS):
        raise Broken(_kind(said))
    if status and not said.strip():
        raise Broken(f"exit status {status} without a word")
