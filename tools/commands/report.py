"""Write one HTML page of a kernel, which needs no network: its text at every level, with lines that
light up together, its layouts, fragments and descriptors drawn, its shared and tensor memory, and
what an SM gives it. With --grid and --block, and the kernel's arguments, the kernel runs on the
CPU: the page has its timeline, its bank conflicts and, where it fails, the state.

  tilewright report FILE -o report.html
  tilewright report FILE --grid 2,2 --block 128 [-o report.html] ARG...

An ARG is what `tilewright run` takes: a shape, 256x64, for an array of random elements.
"""

import argparse

from tilewright.tools.commands.input import (
    InputError,
    add_options,
    read_source,
    read_target,
    shown_path,
)
from tilewright.tools.commands.run import at_least, extent
from tilewright.tools.output import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        """
file FILE: IR text, or Tile IR bytecode; - is stdin
arguments ARG: of a run; see above
--arch TARGET: the chip (default: the lowest it needs)
--kernel NAME: which kernel; needed where FILE has more
--grid X,Y,Z: of a run: blocks of the grid
--block X,Y,Z: of a run: threads of a block
--seed N: of random elements
--ctas N: CTAs in the timeline (default: 1)
""",
        arguments={"nargs": "*"},
        grid={"type": extent},
        block={"type": extent},
        seed={"type": at_least(0), "default": 0},
        ctas={"type": at_least(1), "default": 1},
    )
    parser.add_argument("-o", "--output", metavar="PAGE.html", default="report.html")


def run(options: argparse.Namespace) -> None:
    """Write the page."""
    if options.arch is not None:
        read_target(options.arch)
    source, name = read_source(options.file), shown_path(options.file)
    from tilewright.tools.commands.run_argument import read_arguments
    from tilewright.tools.report.page import report

    launch = None
    if options.grid is not None:
        args = [argument.value for argument in read_arguments(options, source, name)]
        launch = {"grid": options.grid, "block": options.block, "args": args, "ctas": options.ctas}
    elif options.arguments or options.block:
        raise InputError("expected --grid for a run, got none")
    text = report(source, options.arch, name=name, kernel=options.kernel, run=launch)
    write_whole(options.output, text)
    print(options.output)
