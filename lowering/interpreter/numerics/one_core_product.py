"""Products of tiles by BLAS on the core that asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_ONE_CORE = 1 << 18
"""Multiply-adds of a product that OpenBLAS does not spread over threads (interface/gemm.c:
SMP_THRESHOLD_MIN * GEMM_MULTITHREAD_THRESHOLD)."""


def product_on_one_core(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """x @ y of [..., M, K] and [..., K, N] in pieces of rows so small that OpenBLAS keeps to one
    core: for a tile, starting and awaiting threads takes longer than the product, much longer on a
    busy machine."""
    rows = x.shape[-2]
    piece = max(1, _ONE_CORE // (x.shape[-1] * y.shape[-1]))
    piece = 1 << (piece.bit_length() - 1)
    if piece >= rows or rows % piece or x.size == rows * x.shape[-1]:
        return np.matmul(x, y)
    parts = x.reshape(*x.shape[:-2], rows // piece, piece, x.shape[-1])
    product = np.matmul(parts, y[..., None, :, :])
    return product.reshape(*product.shape[:-3], rows, y.shape[-1])
