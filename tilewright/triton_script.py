"""Runs a script with Triton kernels that expects a GPU as it stands, on the CPU.

    python -m tilewright.triton_script 01-vector-add.py
    python -m tilewright.triton_script --gpu 01-vector-add.py       # on the GPU, by tilewright
    python -m tilewright.triton_script -m pytest test_core.py

Launches of `@triton.jit` functions run here (`tilewright.triton.on_cpu`), and torch makes the
tensors that a script asks for on "cuda" on the CPU; with `--gpu` they are compiled for the GPU of
this machine (`on_gpu`). Needs torch beside the extra `triton`.
"""

import argparse
import runpy
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, get_args

from tilewright.arguments.options import CHECKS, option_type
from tilewright.cutile.device import HOPPER, tensors_on_cpu
from tilewright.lowering.interpreter.cuda_tile.float_functions import Numerics
from tilewright.lowering.interpreter.cuda_tile.machine import Races
from tilewright.triton import on_cpu, on_gpu


@contextmanager
def stand_in(*, gpu: bool, **options: Any) -> Generator[None]:
    """Let launches go to the GPU by tilewright, or run here, and torch keep on the CPU what is
    asked for on "cuda"."""
    with on_gpu() if gpu else on_cpu(**options), nullcontext() if gpu else tensors_on_cpu(HOPPER):
        yield


def main(arguments: Sequence[str]) -> int:
    """Run a script, or a module, with its arguments; the exit status is 2 where none is named.
    Races, and what Tile IR leaves undefined, are warnings where nothing else is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tilewright.triton_script")
    parser.add_argument("--races", choices=get_args(Races), default="warn")
    parser.add_argument("--check", type=option_type("check"), default="padding,integers",
                        help=", ".join(CHECKS))  # fmt: skip
    parser.add_argument("--numerics", choices=get_args(Numerics), default="hardware")
    parser.add_argument("--gpu", action="store_true", help="on the GPU of this machine")
    parser.add_argument("-m", dest="module", action="store_true", help="the script is a module")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    script = str(options.script)
    if not options.module and not Path(script).is_file():
        parser.error(f"expected a script, got {script}")
    sys.argv = [script, *options.arguments]
    sys.path.insert(0, "" if options.module else str(Path(script).resolve().parent))
    how = {name: getattr(options, name) for name in ("gpu", "numerics", "races", "check")}
    with stand_in(**how):
        run = runpy.run_module if options.module else runpy.run_path
        run(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
