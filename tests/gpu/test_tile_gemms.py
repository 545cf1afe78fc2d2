"""The GEMMs of the tile level on the GPU of this machine equal the interpreter, bit for bit.

Skipped, with the reason, where there is no GPU. Run as a script, it prints a table.
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

# Each: element type, extents of a CTA's tile, threads.
KERNELS: dict[str, tuple[Any, tuple[int, int], int]] = {
    "tile_gemm_sm80": (np.float16, (128, 128), 128),
    "tile_gemm_sm90": (ml_dtypes.bfloat16, (128, 256), 384),
}
SIZES = [(128, 256, 64), (300, 270, 264), (257, 301, 512), (512, 384, 1024)]


def matrix(rows: int, columns: int, dtype: Any, seed: int) -> NDArray[Any]:
    """Random elements in rows of whole 16 bytes, NaN behind them."""
    whole = np.full((rows, -(-columns // 8) * 8 + 8), np.nan, dtype)
    found = whole[:, :columns]
    found[...] = np.random.default_rng(seed).standard_normal((rows, columns)).astype(dtype)
    return found


def run_both(name: str, m: int, n: int, k: int) -> list[NDArray[Any]]:
    """C from the GPU, C from the tile level for the same chip, and the float64 product."""
    dtype, (rows, columns), threads = KERNELS[name]
    text, arch = (EXAMPLES / f"{name}.mlir").read_text(), device_arch()
    a, b = matrix(m, k, dtype, 1), matrix(n, k, dtype, 2)
    args = [a, b, matrix(m, n, np.float32, 3)]
    launch: dict[str, Any] = {"grid": (-(-m // rows), -(-n // columns)), "block": (threads,)}
    on_chip = tw.compile(text, arch).launch(*args, **launch)[2]
    here = tw.interpret(text, args=args, arch=arch, **launch)[2]
    return [on_chip, here, a.astype(np.float64) @ b.astype(np.float64).T]


def _no_gpu(name: str) -> str | None:
    try:
        arch = device_arch()
    except LaunchError as error:
        return str(error)
    return f"{name} is for sm_90a, this is {arch}" if "90" in name and arch != "sm_90a" else None


@pytest.mark.parametrize("m, n, k", SIZES)
@pytest.mark.parametrize("name", KERNELS)
def test_gpu_equals_the_tile_level(name: str, m: int, n: int, k: int):
    if (why := _no_gpu(name)) is not None:
        pytest.skip(f"needs a GPU: {why}")
    on_chip, here, exact = run_both(name, m, n, k)
    np.testing.assert_array_equal(on_chip.view(np.uint32), here.view(np.uint32))
    assert np.abs(on_chip - exact).max() < 1e-5 * k


if __name__ == "__main__":
    print(f"{device_name()} ({device_arch()})")
    for each in KERNELS:
        for size in SIZES:
            chip, interpreted, product = run_both(each, *size)
            equal = np.array_equal(chip.view(np.uint32), interpreted.view(np.uint32))
            error = np.abs(chip - product).max()
            print(f"{each} {'x'.join(map(str, size)):>14}  equal bits: {equal}  error: {error:.2e}")
