"""lit's shell where commands written in Python run in the process that runs the tests, which has
imported tilewright already, in place of a new interpreter that imports it again.

    lit tests/filecheck                 # warm
    lit -D cold=1 tests/filecheck       # every command a process of its own, from its file

A command has arguments, a folder, an environment and standard streams of its own, so redirections,
`not` and exit statuses stay lit's business; those of a pipe run one after the other. What is not
written in Python, or needs another interpreter, starts as ever.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

import lit.formats
import lit.TestRunner

# The commands of RUN lines, and the packages that they import by and by.
COMMANDS = ("filecheck.main", "tilewright.tools.tilewright_opt", "xdsl.tools.xdsl_opt")
PACKAGES = ("tilewright.dialects", "tilewright.passes", "tilewright.lowering")
# What is run ahead, so that dialects are loaded and definitions of ops are read once.
EXAMPLE = str(Path(__file__).parents[2] / "examples" / "tile_gemm_sm90.mlir")
LOWERED = "convert-cute-to-cute-nvgpu{arch=sm_90a},convert-cute-nvgpu-to-ptx{arch=sm_90a}"
EXAMPLES = ((EXAMPLE,), (EXAMPLE, "-p", LOWERED, "-t", "ptx"))


class WarmShell(lit.formats.ShTest):
    """lit's internal shell, with warm commands."""

    def execute(self, test: Any, litConfig: Any) -> Any:
        if not is_warm(litConfig):
            return super().execute(test, litConfig)
        warm_up()
        cold = lit.TestRunner.subprocess
        lit.TestRunner.subprocess = SimpleNamespace(**{**vars(cold), "Popen": start})
        try:
            return super().execute(test, litConfig)
        finally:
            lit.TestRunner.subprocess = cold


def is_warm(lit_config: Any) -> bool:
    """Whether commands run here."""
    return "cold" not in lit_config.params


@cache
def warm_up() -> None:
    """Import what the commands do, and let one compile: before lit starts its workers."""
    for name in COMMANDS:
        importlib.import_module(name)
    for package in map(importlib.import_module, PACKAGES):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for options in EXAMPLES:
        sys.modules["tilewright.tools.tilewright_opt"].main([*options, "-o", os.devnull])
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


class Ran:
    """A command that ran here to its end, as lit looks at a `subprocess.Popen`."""

    pid = -1  # as of no process: lit has nothing to kill

    def __init__(self, program: Program, cwd: str, env: dict[str, str], streams: list[Any]):
        files = [unnamed_file() if stream == subprocess.PIPE else None for stream in streams]
        self.stdin, self.stdout, self.stderr = files
        stdin, stdout, stderr = (
            stream if file is None else file for stream, file in zip(streams, files, strict=True)
        )
        theirs = [stdin, stdout, stdout if stderr == subprocess.STDOUT else stderr]
        numbers = [file if isinstance(file, int) else file.fileno() for file in theirs]
        with given_to(program, cwd, env, numbers):
            self.returncode = exit_status(*program[:2])
        for file in filter(None, files):
            file.seek(0)

    def wait(self) -> int:
        return self.returncode

    def communicate(self) -> tuple[str | None, ...]:
        streams = (self.stdout, self.stderr)
        return tuple(None if stream is None else stream.read() for stream in streams)


def unnamed_file() -> TextIO:
    """A file without a name, which holds more than a pipe does."""
    return tempfile.TemporaryFile("w+", errors="replace")


def start(
    args: list[str], *, executable: str, env: dict[str, str], **options: Any
) -> Ran | subprocess.Popen[str]:
    """`subprocess.Popen`, but a Python program has run when it returns."""
    program = python_program(executable, args)
    if program is None:
        return subprocess.Popen(args, executable=executable, env=env, **options)
    streams = [options[name] for name in ("stdin", "stdout", "stderr")]
    return Ran(program, options["cwd"], env, streams)


@cache
def is_script(path: str) -> bool:
    """Whether a file is a program for this interpreter, as an installed command is."""
    with open(path, "rb") as file:
        first = file.readline(256)
    return first.startswith(b"#!") and Path(first[2:].strip().decode()) == Path(sys.executable)


Program = tuple[Callable[..., object], str, list[str]]


def python_program(executable: str, args: list[str]) -> Program | None:
    """What runs a command in this interpreter: a function, what it is told, and `sys.argv`; None
    where the command is another program's."""
    if executable != sys.executable:
        return (runpy.run_path, executable, args) if is_script(executable) else None
    if args[1] == "-m":
        return runpy.run_module, args[2], args[2:]
    return None if args[1].startswith("-") else (runpy.run_path, args[1], args[1:])


@contextmanager
def given_to(
    program: Program, cwd: str, env: dict[str, str], numbers: list[int]
) -> Generator[None]:
    """Arguments, a folder, an environment and standard streams are a program's, then ours again."""
    kept = sys.argv, [*sys.path], dict(os.environ), os.getcwd(), sys.stdin, sys.stdout, sys.stderr
    sys.stdout.flush()
    ours = [os.dup(number) for number in range(3)]
    # Copies first, for one of a program's streams may have a number that another gets.
    theirs = [os.dup(number) for number in numbers]
    for number, copy in enumerate(theirs):
        os.dup2(copy, number)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.argv = program[2]
    sys.path[:0] = filter(None, env.get("PYTHONPATH", "").split(os.pathsep))
    sys.stdin, sys.stdout, sys.stderr = map(standard_stream, range(3))
    try:
        yield
    finally:
        sys.argv, sys.path[:], environment, folder, sys.stdin, sys.stdout, sys.stderr = kept
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        for number, copy in enumerate(ours):
            os.dup2(copy, number)
        for copy in (*ours, *theirs):
            os.close(copy)


def standard_stream(number: int) -> TextIO:
    """Standard input, output or error, as Python opens them where they are no terminal."""
    how = {"errors": "backslashreplace", "buffering": 1} if number == 2 else {}
    return open(number, "w" if number else "r", closefd=False, **how)


def exit_status(run: Callable[..., object], name: str) -> int:
    """The exit status of a program, as the interpreter would give it; its output is flushed."""
    status = 0
    try:
        run(name, run_name="__main__")
    except SystemExit as leaving:
        status = leaving.code
    except BaseException:
        traceback.print_exc()
        status = 1
    if not isinstance(status, int | None):
        print(status, file=sys.stderr)
        status = 1
    try:
        sys.stdout.flush()
    except OSError:
        status = 120  # as Python leaves where nobody reads its output
    return status or 0
