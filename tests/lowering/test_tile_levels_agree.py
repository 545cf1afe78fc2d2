"""Tiles, before and after they are lowered: equal bits at the tile, atom and ptx level.

What the tile level computes is compared with NumPy as well, so that both cannot be wrong together.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright.parsing import parse_module

EXAMPLES = Path(__file__).parents[2] / "examples"
LEVELS = ("tile", "atom", "ptx")


def agreed(text: str, args: Sequence[Any], **launch: Any) -> list[np.ndarray]:
    """The arrays after a run, which must be equal at all levels."""
    module = parse_module(text)
    found = [tw.interpret(module, args=args, level=level, **launch) for level in LEVELS]
    for level, arrays in zip(LEVELS[1:], found[1:], strict=True):
        for before, after in zip(found[0], arrays, strict=True):
            words = f"u{before.itemsize}"
            np.testing.assert_array_equal(before.view(words), after.view(words), err_msg=level)
    return found[0]


def padded(shape: tuple[int, int], dtype: Any, seed: int, multiple: int = 8) -> np.ndarray:
    """A matrix in rows of whole 16 bytes; what is not of it is NaN."""
    whole = np.full((shape[0] + 1, -(-shape[1] // multiple) * multiple), np.nan, dtype)
    found = whole[: shape[0], : shape[1]]
    found[...] = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return found


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64).T


SIZES = [(128, 128, 32), (128, 128, 8), (200, 136, 72), (1, 3, 40), (130, 257, 96)]


@pytest.mark.parametrize(
    "size, numerics", [*((size, "hardware") for size in SIZES), (SIZES[2], "exact")]
)
def test_gemm_sm80(size: tuple[int, int, int], numerics: str) -> None:
    m, n, k = size
    a, b = padded((m, k), np.float16, 1), padded((n, k), np.float16, 2)
    c = padded((m, n), np.float32, 3)
    text = (EXAMPLES / "tile_gemm_sm80.mlir").read_text()
    grid = (-(-m // 128), -(-n // 128))
    found = agreed(text, [a, b, c], grid=grid, block=(128,), numerics=numerics)
    np.testing.assert_allclose(found[2], product(a, b), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "size, numerics",
    [
        ((128, 256, 64), "exact"),
        ((130, 258, 328), "hardware"),
        ((1, 2, 8), "hardware"),
        ((200, 250, 72), "hardware"),
    ],
)
def test_gemm_sm90(size: tuple[int, int, int], numerics: str) -> None:
    m, n, k = size
    bf16 = ml_dtypes.bfloat16
    a, b, c = padded((m, k), bf16, 1), padded((n, k), bf16, 2), padded((m, n), np.float32, 3)
    text = (EXAMPLES / "tile_gemm_sm90.mlir").read_text()
    grid = (-(-m // 128), -(-n // 256))
    found = agreed(text, [a, b, c], grid=grid, block=(384,), numerics=numerics)
    np.testing.assert_allclose(found[2], product(a, b), rtol=1e-4, atol=1e-4)
