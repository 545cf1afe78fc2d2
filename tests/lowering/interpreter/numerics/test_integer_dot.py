"""Integer and bit MMAs against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import default_rng

from tilewright.lowering.interpreter.numerics import NumericsError, dot_add, model_for

S32_MIN, S32_MAX = -(1 << 31), (1 << 31) - 1


def value(word: int, name: str) -> int:
    bits = int(name[1:])
    word &= (1 << bits) - 1
    return word - (1 << bits) if name[0] == "s" and word >> (bits - 1) else word


def run(a, b, c, a_type, b_type, **options):
    model = model_for("sm_90a", a_type, b_type, "s32")
    return dot_add(
        a, b, c, a_type=a_type, b_type=b_type, c_type="s32", d_type="s32", model=model, **options
    )


@pytest.mark.parametrize("satfinite", [False, True])
@pytest.mark.parametrize("a_type", ["s8", "u8", "s4", "u4"])
@pytest.mark.parametrize("b_type", ["s8", "u8", "s4", "u4"])
def test_wrap_and_clamp(a_type: str, b_type: str, satfinite: bool, reference):
    rng = default_rng(71)
    a = rng.integers(0, 256, (3, 2, 32), dtype=np.uint8)
    b = rng.integers(0, 256, (3, 32, 2), dtype=np.uint8)
    c = rng.integers(0, 1 << 32, (3, 2, 2), dtype=np.uint32)
    c[0] = S32_MAX
    c[1] = 1 << 31

    def element(row: list[int], column: list[int], addend: int) -> int:
        products = (value(x, a_type) * value(y, b_type) for x, y in zip(row, column, strict=True))
        total = sum(products) + value(addend, "s32")
        return (min(max(total, S32_MIN), S32_MAX) if satfinite else total) % (1 << 32)

    d = run(a, b, c, a_type, b_type, satfinite=satfinite)
    assert d.dtype == np.uint32
    assert d.tolist() == reference.matrices(element, a, b, c).tolist()


def test_long_k_stays_exact():
    a = np.full((1, 4097), 255, np.uint8)
    c = np.ones((1, 1), np.uint32)
    assert int(run(a, a.T, c, "u8", "u8")[0, 0]) == 4097 * 255 * 255 + 1


@pytest.mark.parametrize("operation", ["and", "xor"])
def test_population_count(operation: str, reference):
    rng = default_rng(73)
    a = rng.integers(0, 2, (2, 3, 128), dtype=np.uint8)
    b = rng.integers(0, 2, (2, 128, 2), dtype=np.uint8)
    c = rng.integers(0, 1 << 32, (2, 3, 2), dtype=np.uint32)

    def element(row: list[int], column: list[int], addend: int) -> int:
        pairs = zip(row, column, strict=True)
        ones = sum(x & y if operation == "and" else x ^ y for x, y in pairs)
        return (ones + addend) % (1 << 32)

    d = run(a, b, c, "b1", "b1", bit_operation=operation)
    assert d.tolist() == reference.matrices(element, a, b, c).tolist()


def test_errors():
    a, c = np.zeros((8, 8), np.uint8), np.zeros((8, 8), np.uint32)
    with pytest.raises(NumericsError, match="no satfinite"):
        run(a, a, c, "b1", "b1", satfinite=True)
    with pytest.raises(NumericsError, match="and, xor"):
        run(a, a, c, "b1", "b1", bit_operation="or")
    with pytest.raises(NumericsError, match="expected s8 in uint8, got int8"):
        run(a.view(np.int8), a, c, "s8", "s8")
    with pytest.raises(NumericsError, match="accumulate in s32"):
        dot_add(a, a, c, a_type="s8", b_type="s8", c_type="f32", d_type="f32", model="exact")
    with pytest.raises(NumericsError, match="two integer types"):
        dot_add(a, a, c, a_type="s8", b_type="e4m3", c_type="s32", d_type="s32", model="exact")
    with pytest.raises(NumericsError, match="K >= 1"):
        run(a[:, :4], a, c, "s8", "s8")
