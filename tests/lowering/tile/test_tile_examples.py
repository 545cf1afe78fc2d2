"""The GEMMs of examples/, and attention, written in tiles: equal bits at every level, NumPy's
product, and text that assembles without a warning."""

from __future__ import annotations

from itertools import product as product_of
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from covering import covering, themselves
from example_files import EXAMPLES
from numpy.random import default_rng
from numpy.testing import assert_allclose
from tile_levels import lowered, run

import tilewright as tw

GEMMS: dict[str, tuple[str, Any, tuple[int, int], int]] = {
    # architecture, element type, tile of a CTA, threads
    "tile_gemm_sm80": ("sm_80", np.float16, (128, 128), 128),
    "tile_gemm_sm90": ("sm_90a", ml_dtypes.bfloat16, (128, 256), 384),
    "tile_gemm_sm90_fp8": ("sm_90a", ml_dtypes.float8_e4m3fn, (128, 128), 384),
    "tile_gemm_sm90_fp8_promoted": ("sm_90a", ml_dtypes.float8_e4m3fn, (128, 128), 384),
    "tile_gemm_sm100": ("sm_100a", np.float16, (128, 256), 192),
}


def matrix(rows: int, columns: int, dtype: Any, seed: int) -> np.ndarray:
    """Rows of whole 16 bytes, what is beyond the columns being NaN."""
    rng = default_rng(seed)
    vector = 16 // np.dtype(dtype).itemsize
    held = np.full((rows, -(-columns // vector) * vector), np.nan, dtype)
    held[:, :columns] = rng.standard_normal((rows, columns))
    return held[:, :columns]


# Tiles above one another, whole and not, of one step of K; beside one another, of more steps than
# there are stages; a tile that is hardly there.
def sizes(name: str) -> list[tuple[int, int, int]]:
    m, n = GEMMS[name][2]
    return [(m + 8, n, 64), (100, n + 44, 136 if name == "tile_gemm_sm80" else 264), (1, 3, 8)]


HARDWARE = [(name, sizes(name)[which], "hardware") for name, which in covering(
    product_of(GEMMS, range(3)), themselves, times=2)]  # fmt: skip
EXACT = [("tile_gemm_sm80", (140, 72, 72), "exact"), ("tile_gemm_sm90", (70, 256, 64), "exact")]


@pytest.mark.parametrize("name, size, numerics", [*HARDWARE, *EXACT])
def test_gemm(name: str, size: tuple[int, int, int], numerics: str):
    arch, dtype, tile, threads = GEMMS[name]
    m, n, k = size
    a, b = matrix(m, k, dtype, 0), matrix(n, k, dtype, 1)
    grid = (-(-m // tile[0]), -(-n // tile[1]))
    text = (EXAMPLES / f"{name}.mlir").read_text()
    c = matrix(m, n, np.float32, 2)
    launch: dict[str, Any] = {"threads": threads, "grid": grid, "arch": arch}
    found = run(text, a, b, c, numerics=numerics, **launch)[2]
    product = a.astype(np.float64) @ b.astype(np.float64).T
    # An H100 cuts sums of fp8 at 13 bits below the largest product.
    bits = 10 if np.dtype(dtype).itemsize == 1 else 18
    assert_allclose(found, product, rtol=0, atol=k * 2.0**-bits)


def contiguous_rows(rows: int, columns: int, seed: int) -> np.ndarray:
    """A matrix (rows, columns) that lies column by column."""
    return matrix(columns, rows, np.float32, seed).T


@pytest.mark.parametrize("size", [(140, 136, 20), (4, 8, 3)])
def test_gemm_without_tensor_cores(size: tuple[int, int, int]):
    m, n, k = size
    a, b, c = (
        np.asfortranarray(contiguous_rows(*extents, seed))
        for seed, extents in enumerate(((m, k), (n, k), (m, n)))
    )
    text, grid = (EXAMPLES / "tile_gemm_simt.mlir").read_text(), (-(-m // 128), -(-n // 128))
    found = run(text, a, b, c, threads=256, grid=grid, arch="sm_80")[2]
    chain = np.zeros((m, n))
    for step in range(k):
        # fma.rn.f32: the product of two f32 is exact in float64.
        product = a[:, step, None].astype(np.float64) * b[None, :, step].astype(np.float64)
        chain = (chain + product).astype(np.float32).astype(np.float64)
    assert_allclose(found, chain, rtol=0, atol=k * 2.0**-24)


def halves(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and C of a product of f16 that is summed in f32."""
    return matrix(m, k, np.float16, 0), matrix(n, k, np.float16, 1), matrix(m, n, np.float32, 2)


def keep_two_of_four(a: np.ndarray) -> None:
    """Let two of four elements of a row be zeros."""
    groups = a.reshape(len(a), -1, 4)
    groups[default_rng(3).random(groups.shape).argsort(axis=-1) < 2] = 0


def check_product(found: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    product = a.astype(np.float64) @ b.astype(np.float64).T
    assert_allclose(found, product, rtol=0, atol=a.shape[1] * 2.0**-18)


@pytest.mark.parametrize("size", [(256, 136, 96), (128, 1, 32)])
def test_gemm_of_a_sparse_matrix(size: tuple[int, int, int]):
    m, n, k = size
    a, b, c = halves(m, n, k)
    keep_two_of_four(a)
    atom = tw.atom("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
    tiles = a.reshape(m // 16, 16, k // 32, 32).transpose(0, 2, 1, 3)
    values, metadata = tw.sparsify(tiles, atom)
    text, grid = (EXAMPLES / "tile_gemm_sm80_sparse.mlir").read_text(), (m // 128, -(-n // 128))
    arguments = (values.ravel().view(np.float16), metadata.ravel(), b, c)
    found = run(text, *arguments, threads=128, grid=grid, arch="sm_80")[3]
    check_product(found, a, b)


@pytest.mark.parametrize("size", [(256, 136, 192), (128, 1, 64)])
def test_gemm_of_a_sparse_matrix_by_warpgroups(size: tuple[int, int, int]):
    m, n, k = size
    a, b, c = halves(m, n, k)
    keep_two_of_four(a)
    atom = tw.atom("wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16")
    tiles = a.reshape(m // 64, 64, k // 32, 32).transpose(0, 2, 1, 3)
    values, metadata = tw.sparsify(tiles, atom)
    stored = np.ascontiguousarray(values.transpose(0, 2, 1, 3)).reshape(m, k // 2)
    text, grid = (EXAMPLES / "tile_gemm_sm90_sparse.mlir").read_text(), (m // 128, -(-n // 128))
    found = run(text, stored, metadata.ravel(), b, c, threads=384, grid=grid, arch="sm_90a")[3]
    check_product(found, a, b)


def test_gemm_of_batches():
    m, n, k, batches = 100, 258, 72, 3
    a, b, c = (
        np.stack([matrix(*extents, dtype, 3 * seed + batch) for batch in range(batches)])
        for seed, (extents, dtype) in enumerate(
            (((m, k), ml_dtypes.bfloat16), ((n, k), ml_dtypes.bfloat16), ((m, n), np.float32))
        )
    )
    text = (EXAMPLES / "tile_gemm_sm90_batched.mlir").read_text()
    arguments = [x.transpose(1, 2, 0) for x in (a, b, c)]
    found = run(text, *arguments, threads=384, grid=(1, 2, batches), arch="sm_90a")[2]
    product = a.astype(np.float64) @ b.astype(np.float64).transpose(0, 2, 1)
    assert_allclose(found.transpose(2, 0, 1), product, rtol=0, atol=k * 2.0**-18)


@pytest.mark.parametrize("size", [(264, 256, 64), (200, 270, 264)])
def test_gemm_of_pairs(size: tuple[int, int, int]):
    m, n, k = size
    a, b, c = halves(m, n, k)
    text, grid = (
        (EXAMPLES / "tile_gemm_sm100_2sm.mlir").read_text(),
        (-(-m // 256) * 2, -(-n // 256)),
    )
    found = run(text, a, b, c, threads=192, grid=grid, arch="sm_100a")[2]
    check_product(found, a, b)


def blocks(scales: np.ndarray) -> np.ndarray:
    """Scale factors as CUTLASS has them: blocks of 128 rows and 4 factors."""
    rows, count = scales.shape
    parts = scales.view(np.uint8).reshape(rows // 128, 4, 32, count // 4, 4)
    return np.ascontiguousarray(parts.transpose(0, 3, 2, 1, 4)).ravel().view(scales.dtype)


def packed(elements: np.ndarray) -> np.ndarray:
    """Two e2m1 a byte, the first one low."""
    bits = elements.view(np.uint8)
    return bits[:, ::2] | bits[:, 1::2] << 4


@pytest.mark.parametrize(
    "format, chip, threads, pairs",
    [
        ("nvfp4", 120, 128, ""),
        ("mxfp8", 120, 256, ""),
        ("mxfp8", 100, 192, ""),
        ("nvfp4", 100, 192, ""),
        ("mxfp8", 100, 192, "_2sm"),
        ("nvfp4", 100, 192, "_2sm"),
    ],
)
def test_gemm_of_scaled_blocks(format: Any, chip: int, threads: int, pairs: str):
    m, n, k = (256 if pairs else 128), 256, (256 if chip == 120 else 512)
    a, b = (
        tw.quantize(default_rng(seed).standard_normal((rows, k)), format)
        for seed, rows in enumerate((m, n))
    )
    elements = [packed(x.elements) if format == "nvfp4" else x.elements for x in (a, b)]
    if format == "nvfp4" and chip == 100:
        # TMA copies two elements as a byte.
        elements = [x.view(np.int8) for x in elements]
    # TMA copies the blocks as rows of 256 bytes.
    factors = [
        blocks(x.scales).reshape(-1, 256) if chip == 100 else blocks(x.scales) for x in (a, b)
    ]
    arguments = (*elements, *factors, np.zeros((m, n), np.float32))
    text = (EXAMPLES / f"tile_gemm_sm{chip}_{format}{pairs}.mlir").read_text()
    grid = (2, 1) if pairs else (1, 2)
    found = run(text, *arguments, threads=threads, grid=grid, arch=f"sm_{chip}a")[4]
    wide = [tw.dequantize(x, dtype=np.float64) for x in (a, b)]
    assert_allclose(found, wide[0] @ wide[1].T, rtol=0, atol=k * 2.0**-24)


ATTENTION = {"tile_attention_sm90": ("sm_90a", 384), "tile_attention_sm100": ("sm_100a", 192)}


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("name", ATTENTION)
def test_attention(name: str, causal: int):
    """A block of queries that is full and one that is not, blocks of keys likewise; two batches."""
    arch, threads = ATTENTION[name]
    queries, batches = (132, 1) if causal else (100, 2)
    keys, depth, scale = 200, 64, 0.125
    q, k, v, o = (
        np.stack([matrix(n, depth, ml_dtypes.bfloat16, 4 * z + i) for z in range(batches)])
        for i, n in enumerate((queries, keys, keys, queries))
    )
    arguments = [*(x.transpose(1, 2, 0) for x in (q, k, v, o)), scale * np.log2(np.e), causal]
    text = (EXAMPLES / f"{name}.mlir").read_text()
    found = run(text, *arguments, threads=threads, grid=(-(-queries // 128), batches), arch=arch)[3]
    wide = [x.astype(np.float64) for x in (q, k, v)]
    scores = wide[0] @ wide[1].transpose(0, 2, 1) * scale
    if causal:
        scores = np.where(np.tri(queries, keys, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    # The weights are rounded to bf16, and so is the result.
    product = weights @ wide[2]
    assert_allclose(found.transpose(2, 0, 1), product, rtol=0.02, atol=8e-3)


CHIPS = {"tile_gemm_simt": "sm_80", "tile_gemm_sm120_mxfp8": "sm_120f"}
"""Where the name does not say it."""


def chip_of(name: str) -> str:
    number = name.partition("_sm")[2].partition("_")[0]
    return CHIPS.get(name) or f"sm_{number}{'a' if number != '80' else ''}"


# The persistent ones are in test_persistent_gemm.
TEXTS = sorted(
    path.stem
    for path in EXAMPLES.glob("tile_*.mlir")
    if not path.stem.endswith(("_persistent", "_multicast"))
)


@pytest.mark.parametrize(
    ("name", "arch"),
    [
        *((name, chip_of(name)) for name in TEXTS),
        ("tile_gemm_sm100", "sm_103a"),
        ("tile_gemm_sm100", "sm_110a"),
    ],
)
def test_the_text_assembles(name: str, arch: str, ptxas: Any):
    report = ptxas(lowered((EXAMPLES / f"{name}.mlir").read_text(), arch)[1], arch)
    assert report.clean, report.output
    assert "serialized" not in report.output
