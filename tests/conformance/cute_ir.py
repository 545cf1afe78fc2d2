"""The `cute` dialect against NVIDIA's lit files for CuTe IR, which are read where they lie.

    python tests/conformance/cute_ir.py PATH_TO_CHECKOUT        # of CUTLASS, or of cutlass_compiler
    python tests/conformance/cute_ir.py PATH --filter Dialect/Cute/Types --list-failures

A file passes when every one of its RUN lines does. The lines are run as they are, with `cute-opt`
standing for `tilewright-opt`, `FileCheck` for `filecheck`, and the options spelled our way. Prints
a line for every directory, and under it how many files failed for which class of reason. The exit
status is 1 where a file failed, 2 where there are none.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import llvm_filecheck
from mlir_opt_printer import MlirOptPrinter
from xdsl.dialects.builtin import ModuleOp

from tilewright.executors import add_executor_option, executor_of
from tilewright.tools import tilewright_opt

TESTS = "cute_ir/test"
"""Where the lit files are, below `cutlass_compiler`."""

_RUN = re.compile(r"^\s*//\s*RUN:\s?(.*)$")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file: `reason` is None where it passed, else the class of the failure and
    `detail` what the failing command said."""

    path: str
    reason: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Ran:
    """The exit status of a command, and what it wrote."""

    status: int
    stdout: str
    stderr: str


# --- RUN lines ------------------------------------------------------------------------------------


class UnmappedError(Exception):
    """A RUN line that asks for what we do not have."""


def run_lines(text: str) -> list[str]:
    """The RUN lines of a lit file, continuation lines joined."""
    lines: list[str] = []
    open_line = False
    for match in filter(None, map(_RUN.match, text.splitlines())):
        piece = match[1].strip()
        continued = piece.endswith("\\")
        piece = piece.removesuffix("\\").strip()
        if open_line:
            lines[-1] = f"{lines[-1]} {piece}"
        else:
            lines.append(piece)
        open_line = continued
    return lines


def commands(line: str, path: str) -> list[list[str]]:
    """The commands of a RUN line's pipeline, as words."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>&")
    lexer.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in lexer:
        if word == "|":
            found.append([])
        else:
            found[-1].append(word.replace("%s", path))
    return found


_OPTIONS = {
    "split-input-file": "--split-input-file",
    "verify-diagnostics": "--verify-diagnostics",
    "mlir-print-op-generic": "--print-op-generic",
    "allow-unregistered-dialect": "--allow-unregistered-dialect",
}
"""mlir-opt's options that are not passes, in our spelling."""


def our_options(words: Sequence[str]) -> list[str]:
    """mlir-opt's arguments as `tilewright-opt` takes them: what is no option is a pass."""
    arguments: list[str] = []
    passes: list[str] = []
    for word in words:
        if not word.startswith("-"):
            arguments.append(word)
        elif (name := word.lstrip("-")) in _OPTIONS:
            arguments.append(_OPTIONS[name])
        elif "=" in name:
            raise UnmappedError(f"option {word}")
        else:
            passes.append(name)
    return [*arguments, "-p", ",".join(passes)] if passes else arguments


class MlirOpt(tilewright_opt.TilewrightOpt):
    """tilewright-opt, printing as mlir-opt does."""

    def output_resulting_program(self, prog: ModuleOp) -> str:
        output = io.StringIO()
        MlirOptPrinter(output, print_generic_format=self.args.print_op_generic).print_op(prog)
        return f"{output.getvalue()}\n"


def _opt(arguments: list[str]) -> None:
    tilewright_opt.main(arguments, MlirOpt)


def _checker(words: Sequence[str]) -> list[str]:
    return ["filecheck", *words]


_TOOLS: dict[
    str, tuple[Callable[[list[str]], None], Callable[[Sequence[str]], list[str]], str | None]
] = {
    "cute-opt": (_opt, our_options, None),
    "FileCheck": (llvm_filecheck.main, _checker, "FileCheck mismatch"),
}
"""For a program of theirs: ours, its arguments, and the class of its failures, None where what it
says decides."""


