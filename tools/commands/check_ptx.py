"""Judge PTX: one JSON line {"ptx": ..., "ok": ..., "why": ...} for each mnemonic or instruction.

A line is a mnemonic, or an instruction with its operands, as PTX writes them. A mnemonic is legal
where the PTX ISA has it, legal operands exist for it and the target runs it; an instruction where
its operands are legal too. Names of registers are free, and only counted. Of the tensor cores'
instructions every mnemonic is listed, and of others those that tilewright emits (`tilewright atoms`
names them): the rest is not judged, which is `"ok": null`. That some lines are illegal or not
judged is no failure: the verdict is the output, and the exit status is 0.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator

from tilewright.tools.commands.input import read_target, read_text
from tilewright.tools.instructions.judge import is_legal, why_illegal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--arch", metavar="TARGET", required=True, help="the target: sm_90a")
    parser.add_argument(
        "--batch", metavar="FILE", help="a file of one PTX a line; - is stdin, the default"
    )
    parser.add_argument("--brief", action="store_true", help='leave "why" out')
    parser.add_argument(
        "ptx", metavar="PTX", nargs="*", help="a mnemonic, or an instruction in one word"
    )


def run(options: argparse.Namespace) -> None:
    arch = read_target(options.arch).name
    lines: list[str] = list(options.ptx)
    if options.batch is not None or not lines:
        lines += read_text(options.batch or "-").split("\n")
    sys.stdout.writelines(_verdicts(lines, arch, options.brief))


_WORDS = {True: "true", False: "false", None: "null"}


def _verdicts(lines: Iterable[str], arch: str, brief: bool) -> Iterator[str]:
    """One JSON line for every line that is not blank."""
    encode = json.JSONEncoder().encode
    for line in lines:
        ptx = line.strip()
        if not ptx:
            continue
        if brief:
            yield f'{{"ptx": {encode(ptx)}, "ok": {_WORDS[is_legal(ptx, arch)]}}}\n'
        else:
            why = why_illegal(ptx, arch)
            ok = True if why is None else is_legal(ptx, arch)
            yield encode({"ptx": ptx, "ok": ok, "why": why}) + "\n"
