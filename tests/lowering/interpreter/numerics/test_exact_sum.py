"""numerics="exact" against fractions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import default_rng

from tilewright.lowering.interpreter.numerics import NumericsError, dot_add

TYPES = [
    ("f16", "f16", "f32", "f32"),
    ("f16", "f16", "f16", "f16"),
    ("f16", "f16", "f16", "f32"),
    ("bf16", "bf16", "f32", "f32"),
    ("tf32", "tf32", "f32", "f32"),
    ("e4m3", "e5m2", "f32", "f32"),
    ("e2m3", "e2m1", "f16", "f16"),
    ("f64", "f64", "f64", "f64"),
]


def run(a, b, c, types):
    names = dict(zip(("a_type", "b_type", "c_type", "d_type"), types, strict=True))
    return dot_add(a, b, c, model="exact", **names)


@pytest.mark.covered
@pytest.mark.parametrize("types", TYPES, ids="-".join)
def test_every_type(types, kind: str, words, reference):
    rng = default_rng(61)
    for batch, m, n, k in ((9, 2, 2, 8), (2, 3, 4, 13)):
        a, b = words(rng, types[0], (batch, m, k), kind), words(rng, types[1], (batch, k, n), kind)
        c = words(rng, types[2], (batch, m, n), kind)
        expected = reference.matrices(
            lambda row, column, word: reference.exact_dot(row, column, word, types), a, b, c
        )
        assert run(a, b, c, types).tolist() == expected.tolist()


@pytest.mark.parametrize("types", TYPES[:5], ids="-".join)
def test_sums_that_cancel_to_almost_nothing(types, words, reference):
    """Each product comes twice with opposite signs, a tiny one is left over."""
    rng = default_rng(67)
    a, b = words(rng, types[0], (4, 2, 6), "finite"), words(rng, types[1], (4, 6, 2), "finite")
    sign = np.array(1 << (a.dtype.itemsize * 8 - 1), a.dtype)
    tail_a, tail_b = (
        words(rng, types[0], (4, 2, 1), "tiny"),
        words(rng, types[1], (4, 1, 2), "tiny"),
    )
    a = np.concatenate([a, a ^ sign, tail_a], axis=2)
    b = np.concatenate([b, b, tail_b], axis=1)
    c = words(rng, types[2], (4, 2, 2), "tiny")
    expected = reference.matrices(
        lambda row, column, word: reference.exact_dot(row, column, word, types), a, b, c
    )
    assert run(a, b, c, types).tolist() == expected.tolist()


def test_halfway_cases_see_the_last_bit(reference):
    """1 + 2**-24 is halfway between two f32; a product of 2**-48 far below decides."""
    types = ("f16", "f16", "f32", "f32")
    one, small, least = 0x3C00, 0x0C00, 0x0001
    for extra in (0, least, least | 0x8000):
        row, column = [one, small, extra], [one, small, least]
        a = np.array([row], np.uint16)
        b = np.array(column, np.uint16)[:, None]
        c = np.zeros((1, 1), np.uint32)
        assert run(a, b, c, types) == reference.exact_dot(row, column, 0, types)


SCALED = [
    ("e4m3", "e5m2", "ue8m0", 32, 1),
    ("e2m3", "e3m2", "ue8m0", 32, 1),
    ("e2m1", "e2m1", "ue8m0", 64, 2),
    ("e2m1", "e2m1", "ue4m3", 64, 4),
]


@pytest.mark.covered
@pytest.mark.parametrize("case", SCALED, ids=lambda case: "-".join(map(str, case)))
def test_scaled_elements(case, kind: str, words, scaled_dots):
    d, expected = scaled_dots(case, kind, "exact")
    assert d.tolist() == expected.tolist()


def test_f64_does_not_mix():
    a, c = np.zeros((1, 1), np.uint64), np.zeros((1, 1), np.uint32)
    with pytest.raises(NumericsError, match="f64 does not mix"):
        run(a, a, c, ("f64", "f64", "f32", "f32"))
