"""The examples, at both levels, against NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from covering import covering
from example_files import EXAMPLES
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from run_levels import at_levels

import tilewright as tw


@at_levels()
@pytest.mark.parametrize("n", [1, 31, 64, 100])
def test_axpy(n: int, level: Any):
    rng = default_rng(n)
    x, y = rng.standard_normal((2, 100)).astype(np.float32)
    text = (EXAMPLES / "axpy.mlir").read_text()
    found = tw.interpret(text, grid=(4,), block=(32,), args=[x, y, 0.75, n], level=level)[1]
    expected = y.copy()
    expected[:n] = np.float32(0.75) * x[:n] + y[:n]
    assert_array_equal(found, expected)


def gemm(m: int, n: int, k: int, pad: int, level: Any) -> None:
    """Integers small enough that every sum is exact, in matrices whose padding is NaN."""
    rng = default_rng(m)
    lda, ldb, ldc = -(-k // 8) * 8 + pad, -(-n // 8) * 8 + pad, n + pad
    a = np.full((m, lda), np.nan, ml_dtypes.bfloat16)
    b = np.full((k, ldb), np.nan, ml_dtypes.bfloat16)
    c = np.full((m, ldc), np.nan, np.float32)
    a[:, :k], b[:, :n] = rng.integers(-8, 9, (m, k)), rng.integers(-8, 9, (k, n))
    found = tw.interpret(
        (EXAMPLES / "gemm_sm80.mlir").read_text(),
        grid=(-(-n // 64), -(-m // 64)),
        block=(128,),
        args=[a, b, c, m, n, k, lda, ldb, ldc],
        level=level,
    )
    expected = a[:, :k].astype(np.float32) @ b[:, :n].astype(np.float32)
    assert_array_equal(found[2][:, :n], expected)
    assert np.isnan(found[2][:, n:]).all()
    assert_array_equal(found[0].view(np.uint16), a.view(np.uint16))


@at_levels()
@pytest.mark.parametrize("size", [(128, 192, 128), (64, 64, 32)])
def test_gemm(size: tuple[int, int, int], level: Any):
    gemm(*size, 0, level)


@at_levels()
@pytest.mark.parametrize("size", [(70, 66, 40), (1, 1, 1), (65, 7, 97), (3, 130, 16)])
def test_gemm_with_edges_and_padded_rows(size: tuple[int, int, int], level: Any):
    gemm(*size, 8, level)


@at_levels()
def test_gemm_wmma(level: Any):
    rng = default_rng(64)
    a, b = rng.integers(-8, 9, (2, 64, 64)).astype(np.float16)
    text = (EXAMPLES / "gemm_wmma.mlir").read_text()
    c = np.full((64, 64), np.nan, np.float32)
    found = tw.interpret(text, grid=(1,), block=(128,), args=[a, b, c], level=level)
    assert_array_equal(found[2], a.astype(np.float32) @ b.astype(np.float32))


@at_levels()
def test_wgmma_fed_by_stores(level: Any):
    rng = default_rng(3)
    m, n, k = 128, 256, 128
    a, b = (rng.integers(-8, 9, (rows, k)).astype(ml_dtypes.bfloat16) for rows in (m, n))
    found = tw.interpret(
        (EXAMPLES / "wgmma_sm90.mlir").read_text(),
        grid=(n // 128, m // 64),
        block=(128,),
        args=[a, b, np.zeros((m, n), np.float32), m, n, k],
        level=level,
    )[2]
    assert_array_equal(found, a.astype(np.float32) @ b.astype(np.float32).T)


def gemm_sm90_arguments(m: int, n: int, k: int) -> tuple[list[Any], np.ndarray]:
    """Small integers in matrices whose padding is NaN, and their product."""
    rng = default_rng(m)
    a = np.full((m, -(-k // 8) * 8), np.nan, ml_dtypes.bfloat16)
    b = np.full((k, -(-n // 8) * 8), np.nan, ml_dtypes.bfloat16)
    c = np.full((m, -(-n // 4) * 4 + 4), np.nan, np.float32)
    a[:, :k], b[:, :n] = rng.integers(-8, 9, (m, k)), rng.integers(-8, 9, (k, n))
    maps = [
        tw.TensorMap(a, shape=(m, k), box=(128, 64), swizzle=128),
        tw.TensorMap(b, shape=(k, n), box=(64, 64), swizzle=128),
        tw.TensorMap(c, shape=(m, n), box=(64, 32), swizzle=128),
    ]
    product = a[:, :k].astype(np.float32) @ b[:, :n].astype(np.float32)
    return [*maps, k], product


def written(columns: int) -> int:
    """The columns of f32 that TMA writes of so many: whole 16 bytes, as an H200 does."""
    return -(-columns // 4) * 4


SIZES = (128, 256, 64), (100, 258, 264), (1, 2, 3), (200, 250, 65)
RUNS = list(product(SIZES, ("hardware", "exact"), ("atom", "ptx")))


def pairs(case: tuple[Any, ...]) -> tuple[Any, ...]:
    """A size at a level, a level with its numerics."""
    size, numerics, level = case
    return (size, level), (numerics, level)


@pytest.mark.parametrize("size, numerics, level", covering(RUNS, pairs))
def test_gemm_sm90(size: tuple[int, int, int], numerics: Any, level: Any):
    m, n, k = size
    args, expected = gemm_sm90_arguments(m, n, k)
    found = tw.interpret(
        (EXAMPLES / "gemm_sm90.mlir").read_text(),
        grid=(-(-n // 256), -(-m // 128)),
        block=(384,),
        args=args,
        numerics=numerics,
        level=level,
    )
    assert_array_equal(found[2][:, :n], expected)
    assert np.isnan(found[2][:, written(n) :]).all()


def test_gemm_sm90_of_several_bands():
    """More than 16 rows of tiles: every tile is computed once."""
    m, n, k = 128 * 16 + 1, 512, 8
    args, expected = gemm_sm90_arguments(m, n, k)
    text = (EXAMPLES / "gemm_sm90.mlir").read_text()
    found = tw.interpret(text, grid=(2, 17), block=(384,), args=args, numerics="exact")
    assert_array_equal(found[2][:, :n], expected)
