"""Attention of Tile IR on the GPU of this machine equals the interpreter, bit for bit.

Skipped, with the reason, where there is no Hopper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attention_kernel import GIVEN, RISING, arguments, attention, operands

import tilewright as tw
from tilewright.launch.launcher import LaunchError, device_arch


@pytest.mark.parametrize(
    "tile, end, trips, grid",
    [
        ((128, 128, 128), GIVEN, 5, (1, 2)),
        ((128, 128, 128), GIVEN, 0, (1, 1)),
        ((64, 64, 128), GIVEN, 1, (2, 2)),
        ((64, 64, 64), RISING, 4, (4, 3)),
    ],
)
def test_gpu_equals_the_program_level(
    tile: tuple[int, int, int], end: str, trips: int, grid: tuple[int, int]
):
    """Products that are late, no iteration at all, blocks of different lengths."""
    try:
        arch = device_arch()
    except LaunchError as error:
        pytest.skip(f"needs a GPU: {error}")
    if arch != "sm_90a":
        pytest.skip(f"needs sm_90a, this is {arch}")
    rows, columns, depth = tile
    args = arguments(operands(grid[0] * rows, max(trips, 1) * columns, depth, grid[1]), trips)
    options: dict[str, Any] = {"grid": grid, "args": args, "arch": arch}
    text = attention(*tile, end)
    here = tw.interpret(text, "k", **options)[-1]
    kernel = tw.compile(text, arch)
    block = kernel.entry().block
    assert block is not None
    on_chip = kernel.launch(*args, grid=grid, block=block)[-1]
    assert np.array_equal(on_chip.view(np.uint32), here.view(np.uint32))
