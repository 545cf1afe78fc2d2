"""The arithmetics as data: what each refuses."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.lowering.interpreter.numerics import (
    ExactInteger,
    FmaChain,
    FusedDotAdd,
    NumericsError,
    ScaledBlockDotAdd,
    ScaledDotAdd,
    dot_add,
)


def test_a_model_for_other_types_is_refused():
    a, c = np.zeros((8, 4), np.uint64), np.zeros((8, 8), np.uint64)
    fused = FusedDotAdd(25, "test")
    types = {"a_type": "f64", "b_type": "f64", "c_type": "f64", "d_type": "f64"}
    with pytest.raises(NumericsError, match="does not compute f64"):
        dot_add(a, a.T, c, model=fused, **types)
    a, c = a.astype(np.uint16), c.astype(np.uint32)
    types = {"a_type": "f16", "b_type": "f16", "c_type": "f32", "d_type": "f32"}
    for model in (FmaChain("test"), ExactInteger("test")):
        with pytest.raises(NumericsError, match="does not compute f16"):
            dot_add(a, a.T, c, model=model, **types)
    with pytest.raises(NumericsError, match="satfinite is for integers"):
        dot_add(a, a.T, c, model=fused, satfinite=True, **types)
    with pytest.raises(NumericsError, match="rounding mode is for f64"):
        dot_add(a, a.T, c, model=fused, rounding="rz", **types)


@pytest.mark.parametrize(
    ("model", "row", "message"),
    [
        (FusedDotAdd, {"fraction_bits": 41}, "fused dot-add with impossible widths"),
        (FusedDotAdd, {"chunk": 0}, "fused dot-add with an empty chunk"),
        (FusedDotAdd, {"f32_fraction_bits": 24}, "fused dot-add with impossible widths"),
        (ScaledDotAdd, {"fraction_bits": 39}, "scaled dot-add with impossible widths"),
        (ScaledBlockDotAdd, {"fraction_bits": 36}, "scaled block dot-add with impossible widths"),
        (ScaledBlockDotAdd, {"block": 32}, "scaled block dot-add with impossible widths"),
    ],
)
def test_rows_check_themselves(model, row, message: str):
    with pytest.raises(NumericsError, match=message):
        model(**{"fraction_bits": 25, "source": "test", **row})
