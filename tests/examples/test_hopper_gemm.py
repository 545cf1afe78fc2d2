"""examples/hopper_gemm.py: its kernels against NumPy with equal bits at two levels, through ptxas
without a spill and with MMAs in flight, and the model that picks a tile."""

from __future__ import annotations

from typing import Any

import hopper_gemm
import ml_dtypes
import numpy as np
import pytest
from covering import THOROUGH
from hopper_gemm_kernel import text as text_of
from hopper_gemm_problems import problem
from hopper_gemm_schedule import (
    MULTIPROCESSORS,
    OPERANDS,
    ROW,
    SHARED,
    TILES,
    GemmSchedule,
    grid_of,
    legal,
    schedule,
    schedule_of,
)

import tilewright as tw

SAMPLE = [
    (schedule(128, 64), "bf16"), (schedule(64, 64), "f8E4M3FN"),
    (GemmSchedule(64, 64, 2, 32), "bf16"), (schedule(16, 32), "bf16"),
    (schedule(64, 64, 2), "bf16"), (schedule(64, 24), "bf16"),
    (schedule(64, 64, streamed=True), "bf16"),
    (GemmSchedule(128, 64, 2, 64, teams=2), "f8E4M3FN"), (schedule(64, 64), "tf32"),
]  # fmt: skip
ALL = [(own, element) for own in TILES for element in OPERANDS if legal(own, False, element)]


@pytest.mark.parametrize("own", [schedule(128, 64), schedule(64, 128), schedule(16, 32)])
def test_row_major_products(own: GemmSchedule):
    """Columns of one box, of two, and half as wide."""
    test_products(own, "bf16", row_major=True)


@pytest.mark.parametrize("own, element", [*SAMPLE, *(ALL if THOROUGH else [])])
def test_products(own: GemmSchedule, element: str, *, row_major: bool = False):
    """At the tile level, at the ptx level and by NumPy."""
    text, args, launch = problem(own, element, row_major=row_major)
    a, b, k = *args[:2], args[0].shape[1]
    left = [
        tw.interpret(text, args=args, level=level, arch="sm_90a", **launch)
        for level in ("tile", "ptx")
    ]
    results = [arrays[2] for arrays in left]
    assert results[0].tobytes() == results[1].tobytes()
    assert not own.streamed or not left[0][4].any()
    product = a.astype(np.float64) @ b.astype(np.float64).T
    # An H100 cuts sums of fp8 at 13 bits below the largest product; C has 8 bits.
    near = np.abs(product) * 2.0**-8 + k * 2.0**-10
    assert (np.abs(results[0].astype(np.float64) - product) <= near).all()


@pytest.mark.parametrize("own, element", ALL if THOROUGH else ALL[:3])
def test_nothing_is_spilled_or_serialized(own: GemmSchedule, element: str, ptxas: Any):
    (kernel,) = ptxas(hopper_gemm.compiled(own, element).ptx, "sm_90a").kernels.values()
    assert not kernel.spill_stores


def test_sums_of_a_cluster_need_its_barrier():
    """Without the wait that says that the others have given theirs it is a race."""
    own = schedule(64, 64, 2)
    wait = "      cute_nvgpu.cluster.wait\n"
    before, given, taken = text_of(own).split(wait)
    text = before + wait + given + taken
    a = b = np.ones((64, 128), ml_dtypes.bfloat16)
    launch: dict[str, Any] = {"grid": (2,), "block": (160,), "arch": "sm_90a"}
    with pytest.raises(tw.ExecutionError, match="race"):
        tw.interpret(text, args=[a, b, np.zeros((64, 64), ml_dtypes.bfloat16)], **launch)


def test_teams_meet_between_tiles():
    """Else a team waits for a parity that an earlier phase of the stage has, too."""
    own = GemmSchedule(64, 64, 2, 64, teams=2)
    text = text_of(own).replace("cute_nvgpu.bar.sync 3 threads 256", "")
    with pytest.raises(tw.CompileError, match="no wait for its mbarrier is before this"):
        tw.compile(text, "sm_90a")


def test_sums_of_another_cta_need_its_flag():
    """Read before their flag is up they are no sums: a race."""
    own = schedule(64, 64, streamed=True)
    text = text_of(own).replace("arith.cmpi eq, %given, %c0", "arith.cmpi ult, %given, %c0")
    a = b = np.ones((64, 256), ml_dtypes.bfloat16)
    args = [a, b, np.zeros((64, 64), ml_dtypes.bfloat16), np.zeros((2, 4096), np.float32),
            np.zeros(2, np.int32)]  # fmt: skip
    launch: dict[str, Any] = {"grid": (2,), "block": (160,), "arch": "sm_90a"}
    with pytest.raises(tw.ExecutionError, match="race"):
        tw.interpret(text, args=args, schedule=1, **launch)


@pytest.mark.parametrize(
    "shape, tile",
    [
        ((512, 512, 512), "64x32"), ((2048, 2048, 2048), "128x256"), ((16, 4096, 4096), "16x32"),
        ((128, 4096, 4096), "128x64/2"), ((2048, 11008, 4096), "128x168"),
        ((256, 256, 16384), "64x128/8"), ((512, 512, 8192), "64x32"),
        ((2048, 2048, 2048, "f8E4M3FN"), "128x128 in turn"), ((1536, 3072, 8192), "192x192"),
        ((1024, 1152, 4096), "128x96"), ((8192, 8192, 8192), "128x256"),
    ],
)  # fmt: skip
def test_the_model_picks_what_was_fastest(shape: Any, tile: str):
    """Within 3 % on an H200, or, where K is long, an H100 (docs/performance.md)."""
    own = schedule_of(*shape)
    assert str(own) == tile
    assert grid_of(own, *shape[:2])[0] <= MULTIPROCESSORS


def test_a_schedule_fills_shared_memory():
    for own in TILES:
        stage = (own.height + own.n) * ROW
        used = own.stages * stage + 2 * own.teams * own.height * own.piece
        left = SHARED - used - 4 * own.m * own.n * (own.split - 1) // own.split
        assert left >= 0 and (own.stages == 16 or left < stage + 2048)
