"""Dot products by float64's BLAS where their rounding is certain: most elements of a large product.

Products of elements of up to 32 bits are exact in float64. Their sum in any order is off by no more
than (K + 1) 2^-53 of the sum of magnitudes (Higham, Accuracy and Stability, 4.2), which is at most
the product of the row's and the column's norm. Where both ends of that interval round to the same
element, so does the exact sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.numerics.formats import Floats

_HALF_ULP = 2.0**-53
_SLACK = 1.0 + 2.0**-20
"""For the rounding of norms and bounds, which have fewer than 2^20 terms."""


def certain_dot_add(
    a: Floats, b: Floats, c: Floats, dtype: np.dtype[Any]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A B + C rounded once to f16 or f32, and where that is certain; an exact zero is +0.

    a [..., M, K], b [..., K, N], c [..., M, N], values of at most 32-bit formats.
    """
    total = np.matmul(a, b)
    total += c
    bound = (
        np.sqrt(np.einsum("...mk,...mk->...m", a, a))[..., :, None]
        * (np.sqrt(np.einsum("...kn,...kn->...n", b, b))[..., None, :])
    )
    bound += np.abs(c)
    bound *= _SLACK * (a.shape[-1] + 4) * _HALF_ULP
    low, high = ((total + off).astype(dtype) + dtype.type(0) for off in (-bound, bound))
    word = np.dtype(f"u{dtype.itemsize}")
    return low, (low.view(word) == high.view(word)) & np.isfinite(total)
