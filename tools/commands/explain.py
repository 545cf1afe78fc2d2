"""Say what a PTX mnemonic is: its atom, operands, layouts, targets and PTX ISA version; for an
illegal one, why there is none such, and the nearest legal one."""

import argparse

from tilewright.tools.commands.input import InputError, read_target
from tilewright.tools.instructions.explanation import explanation
from tilewright.tools.instructions.why_mnemonic import why_illegal_mnemonic


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("mnemonic", metavar="MNEMONIC", help="as PTX spells it, without operands")
    parser.add_argument("--arch", metavar="TARGET", help="the target that must run it: sm_90a")


def run(options: argparse.Namespace) -> None:
    arch = None if options.arch is None else read_target(options.arch).name
    mnemonic: str = options.mnemonic.strip()
    reason = why_illegal_mnemonic(mnemonic, arch)
    if reason is not None:
        raise InputError(reason)
    print("\n".join(explanation(mnemonic)))
