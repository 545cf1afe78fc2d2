"""The kernels of `benchmarks/user_kernels.py`, at small sizes, leave what NumPy computes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import user_kernel_cases
import user_kernels
from cutile_problems import Case, Matrix
from numpy.typing import NDArray

import tilewright as tw

CASES = list(user_kernel_cases.cases())


def array(matrix: Matrix, random: np.random.Generator) -> NDArray[Any]:
    """Zeros of what a kernel writes, else numbers."""
    element = getattr(ml_dtypes, matrix.element, None) or np.dtype(matrix.element)
    if matrix.below:
        return random.integers(0, matrix.below, matrix.shape, np.int32)
    numbers = random.standard_normal(matrix.shape, np.float32)
    return np.zeros(matrix.shape, element) if matrix.result else numbers.astype(element)


def number(argument: Any) -> Any:
    """An argument as NumPy computes with it."""
    floats = isinstance(argument, np.ndarray) and not np.issubdtype(argument.dtype, np.integer)
    return argument.astype(np.float32) if floats else argument


@pytest.mark.parametrize("case", CASES, ids=[case.configuration for case in CASES])
def test_what_kernels_leave(case: Case) -> None:
    problem, random = user_kernel_cases.small(case), np.random.default_rng(0)
    given = problem.arguments
    args = [array(one, random) if isinstance(one, Matrix) else one for one in given]
    want = user_kernel_cases.result(case, *map(number, args))
    kernel = getattr(user_kernels, case.kernel)
    tw.cutile.launch(problem.grid, kernel, (*args, *case.constants))
    first = next(i for i, one in enumerate(given) if isinstance(one, Matrix) and one.result)
    error = np.linalg.norm(args[first].astype(np.float64) - want)
    assert error <= 4e-3 * np.linalg.norm(want) > 0
