"""The TRIAL of `tilewright-opt --verify-by-running`: a run of a kernel on random inputs.

It is spelled as for `tilewright run`, except that arrays are given by their shapes:

  --grid X,Y,Z --block X,Y,Z [--kernel NAME] [--seed N] [--numerics N] [--arch TARGET]
  [--schedule SEED] [--schedules N] [--max-steps N] [--races error|warn|ignore]
  [--executor NAME] ARG...

  SHAPE[:DTYPE]   random elements: 256x64:bf16; DTYPE is the parameter's own where it is left out
  IN.npy          what the file has
  3, 0x10, -1.5   a scalar
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tilewright.tools.commands.input import read_target
from tilewright.tools.commands.parsers import WordsParser
from tilewright.tools.commands.run import add_launch_arguments

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from xdsl.dialects.builtin import ModuleOp

    from tilewright.verify_by_running import Trial


def trial_options(text: str) -> argparse.Namespace:
    """The words of a TRIAL. Raises ArgumentTypeError."""
    parser = WordsParser("TRIAL", add_help=False, allow_abbrev=False)
    parser.add_argument("arguments", metavar="ARG", nargs="*")
    add_launch_arguments(parser)
    parser.add_argument("--executor")
    return parser.parse_words(text)


def read_trial(
    options: argparse.Namespace, module: ModuleOp, name: str, executor: Executor | None
) -> Trial:
    """The trial that the options spell for a kernel of a module, by an executor. Raises InputError,
    CompileError."""
    from tilewright.tools.commands.run_argument import read_arguments
    from tilewright.verify_by_running import Trial

    if options.arch is not None:
        read_target(options.arch)
    return Trial(
        grid=options.grid,
        block=options.block,
        args=[argument.value for argument in read_arguments(options, module, name)],
        kernel=options.kernel,
        seed=options.seed,
        numerics=options.numerics,
        arch=options.arch,
        schedule=options.schedule,
        schedules=options.schedules,
        max_steps=options.max_steps,
        races=options.races,
        executor=executor,
    )
