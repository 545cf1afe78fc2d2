"""lit's shell where commands written in Python start warm: a fork of the process that runs the
tests, which has imported tilewright already, in place of a new interpreter that imports it again.

    lit tests/filecheck                 # warm
    lit -D cold=1 tests/filecheck       # every command a process of its own, from its file

A command is still a process with arguments, a folder, an environment and streams of its own, so
pipes, redirections, `not` and exit statuses stay lit's business, and no state goes from one command
to the next. What is not written in Python, or needs another interpreter, starts as ever.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import runpy
import subprocess
import sys
import traceback
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, TextIO

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
    """Whether commands may start warm: fork is not everywhere."""
    return "cold" not in lit_config.params and hasattr(os, "fork")


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
    gc.freeze()  # so that a fork's collector leaves what it shares alone


def start(
    args: list[str], *, executable: str, env: dict[str, str], **options: Any
) -> subprocess.Popen[str]:
    """`subprocess.Popen`, whose child runs the command itself where that is a Python program."""
    program = python_program(executable, args)
    if program is not None:
        options["preexec_fn"] = partial(become, program, env)
    return subprocess.Popen(args, executable=executable, env=env, **options)


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


def become(program: Program, env: dict[str, str]) -> NoReturn:
    """Run a program in a process just forked, whose standard streams and folder are set."""
    run, name, argv = program
    # subprocess waits until its end of a pipe of its own is closed, as exec closes it.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.environ.clear()
    os.environ.update(env)
    sys.path[:0] = filter(None, env.get("PYTHONPATH", "").split(os.pathsep))
    sys.stdin, sys.stdout, sys.stderr = map(standard_stream, range(3))
    sys.argv = argv
    os._exit(exit_status(run, name))


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
