"""TMA reductions and multicast loads at the tile level: equal bits at every level, and NumPy's
product."""

from __future__ import annotations

from itertools import product as product_of
from typing import Any

import numpy as np
import pytest
from covering import covering
from tile_levels import LEVELS, run
from tma_gemms import MULTICAST, SPLIT_K, THREADS

import tilewright as tw

SIZES = [(64, 64, 64), (128, 64, 256), (130, 72, 200), (1, 4, 8)]


def matrix(rows: int, columns: int, seed: int) -> np.ndarray:
    """Rows of whole 16 bytes, what is beyond the columns being NaN."""
    held = np.full((rows, -(-columns // 8) * 8), np.nan, np.float16)
    held[:, :columns] = np.random.default_rng(seed).standard_normal((rows, columns))
    return held[:, :columns]


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64).T


def idle(case: tuple[tuple[int, int, int], int]) -> tuple[Any, ...]:
    """A size, a number of parts, and how many of them have no step of K."""
    size, parts = case
    return size, parts, max(parts - -(-size[2] // 64), 0)


@pytest.mark.parametrize("size, parts", covering(product_of(SIZES, (1, 2, 3)), idle))
def test_parts_of_k_reduced_into_c(size: tuple[int, int, int], parts: int):
    m, n, k = size
    a, b = matrix(m, k, 0), matrix(n, k, 1)
    c = np.random.default_rng(2).standard_normal((m, n)).astype(np.float32)
    grid = (-(-m // 64), -(-n // 64), parts)
    found = run(SPLIT_K, a, b, c.copy(), threads=THREADS, grid=grid)[2]
    np.testing.assert_allclose(found, c + product(a, b), rtol=0, atol=1e-3)


@pytest.mark.parametrize("size", SIZES)
def test_tiles_of_b_for_both_ctas_of_a_cluster(size: tuple[int, int, int]):
    m, n, k = size
    a, b, c = matrix(m, k, 0), matrix(n, k, 1), np.full((m, n), np.nan, np.float32)
    grid = (2 * -(-m // 128), -(-n // 64))
    found = run(MULTICAST, a, b, c, threads=THREADS, grid=grid)[2]
    np.testing.assert_allclose(found, product(a, b), rtol=0, atol=1e-3)


@pytest.mark.parametrize("text", [SPLIT_K, MULTICAST], ids=["split k", "multicast"])
def test_the_text_assembles(text: str, ptxas: Any):
    report = ptxas(tw.compile(text, "sm_90a").ptx, "sm_90a")
    assert report.clean, report.output
    assert "serialized" not in report.output


FAULTS = {
    "a stage released in one CTA alone": (
        ", ctas = 2",
        "",
        "race on shared memory|deadlock|ordered",
    ),
    "bytes of one half": ("bytes = 16384", "bytes = 12288", "race on shared memory|ordered"),
    "for oneself": ("arith.constant 3 : i16", "arith.constant 1 : i16", "deadlock|arrives"),
}


@pytest.mark.covered
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("case", FAULTS)
@pytest.mark.parametrize("level", LEVELS)
def test_faults_of_multicast(case: str, level: Any):
    before, after, words = FAULTS[case]
    assert before in MULTICAST
    text = MULTICAST.replace(before, after)
    a, b, c = matrix(128, 256, 0), matrix(64, 256, 1), np.zeros((128, 64), np.float32)
    with pytest.raises(tw.ExecutionError, match=words):
        tw.interpret(
            text, args=[a, b, c], grid=(2, 1), block=(THREADS,), arch="sm_90a", level=level
        )
