"""The operands of `wgmma_kernels`, and the atoms that multiply them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from wgmma_kernels import Case

from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import find_wgmma

DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "i8": np.int8,
    "i32": np.int32,
}


PTX_NAMES = {"si8": "s8", "i32": "s32"}


def atom_of(case: Case) -> Any:
    a, b, d = (PTX_NAMES.get(each, each) for each in case.types)
    return find_wgmma("sm90.mma", (64, case.n, case.k), (a, b, d))


def inputs(case: Case, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Integers small enough that every sum is exact: A [64, K] and B [N, K]."""
    rng = np.random.default_rng(seed)
    depth = case.k * case.steps
    dtype = DTYPES[case.a.element]
    return (
        rng.integers(-4, 5, (64, depth)).astype(dtype),
        rng.integers(-4, 5, (case.n, depth)).astype(dtype),
    )


def fragments(case: Case, a: NDArray[Any]) -> NDArray[Any]:
    """A as [steps, threads, values]."""
    row, column = np.moveaxis(atom_of(case).coords("A"), -1, 0)
    return np.stack([a[row, step * case.k + column] for step in range(case.steps)])
