"""examples/gemm_sm80.mlir on the GPU of this machine equals the interpreter, bit for bit.

Skipped, with the reason, where there is no GPU. Run as a script, it prints a table.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from example_files import EXAMPLES
from numpy.typing import NDArray
from this_gpu import needs_gpu

import tilewright as tw
from tilewright.launch.launcher import device_arch, device_name

SOURCE = EXAMPLES / "gemm_sm80.mlir"
SIZES = [(256, 256, 256), (300, 270, 261), (257, 301, 512), (512, 384, 1024)]


def gemm_arguments(m: int, n: int, k: int, seed: int = 0) -> list[Any]:
    """A, B, C and the extents: rows padded to whole 16 bytes, the padding full of NaN."""
    rng = np.random.default_rng(seed)
    lda, ldb = -(-k // 8) * 8, -(-n // 8) * 8
    a = np.full((m, lda), np.nan, dtype=ml_dtypes.bfloat16)
    b = np.full((k, ldb), np.nan, dtype=ml_dtypes.bfloat16)
    a[:, :k] = rng.standard_normal((m, k))
    b[:, :n] = rng.standard_normal((k, n))
    return [a, b, np.zeros((m, n), np.float32), m, n, k, lda, ldb, n]


def grid_of(m: int, n: int) -> tuple[int, int, int]:
    """One CTA for each 64 x 64 tile of C."""
    return -(-n // 64), -(-m // 64), 1


def run_both(m: int, n: int, k: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """C from the GPU, C from the interpreter for the same chip, and the float64 product."""
    text, args, arch = SOURCE.read_text(), gemm_arguments(m, n, k), device_arch()
    kernel = tw.compile(text, arch)
    on_chip = kernel.launch(*args, grid=grid_of(m, n), block=(128, 1, 1))[2]
    here = tw.interpret(text, "gemm", grid=grid_of(m, n), block=(128, 1, 1), args=args, arch=arch)[
        2
    ]
    exact = args[0][:, :k].astype(np.float64) @ args[1][:, :n].astype(np.float64)
    return on_chip, here, exact


@needs_gpu()
@pytest.mark.parametrize("m, n, k", SIZES)
def test_gpu_equals_interpreter(m: int, n: int, k: int):
    on_chip, here, exact = run_both(m, n, k)
    np.testing.assert_array_equal(on_chip.view(np.uint32), here.view(np.uint32))
    assert np.abs(on_chip - exact).max() < 1e-5 * k


if __name__ == "__main__":
    print(f"{device_name()} ({device_arch()})")
    for size in SIZES:
        chip, interpreted, product = run_both(*size)
        equal = np.array_equal(chip.view(np.uint32), interpreted.view(np.uint32))
        error = np.abs(chip - product).max()
        print(f"{'x'.join(map(str, size)):>14}  equal bits: {equal}  max error: {error:.2e}")
