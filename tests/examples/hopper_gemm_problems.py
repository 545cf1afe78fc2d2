"""Small problems of examples/hopper_gemm.py, for every way in which it multiplies."""

from typing import Any

import ml_dtypes
import numpy as np
from hopper_gemm_kernel import text as text_of
from hopper_gemm_schedule import OPERANDS, ROW, GemmSchedule, grid_of, workspace
from numpy.typing import NDArray

DTYPES = {
    "bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "tf32": np.float32,
}  # fmt: skip


def problem(
    own: GemmSchedule, element: str, *, row_major: bool = False
) -> tuple[str, list[NDArray[Any]], dict[str, Any]]:
    """A kernel, its arguments and its launch. Two CTAs, several tiles each, partial ones among
    them; the stages go round. Or a cluster for each of two tiles, whose last CTA has less of K.
    Streamed, four tiles of three CTAs."""
    m, n, k = own.m + 8, own.teams * own.n + 16, 4 * ROW // OPERANDS[element].size + 16
    grid = (2 + own.streamed,) if own.split == 1 else grid_of(own, m := own.m, n := own.n + 16)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((rows, k)).astype(DTYPES[element]) for rows in (m, n))
    b = np.ascontiguousarray(b.T).T if row_major else b
    shapes = zip(workspace(own, m, n), (np.float32, np.int32), strict=False)
    args = [a, b, np.zeros((m, n), ml_dtypes.bfloat16), *(np.zeros(*one) for one in shapes)]
    launch: dict[str, Any] = {"grid": grid, "block": (own.threads + 32,)}
    return text_of(own, element, row_major=row_major), args, launch
