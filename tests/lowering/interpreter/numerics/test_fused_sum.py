"""The fused dot-add of every chip and type against the spec in fractions, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from tilewright.lowering.interpreter.numerics import (
    FORMATS,
    FusedDotAdd,
    NumericsError,
    dot_add,
    encode,
    model_for,
)
from tilewright.lowering.interpreter.numerics import lanes as lanes_module

# arch, unit, A, B, C, D, K
CASES = [
    ("sm_70", "mma.m8n8k4", "f16", "f16", "f32", "f32", 4),
    ("sm_70", "mma.m8n8k4", "f16", "f16", "f16", "f16", 4),
    ("sm_70", "mma.m8n8k4", "f16", "f16", "f16", "f32", 4),
    ("sm_70", "wmma", "f16", "f16", "f32", "f16", 16),
    ("sm_75", "mma.m8n8k4", "f16", "f16", "f16", "f32", 4),
    ("sm_75", "wmma", "f16", "f16", "f16", "f32", 16),
    ("sm_75", "mma.sync", "f16", "f16", "f32", "f32", 8),
    ("sm_80", "mma.sync", "f16", "f16", "f32", "f32", 16),
    ("sm_80", "mma.sync", "f16", "f16", "f16", "f16", 16),
    ("sm_80", "mma.sync", "f16", "f16", "f32", "f32", 8),
    ("sm_86", "mma.sync", "bf16", "bf16", "f32", "f32", 16),
    ("sm_80", "mma.sync", "tf32", "tf32", "f32", "f32", 8),
    ("sm_80", "mma.sync", "tf32", "tf32", "f32", "f32", 4),
    ("sm_89", "mma.sync", "e4m3", "e5m2", "f32", "f32", 32),
    ("sm_89", "mma.sync", "e4m3", "e4m3", "f16", "f16", 32),
    ("sm_90a", "mma.sync", "f16", "f16", "f32", "f32", 16),
    ("sm_90a", "mma.sync", "f16", "f16", "f16", "f16", 16),
    ("sm_90a", "mma.sync", "bf16", "bf16", "f32", "f32", 16),
    ("sm_90a", "mma.sync", "tf32", "tf32", "f32", "f32", 8),
    ("sm_90a", "wmma", "f16", "f16", "f16", "f32", 16),
    ("sm_90a", "wmma", "f16", "f16", "f32", "f16", 16),
    ("sm_90a", "wmma", "tf32", "tf32", "f32", "f32", 8),
    ("sm_90a", "wgmma", "e5m2", "e4m3", "f32", "f32", 32),
    ("sm_90a", "wgmma", "e4m3", "e4m3", "f16", "f16", 32),
    ("sm_100a", "tcgen05", "e4m3", "e2m1", "f32", "f32", 32),
    ("sm_100a", "tcgen05", "e3m2", "e2m3", "f16", "f16", 32),
    ("sm_120a", "mma.sync", "f16", "f16", "f32", "f32", 16),
    ("sm_120a", "mma.sync", "e4m3", "e5m2", "f16", "f16", 32),
    ("sm_120a", "mma.sync", "e2m1", "e3m2", "f32", "f32", 32),
    ("sm_120a", "wmma", "tf32", "tf32", "f32", "f32", 8),
]


def operands(words, rng, types, shape, kind):
    batch, m, n, k = shape
    return (
        words(rng, types[0], (batch, m, k), kind),
        words(rng, types[1], (batch, k, n), kind),
        words(rng, types[2], (batch, m, n), kind),
    )


def run(a, b, c, types, model):
    names = dict(zip(("a_type", "b_type", "c_type", "d_type"), types, strict=True))
    return dot_add(a, b, c, model=model, **names)


def widths_of(reference, model):
    return reference.Widths(
        model.fraction_bits, model.chunk, model.f32_fraction_bits, model.exponent_floor
    )


@pytest.mark.covered
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_every_model_and_type(case, kind: str, words, reference):
    arch, unit, *types, k = case
    model = model_for(arch, types[0], types[1], types[3], unit)
    widths = widths_of(reference, model)
    rng = default_rng(41)
    # Few columns and many batches, then the reverse: the two memory layouts of `lanes`.
    for shape in ((9, 2, 2, k), (2, 3, 4, k)):
        a, b, c = operands(words, rng, types, shape, kind)
        d = run(a, b, c, types, model)
        expected = reference.matrices(
            lambda row, column, word: reference.fused_dot(row, column, word, types, widths), a, b, c
        )
        assert d.tolist() == expected.tolist()


@pytest.mark.parametrize("types", [("f16", "f32"), ("f16", "f16"), ("bf16", "f32")], ids="-".join)
def test_addends_that_cancel(types, words, reference):
    """c = minus the products' own result, so that what truncation lost decides."""
    element, result = types
    types = (element, element, result, result)
    model = model_for("sm_90a", element, element, result)
    rng = default_rng(43)
    a, b, c = operands(words, rng, types, (8, 2, 3, 16), "near")
    c = run(a, b, np.zeros_like(c), types, model) ^ np.array(
        1 << (c.dtype.itemsize * 8 - 1), c.dtype
    )
    d = run(a, b, c, types, model)
    widths = widths_of(reference, model)
    expected = reference.matrices(
        lambda row, column, word: reference.fused_dot(row, column, word, types, widths), a, b, c
    )
    assert d.tolist() == expected.tolist()


