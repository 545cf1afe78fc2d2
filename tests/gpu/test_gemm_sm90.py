"""examples/gemm_sm90.mlir on the GPU of this machine equals the interpreter, bit for bit.

Skipped, with the reason, where there is no GPU of that architecture. Run as a script, it prints a
table.
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

SOURCE = EXAMPLES / "gemm_sm90.mlir"
SIZES = [(128, 256, 64), (256, 512, 512), (130, 258, 72), (300, 600, 520), (1, 2, 3)]


def gemm_arguments(m: int, n: int, k: int, seed: int = 0) -> list[Any]:
    """A, B, C and K: rows padded to whole 16 bytes, the padding full of NaN."""
    rng = np.random.default_rng(seed)
    a = np.full((m, -(-k // 8) * 8), np.nan, dtype=ml_dtypes.bfloat16)
    b = np.full((k, -(-n // 8) * 8), np.nan, dtype=ml_dtypes.bfloat16)
    a[:, :k] = rng.standard_normal((m, k))
    b[:, :n] = rng.standard_normal((k, n))
    c = np.full((m, -(-n // 4) * 4), np.nan, dtype=np.float32)
    return [
        tw.TensorMap(a, shape=(m, k), box=(128, 64), swizzle=128),
        tw.TensorMap(b, shape=(k, n), box=(64, 64), swizzle=128),
        tw.TensorMap(c, shape=(m, n), box=(64, 32), swizzle=128),
        k,
    ]


def grid_of(m: int, n: int) -> tuple[int, int, int]:
    """One CTA for each 128 x 256 tile of C."""
    return -(-n // 256), -(-m // 128), 1


def run_both(m: int, n: int, k: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """C from the GPU, C from the interpreter for the same chip, and the float64 product."""
    text, args, arch = SOURCE.read_text(), gemm_arguments(m, n, k), device_arch()
    kernel = tw.compile(text, arch)
    on_chip = kernel.launch(*args, grid=grid_of(m, n), block=(384, 1, 1))[2]
    here = tw.interpret(text, "gemm", grid=grid_of(m, n), block=(384, 1, 1), args=args, arch=arch)
    a, b = (each.array[:, :width].astype(np.float64) for each, width in zip(args, (k, n)))  # noqa: B905
    return on_chip[:, :n], here[2][:, :n], a @ b


@needs_gpu("sm_90a")
@pytest.mark.parametrize("m, n, k", SIZES)
def test_gpu_equals_interpreter(m: int, n: int, k: int):
    on_chip, here, exact = run_both(m, n, k)
    assert on_chip.tobytes() == here.tobytes()
    assert np.abs(on_chip - exact).max() < 1e-5 * k


if __name__ == "__main__":
    print(f"{device_name()} ({device_arch()})")
    for size in SIZES:
        chip, interpreted, product = run_both(*size)
        equal = chip.tobytes() == interpreted.tobytes()
        error = np.abs(chip - product).max()
        print(f"{'x'.join(map(str, size)):>14}  equal bits: {equal}  max error: {error:.2e}")
