"""Rounded arithmetic against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.random import default_rng
from numpy.typing import NDArray
from tile_ir import elementwise, entry, equal_as_ptx, run

from tilewright.dialects.cuda_tile.element_types import types_of
from tilewright.lowering.interpreter.cuda_tile.elements import element_of
from tilewright.lowering.interpreter.cuda_tile.float_arithmetic import arithmetic, narrowed, widened

FORMATS = {
    "f16": (np.float16, 10, -14),
    "bf16": (ml_dtypes.bfloat16, 7, -126),
    "f32": (np.float32, 23, -126),
    "f64": (np.float64, 52, -1022),
}
MODES = ("nearest_even", "zero", "negative_inf", "positive_inf")


def rounded(value: Fraction, mantissa: int, least: int, mode: str) -> Fraction:
    """The number of a format that a value rounds to; overflow aside."""
    if not value:
        return value
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > magnitude
    quantum = Fraction(2) ** (max(exponent, least) - mantissa)
    steps = value / quantum
    low = steps.numerator // steps.denominator
    if mode == "negative_inf" or steps == low:
        return low * quantum
    if mode == "positive_inf":
        return (low + 1) * quantum
    if mode == "zero":
        return (low + (value < 0)) * quantum
    rest = steps - low
    up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1)
    return (low + up) * quantum


def numbers(name: str, rng: np.random.Generator, count: int) -> NDArray[Any]:
    """Numbers of a format, some close to each other, some far apart."""
    dtype = FORMATS[name][0]
    values = (rng.random(count) + 0.25) * rng.choice([-1, 1], count)
    values *= 2.0 ** rng.integers(-4, 4, count)
    return values.astype(dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "fma", "sqrt"])
def test_rounds_once(op: str, name: str, mode: str):
    rng = default_rng(len(op) + len(name))
    _, mantissa, least = FORMATS[name]
    count = {"sqrt": 1, "fma": 3}.get(op, 2)
    tiles = [numbers(name, rng, 300) for _ in range(count)]
    if op == "sqrt":
        tiles = [np.abs(tiles[0])]
    (type_,) = types_of(name)
    got = arithmetic(op, element_of(type_), mode)(*tiles)
    assert got.dtype == tiles[0].dtype
    for values in zip(*(tile.astype(np.float64).tolist() for tile in (*tiles, got)), strict=True):
        *operands, result = (Fraction(value) for value in values)
        if op == "sqrt":
            # Enough bits for the root to lie on the right side of every boundary.
            scale = 1 << 300
            value = operands[0] * scale * scale
            whole = isqrt(value.numerator // value.denominator)
            exact = Fraction(whole, scale)
            exact += 0 if exact * exact == operands[0] else Fraction(1, 4 * scale)
        else:
            exact = {
                "add": lambda x, y: x + y,
                "sub": lambda x, y: x - y,
                "mul": lambda x, y: x * y,
                "div": lambda x, y: x / y,
                "fma": lambda x, y, z: x * y + z,
            }[op](*operands)
        assert result == rounded(exact, mantissa, least, mode), (op, name, mode, operands)


def test_fma32_where_two_roundings_would_differ():
    """Sums that lie just beside the middle between two f32."""
    rng = default_rng(1)
    x = (1 + rng.integers(0, 1 << 12, 4000) * 2.0**-12).astype(np.float32)
    y = (1 + rng.integers(0, 1 << 12, 4000) * 2.0**-12).astype(np.float32)
    z = ((1 + rng.integers(0, 1 << 23, 4000) * 2.0**-23) * 2.0**25).astype(np.float32)
    z[::2] *= np.float32(2.0**-50)
    (type_,) = types_of("f32")
    got = arithmetic("fma", element_of(type_), "nearest_even")(x, y, z)
    for a, b, c, result in zip(*(each.tolist() for each in (x, y, z, got)), strict=True):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        assert Fraction(result) == rounded(exact, 23, -126, "nearest_even")


def test_narrowing_is_ml_dtypes():
    """Every upper half of f32 with lower halves around the tie."""
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    for lower in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF):
        words = (upper | lower).view(np.float32)
        want = words.astype(ml_dtypes.bfloat16)
        got = narrowed(words, np.dtype(ml_dtypes.bfloat16))
        nan = np.isnan(words)
        assert (np.isnan(got) == nan).all()
        assert (got.view(np.uint16) == want.view(np.uint16))[~nan].all()
    back = widened(np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16))
    assert (back.view(np.uint32) == upper).all()


@pytest.mark.parametrize("op", ["addf", "mulf"])
def test_flush_to_zero(op: str):
    x = np.array([1e-40, -1e-40, 2.0**-100, 1.0], np.float32)
    y = np.array([1e-40, 1.0, 2.0**-100, 1e-40], np.float32)
    text = f"    %r = {op} %x0, %x1 rounding<nearest_even> flush_to_zero : tile<4xf32>\n"
    parameters, body = elementwise(text, ["f32", "f32"], "f32", 4)
    *_, got = run(parameters, body, [x, y, np.zeros(4, np.float32)])
    flushed = [np.where(np.abs(each) < 2.0**-126, np.copysign(0, each), each) for each in (x, y)]
    want = (flushed[0] + flushed[1] if op == "addf" else flushed[0] * flushed[1]).astype(np.float32)
    want = np.where(np.abs(want) < 2.0**-126, np.copysign(np.float32(0), want), want)
    assert (got.view(np.uint32) == want.view(np.uint32)).all()


@pytest.mark.parametrize("propagate", [False, True])
@pytest.mark.parametrize("larger", [False, True])
def test_extremes_know_nan_and_the_sign_of_zero(larger: bool, propagate: bool):
    values = np.array([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, -3.0, 2.0**-140], np.float32)
    x, y = (each.ravel() for each in np.meshgrid(values, values))
    op = ("maxf" if larger else "minf") + " %x0, %x1" + (" propagate_nan" if propagate else "")
    parameters, body = elementwise(f"    %r = {op} : tile<64xf32>\n", ["f32", "f32"], "f32", 64)
    *_, got = run(parameters, body, [x, y, np.zeros(64, np.float32)])
    for a, b, result in zip(x.tolist(), y.tolist(), got.tolist(), strict=True):
        if np.isnan(a) or np.isnan(b):
            want = np.nan if propagate else b if np.isnan(a) else a
        else:
            ordered = sorted((a, b), key=lambda each: (each, np.copysign(1, each)))
            want = ordered[larger]
        assert repr(result) == repr(want), (a, b)


@pytest.mark.parametrize(
    "op",
    [
        "divf %x0, %x1 rounding<approx>",
        "divf %x0, %x1 rounding<approx> flush_to_zero",
        "divf %x0, %x1 rounding<full>",
        "sqrt %x0 rounding<approx>",
        "exp %x0 rounding<approx>",
        "tanh %x0 rounding<approx>",
    ],
)
def test_approximations_are_those_of_compiled_kernels(op: str):
    magnitudes = np.array([0.0, 1e-41, 1e-38, 0.3, 7.0, 90.0, 3e38], np.float32)
    x, y = (grid.ravel() for grid in np.meshgrid(magnitudes, [*magnitudes[1:], 1.5, -1e-40]))
    tiles = [np.ascontiguousarray(tile[:32], np.float32) for tile in (x, y)]
    code = entry(*elementwise(f"    %r = {op} : tile<32xf32>\n", ["f32", "f32"], "f32", 32))
    equal_as_ptx(code, grid=(1,), arch="sm_90a", args=[*tiles, np.zeros(32, np.float32)])
