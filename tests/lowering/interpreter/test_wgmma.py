"""wgmma, fed by stores of threads, against NumPy: both levels, both numerics, every major."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from covering import covering
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from run_levels import LEVELS, at_levels
from wgmma_kernels import BF16, CASES, Case, as_stored, product_kernel
from wgmma_products import DTYPES, atom_of, fragments, inputs

import tilewright as tw


def run(case: Case, text: str, level: Any, numerics: Any = "hardware") -> NDArray[Any]:
    """D as [64, N]."""
    a, b = inputs(case)
    given = fragments(case, a) if case.a_fragment else as_stored(case.a, a)
    out = np.zeros(128 * case.values, DTYPES[case.accumulator])
    found = tw.interpret(
        text,
        grid=(2,),
        block=(128,),
        args=[given.reshape(-1), as_stored(case.b, b).reshape(-1), out],
        arch="sm_90a",
        level=level,
        numerics=numerics,
    )[2]
    row, column = np.moveaxis(atom_of(case).coords("D"), -1, 0)
    d = np.zeros((64, case.n), found.dtype)
    d[row, column] = found.reshape(128, -1)
    return d


def expected(case: Case) -> NDArray[Any]:
    a, b = (each.astype(np.float64) for each in inputs(case))
    return (a @ b.T).astype(DTYPES[case.accumulator])


def pairs(run: tuple[Case, str, str]) -> tuple[Any, ...]:
    """A case at a level, a case with its numerics, and numerics at a level."""
    case, level, numerics = run
    return (case.name, level), (case.name, numerics), (level, numerics)


RUNS = covering(product(CASES, LEVELS, ("hardware", "exact")), pairs)


@pytest.mark.parametrize(
    "case, level, numerics",
    [pytest.param(*run, id=f"{run[0].name}-{run[1]}-{run[2]}") for run in RUNS],
)
def test_product(case: Case, level: str, numerics: str):
    found = run(case, product_kernel(case), level, numerics)
    assert_array_equal(found, expected(case))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_text_assembles(case: Case, ptxas: Any):
    report = ptxas(tw.compile(product_kernel(case), "sm_90a").ptx, "sm_90a")
    assert report.clean, report.output
    assert "serialized" not in report.output


@at_levels()
@pytest.mark.parametrize("scale_d", ["true", "false"])
def test_scale_d(scale_d: str, level: str):
    """Where scale_d is false the accumulator's old value, ones, does not count."""
    text = product_kernel(BF16).replace("arith.constant 0.0 : f32", "arith.constant 1.0 : f32")
    text = text.replace("%yes = arith.constant true", f"%yes = arith.constant {scale_d}")
    text = text.replace("%d_0 <", "%d_0 scale_d %yes <", 1)
    text = text.replace("fragment<64xf32>) ->", "fragment<64xf32>, i1) ->", 1)
    found = run(BF16, text, level)
    assert_array_equal(found, expected(BF16) + (scale_d == "true"))
