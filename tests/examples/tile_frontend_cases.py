"""Kernels of examples/tile_frontend with arguments and what they should give: edges in every mode,
rows longer than the matrix, NaN behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from tile_frontend.attention import attention
from tile_frontend.gemm import BLACKWELL, HOPPER, batched_gemm, gemm, gemm_bias_relu
from tile_frontend.kernel import TileKernel

Array = NDArray[Any]


def matrix(*shape: int, dtype: Any = ml_dtypes.bfloat16, seed: int = 0) -> Array:
    """Random elements in rows of whole 16 bytes, NaN behind them and behind the last row."""
    run = 16 // np.dtype(dtype).itemsize
    whole = np.full((*shape[:-2], shape[-2] + 1, -(-shape[-1] // run) * run + run), np.nan, dtype)
    found = whole[..., : shape[-2], : shape[-1]]
    found[...] = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return found


def result(*shape: int, dtype: Any = np.float32) -> Array:
    """An output full of NaN."""
    found = matrix(*shape, dtype=dtype)
    found[...] = np.nan
    return found


def exact(*arrays: Array) -> list[Array]:
    return [each.astype(np.float64) for each in arrays]


def softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def gemm_case(m: int, n: int, k: int, dtype: Any = ml_dtypes.bfloat16) -> tuple[list[Any], Array]:
    a, b = matrix(m, k, dtype=dtype), matrix(k, n, dtype=dtype, seed=1)
    x, y = exact(a, b)
    return [a, b, result(m, n)], x @ y


def bias_case(m: int, n: int, k: int) -> tuple[list[Any], Array]:
    (a, b, c), product = gemm_case(m, n, k)
    bias = matrix(1, n, dtype=np.float32, seed=2)[0]
    return [a, b, bias, c], np.maximum(product + bias, 0)


def batched_case(z: int, m: int, n: int, k: int) -> tuple[list[Any], Array]:
    a, b = matrix(z, m, k), matrix(z, k, n, seed=1)
    x, y = exact(a, b)
    return [a, b, result(z, m, n)], x @ y


def attention_case(
    z: int, queries: int, keys: int, depth: int, causal: bool = False
) -> tuple[list[Any], Array]:
    q, k, v = (matrix(z, n, depth, seed=i) for i, n in enumerate((queries, keys, keys)))
    scale = 1 / np.sqrt(depth)
    x, y, w = exact(q, k, v)
    keep = matrix(z, keys, dtype=np.float32, seed=3)
    keep[...] = 1 if causal else keep < 1
    seen = (keep[:, None, :] == 1) & (np.tri(queries, keys, dtype=bool) | (not causal))
    scores = np.where(seen, x @ y.transpose(0, 2, 1) * scale, -np.inf)
    o = result(z, queries, depth, dtype=ml_dtypes.bfloat16)
    return [q, k, v, keep, o, float(scale * np.log2(np.e))], softmax(scores) @ w


SMALL = {"tile": (64, 64, 32), "stages": 2}
HALVES = {"warps": (4, 1), "tile": (64, 128, 64)}
Case = tuple[TileKernel, Callable[[], tuple[list[Any], Array]], dict[str, Any], float]
CASES: dict[str, Case] = {
    "gemm": (gemm, lambda: gemm_case(130, 136, 96), {}, 1e-5),
    "gemm, one step": (gemm, lambda: gemm_case(16, 8, 8), SMALL, 1e-5),
    "gemm of f16": (gemm, lambda: gemm_case(65, 72, 40, np.float16), SMALL, 1e-5),
    "gemm, other warps": (gemm, lambda: gemm_case(100, 136, 200), HALVES, 1e-5),
    "gemm by wgmma": (gemm, lambda: gemm_case(100, 264, 264), HOPPER, 1e-5),
    "gemm by tcgen05": (gemm, lambda: gemm_case(100, 136, 264), BLACKWELL, 1e-5),
    "bias and ReLU": (gemm_bias_relu, lambda: bias_case(130, 136, 64), {}, 1e-5),
    "bias and ReLU by wgmma": (gemm_bias_relu, lambda: bias_case(130, 264, 72), HOPPER, 1e-5),
    "bias and ReLU by tcgen05": (gemm_bias_relu, lambda: bias_case(130, 136, 72), BLACKWELL, 1e-5),
    "batched": (batched_gemm, lambda: batched_case(3, 65, 72, 40), SMALL, 1e-5),
    "attention": (attention, lambda: attention_case(2, 100, 104, 64), {}, 8e-3),
    "attention, 128 deep": (attention, lambda: attention_case(1, 72, 76, 128),
                            {"depth": 128, "keys": 32}, 8e-3),
    "causal attention": (attention, lambda: attention_case(1, 100, 104, 64, causal=True),
                         {"causal": True}, 8e-3),
}  # fmt: skip


def output(args: list[Any], arrays: list[Array]) -> Array:
    """The array that a kernel writes: its last one."""
    return arrays[sum(isinstance(each, np.ndarray) for each in args) - 1]
