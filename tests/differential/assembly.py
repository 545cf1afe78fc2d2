"""Programs through ptxas, all of a target at a time: a call costs half a second."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from program import Program

import tilewright as tw
from tilewright.launch.ptxas import assemble


def not_assembled(programs: Sequence[tuple[int, Program]]) -> list[tuple[int, str]]:
    """Seeds of the programs that ptxas refuses, and why: all at once, then each by itself."""
    by_target: dict[str, list[tuple[int, Program]]] = defaultdict(list)
    for seed, program in programs:
        by_target[program.arch].append((seed, program))
    refused: list[tuple[int, str]] = []
    for arch, group in by_target.items():
        if _error([program for _, program in group], arch) is not None:
            alone = [(seed, _error([program], arch)) for seed, program in group]
            refused += [(seed, error) for seed, error in alone if error is not None]
    return refused


def _error(programs: Sequence[Program], arch: str) -> str | None:
    texts = [re.sub(r"func\.func @\w+", f"func.func @k{number}", program.text, count=1)
             for number, program in enumerate(programs)]  # fmt: skip
    try:
        report = assemble(tw.compile("\n".join(texts), arch).ptx, arch, verbose=False)
    except tw.CompileError as error:
        return f"does not compile: {error}".splitlines()[0]
    return None if report.ok else f"ptxas: {(report.errors or ['?'])[0]}"
