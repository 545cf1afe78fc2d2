"""Runs a cuTile Python script that expects a GPU as it stands: on the CPU, or on the GPU of this
machine without tileiras.

    python -m tilewright.cutile_script samples/MatMul.py --correctness-check
    python -m tilewright.cutile_script --gpu samples/MatMul.py --correctness-check

`ct.launch` runs kernels here (`tilewright.cutile.on_cpu`), and torch makes the tensors that a
script asks for on "cuda" on the CPU; with `--gpu` it compiles them by tilewright and launches them
(`on_gpu`). Needs torch beside the extra `cutile`, and `gpu`.
"""

import argparse
import runpy
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tilewright.cutile import on_cpu, on_gpu
from tilewright.cutile.device import HOPPER, Capability, cutile_answers, tensors_on_cpu
from tilewright.launch.launcher import device_capability


def _capability(text: str) -> Capability:
    major, _, minor = text.partition(".")
    if not (major.isdecimal() and (minor or "0").isdecimal()):
        raise argparse.ArgumentTypeError(
            f"expected a compute capability such as 10.0, got '{text}'"
        )
    return int(major), int(minor or "0")


def main(arguments: Sequence[str]) -> int:
    """Run a script with its arguments; the exit status is 2 where none is named. Races, and what
    Tile IR leaves undefined, are warnings where nothing else is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tilewright.cutile_script")
    parser.add_argument("--races", choices=("error", "warn", "ignore"), default="warn")
    parser.add_argument("--numerics", choices=("hardware", "exact", "fast"), default="exact")
    parser.add_argument(
        "--capability",
        type=_capability,
        metavar="X.Y",
        help="what the script is told of the GPU: 9.0, or with --gpu the GPU's own; scripts for "
        "Blackwell ask for 10.0",
    )
    parser.add_argument("--gpu", action="store_true", help="on the GPU, by tilewright's PTX")
    parser.add_argument("--arch", metavar="TARGET", help="with --gpu: the GPU's own")
    parser.add_argument("script", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    script = str(options.script)
    if not options.script.is_file():
        parser.error(f"expected a script, got {script}")
    sys.argv = [script, *options.arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    told: Capability | None = options.capability
    with ExitStack() as stack:
        if options.gpu:
            stack.enter_context(on_gpu(arch=options.arch))
            stack.enter_context(cutile_answers(told or device_capability()))
        else:
            stack.enter_context(on_cpu(numerics=options.numerics, races=options.races))
            stack.enter_context(cutile_answers(told or HOPPER))
            stack.enter_context(tensors_on_cpu(told or HOPPER))
        runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
