"""Input of a command, and the one error that says why it cannot be read."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tilewright.dialects.cute_nvgpu.lattice.targets import Target, TargetError, target

if TYPE_CHECKING:
    from concurrent.futures import Executor


EXAMPLE = "example:"
"""The beginning of what stands for an example of the package."""


class InputError(Exception):
    """The input is wrong: `str()` is what stderr gets."""

    def __init__(self, message: str):
        super().__init__(f"error: {message}")


def said_of_input(error: Exception) -> str | None:
    """The line of stderr for an error: a class of our own says what is wrong with the input, of any
    other this is None."""
    if not type(error).__module__.startswith("tilewright."):
        return None
    text = str(error)
    return text if text.startswith("error: ") or ": error: " in text else f"error: {text}"


class UsageError(InputError):
    """The arguments do not go together: the usage is shown, exit status 2."""


def add_options(parser: ArgumentParser, table: str, **settings: dict[str, Any]) -> None:
    """Add the arguments of a table: a name, the name of its value, a colon and its help, further
    lines indented. `settings` has more of some, by name; without a value an option is a flag."""
    rows = re.findall(r"^(\S+?)(?: (\S+))?: (.*(?:\n .*)*)", table, re.MULTILINE)
    for name, metavar, text in rows:
        own: dict[str, Any] = settings.get(name.lstrip("-").replace("-", "_"), {})
        if metavar:
            own = {"metavar": metavar, **own}
        elif name.startswith("-") and not own:
            own = {"action": "store_true"}
        parser.add_argument(name, help=" ".join(text.split()), **own)


def read_text(path: str) -> str:
    """The UTF-8 text of a file, or of stdin where `path` is `-`. Raises InputError."""
    return _text(path, _read(path))


def read_source(path: str) -> str | bytes:
    """Tile IR bytecode, or the UTF-8 text that anything else is. Raises InputError."""
    from tilewright.dialects.cuda_tile.bytecode.container import is_bytecode

    raw = _read(path)
    return raw if is_bytecode(raw, path) else _text(path, raw)


def _text(path: str, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"'{shown_path(path)}' is not UTF-8 text ({error.reason} at byte {error.start})"
        ) from None


def _read(path: str) -> bytes:
    try:
        if path == "-":
            if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]: closed
                raise InputError("cannot read '<stdin>': it is closed")
            return sys.stdin.buffer.read()
        if path.startswith(EXAMPLE):
            return example(path.removeprefix(EXAMPLE))
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise InputError(f"cannot read '{shown_path(path)}': {error.strerror}") from None
    except ValueError:
        raise InputError(f"expected a file name, got {path!r}") from None


def example_names() -> list[str]:
    """The examples of the package."""
    paths = files("tilewright.examples").iterdir()
    return sorted(path.name[:-5] for path in paths if path.name.endswith(".mlir"))


def example(name: str) -> bytes:
    """The text of an example. Raises InputError."""
    if name not in (names := example_names()):
        nearest = get_close_matches(name, names, n=1, cutoff=0)[0]
        raise InputError(f"expected an example, got '{name}'; nearest legal: {nearest}")
    return files("tilewright.examples").joinpath(f"{name}.mlir").read_bytes()


def shown_path(path: str) -> str:
    """The name of a file in diagnostics."""
    return "<stdin>" if path == "-" else path


def read_target(name: str) -> Target:
    """The target that `--arch` names. Raises InputError."""
    try:
        return target(name)
    except TargetError as error:
        raise InputError(str(error)) from None


@contextmanager
def chosen_executor(name: str) -> Generator[Executor]:
    """The executor that `--executor` names. Raises InputError."""
    from tilewright.executors import executor_of

    with ExitStack() as stack:
        try:
            executor = stack.enter_context(executor_of(name))
        except (ValueError, ImportError, OSError) as error:
            raise InputError(f"cannot use --executor: {error}") from None
        yield executor


def read_integer(text: str) -> int:
    """An integer in any of Python's notations. Raises InputError for anything else."""
    try:
        return int(text, 0)
    except ValueError:
        raise InputError(f"expected an integer such as 0x400, got '{text}'") from None
