"""The kernels of tests/mutation/correct, and the examples for Hopper, on the GPU under NVIDIA's
compute-sanitizer: python tests/gpu/sanitize_corpus.py [--tool racecheck] [NAME...]

One line for each kernel and tool says what became of it: "ok" where the tool has no complaint and
the kernel gives what it must; "ok:" with a reason where the tool is known to be wrong. Needs a
Hopper GPU, the `gpu` extra, and compute-sanitizer on PATH.
The exit status is 1 where a line is not "ok".
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "mutation"))

from correct_kernels import FOLDER, SMALL, arguments_of, launch_of
from subjects import BF16, EXAMPLES, SUBJECTS, Array, matrices

import tilewright as tw

TOOLS = ("memcheck", "racecheck", "synccheck")
LIMITS = {
    (
        "racecheck",
        "pingpong_named_barriers",
    ): "bar.arrive orders what racecheck does not see ordered",
}
"""Hazards that a tool reports where there is none, and why. `bar.arrive` guarantees, as `bar.sync`
does, that what its thread accessed before is performed once the barrier completes, and it
synchronises with the `bar.sync`s of the same barrier (PTX ISA 9.7.13.1 and 8.9.4). In the kernel
each store is before its thread's arrival at 2 and each load behind a `bar.sync` of 2; each load is
before an arrival at 1 and the store over it behind a `bar.sync` of 1. What racecheck says of it on
an H100 are RAW hazards of these stores (threads 32 to 127) and loads (160 on). The result must be
right all the same."""

SHORT: dict[str, Callable[[], list[Any]]] = {
    "tile_gemm_sm90": lambda: matrices(128, 256, 192, BF16),
}
"""Arguments of examples that take minutes under memcheck: once round the ring."""

ERRORS = 77
"""The exit status of compute-sanitizer where its tool has found errors."""
PATIENCE = 600
"""Seconds that one kernel may take under one tool."""


def small(name: str) -> bool:
    """Launch a kernel of the corpus. Whether it gives what it must."""
    text = (FOLDER / f"{name}.mlir").read_text()
    grid, block = launch_of(text)
    compiled = tw.compile(text, arch="sm_90a")
    return SMALL[name](compiled.launch(*arguments_of(text), grid=grid, block=block))


def example(name: str) -> bool:
    """Launch an example. Whether it gives what the interpreter does."""
    subject = replace(SUBJECTS[name], arguments=SHORT.get(name, SUBJECTS[name].arguments))
    text = (EXAMPLES / f"{name}.mlir").read_text()
    launched = tw.compile(text, arch="sm_90a").launch(
        *subject.arguments(), grid=subject.grid, block=(subject.threads,)
    )
    module, _ = subject.module(name, subject.levels[0])
    pairs: list[tuple[Array, Array]] = list(zip(launched, subject.run(module), strict=True))
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


KERNELS: dict[str, Callable[[str], bool]] = {
    **{name: small for name in SMALL if "sm_100" not in (FOLDER / f"{name}.mlir").read_text()},
    **{name: example for name, subject in SUBJECTS.items() if "sm_100" not in subject.arch},
}


def under(tool: str, name: str) -> str:
    """What a tool says of a kernel."""
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(ERRORS)]
    command += [sys.executable, __file__, "--launch", name]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return f"took more than {PATIENCE} s"
    output = done.stdout + done.stderr
    summary = re.findall(r"^=+ ((?:ERROR|RACECHECK) SUMMARY: .*)$", output, re.MULTILINE)
    if done.returncode == 0 and "right" in done.stdout.split():
        return "ok"
    first = re.findall(r"^=+ ((?!COMPUTE|ERROR SUM|RACECHECK SUM)\S.*)$", output, re.MULTILINE)
    last = output.strip().splitlines()[-1:] or ["no output"]
    said = [*summary[:1], *first[:1]] or last
    wrong = ["wrong result"] if "wrong" in done.stdout.split() else []
    limit = LIMITS.get((tool, name))
    if limit and done.returncode == ERRORS and "right" in done.stdout.split():
        return f"ok: {summary[0] if summary else said[0]}, but {limit}"
    return "; ".join([*wrong, *said])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="*", metavar="NAME", choices=[*KERNELS, []])
    parser.add_argument("--tool", choices=TOOLS, action="append")
    parser.add_argument("--launch", choices=KERNELS, help="launch one kernel without a tool")
    options = parser.parse_args()
    if options.launch:
        print("right" if KERNELS[options.launch](options.launch) else "wrong")
        return 0
    if shutil.which("compute-sanitizer") is None:
        print("expected compute-sanitizer on PATH, got none", file=sys.stderr)
        return 2
    failed = False
    for name in options.kernels or KERNELS:
        for tool in options.tool or TOOLS:
            said = under(tool, name)
            failed |= said.partition(":")[0] != "ok"
            print(f"{name:34}{tool:11}{said}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