def test_zero_sums_are_positive():
    """-0 everywhere gives +0, as x - x does, and so does a result too small for its type (H200)."""
    model = FusedDotAdd(25, "test")
    for result, container in (("f32", np.uint32), ("f16", np.uint16)):
        types = ("f16", "f16", result, result)
        minus_zero = np.array([[0x8000]], np.uint16), np.array([[0x3C00]], np.uint16)
        c = np.array([[1 << (container().itemsize * 8 - 1)]], container)
        assert run(*minus_zero, c, types, model) == 0
        row, column = np.array([[0x3C00, 0xBC00]], np.uint16), np.full((2, 1), 0x3C00, np.uint16)
        assert run(row, column, c, types, model) == 0
    tiny = np.array([[0x0080]], np.uint16)
    minus_tiny = tiny | np.uint16(0x8000)
    c = np.zeros((1, 1), np.uint32)
    assert run(tiny, minus_tiny, c, ("bf16", "bf16", "f32", "f32"), model) == 0
    assert run(tiny, minus_tiny, c.astype(np.uint16), ("f16", "f16", "f16", "f16"), model) == 0


def test_unnormalised_products_reach_past_their_exponent():
    """1.5 * 1.5 = 2.25 has exponent 0: the bit 2**-25 of the other addend is kept, not lost."""
    one_half = np.full((1, 1), 0x3E00, np.uint16)
    tiny = np.array([[np.float32(2.0**-25)]]).view(np.uint32)
    minus = np.array([[np.float32(-2.25 + 2.0**-22)]]).view(np.uint32)
    model = FusedDotAdd(25, "test")
    types = ("f16", "f16", "f32", "f32")
    d = run(one_half, one_half, minus, types, model).view(np.float32)
    assert d[0, 0] == np.float32(2.0**-22)
    assert run(one_half, one_half, tiny, types, FusedDotAdd(24, "test")).view(np.float32) == 2.25


def test_an_f16_addend_of_an_f32_result_is_converted_first():
    """wmma on an H200: c = 2**-24 has exponent -24 there, not f16's smallest, so that 25 fraction
    bits reach down to 2**-49 and the products' 2**-48 is kept."""
    types = ("f16", "f16", "f16", "f32")
    model = model_for("sm_90a", "f16", "f16", "f32", "wmma")
    least, c = np.full((1, 1), 1, np.uint16), np.full((1, 1), 1, np.uint16)
    expected = np.float32(2.0**-24 + 2.0**-47)
    both = np.full((1, 2), 1, np.uint16)
    assert run(both, both.T, c, types, model).view(np.float32) == expected
    assert run(least, least, c * 0, types, model).view(np.float32) == np.float32(2.0**-48)


def test_an_f16_result_of_an_f32_addend_is_rounded_twice():
    """wmma: first cut off to f32, then to nearest f16: the 2**-25 that would break the tie of
    1 + 2**-11 is lost on the way."""
    model = model_for("sm_90a", "f16", "f16", "f16", "wmma")
    types = ("f16", "f16", "f32", "f16")
    c = np.array([[np.float32(2.0**-11)]]).view(np.uint32)
    row = encode(np.array([[1.0, 2.0**-12]]), FORMATS["f16"])
    for small, expected in ((0.0, 0x3C00), (2.0**-13, 0x3C00), (2.0**-11, 0x3C01)):
        column = encode(np.array([[1.0], [small]]), FORMATS["f16"])
        assert run(row, column, c, types, model) == expected


def test_f32_overflow_is_infinite_only_from_2_to_128():
    huge = np.array([[0x7F7F, 0x7F7F]], np.uint16)
    one = np.array([[0x3F80], [0x3F80]], np.uint16)
    largest = np.array([[0x7F7FFFFF]], np.uint32)
    types = ("bf16", "bf16", "f32", "f32")
    model = model_for("sm_90", "bf16", "bf16", "f32")
    assert run(huge[:, :1], one[:1], largest * 0, types, model) == 0x7F7F0000
    assert run(huge, one, largest, types, model) == 0x7F800000
    assert run(huge[:, :1] * 0, one[:1], largest, types, model) == 0x7F7FFFFF


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch, words):
    types = ("f16", "f16", "f32", "f32")
    model = model_for("sm_80", "f16", "f16", "f32")
    rng = default_rng(47)
    for shape in ((21, 3, 4, 16), (2, 24, 8, 16)):
        a, b, c = operands(words, rng, types, shape, "finite")
        whole = run(a, b, c, types, model)
        monkeypatch.setattr(lanes_module, "BLOCK_PRODUCTS", 1000)
        assert np.array_equal(run(a, b, c, types, model), whole)
        monkeypatch.undo()


