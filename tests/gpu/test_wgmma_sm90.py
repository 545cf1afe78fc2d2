"""examples/wgmma_sm90.mlir on a Hopper GPU of this machine equals the interpreter, bit for bit.

Skipped, with the reason, where there is none. Run as a script, it prints a table.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from example_files import EXAMPLES
from numpy.typing import NDArray

import tilewright as tw
from tilewright.launch.launcher import LaunchError, device_arch, device_name

SOURCE = EXAMPLES / "wgmma_sm90.mlir"
SIZES = [(64, 128, 64), (128, 256, 512), (192, 384, 1024)]


def run_both(m: int, n: int, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """C from the GPU, and C from the interpreter for the same chip."""
    rng = np.random.default_rng(k)
    a, b = (rng.standard_normal((rows, k)).astype(ml_dtypes.bfloat16) for rows in (m, n))
    text, args = SOURCE.read_text(), [a, b, np.zeros((m, n), np.float32), m, n, k]
    grid, block = (n // 128, m // 64, 1), (128, 1, 1)
    on_chip = tw.compile(text, "sm_90a").launch(*args, grid=grid, block=block)[2]
    return on_chip, tw.interpret(text, grid=grid, block=block, args=args, arch="sm_90a")[2]


def _why_not() -> str | None:
    try:
        arch = device_arch()
    except LaunchError as error:
        return str(error)
    return None if arch == "sm_90a" else f"it is {arch}"


WHY_NOT = _why_not()


@pytest.mark.skipif(WHY_NOT is not None, reason=f"needs a Hopper GPU: {WHY_NOT}")
@pytest.mark.parametrize("m, n, k", SIZES)
def test_gpu_equals_interpreter(m: int, n: int, k: int):
    on_chip, here = run_both(m, n, k)
    np.testing.assert_array_equal(on_chip.view(np.uint32), here.view(np.uint32))


if __name__ == "__main__":
    print(f"{device_name()} ({device_arch()})")
    for size in SIZES:
        chip, interpreted = run_both(*size)
        equal = np.array_equal(chip.view(np.uint32), interpreted.view(np.uint32))
        print(f"{'x'.join(map(str, size)):>14}  equal bits: {equal}")
