"""Dot products by float64's BLAS where their rounding is certain: most elements of a large product.

Products of elements of up to 32 bits are exact in float64. Their sum in any order is off by no more
than (K + 1) 2^-53 of the sum of magnitudes (Higham, Accuracy and Stability, 4.2), which is at most
the product of the row's and the column's norm. Where both ends of that interval round to the same
element, so does the exact sum. Where every addend is a multiple of one power of two, and that sum
of magnitudes is at most 2^53 of it, nothing is off at all.
"""

import math
from collections.abc import Sequence
from itertools import starmap

import numpy as np

from tilewright.lowering.interpreter.array_types import AnyArray, AnyDType, BoolArray
from tilewright.lowering.interpreter.numerics.formats import Floats

_ONE_CORE = 1 << 18
"""Multiply-adds of a product that OpenBLAS does not spread over threads (interface/gemm.c:
SMP_THRESHOLD_MIN * GEMM_MULTITHREAD_THRESHOLD)."""


def product_on_one_core(x: AnyArray, y: AnyArray) -> AnyArray:
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


_HALF_ULP = 2.0**-53
_SLACK = 1.0 + 2.0**-20
"""For the rounding of norms and bounds, which have fewer than 2^20 terms."""


def certain_dot_add(
    a: Floats, b: Floats, c: Floats, mantissas: Sequence[int], dtype: AnyDType
) -> tuple[AnyArray, BoolArray]:
    """A B + C rounded once to f16 or f32, and where that is certain; an exact zero is +0.

    a [..., M, K], b [..., K, N], c [..., M, N], values of formats of up to 32 bits, of so
    many fraction bits.
    """
    total = product_on_one_core(a, b) + c
    bound = (
        np.sqrt(np.einsum("...mk,...mk->...m", a, a))[..., :, None]
        * (np.sqrt(np.einsum("...kn,...kn->...n", b, b))[..., None, :])
    )
    bound += np.abs(c)
    quanta = list(starmap(_quantum, zip((a, b, c), mantissas, strict=True)))
    inexact = bound * _SLACK > min(quanta[0] * quanta[1], quanta[2]) / _HALF_ULP
    bound *= inexact * (_SLACK * (a.shape[-1] + 4) * _HALF_ULP)
    low, high = ((total + off).astype(dtype) + dtype.type(0) for off in (-bound, bound))
    word = np.dtype(f"u{dtype.itemsize}")
    return low, (low.view(word) == high.view(word)) & np.isfinite(total)


def _quantum(values: Floats, mantissa: int) -> float:
    """A power of two that divides all values: the last place of the least."""
    magnitudes = np.where(values == 0, np.inf, np.abs(values))
    least = float(np.fmin.reduce(magnitudes, axis=None, initial=np.inf))  # NaN aside
    return math.ldexp(1.0, math.frexp(least)[1] - 1 - mantissa) if least < np.inf else np.inf
