"""The persistent GEMMs of examples/: one tile after the other, stored by stmatrix and TMA."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from example_files import EXAMPLES
from tile_levels import LEVELS, lowered, run

import tilewright as tw

TEXT = (EXAMPLES / "tile_gemm_sm90_persistent.mlir").read_text()
PAIRS = (EXAMPLES / "tile_gemm_sm90_fp8_multicast.mlir").read_text()
BF16, F8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
THREADS = 384


def matrix(rows: int, columns: int, seed: int, dtype: Any = BF16) -> np.ndarray:
    """Rows of whole 16 bytes, what is beyond the columns being NaN."""
    held = np.full((rows, -(-columns // 16) * 16), np.nan, dtype)
    held[:, :columns] = np.random.default_rng(seed).standard_normal((rows, columns))
    return held[:, :columns]


# Six tiles in rounds of four; four in one CTA after the other; two, and a third CTA without any.
@pytest.mark.parametrize(
    "size, ctas",
    [
        ((128, 256, 64), 1),
        ((128, 256, 64), 2),
        ((130, 520, 136), 4),
        ((130, 258, 72), 1),
        ((100, 258, 72), 3),
        ((1, 3, 8), 2),
    ],
)
def test_gemm(size: tuple[int, int, int], ctas: int):
    """Fewer CTAs than tiles, as many, and more; C is the product rounded once."""
    m, n, k = size
    a, b = matrix(m, k, 0), matrix(n, k, 1)
    found = run(TEXT, a, b, matrix(m, n, 2), threads=THREADS, grid=(ctas,))[2]
    product = a.astype(np.float64) @ b.astype(np.float64).T
    near = np.maximum(np.abs(product) * 2.0**-8, k * 2.0**-18)
    assert (np.abs(found.astype(np.float64) - product) <= near).all()


# A pair of CTAs with a tile for each, with one beyond the end, with several; a pair without any.
@pytest.mark.parametrize(
    "size, ctas",
    [((256, 256, 128), 2), ((300, 256, 144), 2), ((300, 200, 144), 4), ((1, 3, 16), 4)],
)
def test_gemm_of_pairs(size: tuple[int, int, int], ctas: int):
    m, n, k = size
    a, b = matrix(m, k, 0, F8), matrix(n, k, 1, F8)
    c = run(PAIRS, a, b, matrix(m, n, 2), threads=THREADS, grid=(ctas,))[2]
    product = a.astype(np.float64) @ b.astype(np.float64).T
    # An H100 cuts sums of fp8 at 13 bits below the largest product.
    near = np.abs(product) * 2.0**-8 + k * 2.0**-10
    assert (np.abs(c.astype(np.float64) - product) <= near).all()


FENCE = '      cute_nvgpu.fence.proxy.async in "shared::cta"\n'
FAULTS = {
    "the tile before is still stored": (
        "        cute_nvgpu.cp.async.bulk.wait_group 0 read\n", "", "write of shared memory that",
    ),
    "stored before it is laid down": (
        FENCE + "      cute_nvgpu.bar.sync 1 threads 256\n",
        FENCE, "ordered by no barrier",
    ),
    "stored without a fence": (
        FENCE, "", "no fence.proxy.async of its thread follows it",
    ),
    "left before it is stored": (
        "      cute_nvgpu.cp.async.bulk.wait_group 0\n    }", "    }", "ends the kernel while",
    ),
    "uses counted anew for each tile": (
        "arith.addi %uses, %k_tiles", "arith.addi %c0, %c0", "race|deadlock|ordered|arrives",
    ),
}  # fmt: skip


@pytest.mark.covered
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("case", FAULTS)
@pytest.mark.parametrize("level", LEVELS)
def test_faults(case: str, level: Any):
    before, after, words = FAULTS[case]
    assert before in TEXT
    args = [matrix(128, 64, 0), matrix(768, 64, 1), matrix(128, 768, 2)]
    with pytest.raises(tw.ExecutionError, match=words):
        tw.interpret(TEXT.replace(before, after), args=args, level=level, grid=(1,),
                     block=(THREADS,), arch="sm_90a")  # fmt: skip


@pytest.mark.parametrize("text", [TEXT, PAIRS], ids=["bf16", "fp8"])
def test_the_text_assembles(text: str, ptxas: Any):
    """Without a warning or a spill."""
    report = ptxas(lowered(text, "sm_90a")[1], "sm_90a")
    assert report.clean, report.output
    assert "serialized" not in report.output
    assert report.kernels["gemm"].spill_stores == 0
