"""Judge PTX mnemonics: one JSON line {"ptx": ..., "ok": ..., "why": ...} each, in order.

A mnemonic is legal where legal operands exist for it and the target runs it. That some are
illegal is no failure: the verdict is the output, and the exit status is 0.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator

from tilewright.tools.command_atoms import legal_mnemonics
from tilewright.tools.command_input import read_target, read_text
from tilewright.tools.render_illegal import canonical, why_illegal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--arch", metavar="TARGET", required=True, help="the target: sm_90a")
    parser.add_argument(
        "--batch", metavar="FILE", help="a file of one mnemonic a line; - is stdin, the default"
    )
    parser.add_argument("--brief", action="store_true", help='leave "why" out')
    parser.add_argument("mnemonics", metavar="MNEMONIC", nargs="*")


def run(options: argparse.Namespace) -> None:
    arch = read_target(options.arch).name
    mnemonics: list[str] = list(options.mnemonics)
    if options.batch is not None or not mnemonics:
        mnemonics += read_text(options.batch or "-").split("\n")
    sys.stdout.writelines(_verdicts(mnemonics, arch, options.brief))


def _verdicts(lines: Iterable[str], arch: str, brief: bool) -> Iterator[str]:
    """One JSON line for every line that is not blank."""
    legal = legal_mnemonics(arch)
    known: dict[str, str] = {}
    for line in lines:
        verdict = known.get(line)
        if verdict is None:
            mnemonic = line.strip()
            if not mnemonic:
                continue
            judged: dict[str, object] = {"ptx": mnemonic, "ok": canonical(mnemonic) in legal}
            if not brief:
                judged["why"] = why_illegal(mnemonic, arch)
            verdict = known[line] = json.dumps(judged) + "\n"
        yield verdict
