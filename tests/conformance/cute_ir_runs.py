"""NVIDIA's programs that print CuTe IR's values as they run, run by the interpreter.

    python tests/conformance/cute_ir_runs.py PATH_TO_CHECKOUT [--expand] [--list-failures]

They are the files below `cutlass_compiler/test/Integration`, read where they lie; each says in
CHECK lines what it prints when it is compiled and run. Of the host's code around them only two
functions matter, and are replaced: `read_base`, which reads a 0, and `print_i32`. The exit status
is 1 where a file failed, 2 where there are none.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import filecheck.main
from cute_ir import called
from xdsl.context import Context

import tilewright as tw
from tilewright.lowering.to_base.cute_expand_ops import CuteExpandOpsPass
from tilewright.source.parsing import parse_module

TESTS = "test/Integration"
"""Where the programs are, below `cutlass_compiler`."""

_STAND_INS = {
    "read_base": "() -> i32 {\n  %z = arith.constant 0 : i32\n  return %z : i32\n}",
    "print_i32": (
        '(%v: i32) {\n  %t = cute.make_int_tuple(%v) : (i32) -> !cute.int_tuple<"?">\n'
        '  cute.print(%t) : !cute.int_tuple<"?">\n  return\n}'
    ),
}
_KERNEL = re.compile(
    r"gpu\.func @\w+\((?P<arguments>.*?)\)\s*kernel\s*\{\n(?P<body>.*?)\n\s*gpu\.return", re.DOTALL
)


def program(text: str) -> tuple[str, int]:
    """A file as IR whose kernel is `main`, and how many numbers that takes."""
    if (kernel := _KERNEL.search(text)) is not None:
        arguments = [each for each in kernel["arguments"].split(",") if each.strip()]
        head = f"func.func @main({kernel['arguments']}) attributes {{gpu.kernel}} {{"
        body = kernel["body"].replace(
            "gpu.thread_id x", '"gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index'
        )
        body = re.sub(r'gpu\.printf "%d\\n", (%\w+) : i32', r"func.call @print_i32(\1)", body)
        body = re.sub(r"(func\.call @print_i32\(.*\))", r"\1 : (i32) -> ()", body)
        stand_ins = f"func.func private @print_i32{_STAND_INS['print_i32']}"
        return f"{stand_ins}\n{head}\n{body}\n  func.return\n}}", len(arguments)
    for name, instead in _STAND_INS.items():
        function = rf"func\.func (?:private )?@{name}\(.*?\n\}}"
        whole = f"func.func private @{name}{instead}"
        text = re.sub(function, lambda _, whole=whole: whole, text, flags=re.DOTALL)
    text = re.sub(r"^\s*llvm\..*\n", "", text, flags=re.MULTILINE)
    return text.replace("func.func @main()", "func.func @main() attributes {gpu.kernel}"), 0


def failure(text: str, path: str, *, expand: bool) -> str | None:
    """Why a program, or what `cute-expand-ops` makes of it, fails; None where it prints what it
    should."""
    printed = io.StringIO()
    try:
        code, count = program(text)
        module = parse_module(code, path)
        if expand:
            CuteExpandOpsPass().apply(Context(), module)
        with contextlib.redirect_stdout(printed):
            tw.interpret(module, "main", grid=(1,), block=(1,), args=[0] * count)
    except (tw.CompileError, tw.ExecutionError) as error:
        return str(error)
    if not printed.getvalue():
        return "it prints nothing"
    ran = called(filecheck.main.main, ["filecheck", path], printed.getvalue())
    return ran.stderr or "FileCheck failed" if ran.status else None


def files(checkout: Path) -> list[Path]:
    """The programs of a checkout of CUTLASS, or of cutlass_compiler."""
    for root in (checkout, checkout / "cutlass_compiler"):
        if (root / TESTS).is_dir():
            return sorted((root / TESTS).rglob("*.mlir"))
    return []


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--list-failures", action="store_true", help="why each failed")
    parser.add_argument("--expand", action="store_true", help="run cute-expand-ops first")
    options = parser.parse_args(arguments)
    found = files(options.checkout)
    if not found:
        print(f"error: no programs below {options.checkout}", file=sys.stderr)
        return 2
    failed: dict[Path, str] = {}
    for path in found:
        why = failure(path.read_text(), str(path), expand=options.expand)
        if why is not None:
            failed[path] = why
    if options.list_failures:
        for path, why in failed.items():
            print(f"{path}: {why.rstrip()}\n")
    print(f"{len(found) - len(failed)} passed, {len(failed)} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
