"""Block-scaled MMAs against fractions, and what their special values give."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import default_rng

from tilewright.lowering.interpreter.numerics import (
    FORMATS,
    NumericsError,
    ScaledBlockDotAdd,
    ScaledDotAdd,
    dot_add,
    encode,
    model_for,
)
from tilewright.lowering.interpreter.numerics import lanes as lanes_module

# kind, A, B, scales, K, S: what mma.sync has, sparse A stored at K / 2
CASES = [
    ("mxf8f6f4", "e4m3", "e4m3", "ue8m0", 32, 1),
    ("mxf8f6f4", "e5m2", "e2m1", "ue8m0", 32, 1),
    ("mxf8f6f4", "e3m2", "e2m3", "ue8m0", 32, 1),
    ("mxf4", "e2m1", "e2m1", "ue8m0", 64, 2),
    ("mxf4nvf4", "e2m1", "e2m1", "ue8m0", 64, 4),
    ("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 64, 4),
]
ONE = {"ue8m0": 127, "ue4m3": 0x38}
INFINITY, NAN = 0x7F800000, 0x7FFFFFFF


def model_of(kind: str, a_type: str, b_type: str):
    return model_for("sm_120a", a_type, b_type, "f32", scale_kind=kind)


def run(case, a, b, c, scale_a, scale_b, model=None):
    kind, a_type, b_type, scale_type, *_ = case
    return dot_add(
        a, b, c, a_type=a_type, b_type=b_type, c_type="f32", d_type="f32",
        model=model or model_of(kind, a_type, b_type),
        scale_a=scale_a, scale_b=scale_b, scale_type=scale_type,
    )  # fmt: skip


def uniform(case, a: float, b: float, c: float, scale_a: int, scale_b: int):
    """Operands of one element of D, every element of A, of B and of the scales alike."""
    _, a_type, b_type, _, k, count = case
    return (
        encode(np.full((1, k), a), FORMATS[a_type]),
        encode(np.full((k, 1), b), FORMATS[b_type]),
        encode(np.full((1, 1), c), FORMATS["f32"]),
        np.full((1, count), scale_a, np.uint8),
        np.full((count, 1), scale_b, np.uint8),
    )


@pytest.mark.covered
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_every_kind_and_scale(case, kind: str, scaled_dots):
    scale_kind, a_type, b_type, *_ = case
    d, expected = scaled_dots(case[1:], kind, model_of(scale_kind, a_type, b_type))
    assert d.tolist() == expected.tolist()


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_scales_of_one_are_no_scales(case, words):
    """Exponents this near each other lose nothing, and the result is the exact one, unscaled."""
    _, a_type, b_type, scale_type, k, count = case
    rng = default_rng(97)
    a, b = words(rng, a_type, (4, 3, k), "near"), words(rng, b_type, (4, k, 3), "near")
    c = np.zeros((4, 3, 3), np.uint32)
    scale_a = np.full((4, 3, count), ONE[scale_type], np.uint8)
    scale_b = np.full((4, count, 3), ONE[scale_type], np.uint8)
    d = run(case, a, b, c, scale_a, scale_b)
    types = {"a_type": a_type, "b_type": b_type, "c_type": "f32", "d_type": "f32"}
    assert d.tolist() == dot_add(a, b, c, model="exact", **types).tolist()


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_special_values(case):
    one, nan = ONE[case[3]], 0xFF if case[3] == "ue8m0" else 0x7F
    for model in (None, "exact"):

        def word(*operands, model=model) -> int:
            return int(run(case, *uniform(case, *operands), model=model)[0, 0])

        # A NaN scale is NaN, of zeros too; a NaN or infinite c is what it was.
        assert word(0.0, 1.0, 1.0, nan, one) == NAN
        assert word(1.0, 1.0, 1.0, one, nan) == NAN
        assert word(1.0, 1.0, np.nan, one, one) == NAN
        assert word(1.0, 1.0, np.inf, one, one) == INFINITY
        assert word(1.0, 1.0, -np.inf, one, one) == INFINITY | 1 << 31
        # Exact zeros are +0.
        assert word(-0.0, 1.0, -0.0, one, one) == 0


@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: "-".join(map(str, case)))
def test_scales_that_leave_the_range_of_f32(case):
    for model in (None, "exact"):
        large = run(case, *uniform(case, 1.0, -1.0, 0.0, 254, 254), model=model)
        assert large[0, 0] == INFINITY | 1 << 31
        small = run(case, *uniform(case, 1.0, 1.0, 1.5, 0, 0), model=model)
        assert small.view(np.float32)[0, 0] == 1.5
        # 32 * 2**-127 * 2**-27 is the smallest subnormal; a tie below it is lost either way.
        assert run(case, *uniform(case, 1.0, 1.0, 0.0, 0, 100), model=model)[0, 0] == 1
        assert run(case, *uniform(case, 1.0, 1.0, 0.0, 0, 99), model=model)[0, 0] == 0


def test_infinite_elements_scale_to_infinity_and_meet_zero_as_nan():
    case = ("mxf8f6f4", "e5m2", "e5m2", "ue8m0", 32, 1)
    for model in (None, "exact"):
        assert run(case, *uniform(case, np.inf, -1.0, 1.0, 0, 0), model=model) == INFINITY | 1 << 31
        assert run(case, *uniform(case, np.inf, 0.0, 1.0, 127, 127), model=model) == NAN
        assert run(case, *uniform(case, np.inf, 1.0, -np.inf, 127, 127), model=model) == NAN


def test_a_zero_scale_makes_zeros():
    case = CASES[-1]
    for model in (None, "exact"):
        for scales in ((0, ONE["ue4m3"]), (0x7E, 0), (0, 0)):
            d = run(case, *uniform(case, 6.0, -6.0, 2.0**-149, *scales), model=model)
            assert d[0, 0] == 1


def test_a_block_is_exact_inside_and_cut_off_outside():
    """Sixteen products cancel to 1/4 whatever their sizes; across blocks 35 bits remain."""
    case = ("mxf4", "e2m1", "e2m1", "ue8m0", 64, 2)
    a, b, c, scale_a, scale_b = uniform(case, 0.0, 1.0, 0.0, 127, 127)
    a[0, :3] = encode(np.array([6.0, -6.0, 0.5]), FORMATS["e2m1"])
    b[2, 0] = encode(np.array(0.5), FORMATS["e2m1"])
    scale_a[0, 1] = 127 + 33
    assert run(case, a, b, c, scale_a, scale_b).view(np.float32) == 0.25
    scale_a[0, 1] = 127 + 34
    # Measured nowhere, but so in MMA-Sim: an empty block's scales still say what is cut off.
    assert run(case, a, b, c, scale_a, scale_b).view(np.float32) == 0.0
    assert run(case, a, b, c, scale_a, scale_b, "exact").view(np.float32) == 0.25


def test_blocks_of_lanes_do_not_show(monkeypatch: pytest.MonkeyPatch, words):
    case = CASES[-1]
    rng = default_rng(101)
    for batch, m, n in ((21, 3, 4), (2, 24, 8)):
        shapes = ((batch, m, 64), (batch, 64, n)), ((batch, m, 4), (batch, 4, n))
        a, b = (words(rng, "e2m1", shape, "any") for shape in shapes[0])
        scale_a, scale_b = (words(rng, "ue4m3", shape, "finite") for shape in shapes[1])
        c = words(rng, "f32", (batch, m, n), "near")
        whole = run(case, a, b, c, scale_a, scale_b)
        monkeypatch.setattr(lanes_module, "BLOCK_PRODUCTS", 1000)
        assert np.array_equal(run(case, a, b, c, scale_a, scale_b), whole)
        monkeypatch.undo()
        first = run(case, a[0], b[0], c[0], scale_a[0], scale_b[0])
        assert np.array_equal(first, whole[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale_b": None}, "scale_a, scale_b and scale_type together"),
        ({"scale_type": None}, "scale_a, scale_b and scale_type together"),
        ({"scale_type": "e4m3"}, "expected a scale type of ue8m0, ue4m3, got 'e4m3'"),
        ({"scale_a": np.zeros((2, 2), np.int8)}, "expected ue8m0 scales in uint8, got int8"),
        ({"scale_a": np.zeros((2, 3), np.uint8)}, r"S a divisor of K, got scale_a \(2, 3\)"),
        ({"scale_b": np.zeros((1, 2), np.uint8)}, r"S a divisor of K, .* scale_b \(1, 2\)"),
        ({"scale_a": np.uint8(0)}, "S a divisor of K"),
        ({"c_type": "f16", "c": np.zeros((2, 2), np.uint16)}, "adds and writes f32, not f16 and"),
        ({"model": ScaledDotAdd(25, "test"), "a_type": "s8", "b_type": "s8"}, "not s8 x s8"),
        ({"model": model_for("sm_120a", "e4m3", "e4m3", "f32")}, "does not scale"),
        (
            {"scale_a": None, "scale_b": None, "scale_type": None},
            "ScaledBlockDotAdd.* expected scale_a",
        ),
    ],
)
def test_errors(change, message: str):
    operands = {
        "a": np.zeros((2, 64), np.uint8), "b": np.zeros((64, 2), np.uint8),
        "c": np.zeros((2, 2), np.uint32), "scale_a": np.zeros((2, 2), np.uint8),
        "scale_b": np.zeros((2, 2), np.uint8), "a_type": "e2m1", "b_type": "e2m1",
        "c_type": "f32", "d_type": "f32", "scale_type": "ue8m0",
        "model": ScaledBlockDotAdd(35, "test"),
    }  # fmt: skip
    with pytest.raises(NumericsError, match=message):
        dot_add(**{**operands, **change})


def test_wide_elements_do_not_scale():
    case = ("mxf4", "f16", "f16", "ue8m0", 64, 2)
    operands = uniform(case, 1.0, 1.0, 0.0, 127, 127)
    for model in ("exact", ScaledDotAdd(25, "test")):
        with pytest.raises(NumericsError, match="floats of 4 to 8 bits, not f16 x f16"):
            run(case, *operands, model=model)


def test_a_block_does_not_cross_scales():
    case = ("mxf4", "e2m1", "e2m1", "ue8m0", 64, 8)
    with pytest.raises(NumericsError, match="multiples of 16 elements, got 8 scales for K = 64"):
        run(case, *uniform(case, 1.0, 1.0, 0.0, 127, 127))
