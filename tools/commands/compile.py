"""Compile IR to PTX: Tile IR, text or bytecode, or MLIR at any other level.

tilewright compile FILE --arch TARGET [-o FILE.ptx] [--remarks]
"""

import argparse
import sys

from tilewright.tools.commands.input import add_options, read_source, read_target
from tilewright.tools.output import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        """
file: IR, or - for stdin
--arch TARGET: the target: sm_90a
--remarks: say on stderr what was chosen and why: what goes through shared memory, what is not
    copied by TMA, and, where there is a ptxas, what spills
""",
        arch={"required": True},
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="the PTX: stdout if left out")


def run(options: argparse.Namespace) -> None:
    """Write the PTX, and print the remarks."""
    from tilewright.compiler import compile
    from tilewright.launch.ptxas import PtxasNotFound, find_ptxas

    assemble = options.remarks
    if assemble:
        try:
            find_ptxas()
        except PtxasNotFound as error:
            print(f"remark: no spills are known: {error}", file=sys.stderr)
            assemble = False
    arch, source = read_target(options.arch).name, read_source(options.file)
    kernel = compile(source, arch, name=options.file, assemble=assemble)
    write_whole(options.output, kernel.ptx)
    for remark in kernel.remarks if options.remarks else ():
        print(remark, file=sys.stderr)
