"""Triton's kernels compiled: the verdict of ptxas on each, and their runs on this machine's GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from multiprocessing import get_context
from typing import Any

from numpy.typing import NDArray

import tilewright as tw
from tilewright.launch.kernel import Extents
from tilewright.launch.launcher import device_arch
from tilewright.launch.ptxas import assemble
from tilewright.tile_kernel import flat_arguments

SECONDS = 120.0
"""The time of a run that is waited for."""


def complaints(text: str, name: str, arch: str) -> str:
    """What ptxas says of a kernel's PTX; nothing where it is silent. Raises CompileError."""
    report = assemble(tw.compile(text, arch, name=name).ptx, arch)
    return "\n".join([*report.errors, *report.warnings, *report.mended])


def apart(function: Callable[..., Any], *args: Any) -> Any:
    """A call in a process of its own, whose GPU may be lost. Raises RuntimeError where it dies, or
    takes too long."""
    fork = get_context("fork")
    there, here = fork.Pipe(duplex=False)
    process = fork.Process(target=lambda: here.send(function(*args)))
    process.start()
    here.close()
    try:
        if there.poll(SECONDS):
            return there.recv()
        raise RuntimeError(f"a run takes more than {SECONDS:.0f} s")
    except EOFError:
        raise RuntimeError("the process of a run died") from None
    finally:
        process.kill()
        process.join()


def run_on_gpu(text: str, name: str, grid: Extents, args: Sequence[Any]) -> list[NDArray[Any]]:
    """Run a kernel of TTIR as `tilewright.interpret` does, on a GPU."""
    kernel = tw.compile(text, device_arch(), name=name)
    block = kernel.entry().block or (1, 1, 1)
    return kernel.launch(*flat_arguments(args), grid=grid, block=block)
