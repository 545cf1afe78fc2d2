"""Check kernels without running them: PTX of any compiler, or IR at any level.

tilewright check FILE [--arch TARGET]

Every instruction with its operands against the target, then what asynchronous instructions and
threads do to the same memory and registers (docs/hazards.md). The first that is wrong is said with
file and line, and the exit status is 1. Without --arch, PTX is checked for its own .target. What
can be neither proven nor refuted is a warning.
"""

import argparse
import re

from tilewright.tools.commands.input import InputError, read_source, read_target

_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="PTX or IR, or - for stdin")
    parser.add_argument("--arch", metavar="TARGET", help="the target: sm_90a")


def run(options: argparse.Namespace) -> None:
    """Raises CompileError for what is wrong."""
    from tilewright.pipeline import PIPELINE, run_pipeline, verified

    source = read_source(options.file)
    arch = options.arch
    if arch is None:
        said = None if isinstance(source, bytes) else _TARGET.search(source)
        if said is None:
            raise InputError("expected --arch, or PTX, whose .target is taken, got neither")
        arch = said[1]
    module, text = verified(source, options.file)
    stages = [stage for stage in PIPELINE if "-check-" in stage.name]
    run_pipeline(module, read_target(arch).name, text, stages=stages)