def called(tool: Callable[[list[str]], None], arguments: list[str], given: str) -> Ran:
    """Run a command's main function in this process."""
    out, err = io.StringIO(), io.StringIO()
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
    status = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            tool(arguments)
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Exception:
        status = -1
        err.write(traceback.format_exc())
    finally:
        sys.stdin = stdin
    return Ran(status, out.getvalue(), err.getvalue())


def failure(line: str, path: str) -> tuple[str, str] | None:
    """Why a RUN line fails: the class of the reason, and what was said; None where it succeeds."""
    given = ""
    for name, *words in commands(line, path):
        if name not in _TOOLS:
            return "tool not mapped", f"{name} in {line}"
        tool, translate, reason = _TOOLS[name]
        try:
            ran = called(tool, translate(words), given)
        except UnmappedError as missing:
            return "option not mapped", str(missing)
        if ran.status != 0:
            return reason or reason_class(ran), ran.stderr
        given = ran.stdout
    return None


# --- reasons --------------------------------------------------------------------------------------

_REASONS = (
    (r"Traceback", "crash"),
    (r"'?cute\.[\w.]+'? is not registered", "cute op or type is missing"),
    (r"is not registered", "construct that xDSL's dialects lack"),
    (r"expected error was not produced", "verifier disagrees"),
    (
        r"expected the name of a pass|unrecognized passes|[Uu]nknown pass|Unrecognized pass",
        "pass is missing",
    ),
    (r"error: 'cute\.", "verifier disagrees"),
    (r"error: failed to parse", "type text is rejected"),
    (r"Did you mean|Unrecognized", "pass is missing"),
)


def reason_class(ran: Ran) -> str:
    """The class of what `tilewright-opt` says."""
    return next(
        (name for pattern, name in _REASONS if re.search(pattern, ran.stderr)), "parse error"
    )


def judge(path: str) -> Outcome:
    """Run a file."""
    lines = run_lines(Path(path).read_text())
    if not lines:
        return Outcome(path, "no RUN line")
    for line in lines:
        if (found := failure(line, path)) is not None:
            return Outcome(path, *found)
    return Outcome(path)


# --- the report -----------------------------------------------------------------------------------


def lit_files(checkout: Path, wanted: str = "") -> list[str]:
    """The lit files of a checkout whose path below the tests holds `wanted`."""
    for root in (checkout, checkout / "cutlass_compiler"):
        tests = root / TESTS
        if tests.is_dir():
            return [
                str(path)
                for path in sorted(tests.rglob("*.mlir"))
                if wanted in str(path.relative_to(tests))
            ]
    return []


def _directory(path: str) -> str:
    return os.path.dirname(path).rpartition(f"{TESTS}/")[2]


def table(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """A line for every directory, the reasons of its failures, and the total."""
    by_directory: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_directory.setdefault(_directory(outcome.path), []).append(outcome)
    by_directory["total"] = [each for group in by_directory.values() for each in group]
    for directory, group in by_directory.items():
        failed = Counter(each.reason for each in group if each.reason is not None)
        yield f"{directory:60} {len(group) - failed.total():4} passed {failed.total():4} failed"
        for reason, count in failed.most_common():
            yield f"    {count:4} {reason}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--filter", default="", help="only paths that hold this")
    parser.add_argument("--list-failures", action="store_true", help="what failing commands said")
    add_executor_option(parser, "processes")
    options = parser.parse_args(arguments)
    files = lit_files(options.checkout, options.filter)
    if not files:
        print(f"error: no lit files below {options.checkout}", file=sys.stderr)
        return 2
    with executor_of(options.executor) as pool:
        outcomes = list(pool.map(judge, files, chunksize=4))
    if options.list_failures:
        for outcome in outcomes:
            if outcome.reason is not None:
                print(f"{outcome.path}: {outcome.reason}\n{outcome.detail.rstrip()}\n")
    print("\n".join(table(outcomes)))
    return int(any(outcome.reason is not None for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
