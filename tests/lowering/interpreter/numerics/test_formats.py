"""Every code point of every format of at most 16 bits against ml_dtypes and NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numpy.random import default_rng

from tilewright.lowering.interpreter.numerics import (
    FORMATS,
    ZERO_EXPONENT,
    NumericsError,
    decode,
    encode,
    exponent_of,
    format_named,
)

ORACLES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
}


def every_word(name: str) -> np.ndarray:
    fmt = FORMATS[name]
    return np.arange(1 << fmt.bits).astype(fmt.container)


def same(x: np.ndarray, y: np.ndarray) -> bool:
    """Equal floats, zeros by sign, NaN equal to NaN."""
    nan = np.isnan(x) & np.isnan(y)
    return bool(np.all(nan | ((x == y) & (np.signbit(x) == np.signbit(y)))))


@pytest.mark.parametrize("name", ORACLES)
def test_decode_agrees_with_ml_dtypes_on_every_word(name: str):
    words = every_word(name)
    with np.errstate(invalid="ignore"):
        expected = words.view(ORACLES[name]).astype(np.float64)
        assert same(decode(words, FORMATS[name]), expected)


def test_ue4m3_is_e4m3_without_its_sign():
    words = every_word("ue4m3")
    expected = (words & np.uint8(0x7F)).view(ml_dtypes.float8_e4m3fn).astype(np.float64)
    assert same(decode(words, FORMATS["ue4m3"]), expected)


def test_bits_above_a_narrow_format_are_ignored():
    words = np.arange(256).astype(np.uint8)
    for name, mask in (("e3m2", 63), ("e2m3", 63), ("e2m1", 15)):
        fmt = FORMATS[name]
        assert same(decode(words, fmt), decode(words & np.uint8(mask), fmt))
        assert np.array_equal(exponent_of(words, fmt), exponent_of(words & np.uint8(mask), fmt))


@pytest.mark.parametrize("name", [name for name in ORACLES if name not in ("ue8m0",)])
def test_significand_and_exponent_give_the_value(name: str):
    fmt = FORMATS[name]
    words = every_word(name)
    value, exponent = decode(words, fmt), exponent_of(words, fmt).astype(int)
    ordinary = np.isfinite(value) & (value != 0)
    significand = np.abs(np.ldexp(value[ordinary], -exponent[ordinary]))
    smallest = exponent[ordinary] == 1 - fmt.bias
    assert np.all(significand < 2)
    assert np.all((significand >= 1) | smallest)
    assert np.all(exponent[ordinary] >= 1 - fmt.bias)
    assert np.all(exponent[value == 0] == ZERO_EXPONENT)


@pytest.mark.parametrize("name", ["f32", "tf32", "f64"])
def test_exponents_of_wide_formats(name: str, words):
    fmt = FORMATS[name]
    for kind in ("finite", "tiny", "zeros"):
        sample = words(default_rng(3), name, (4000,), kind)
        value = decode(sample, fmt)
        _, exponent = np.frexp(value)
        expected = np.where(value == 0, ZERO_EXPONENT, np.maximum(exponent - 1, 1 - fmt.bias))
        assert np.array_equal(exponent_of(sample, fmt), expected)


def test_tf32_ignores_its_low_13_bits():
    rng = default_rng(0)
    sample = rng.integers(0, 1 << 32, 4000, dtype=np.uint32)
    sample[:8] = 0x1FFF, 0x80001FFF, 0x7F800001, 0x7F801FFF, 0x7F802000, 0, 0x80000000, 0x2000
    clean = sample & np.uint32(0xFFFFE000)
    fmt = FORMATS["tf32"]
    with np.errstate(invalid="ignore"):
        assert same(decode(sample, fmt), clean.view(np.float32).astype(np.float64))
    assert np.array_equal(exponent_of(sample, fmt), exponent_of(clean, fmt))
    assert decode(sample[2:4], fmt).tolist() == [np.inf, np.inf]


@pytest.mark.parametrize("name", [name for name in FORMATS if not name.startswith("u")])
def test_encode_returns_every_value_to_its_word(name: str, words):
    fmt = FORMATS[name]
    sample = every_word(name) if fmt.bits <= 16 else words(default_rng(1), name, (4000,), "any")
    sample = sample & np.array((1 << fmt.bits) - (1 << fmt.ignored_low_bits), fmt.container)
    with np.errstate(invalid="ignore"):
        value = decode(sample, fmt)
    for rounding in ("rn", "rz", "rm", "rp"):
        back = encode(value, fmt, rounding)
        nan = np.isnan(value)
        assert np.array_equal(back[~nan], sample[~nan])
        assert np.all(back[nan] == fmt.canonical_nan)


@pytest.mark.parametrize("name", ["f16", "bf16", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1"])
def test_encode_to_nearest_agrees_with_ml_dtypes_around_every_boundary(name: str):
    fmt = FORMATS[name]
    value = decode(every_word(name), fmt)
    value = np.unique(value[np.isfinite(value)])
    middle = (value[1:] + value[:-1]) / 2
    # As float32: ml_dtypes rounds float64 twice on its way to 16 and fewer bits.
    points = np.concatenate([value, middle, middle * (1 + 2.0**-22), middle * (1 - 2.0**-22)])
    sample = points.astype(np.float32).astype(np.float64)
    expected = sample.astype(np.float32).astype(ORACLES[name]).view(fmt.container)
    zero = decode(encode(sample, fmt), fmt) == 0
    assert np.array_equal(encode(sample, fmt)[~zero], expected[~zero])
    assert np.array_equal(encode(sample, fmt)[zero] != 0, np.signbit(sample[zero]))


@pytest.mark.parametrize("name", ["f32", "f16", "bf16", "tf32", "e5m2"])
@pytest.mark.parametrize("rounding", ["rn", "rz", "rm", "rp"])
def test_encode_agrees_with_fractions(name: str, rounding: str, reference):
    from fractions import Fraction

    fmt = FORMATS[name]
    rng = default_rng(5)
    exponent = rng.integers(-155 if fmt.exponent_bits == 8 else -30, 130, 600)
    value = np.ldexp(rng.choice([1.0, 1.5, 1.25, 1 + 2.0**-30, 1.9999999], 600), exponent)
    value = np.concatenate([value, np.ldexp(rng.random(600) + 1, exponent)])
    value *= rng.choice([-1, 1], value.shape)
    words = encode(value, fmt, rounding)
    expected = [reference.round_word(Fraction(x), name, rounding) for x in value.tolist()]
    assert words.tolist() == [word << fmt.ignored_low_bits for word in expected]


def test_formats_without_infinity_saturate():
    value = np.array([1e9, -1e9, np.inf, np.nan])
    assert encode(value, FORMATS["e4m3"]).tolist() == [0x7E, 0xFE, 0x7E, 0x7F]
    assert encode(value, FORMATS["e2m1"]).tolist() == [0x7, 0xF, 0x7, 0x7]


def test_errors_name_what_was_found():
    with pytest.raises(NumericsError, match="e9m9"):
        format_named("e9m9")
    with pytest.raises(NumericsError, match="scale format"):
        encode(np.zeros(1), FORMATS["ue8m0"])
    with pytest.raises(NumericsError, match="rna"):
        encode(np.zeros(1), FORMATS["f32"], "rna")  # pyright: ignore[reportArgumentType]
