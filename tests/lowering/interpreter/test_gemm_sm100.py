"""The GEMMs for Blackwell, at both levels, against NumPy in float64; its chips assemble them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from example_files import EXAMPLES
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from run_levels import LEVELS, at_levels

import tilewright as tw
from tilewright.launch.ptxas import PtxasReport

BLOCK = (192,)


@dataclass(frozen=True)
class Gemm:
    """A product: the arguments before C's tensor map, all of C with its padding, K and that of one
    MMA, the result in float64, and the sum of the magnitudes of its products."""

    inputs: list[Any]
    c: NDArray[np.float32]
    k: int
    step: int
    product: NDArray[np.float64]
    magnitude: NDArray[np.float64]

    def run(self, name: str, grid: tuple[int, int], level: Any, **options: Any) -> NDArray[Any]:
        """C as the interpreter leaves it."""
        m, n = self.product.shape
        c = tw.TensorMap(self.c.copy(), shape=(m, n), box=(128, 32), swizzle=128)
        args = [*self.inputs, c, self.k]
        launch: dict[str, Any] = {"grid": grid, "block": BLOCK, "arch": "sm_100a", "level": level}
        text = (EXAMPLES / f"{name}.mlir").read_text()
        found: NDArray[Any] = tw.interpret(text, args=args, **launch, **options)[len(self.inputs)]
        return found

    def check(self, name: str, grid: tuple[int, int], **options: Any) -> None:
        """Both levels agree bit for bit, are close to float64, and leave the padding alone."""
        found = [self.run(name, grid, level, **options) for level in LEVELS]
        assert_array_equal(found[0].view(np.uint32), found[1].view(np.uint32))
        n = self.product.shape[1]
        # TMA writes whole 16 bytes.
        assert np.isnan(found[0][:, -(-n // 4) * 4 :]).all()
        error = np.abs(found[0][:, :n] - self.product)
        # Each MMA cuts its addends off 25 bits below the largest one, and then the sum's 24 bits.
        mmas = -(-self.k // self.step)
        assert (error <= self.magnitude * mmas * (self.step + 3) * 2.0**-25).all()


def padded(rows: int, columns: int, multiple: int, dtype: Any) -> NDArray[Any]:
    """NaNs, to a multiple of columns."""
    return np.full((rows, -(-columns // multiple) * multiple), np.nan, dtype)


def dense(m: int, n: int, k: int) -> Gemm:
    rng = default_rng(m)
    a, b = padded(m, k, 8, np.float16), padded(k, n, 8, np.float16)
    a[:, :k], b[:, :n] = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    maps = [
        tw.TensorMap(a, shape=(m, k), box=(128, 64), swizzle=128),
        tw.TensorMap(b, shape=(k, n), box=(64, 64), swizzle=128),
    ]
    one, two = a[:, :k].astype(np.float64), b[:, :n].astype(np.float64)
    return Gemm(maps, padded(m, n + 4, 4, np.float32), k, 16, one @ two, np.abs(one) @ np.abs(two))


def scale_blocks(factors: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Scale factors [rows, K / 32] in blocks of 128 rows and 4 factors, rows of 16 bytes."""
    rows, columns = (-(-factors.shape[0] // 128), -(-factors.shape[1] // 4))
    every = np.zeros((128 * rows, 4 * columns), np.uint8)
    every[: factors.shape[0], : factors.shape[1]] = factors
    blocks = every.reshape(rows, 4, 32, columns, 4).transpose(0, 3, 2, 1, 4)
    return np.ascontiguousarray(blocks).reshape(-1, 16)


def scaled(m: int, n: int, k: int) -> Gemm:
    rng = default_rng(m)
    maps: list[Any] = []
    factors: list[Any] = []
    values: list[NDArray[np.float64]] = []
    for rows in (m, n):
        held = padded(rows, k, 16, ml_dtypes.float8_e4m3fn)
        held[:, :k] = rng.standard_normal((rows, k))
        # 2^-7 to 2^6.
        scale = rng.integers(120, 134, (rows, -(-k // 32))).astype(np.uint8)
        maps.append(tw.TensorMap(held, shape=(rows, k), box=(128, 128), swizzle=128))
        factors.append(tw.TensorMap(scale_blocks(scale), box=(32, 16), element="ui8"))
        exact = scale.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
        values.append(held[:, :k].astype(np.float64) * np.repeat(exact, 32, axis=1)[:, :k])
    one, two = values[0], values[1].T
    c = padded(m, n + 4, 4, np.float32)
    return Gemm([*maps, *factors], c, k, 32, one @ two, np.abs(one) @ np.abs(two))


@pytest.mark.parametrize("size", [(136, 256, 64), (100, 258, 264), (1, 2, 3)])
def test_gemm_sm100(size: tuple[int, int, int]):
    m, n, _ = size
    dense(*size).check("gemm_sm100", (-(-n // 256), -(-m // 128)))


def test_gemm_sm100_of_several_bands():
    """More than 16 rows of tiles: every tile is computed once."""
    m, n, k = 128 * 16 + 1, 264, 16
    gemm = dense(m, n, k)
    found = gemm.run("gemm_sm100", (2, 17), "ptx")[:, :n]
    assert np.abs(found - gemm.product).max() < 1e-4


@pytest.mark.parametrize("size", [(264, 256, 64), (200, 258, 264), (1, 2, 3)])
def test_gemm_sm100_2sm(size: tuple[int, int, int]):
    m, n, _ = size
    dense(*size).check("gemm_sm100_2sm", (2 * -(-m // 256), -(-n // 256)))


@pytest.mark.usefixtures("unchecked")
@at_levels()
def test_commits_to_a_cta_that_has_ended(level: Any):
    """Nothing orders the arrivals of one commit after those of another at a different mbarrier: who
    has waited for %done does not know that all at %empty are over."""
    gemm, text = dense(256, 256, 64), (EXAMPLES / "gemm_sm100_2sm.mlir").read_text()
    first = text.index("      // No CTA ends before all")
    last = text.index("    }\n  }\n\n  // Warp 5")
    c = tw.TensorMap(gemm.c, shape=(256, 256), box=(128, 32), swizzle=128)
    with pytest.raises(tw.ExecutionError, match=r"ends the kernel while a tcgen05.commit of ano"):
        tw.interpret(
            text[:first] + text[last:], grid=(2,), block=BLOCK, args=[*gemm.inputs, c, 64],
            arch="sm_100a", level=level,
        )  # fmt: skip


@pytest.mark.parametrize("size", [(130, 128, 128), (100, 130, 672), (1, 2, 32)])
def test_gemm_sm100_mxf8(size: tuple[int, int, int]):
    m, n, _ = size
    scaled(*size).check("gemm_sm100_mxf8", (-(-n // 128), -(-m // 128)))


@pytest.mark.parametrize("name", ["gemm_sm100", "gemm_sm100_2sm", "gemm_sm100_mxf8"])
def test_exact(name: str):
    """One MMA, rounded once."""
    gemm = scaled(130, 70, 32) if name == "gemm_sm100_mxf8" else dense(130, 70, 16)
    found = gemm.run(name, (2, 2), "atom", numerics="exact")[:, :70]
    assert_array_equal(found, gemm.product.astype(np.float32))


NAMES = ("gemm_sm100", "gemm_sm100_2sm", "gemm_sm100_mxf8")


@pytest.mark.covered
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a", "sm_110a"])
def test_they_assemble(name: str, arch: str, ptxas: Callable[..., PtxasReport]):
    text = tw.compile((EXAMPLES / f"{name}.mlir").read_text(), arch).ptx
    report = ptxas(text, arch)
    assert report.clean, report.output


def test_copies_that_the_mma_does_not_wait_for():
    gemm = dense(128, 256, 64)
    lines = (EXAMPLES / "gemm_sm100.mlir").read_text().splitlines(keepends=True)
    text = "".join(line for line in lines if "mbarrier.wait %full" not in line)
    c = tw.TensorMap(gemm.c, shape=(128, 256), box=(128, 32), swizzle=128)
    with pytest.raises(tw.ExecutionError, match=r"sm100\.mma"):
        tw.interpret(text, grid=(1,), block=BLOCK, args=[*gemm.inputs, c, 64], arch="sm_100a")
