"""Writing results: whole or not at all."""

import io
import os
import sys
import tempfile
from pathlib import Path

INTERRUPTED = 130
BROKEN_PIPE = 141
"""Exit statuses where the user interrupts, and where nobody reads stdout any more: the shell's for
SIGINT and SIGPIPE."""


class UnwritableError(Exception):
    """An output path that cannot be written; nothing was left there."""


def replace_closed_stdout() -> None:
    """Where the caller closed stdout, what is written there goes nowhere."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]: closed by the caller
        sys.stdout = io.StringIO()


def drop_stdout() -> None:
    """Nobody reads stdout any more: keep the interpreter from flushing into it at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())


def last_words(error: Exception) -> str:
    """The message where no command foresaw the error."""
    if isinstance(error, OSError):
        where = f" '{error.filename}'" if error.filename is not None else ""
        return f"error: cannot read or write{where}: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "error: out of memory"
    if isinstance(error, RecursionError):
        return "error: the input is nested too deeply"
    kind = type(error).__name__
    return f"error: internal error, {kind}: {error} (TILEWRIGHT_TRACEBACK=1 shows where)"


def write_whole(path: str | None, data: str | bytes) -> None:
    """Write `data` to the file, or to stdout where `path` is None or `-`.

    The file appears complete or not at all. Raises UnwritableError.
    """
    if path is None or path == "-":
        if isinstance(data, bytes):
            sys.stdout.buffer.write(data)
        else:
            sys.stdout.write(data)
        return
    target = Path(path)
    raw = data.encode() if isinstance(data, str) else data
    if target.exists() and not target.is_file():
        # A device or a pipe (/dev/null, /dev/stdout) has no half-written state to hide.
        _write_through(target, raw)
        return
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise UnwritableError(f"cannot write '{path}': {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(raw)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, target)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise UnwritableError(f"cannot write '{path}': {error.strerror}") from None


def _write_through(target: Path, raw: bytes) -> None:
    try:
        with target.open("wb") as stream:
            stream.write(raw)
    except OSError as error:
        raise UnwritableError(f"cannot write '{target}': {error.strerror}") from None
