"""exp2, log2, rsqrt and reciprocals at both levels: near NumPy's, exact where they must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fragment_kernels import LANE, both
from numpy.testing import assert_array_equal

import tilewright as tw

THREADS = 256
INFINITY, NAN = np.float32(np.inf), np.float32(np.nan)
TINY = np.float32(2.0**-130)


def kernel(op: str, type_: str = "f32") -> str:
    memory = f"memref<?x{type_}>"
    return f"""func.func @k(%in: {memory}, %out: {memory}) attributes {{gpu.kernel}} {{
{LANE}  %x = memref.load %in[%t] : {memory}
  %y = math.{op} %x fastmath<afn> : {type_}
  memref.store %y, %out[%t] : {memory}
  func.return
}}"""


@pytest.mark.parametrize("op, law", [("exp2", np.exp2), ("log2", np.log2), ("rsqrt", None)])
def test_without_the_flag(op: str, law: Callable[..., Any] | None):
    """Within 2 units in the last place, of subnormal numbers and to subnormal results too."""
    given = np.linspace(-148, -127, THREADS, dtype=np.float32)
    if law is None:
        law = lambda x: x**-0.5  # noqa: E731
    if op != "exp2":
        given = np.exp2(given)
    text = kernel(op).replace(" fastmath<afn>", "")
    found = both(text, [given, np.zeros_like(given)], block=(THREADS,))[1]
    exact = law(given.astype(np.float64))
    unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    assert (np.abs(found - exact) <= 2 * unit).all() and found.any()
    assert "approx" not in tw.compile(text, "sm_80").ptx


def result(op: str, given: np.ndarray) -> np.ndarray:
    return both(kernel(op), [given, np.zeros_like(given)], block=(len(given),))[1]


def test_exp2():
    given = np.linspace(-120, 120, THREADS, dtype=np.float32)
    found, exact = result("exp2", given).astype(np.float64), np.exp2(given.astype(np.float64))
    assert (np.abs(found - exact) <= exact * 2.0**-22).all()


def test_rsqrt():
    given = np.exp2(np.linspace(-120, 120, THREADS)).astype(np.float32)
    found, exact = result("rsqrt", given).astype(np.float64), given.astype(np.float64) ** -0.5
    assert (np.abs(found - exact) <= exact * 2.0**-22.5).all()


@pytest.mark.parametrize("numerator", [1.0, 3.0])
def test_division_by_reciprocal(numerator: float):
    """One rounding of the reciprocal and one of the product; dividing 1 has no product."""
    text = kernel("").replace(
        "math. %x fastmath<afn> : f32", "arith.divf %one, %x fastmath<arcp> : f32"
    ).replace("  %y", f"  %one = arith.constant {numerator} : f32\n  %y")  # fmt: skip
    given = np.linspace(-7, 9, THREADS, dtype=np.float32)
    found = both(text, [given, np.zeros_like(given)], block=(THREADS,))[1].astype(np.float64)
    exact = numerator / given.astype(np.float64)
    assert (np.abs(found - exact) <= np.abs(exact) * 2.0**-22).all()
    ptx = tw.compile(text, "sm_80").ptx
    assert "rcp.approx.ftz.f32" in ptx and ("mul.rn.f32" in ptx) == (numerator != 1)


def test_log2():
    given = np.exp2(np.linspace(-120, 120, THREADS)).astype(np.float32)
    found, exact = result("log2", given).astype(np.float64), np.log2(given.astype(np.float64))
    assert (np.abs(found - exact) <= np.maximum(np.abs(exact), 1) * 2.0**-22).all()


EXACT = {
    "exp2": [(0, 1), (-0.0, 1), (1, 2), (-3, 0.125), (10, 1024), (-INFINITY, 0), (-200, 0),
             (INFINITY, INFINITY), (129, INFINITY), (TINY, 1), (-127, 0), (-126, 2.0**-126)],
    "log2": [(1, 0), (2, 1), (8, 3), (0, -INFINITY), (-0.0, -INFINITY), (TINY, -INFINITY),
             (INFINITY, INFINITY), (2.0**126, 126)],
    "rsqrt": [(1, 1), (4, 0.5), (2.0**-126, 2.0**63), (0, INFINITY), (-0.0, -INFINITY),
              (TINY, INFINITY), (INFINITY, 0)],
}  # fmt: skip


@pytest.mark.parametrize("op", EXACT)
def test_exact_results(op: str):
    """Whole powers, infinities, and subnormal numbers, which are zeros."""
    pairs = np.array([*EXACT[op]] * 32, np.float32)[: 32 * (len(EXACT[op]))]
    given, expected = pairs[:THREADS].T
    found = result(op, np.ascontiguousarray(given))
    assert_array_equal(found.view(np.uint32), np.ascontiguousarray(expected).view("u4"))


@pytest.mark.parametrize(
    "op, given",
    [
        ("exp2", NAN),
        ("log2", NAN),
        ("rsqrt", NAN),
        ("log2", np.float32(-1)),
        ("rsqrt", np.float32(-1)),
    ],
)
def test_nan(op: str, given: np.float32):
    found = result(op, np.full(32, given))
    assert_array_equal(found.view(np.uint32), 0x7FFFFFFF)
