"""Runs a cuTile Python script that expects a GPU as it stands: on the CPU, or on the GPU of this
machine without tileiras.

    python -m tilewright.cutile_script samples/MatMul.py --correctness-check
    python -m tilewright.cutile_script --gpu samples/MatMul.py --correctness-check
    python -m tilewright.cutile_script --gpu -m pytest cutile-python/test

`ct.launch` runs kernels here (`tilewright.cutile.on_cpu`), and torch makes the tensors that a
script asks for on "cuda" on the CPU; with `--gpu` it compiles them by tilewright and launches them
(`on_gpu`). With `-m` it ends with how many launches it made; where pytest has workers (xdist), they
need the plugin `tilewright.cutile_pytest`. Needs the extra `cutile`, and `gpu`.
"""

import argparse
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any, cast
from unittest import mock

from tilewright.arguments.options import option_type
from tilewright.cutile import on_cpu, on_gpu
from tilewright.cutile.device import HOPPER, Capability, cutile_answers, tensors_on_cpu
from tilewright.cutile.launches import Launches
from tilewright.launch.launcher import device_capability
from tilewright.lowering.interpreter.cuda_tile.float_functions import Numerics
from tilewright.lowering.interpreter.cuda_tile.machine import Races
from tilewright.scripts import run_script, script_parser


def _capability(text: str) -> Capability:
    major, _, minor = text.partition(".")
    if not (major.isdecimal() and (minor or "0").isdecimal()):
        raise argparse.ArgumentTypeError(
            f"expected a compute capability such as 10.0, got '{text}'"
        )
    return int(major), int(minor or "0")


@contextmanager
def stand_in(
    *,
    gpu: bool,
    arch: str | None = None,
    told: Capability | None = None,
    numerics: Numerics = "exact",
    races: Races = "warn",
    check: str = "padding,integers",
) -> Generator[Launches]:
    """Let programs for cuTile's GPU run on this machine's, or on the CPU, and find there what they
    are `told` of it, and so the scripts that they start. Races, and what Tile IR leaves undefined,
    are warnings where nothing else is asked for."""
    options = ["--numerics", numerics, "--races", races, "--check", check]
    options += ["--gpu"] if gpu else []
    options += ["--arch", arch] if arch else []
    options += ["--capability", "{}.{}".format(*told)] if told else []
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(subprocess, "Popen", _popen(options)))
        if gpu:
            launches = stack.enter_context(on_gpu(arch=arch))
            stack.enter_context(cutile_answers(told or device_capability()))
        else:
            here = on_cpu(numerics=numerics, races=races, check=check)
            launches = stack.enter_context(here)
            stack.enter_context(cutile_answers(told or HOPPER))
            if find_spec("torch"):
                stack.enter_context(tensors_on_cpu(told or HOPPER))
        yield launches


def _popen(options: Sequence[str]) -> Any:
    """Popen, by which scripts for this Python start as scripts of ours with these options."""

    class Popen(subprocess.Popen[Any]):
        def __init__(self, args: Any, *more: Any, **named: Any):
            super().__init__(_behind(options, args), *more, **named)

    return Popen


def _behind(options: Sequence[str], command: Any) -> Any:
    """A command; of a script, behind this module and its options."""
    if not isinstance(command, list | tuple):
        return command
    words = list(map(str, cast("Sequence[object]", command)))
    at = next((i for i, word in enumerate(words) if i and not word.startswith("-")), len(words))
    if words[:1] != [sys.executable] or set(words[1:at]) - {"-u"}:
        return cast("object", command)
    return [*words[:at], "-m", "tilewright.cutile_script", *options, *words[at:]]


def main(words: Sequence[str]) -> int:
    """Run a script or module with its arguments; the exit status is 2 where none is named."""
    parser = script_parser("cutile_script", "exact")
    parser.add_argument(
        "--capability",
        dest="told",
        type=_capability,
        metavar="X.Y",
        help="what the script is told of the GPU: 9.0, or with --gpu the GPU's own; scripts for "
        "Blackwell ask for 10.0",
    )
    parser.add_argument("--arch", type=option_type("arch"), metavar="TARGET",
                        help="with --gpu: the GPU's own")  # fmt: skip
    return run_script(parser, words, stand_in)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
