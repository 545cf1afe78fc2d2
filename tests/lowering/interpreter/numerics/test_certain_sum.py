"""Float64's sums give what digits give where they are certain, and mostly they are."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tilewright.lowering.interpreter.numerics import decode, exact_sum, format_named
from tilewright.lowering.interpreter.numerics.certain_sum import certain_dot_add

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}


def words(values, name: str):
    dtype = np.dtype(DTYPES[name])
    return values.astype(dtype).view(f"u{dtype.itemsize}")


@pytest.mark.parametrize("result", ["f32", "f16"])
@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("spread", ["normal", "whole", "wide", "cancelling", "special"])
def test_certain_is_exact(spread: str, name: str, result: str):
    rng = np.random.default_rng(len(spread) + len(name))
    a, b, c = (rng.standard_normal(shape) for shape in ((2, 8, 32), (2, 32, 8), (2, 8, 8)))
    if spread == "whole":  # ties: whole numbers around 2^24, or 2^11
        a, b = np.rint(3 * a), np.rint(3 * b)
        c = np.rint(c) + 2.0 ** (25 if result == "f32" else 12)
    elif spread == "wide":
        a *= 2.0 ** rng.integers(-12, 3, a.shape)
        c *= 2.0 ** rng.integers(-12, 3, c.shape)
    elif spread == "cancelling":
        c = -np.matmul(a, b)
    elif spread == "special":
        a[0, 0, 0], b[0, 3, 3], c[1, 2, 2] = np.nan, np.inf, -np.inf
        a[1, 5], c[1, 5] = 0, -0.0
    formats = tuple(format_named(each) for each in (name, name, result, result))
    matrices = words(a, name), words(b, name), words(c, result)
    want = exact_sum._by_digits(*matrices, formats, "rn")
    assert (exact_sum.exact_dot_add(*matrices, formats) == want).all()
    values = [decode(each, fmt) for each, fmt in zip(matrices, formats, strict=False)]
    mantissas = [fmt.mantissa_bits for fmt in formats[:3]]
    with np.errstate(all="ignore"):
        got, certain = certain_dot_add(*values, mantissas, np.dtype(DTYPES[result]))
    assert (got.view(want.dtype) == want)[certain].all()
    if spread == "normal" or (spread == "whole" and name != "f32"):
        assert certain.mean() > 0.99
