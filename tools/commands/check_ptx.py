"""Judge PTX: one JSON line {"ptx": ..., "ok": ..., "why": ...} for each mnemonic or instruction.

A line is a mnemonic, or an instruction with its operands, as PTX writes them. A mnemonic is legal
where the PTX ISA has it, legal operands exist for it and the target runs it; an instruction where
its operands are legal too. Names of registers are free, and only counted. Of the tensor cores'
instructions every mnemonic is judged, and of others those that tilewright reads: the rest is not
judged, which is `"ok": null`. The exit status is 1 where a line is illegal, unless --exit-zero says
that the verdicts on stdout are enough; not judged is no failure.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator

from tilewright.tools.commands.input import add_options, read_target, read_text
from tilewright.tools.instructions.judge import is_legal, why_illegal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        """
--arch TARGET: the target: sm_90a
--batch FILE: a file of one PTX a line; - is stdin, the default
--brief: leave "why" out
--exit-zero: exit 0 where a line is illegal
ptx PTX: a mnemonic, an instruction in one word, or - for stdin
""",
        arch={"required": True},
        ptx={"nargs": "*"},
    )


def run(options: argparse.Namespace) -> None:
    arch = read_target(options.arch).name
    lines: list[str] = []
    for word in options.ptx or ([] if options.batch else ["-"]):
        lines += read_text(word).split("\n") if word == "-" else [word]
    if options.batch is not None:
        lines += read_text(options.batch).split("\n")
    legal = True
    for line, ok in _verdicts(lines, arch, options.brief):
        sys.stdout.write(line)
        legal &= ok is not False
    if not (legal or options.exit_zero):
        sys.exit(1)


_WORDS = {True: "true", False: "false", None: "null"}


def _verdicts(lines: Iterable[str], arch: str, brief: bool) -> Iterator[tuple[str, bool | None]]:
    """One JSON line for every line that is not blank, and whether that is legal."""
    encode = json.JSONEncoder().encode
    for line in lines:
        ptx = line.strip()
        if not ptx:
            continue
        if brief:
            ok = is_legal(ptx, arch)
            yield f'{{"ptx": {encode(ptx)}, "ok": {_WORDS[ok]}}}\n', ok
        else:
            why = why_illegal(ptx, arch)
            ok = True if why is None else is_legal(ptx, arch)
            yield encode({"ptx": ptx, "ok": ok, "why": why}) + "\n", ok
