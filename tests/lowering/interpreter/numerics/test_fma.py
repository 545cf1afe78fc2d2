"""fma32 and fma64 against fractions, and f64 chains against fma64's reference."""

from __future__ import annotations

import numpy as np
import pytest
from covering import THOROUGH
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from tilewright.lowering.interpreter.numerics import dot_add, fma32, fma64, model_for
from tilewright.lowering.interpreter.numerics.special_functions import rcp

ROUNDINGS = ("rn", "rz", "rm", "rp")
FUNCTIONS = {"f32": (fma32, np.uint32), "f64": (fma64, np.uint64)}


def check(name: str, rounding: str, a, b, c, reference) -> None:
    function, container = FUNCTIONS[name]
    dtype = np.float32 if name == "f32" else np.float64
    d = function(*(x.view(dtype) for x in (a, b, c)), rounding)
    lanes = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    expected = [reference.fma_word(x, y, z, name, rounding) for x, y, z in lanes]
    wrong = [i for i, word in enumerate(d.view(container).tolist()) if word != expected[i]]
    assert not wrong, [tuple(hex(int(x[i])) for x in (a, b, c, d.view(container))) for i in wrong]


@pytest.mark.covered
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_random_words(name: str, rounding: str, kind: str, words, reference):
    rng = default_rng(17)
    a, b, c = (words(rng, name, (300,), kind) for _ in range(3))
    check(name, rounding, a, b, c, reference)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_cancellation_and_halfway(name: str, rounding: str, reference):
    """Addends within a few last places of minus the product, and sums near halfway points."""
    _, container = FUNCTIONS[name]
    dtype = np.float32 if name == "f32" else np.float64
    rng = default_rng(23)
    a = np.ldexp(rng.integers(1, 64, 400), rng.integers(-3, 3, 400)).astype(dtype)
    b = (1 + rng.integers(0, 9, 400) * np.finfo(dtype).eps).astype(dtype)
    c = -(a * b) * (1 + rng.integers(-3, 4, 400) * np.finfo(dtype).eps).astype(dtype)
    half = np.ldexp(a * b, rng.integers(20, 60, 400)).astype(dtype)
    for addend in (c, half, -half, (half * np.finfo(dtype).eps).astype(dtype)):
        check(name, rounding, *(x.view(container) for x in (a, b, addend)), reference)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_ends_of_the_range(name: str, rounding: str, words, reference):
    """Products near the smallest and the largest number, with addends of all sizes."""
    _, container = FUNCTIONS[name]
    dtype = np.float32 if name == "f32" else np.float64
    info = np.finfo(dtype)
    rng = default_rng(29)
    for low, high in ((info.minexp - 60, info.minexp + 4), (info.maxexp - 4, info.maxexp + 1)):
        first = rng.integers(low // 2 - 2, low // 2 + 2, 200)
        second = rng.integers(low, high, 200) - first
        a = np.ldexp(rng.random(200) + 1, first).astype(dtype)
        b = np.ldexp(rng.random(200) + 1, second).astype(dtype)
        b *= rng.choice([-1, 1], 200).astype(dtype)
        for kind in ("finite", "tiny", "zeros"):
            c = words(rng, name, (200,), kind)
            check(name, rounding, a.view(container), b.view(container), c, reference)


def words_of(bits: int, exponent_bits: int) -> st.SearchStrategy[int]:
    mantissa = bits - 1 - exponent_bits
    edge = st.sampled_from([0, 1, 2, (1 << mantissa) - 1, (1 << mantissa) - 2, 1 << (mantissa - 1)])
    field = st.integers(0, (1 << exponent_bits) - 1)
    near = st.integers((1 << (exponent_bits - 1)) - 4, (1 << (exponent_bits - 1)) + 2)
    return st.builds(
        lambda sign, e, m: (sign << (bits - 1)) | (e << mantissa) | m,
        st.integers(0, 1),
        st.one_of(field, near),
        st.one_of(edge, st.integers(0, (1 << mantissa) - 1)),
    )


@settings(max_examples=100, deadline=None)
@given(st.tuples(*[words_of(32, 8)] * 3), st.sampled_from(ROUNDINGS))
def test_fma32_edges(reference, operands: tuple[int, ...], rounding: str):
    check("f32", rounding, *(np.array([x], np.uint32) for x in operands), reference)


@settings(max_examples=100, deadline=None)
@given(st.tuples(*[words_of(64, 11)] * 3), st.sampled_from(ROUNDINGS))
def test_fma64_edges(reference, operands: tuple[int, ...], rounding: str):
    check("f64", rounding, *(np.array([x], np.uint64) for x in operands), reference)


def test_operands_broadcast_and_scalars_work():
    assert fma64(np.ones((3, 1)), np.ones(4), np.float64(2)).shape == (3, 4)
    assert float(fma64(np.float64(1e300), np.float64(1e300), np.float64(0))) == np.inf
    assert float(fma32(np.float32(3), np.float32(4), np.float32(5))) == 17.0


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_f64_mma_is_a_chain_in_k_order(rounding: str, kind: str, words, reference):
    rng = default_rng(31)
    a, b = words(rng, "f64", (2, 3, 4), kind), words(rng, "f64", (2, 4, 3), kind)
    c = words(rng, "f64", (2, 3, 3), kind)
    d = dot_add(
        a, b, c, a_type="f64", b_type="f64", c_type="f64", d_type="f64",
        model=model_for("sm_90a", "f64", "f64", "f64"), rounding=rounding,
    )  # fmt: skip

    def chain(row: list[int], column: list[int], word: int) -> int:
        for x, y in zip(row, column, strict=True):
            word = reference.fma_word(x, y, word, "f64", rounding)
        return word

    assert d.tolist() == reference.matrices(chain, a, b, c).tolist()


def test_a_newton_step_rounds_reciprocals():
    """As rows divided by one number rely on: of every significand, here every 61st of them."""
    words = np.arange(0x3F800000, 0x40000000, 1 if THOROUGH else 61, np.uint32)
    for y in np.array_split(words.view(np.float32), 8):
        first, one = rcp(y.view(np.uint32)).view(np.float32), np.ones_like(y)
        step = fma32(first, fma32(-y, first, one), first)
        # No quotient is so near to the middle of two f32 that f64 would round it there.
        assert (step == (1 / y.astype(np.float64)).astype(np.float32)).all()
        assert (first != step).any()
