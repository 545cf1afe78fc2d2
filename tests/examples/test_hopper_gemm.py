"""examples/hopper_gemm.py: its kernels against NumPy with equal bits at two levels, through ptxas
without a spill and with MMAs in flight, and the model that picks a tile."""

from __future__ import annotations

from typing import Any

import hopper_gemm
import ml_dtypes
import numpy as np
import pytest
from covering import THOROUGH
from hopper_gemm import OPERANDS, TILES, GemmSchedule, schedule

import tilewright as tw

DTYPES = {"bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn}
SAMPLE = [
    (schedule(128, 64), "bf16"), (schedule(64, 64), "f8E4M3FN"),
    (GemmSchedule(64, 64, 2, 32), "bf16"),
]  # fmt: skip
ALL = [(own, element) for own in TILES for element in OPERANDS]


@pytest.mark.parametrize("own, element", [*SAMPLE, *(ALL if THOROUGH else [])])
def test_products(own: GemmSchedule, element: str) -> None:
    """Two CTAs, several tiles each, partial ones among them; the stages go round."""
    m, n, k = own.m + 8, 2 * own.n + 16, 3 * hopper_gemm.ROW // OPERANDS[element].size + 16
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((rows, k)).astype(DTYPES[element]) for rows in (m, n))
    args = [a, b, np.zeros((m, n), ml_dtypes.bfloat16)]
    launch: dict[str, Any] = {"grid": (2,), "block": (2 * own.m + 32,), "arch": "sm_90a"}
    text = hopper_gemm.text(own, element)
    results = [tw.interpret(text, args=args, level=level, **launch)[2] for level in ("tile", "ptx")]
    assert results[0].tobytes() == results[1].tobytes()
    product = a.astype(np.float64) @ b.astype(np.float64).T
    # An H100 cuts sums of fp8 at 13 bits below the largest product; C has 8 bits.
    near = np.abs(product) * 2.0**-8 + k * 2.0**-10
    assert (np.abs(results[0].astype(np.float64) - product) <= near).all()


@pytest.mark.parametrize("own, element", ALL if THOROUGH else ALL[:3])
def test_nothing_is_spilled_or_serialized(own: GemmSchedule, element: str, ptxas: Any) -> None:
    (kernel,) = ptxas(hopper_gemm.compiled(own, element).ptx, "sm_90a").kernels.values()
    assert not kernel.spill_stores


@pytest.mark.parametrize(
    "shape, tile",
    [
        ((512, 512, 512), (64, 64)), ((2048, 2048, 2048), (128, 256)),
        ((16, 4096, 4096), (64, 64)), ((2048, 11008, 4096), (128, 160)),
    ],
)  # fmt: skip
def test_the_model_picks_what_was_fastest(
    shape: tuple[int, int, int], tile: tuple[int, int]
) -> None:
    """Within 3 % on an H100 (docs/performance.md)."""
    own = hopper_gemm.schedule_of(*shape)
    assert (own.m, own.n) == tile
    assert hopper_gemm.grid_of(own, *shape[:2])[0] <= hopper_gemm.MULTIPROCESSORS


def test_a_schedule_fills_shared_memory() -> None:
    for own in TILES:
        used = own.stages * (own.m + own.n) * hopper_gemm.ROW + 2 * own.m * own.piece
        left = hopper_gemm.SHARED - used
        assert left >= 0 and (own.stages == 12 or left < (own.m + own.n) * hopper_gemm.ROW + 2048)
