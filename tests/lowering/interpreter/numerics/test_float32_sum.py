"""f16 m8n8k4 in f32 arithmetic: against fractions, step by step, and against words of an H200."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import default_rng

from tilewright.lowering.interpreter.numerics import (
    FORMATS,
    FusedDotAdd,
    NumericsError,
    dot_add,
    encode,
    model_for,
)

ACCUMULATORS = [("f16", "f16"), ("f16", "f32"), ("f32", "f32")]


def run(a, b, c, c_type: str, d_type: str, model=None):
    model = model or model_for("sm_90a", "f16", "f16", d_type, "mma.m8n8k4")
    types = {"a_type": "f16", "b_type": "f16", "c_type": c_type, "d_type": d_type}
    return dot_add(a, b, c, model=model, **types)


@pytest.mark.parametrize("types", ACCUMULATORS, ids="-".join)
def test_every_accumulator(types, kind: str, words, reference):
    rng = default_rng(79)
    for batch, m, n in ((40, 2, 2), (3, 3, 4)):
        a, b = words(rng, "f16", (batch, m, 4), kind), words(rng, "f16", (batch, 4, n), kind)
        c = words(rng, types[0], (batch, m, n), kind)
        expected = reference.matrices(
            lambda row, column, word: reference.float32_dot(row, column, word, *types), a, b, c
        )
        assert run(a, b, c, *types).tolist() == expected.tolist()


@pytest.mark.parametrize("types", ACCUMULATORS, ids="-".join)
def test_addends_around_2_to_24_that_cancel(types, reference):
    """Where f32 runs out of bits between two steps, their order decides."""
    rng = default_rng(89)
    values = np.array([0, -0.0, 1, -1, 4096, -4096, 4095, -4095, 2.0**-12, 2.0**-24, 65504])

    def pick(name: str, shape: tuple[int, ...]):
        return encode(rng.choice(values, shape), FORMATS[name])

    a, b, c = pick("f16", (60, 3, 4)), pick("f16", (60, 4, 3)), pick(types[0], (60, 3, 3))
    expected = reference.matrices(
        lambda row, column, word: reference.float32_dot(row, column, word, *types), a, b, c
    )
    d = run(a, b, c, *types)
    assert d.tolist() == expected.tolist()
    assert np.any(d != run(a, b, c, *types, model=FusedDotAdd(25, "test")))


def test_c_is_first_added_to_the_low_pair():
    """H200: with p = 2**24 and q = 1 - 2**24, (1 + p) + q is 1; (1 + q) + p would be 2."""
    row = encode(np.array([[4096.0, 0.0, 4096.0, 1.0]]), FORMATS["f16"])
    column = encode(np.array([[4096.0], [0.0], [-4096.0], [1.0]]), FORMATS["f16"])
    one = np.array([[0x3C00]], np.uint16)
    assert run(row, column, one, "f16", "f16") == 0x3C00
    swapped = [2, 3, 0, 1]
    assert run(row[:, swapped], column[swapped], one, "f16", "f16") == 0x4000


def test_an_f16_zero_keeps_its_sign_and_an_f32_one_is_positive():
    """H200: products and c all -0."""
    a, b = np.full((1, 4), 0x8000, np.uint16), np.full((4, 1), 0x3C00, np.uint16)
    assert run(a, b, np.array([[0x8000]], np.uint16), "f16", "f16") == 0x8000
    assert run(a, b, np.array([[0x80000000]], np.uint32), "f32", "f32") == 0


def test_what_m8n8k4_has_not_is_an_error():
    model = model_for("sm_80", "f16", "f16", "f32", "mma.m8n8k4")
    a, c = np.zeros((2, 8), np.uint16), np.zeros((2, 2), np.uint32)
    with pytest.raises(NumericsError, match="K = 4, not f16, f16, f32, f32 with K = 8"):
        run(a, a.T, c, "f32", "f32", model)
    with pytest.raises(NumericsError, match="not f16, f16, f32, f16 with K = 4"):
        run(a[:, :4], a[:, :4].T, c, "f32", "f16", model)