def test_batch_axes_and_strides_do_not_show(words):
    types = ("bf16", "bf16", "f32", "f32")
    model = model_for("sm_90a", "bf16", "bf16", "f32")
    a, b, c = operands(words, default_rng(53), types, (6, 4, 8, 16), "finite")
    d = run(a, b, c, types, model)
    folded = run(*(x.reshape(2, 3, *x.shape[1:]) for x in (a, b, c)), types, model)
    assert np.array_equal(folded.reshape(d.shape), d)
    strided = np.ascontiguousarray(a.transpose(0, 2, 1)).transpose(0, 2, 1)
    assert np.array_equal(run(strided, b, c, types, model), d)
    assert np.array_equal(run(a[0], b[0], c[0], types, model), d[0])
    assert run(a[:0], b[:0], c[:0], types, model).shape == (0, 4, 8)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([("f16", "f32"), ("f16", "f16"), ("e5m2", "f32"), ("bf16", "f32")]),
    st.builds(
        FusedDotAdd,
        st.integers(1, 40),
        st.just("test"),
        st.sampled_from([None, 1, 2, 3]),
        st.integers(8, 23),
        st.sampled_from([None, 0, 7]),
    ),
    st.data(),
)
def test_any_widths(reference, names, model, data):
    element, result = names
    types = (element, element, result, result)
    bits = 8 if element == "e5m2" else 16
    container = np.uint8 if bits == 8 else np.uint16
    word = st.integers(0, (1 << bits) - 1)
    row = data.draw(st.lists(word, min_size=1, max_size=7))
    column = data.draw(st.lists(word, min_size=len(row), max_size=len(row)))
    addend = data.draw(st.integers(0, (1 << (16 if result == "f16" else 32)) - 1))
    a, b = np.array([row], container), np.array(column, container)[:, None]
    c = np.array([[addend]], np.uint16 if result == "f16" else np.uint32)
    expected = reference.fused_dot(row, column, addend, types, widths_of(reference, model))
    assert int(run(a, b, c, types, model)[0, 0]) == expected


@pytest.mark.parametrize("element", ["bf16", "tf32"])
def test_sums_below_the_normal_range_align_to_the_floor(element, reference):
    """Products around 2**-136 with c = 0, where the floor of 2**-133 decides the last bits."""
    model = model_for("sm_90a", element, element, "f32")
    types = (element, element, "f32", "f32")
    rng = default_rng(59)

    def operand(shape):
        value = np.ldexp(rng.random(shape) + 1, rng.integers(-72, -63, shape))
        return encode(value * rng.choice([-1, 1], shape), FORMATS[element])

    a, b, c = operand((40, 4, 8)), operand((40, 8, 4)), np.zeros((40, 4, 4), np.uint32)
    expected = reference.matrices(
        lambda row, column, word: reference.fused_dot(
            row, column, word, types, widths_of(reference, model)
        ),
        a, b, c,
    )  # fmt: skip
    d = run(a, b, c, types, model)
    assert d.tolist() == expected.tolist()
    assert np.any(d != run(a, b, c, types, FusedDotAdd(25, "test", exponent_floor=0)))


def test_what_lies_below_the_floor_is_cut_off():
    """f32: 2**-149 - 2**-160 keeps its leading term, 2**-149 - 2**-157 does not; f16: 2**-47 does
    not lift 2**-25 off its halfway point, 2**-46 does."""
    model = model_for("sm_90a", "bf16", "bf16", "f32")
    row = encode(np.array([[2.0**-75, -(2.0**-80)]]), FORMATS["bf16"])
    zero = np.zeros((1, 1), np.uint32)
    types = ("bf16", "bf16", "f32", "f32")
    for small, expected in ((2.0**-80, 1), (2.0**-77, 0)):
        column = encode(np.array([[2.0**-74], [small]]), FORMATS["bf16"])
        assert run(row, column, zero, types, model) == expected
        assert run(row, column, zero, types, FusedDotAdd(25, "test")) == 0
    row = encode(np.array([[2.0**-12, 2.0**-23]]), FORMATS["f16"])
    types = ("f16", "f16", "f16", "f16")
    model = model_for("sm_90a", "f16", "f16", "f16")
    for small, expected in ((2.0**-24, 0), (2.0**-23, 1)):
        column = encode(np.array([[2.0**-13], [small]]), FORMATS["f16"])
        assert run(row, column, zero.astype(np.uint16), types, model) == expected


def test_a_result_type_other_than_f16_and_f32_is_an_error():
    a = np.zeros((2, 2), np.uint16)
    with pytest.raises(NumericsError, match="f16 or f32, not bf16"):
        run(a, a, a, ("f16", "f16", "bf16", "bf16"), FusedDotAdd(25, "test"))
