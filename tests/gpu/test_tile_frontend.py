"""examples/tile_frontend on the GPU of this machine: kernels equal the interpreter, bit for bit,
and are near the float64 result.

Skipped, with the reason, where there is no GPU of that architecture. Run as a script, it prints a
table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from this_gpu import needs_gpu
from tile_frontend_cases import CASES, output

from tilewright.launch.launcher import device_arch, device_name

HERE = [name for name, case in CASES.items() if case[2].get("engine") != "umma"]
"""What a Hopper GPU runs."""


def run_both(name: str) -> tuple[NDArray[Any], NDArray[Any], float]:
    """What a kernel writes on the GPU and in the interpreter for the same chip, and how far that is
    from the exact result, which must be within the tolerance."""
    kernel, case, constants, tolerance = CASES[name]
    args, expected = case()
    arch = device_arch()
    on_chip = output(args, kernel.launch(*args, arch=arch, **constants))
    here = output(args, kernel.interpret(*args, arch=arch, level="ptx", **constants))
    error = float(np.abs(on_chip.astype(np.float64) - expected).max())
    assert error <= tolerance * np.abs(expected).max()
    return on_chip, here, error


@needs_gpu("sm_90a")
@pytest.mark.parametrize("name", HERE)
def test_gpu_equals_interpreter(name: str):
    on_chip, here, _ = run_both(name)
    assert on_chip.tobytes() == here.tobytes()


if __name__ == "__main__":
    print(f"{device_name()} ({device_arch()})")
    for each in HERE:
        chip, interpreted, error = run_both(each)
        equal = chip.tobytes() == interpreted.tobytes()
        print(f"{each:>22}  equal bits: {equal}  max error: {error:.2e}")
