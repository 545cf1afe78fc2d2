"""Scripts, and modules, that are run with their arguments where something stands in for a GPU."""

import argparse
import runpy
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, get_args

from tilewright.arguments.options import CHECKS, option_type
from tilewright.lowering.interpreter.cuda_tile.float_functions import Numerics
from tilewright.lowering.interpreter.cuda_tile.machine import Races


def script_parser(name: str, numerics: Numerics) -> argparse.ArgumentParser:
    """The options of a module of this package that runs scripts."""
    parser = argparse.ArgumentParser(prog=f"python -m tilewright.{name}")
    parser.add_argument("--races", choices=get_args(Races), default="warn")
    parser.add_argument("--check", type=option_type("check"), default="padding,integers",
                        help=", ".join(CHECKS))  # fmt: skip
    parser.add_argument("--numerics", choices=get_args(Numerics), default=numerics)
    parser.add_argument("--gpu", action="store_true", help="on the GPU, by tilewright's PTX")
    parser.add_argument("-m", dest="module", action="store_true", help="the script is a module")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER)
    return parser


def run_script(
    parser: argparse.ArgumentParser, words: Sequence[str],
    stand_in: Callable[..., AbstractContextManager[Any]],
) -> int:  # fmt: skip
    """Run what words name where something stands in, as the options say, and of a module say how
    many launches there were, where they are counted; the exit status is 2 where none is named."""
    how = vars(parser.parse_args(words))
    module, script = how.pop("module"), how.pop("script")
    if not module and not Path(script).is_file():
        parser.error(f"expected a script, got {script}")
    sys.argv = [script, *how.pop("arguments")]
    sys.path.insert(0, "" if module else str(Path(script).resolve().parent))
    with stand_in(**how) as launches:
        if not module:
            runpy.run_path(script, run_name="__main__")
            return 0
        try:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        finally:
            if launches is not None:
                print(f"{launches.count} launches by tilewright")
    return 0
