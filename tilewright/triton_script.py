"""Runs a script with Triton kernels that expects a GPU as it stands, on the CPU.

    python -m tilewright.triton_script 01-vector-add.py
    python -m tilewright.triton_script --gpu 01-vector-add.py       # on the GPU, by tilewright
    python -m tilewright.triton_script -m pytest test_core.py

Launches of `@triton.jit` functions run here (`tilewright.triton.on_cpu`), and torch makes the
tensors that a script asks for on "cuda" on the CPU; with `--gpu` they are compiled for the GPU of
this machine (`on_gpu`). Needs torch beside the extra `triton`.
"""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from tilewright.cutile.device import HOPPER, tensors_on_cpu
from tilewright.scripts import run_script, script_parser
from tilewright.triton import on_cpu, on_gpu


@contextmanager
def stand_in(*, gpu: bool, **options: Any) -> Generator[None]:
    """Let launches go to the GPU by tilewright, or run here, and torch keep on the CPU what is
    asked for on "cuda"."""
    with on_gpu() if gpu else on_cpu(**options), nullcontext() if gpu else tensors_on_cpu(HOPPER):
        yield


def main(words: Sequence[str]) -> int:
    """Run a script, or a module, with its arguments; the exit status is 2 where none is named.
    Races, and what Tile IR leaves undefined, are warnings where nothing else is asked for."""
    return run_script(script_parser("triton_script", "hardware"), words, stand_in)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
