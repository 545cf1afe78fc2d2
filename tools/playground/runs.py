"""Runs of the playground: a kernel on arguments as `tilewright run` takes them, or a Python script
that launches kernels; here, of a bounded number of steps."""

import argparse
import io
import os
import re
import runpy
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp

from tilewright.arguments.parameters import Parameter
from tilewright.dialects.cute.int_tuple import flatten
from tilewright.dialects.cute.types.tensors import MemRefType as TensorMemRefType
from tilewright.dialects.frozen import factory
from tilewright.execution import declared_block, interpret, kernel_signature
from tilewright.lowering.interpreter.array_types import AnyArray
from tilewright.lowering.interpreter.share import OUTPUT, PrintedText
from tilewright.schedules import under_schedules
from tilewright.source.diagnostic import CompileError, ExecutionError, at
from tilewright.tools.commands.input import InputError
from tilewright.tools.commands.parsers import WordsParser
from tilewright.tools.commands.run import add_launch_arguments
from tilewright.tools.commands.run_argument import read_arguments
from tilewright.tools.language_server.python_kernels import error_places

MOST_STEPS = 1 << 18
"""Steps of a run, as `max_steps` counts them, at most."""
MOST_SHOWN = 1 << 18
"""Characters of what a run prints, at most."""
_EXTENT = 128
"""Extents and integers that are guessed."""


@dataclass
class Ran:
    """The outcome of a run: what was `said`, of which lines of the text its `lines` are, and the
    `error` that ended it, if one did; the `words` of its arguments, and the modules of the kernels
    that a script launched, by the names of their functions."""

    words: str = ""
    said: str = ""
    lines: list[int | None] = factory(list)
    error: str = ""
    modules: dict[str, ModuleOp] = factory(dict)


class _Shown(io.StringIO):
    """Notes of which lines of the text the lines are that are printed here."""

    def __init__(self, lines: list[int | None]):
        super().__init__()
        self._lines = lines

    def write(self, text: str) -> int:
        self._lines += [text.line if isinstance(text, PrintedText) else None] * text.count("\n")
        return super().write(text)


@contextmanager
def _saying(ran: Ran) -> Generator[io.StringIO]:
    """Let kernels print here."""
    token = OUTPUT.set(shown := _Shown(ran.lines))
    try:
        yield shown
    finally:
        OUTPUT.reset(token)
        ran.said = shown.getvalue()[:MOST_SHOWN]
        del ran.lines[ran.said.count("\n") :]


def run_kernel(text: str, name: str, arch: str, arguments: str) -> Ran:
    """A run of a text's kernel on the arguments that are given, or on a guess where there are none.
    No file is read or written."""
    ran = Ran(arguments.strip())
    with _saying(ran) as shown:
        try:
            _run_kernel(text, name, arch, ran, shown)
        except (InputError, CompileError, ExecutionError) as error:
            ran.error = str(error)
    return ran


def _run_kernel(text: str, name: str, arch: str, ran: Ran, shown: io.StringIO) -> None:
    ran.words = ran.words or guessed(text, name)
    options = _options(ran.words)
    given = read_arguments(options, text, name, files=False)
    names = [array.name for one in given for array in one.arrays]

    def under(schedule: int | None) -> list[AnyArray]:
        return interpret(
            text, options.kernel, grid=options.grid, block=options.block, name=name,
            args=[one.value for one in given], numerics=options.numerics, schedule=schedule,
            arch=options.arch or arch or None, races=options.races,
            max_steps=min(options.max_steps or MOST_STEPS, MOST_STEPS),
        )  # fmt: skip

    arrays = under_schedules(under, options.schedule, options.schedules, names, None)
    for title, array in zip(names, arrays, strict=True):
        extents = "x".join(map(str, array.shape))
        shown.write(f"{title}: {extents} {array.dtype.name}\n{np.array2string(array)}\n")


def _options(words: str) -> argparse.Namespace:
    """The words of a run. Raises InputError."""
    parser = WordsParser("run", add_help=False, allow_abbrev=False)
    parser.add_argument("arguments", metavar="ARG", nargs="*")
    add_launch_arguments(parser, block_required=False)
    try:
        return parser.parse_words(words)
    except argparse.ArgumentTypeError as error:
        raise InputError(str(error)) from None


def guessed(text: str, name: str) -> str:
    """Words of a run of a text's kernel: a CTA, of as many threads as the kernel declares or one
    warp, arrays of random elements, equal extents."""
    block = declared_block(text, name)
    words = ["--grid 1", *([] if block is None else [f"--block {','.join(map(str, block))}"])]
    return " ".join([*words, *map(_guessed, kernel_signature(text, None, name))])


def _guessed(parameter: Parameter) -> str:
    """The ARG of a parameter."""
    kind: Any = parameter.type
    if parameter.element is None:
        return "1.0" if parameter.text.lstrip("bt").startswith("f") else str(_EXTENT)
    shape: Sequence[Any] = (_EXTENT * _EXTENT,)
    if parameter.box is not None:
        shape = parameter.box.shape
    elif isinstance(kind, TensorMemRefType):
        shape = flatten(kind.tensor.modes.shape)
    elif isinstance(kind, MemRefType) and kind.get_num_dims() > 1:
        shape = kind.get_shape()
    extents = (str(one) if isinstance(one, int) and one > 0 else str(_EXTENT) for one in shape)
    return "x".join(extents)


def run_script(text: str, name: str) -> Ran:
    """A run of a Python script, whose launches of kernels of cuTile and of Triton run here."""
    ran = Ran()
    with _saying(ran) as shown, TemporaryDirectory() as folder, ExitStack() as stack:
        path = Path(folder, name)
        path.write_text(text)
        stack.enter_context(redirect_stdout(shown))
        # What Triton keeps names the file that a script was in.
        stack.enter_context(mock.patch.dict(os.environ, TRITON_CACHE_DIR=folder))
        for package in ("cutile", "triton"):
            with suppress(ImportError):  # a front end that is not installed
                stack.enter_context(_launches_here(package, ran.modules))
        try:
            runpy.run_path(str(path), run_name="__main__")
        except (Exception, SystemExit) as error:
            if not isinstance(error, SystemExit) or error.code:
                ran.error = _of_script(error, path, text)
    return ran


@contextmanager
def _launches_here(package: str, modules: dict[str, ModuleOp]) -> Generator[None]:
    """Let the launches of a front end run here, and note the modules of their kernels."""
    launches: Any = import_module(f"tilewright.{package}.launches")
    run_in_place = launches.run_in_place

    def noting(entry: Any, *launch: Any) -> None:
        defined = re.search(r"def (\w+)", at(entry.location, "").text or "")
        name = entry.sym_name.data if defined is None else defined[1]
        modules.setdefault(name, entry.get_toplevel_object())
        run_in_place(entry, *launch)

    with (
        mock.patch.object(launches, "run_in_place", noting),
        launches.on_cpu(max_steps=MOST_STEPS),
    ):
        yield


def _of_script(error: BaseException, path: Path, text: str) -> str:
    """An error, at the line of the script that it comes from."""
    said = str(error)
    if not (isinstance(error, ExecutionError) and said.startswith(f"{path}:")):
        line = getattr(error, "lineno", None) or 1
        said = "\n".join(map(str, error_places(error, str(path), line, text)))
    return said.replace(f"{path.parent}/", "")
