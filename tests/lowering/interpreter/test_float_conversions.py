"""`cvt` to and from narrow floats, tf32 and 8-bit integers, against ml_dtypes in float64: every
form of the table, on every pattern of 16 bits or fewer and on f32 around every boundary."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS, Form
from tilewright.lowering.interpreter.arithmetic.scalar import scalar

CVT = SCALARS["cvt"].forms
DTYPES: dict[str, Any] = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn, "ue8m0": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "e4m3": 0x7F, "e5m2": 0x7F, "tf32": 0x7FFFE000}


def split(form: str) -> tuple[list[str], str, str]:
    *modifiers, to, source = form.split(".")
    return modifiers, to, source


def to_nearest(form: str) -> bool:
    modifiers, to, source = split(form)
    pair = "x2" in (to[-2:], source[-2:])
    return modifiers[:1] == ["rn"] and (pair or len(modifiers) > 1) and to != "tf32"


def f32_inputs() -> NDArray[np.float32]:
    """All f16, e4m3 and e5m2 values, what lies just beside them and in the middle between two of
    them, and random bits."""
    rng = default_rng(0)
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    with np.errstate(all="ignore"):
        middles = (values[1:] + values[:-1]) / 2
        beside = [np.nextafter(each, np.float32(end)) for each in (values, middles)
                  for end in (-np.inf, np.inf)]  # fmt: skip
    narrow = [np.arange(256, dtype=np.uint8).view(DTYPES[name]).astype(np.float32)
              for name in ("e4m3", "e5m2")]  # fmt: skip
    between = [(each[1:] + each[:-1]) / 2 for each in narrow]
    random = rng.integers(0, 1 << 32, 1 << 14, np.uint32).view(np.float32)
    powers = np.exp2(np.arange(-149, 128.0)).astype(np.float32)
    beside += [np.nextafter(powers, np.float32(0)), np.nextafter(powers, np.float32(np.inf))]
    return np.concatenate([values, middles, *beside, *narrow, *between, random, powers, -powers])


F32 = f32_inputs()
HALVES = np.arange(1 << 16, dtype=np.uint16)


def operands(form: Form) -> tuple[list[NDArray[Any]], list[NDArray[np.float64]]]:
    """Raw bits of the operands, and the values of the elements of d, the upper one first."""
    source = form.suffix.rsplit(".", 1)[1]
    if source == "f32":
        inputs = [F32, F32[::-1]][: len([type_ for type_ in form.types if type_ == "f32"])]
        with np.errstate(all="ignore"):
            values = [each.astype(np.float64) for each in inputs]
        return [np.ascontiguousarray(each).view(np.uint32) for each in inputs], values
    name = source.removesuffix("x2")
    if len(form.types) > 1:
        return scaled(form)
    if name == "s2f6":
        upper = np.arange(1 << 16) >> 8
        values = [part.astype(np.int8) / 64.0 for part in (upper, np.arange(1 << 16) & 0xFF)]
        return [HALVES], values
    dtype = np.dtype(DTYPES[name])
    width = 8 * dtype.itemsize
    if name == "e2m1":
        packed = np.arange(256, dtype=np.uint8)
        return [packed], [
            part.view(dtype).astype(np.float64) for part in (packed >> 4, packed & 15)
        ]
    bits = {16: HALVES, 8: np.arange(256)}[width].astype(f"uint{width}")
    kept = bits & np.array((1 << {"e2m3": 6, "e3m2": 6}.get(name, width)) - 1, bits.dtype)
    with np.errstate(all="ignore"):
        upper = kept.view(dtype).astype(np.float32).astype(np.float64)
    word = np.dtype(f"uint{2 * width}").type
    packed = bits.astype(word) << word(width) | bits[::-1].astype(word)
    return [packed], [upper, upper[::-1]]


def scaled(form: Form) -> tuple[list[NDArray[Any]], list[NDArray[np.float64]]]:
    """Every pair of elements with factors at random, and with NaN."""
    plain = form.suffix.replace("scaled::n2::ue8m0.", "")
    (packed,), values = operands(Form(plain, form.types[:1], form.result))
    factors = default_rng(1).integers(0, 1 << 16, len(packed), np.uint16)
    factors[::7] |= 0xFF
    parts = (factors >> 8, factors & 0xFF)
    powers = [np.where(part == 0xFF, np.nan, np.exp2(part - 127.0)) for part in parts]
    return [packed, factors], [value * power for value, power in zip(values, powers, strict=True)]


def elements(result: NDArray[Any], to: str) -> list[NDArray[Any]]:
    """The elements of a result, the upper one first."""
    count = int(to[-1]) if to[-2] == "x" else 1
    width = 8 * result.itemsize // count
    fields = (result >> width * place & (1 << width) - 1 for place in reversed(range(count)))
    return [field.astype(f"uint{max(width, 8)}") for field in fields]


def expected(values: NDArray[np.float64], name: str, modifiers: list[str]) -> NDArray[Any]:
    """By ml_dtypes, from float64, with the largest number and NaN as PTX has them."""
    dtype = np.dtype(DTYPES[name])
    largest = float(ml_dtypes.finfo(dtype).max)
    nan = np.isnan(values)
    if "relu" in modifiers:
        values = np.maximum(values, 0.0) + 0.0
    if "satfinite" in modifiers:
        values = np.clip(values, -largest, largest)
    with np.errstate(all="ignore"):
        words = np.where(nan, 0.0, values).astype(dtype).view(f"uint{8 * dtype.itemsize}")
    top = np.array(largest).astype(dtype).view(words.dtype)
    return np.where(nan, NAN.get(name, top), words).astype(words.dtype)


@pytest.mark.parametrize("form", [form for form in CVT if to_nearest(form)])
def test_to_nearest(form: str):
    modifiers, to, _ = split(form)
    inputs, values = operands(CVT[form])
    result = elements(scalar("cvt", form)(*inputs), to)
    for got, exact in zip(result, values, strict=True):
        assert_array_equal(got, expected(exact, to.removesuffix("x2"), modifiers))


@pytest.mark.parametrize("form", [form for form in CVT if form[:3] == "rz." and "f16" in form
                                  and form.endswith(".f32")])  # fmt: skip
def test_towards_zero(form: str):
    """The largest number of the type that is no larger: the nearest, or the one below it."""
    modifiers, to, _ = split(form)
    name = to.removesuffix("x2")
    inputs, values = operands(CVT[form])
    for got, exact in zip(elements(scalar("cvt", form)(*inputs), to), values, strict=True):
        nearest = expected(exact, name, modifiers)
        with np.errstate(all="ignore"):
            back = nearest.view(DTYPES[name]).astype(np.float64)
            past = np.abs(back) > np.abs(np.where("relu" in modifiers and exact < 0, 0, exact))
            past &= np.isfinite(exact)
        assert_array_equal(got, nearest - past.astype(nearest.dtype))


@pytest.mark.parametrize("form", [form for form in CVT if ".tf32." in form])
def test_tf32(form: str):
    """In units of the 10th bit of the significand, of the smallest exponent below it."""
    modifiers, _, _ = split(form)
    (bits,), (values,) = operands(CVT[form])
    got = scalar("cvt", form)(bits)
    nan = np.isnan(values)
    assert not (got & 0x1FFF).any()
    # What `rna` makes of NaN, the silicon fixtures say.
    assert "rna" in modifiers or (got[nan] == NAN["tf32"]).all()
    with np.errstate(all="ignore"):
        exact = np.where(nan, 0.0, values)
        if "relu" in modifiers:
            exact = np.maximum(exact, 0.0) + 0.0
        largest = (2 - 2.0**-10) * 2.0**127
        if "satfinite" in modifiers:
            exact = np.clip(exact, -largest, largest)
        unit = np.exp2(np.maximum(np.frexp(exact)[1] - 1, -126) - 10.0)
        whole = np.abs(exact) / unit
        rounded = {"rn": np.rint(whole), "rz": np.trunc(whole), "rna": np.floor(whole + 0.5)}
        magnitude = np.where(np.isinf(exact), np.inf, rounded[modifiers[0]] * unit)
        magnitude = np.where(magnitude > largest, np.inf, magnitude)
        result = np.copysign(magnitude, exact).astype(np.float32).view(np.uint32)
    assert_array_equal(got[~nan], result[~nan])


@pytest.mark.parametrize("form", [form for form in CVT if ".ue8m0x2." in form])
def test_scale_factors_are_powers_of_two(form: str):
    modifiers, to, _ = split(form)
    inputs, values = operands(CVT[form])
    for got, exact in zip(elements(scalar("cvt", form)(*inputs), to), values, strict=True):
        size = np.abs(exact)
        if "satfinite" in modifiers:
            size = np.minimum(size, 2.0**127)
        word = np.searchsorted(np.exp2(np.arange(-127.0, 128)), size,
                               "left" if modifiers[0] == "rp" else "right")  # fmt: skip
        word = np.maximum(word if modifiers[0] == "rp" else word - 1, 0)
        over = np.isnan(size) | np.isinf(size) | (word > 254)
        assert_array_equal(got, np.where(over, 0xFF, word))


@pytest.mark.parametrize("form", [form for form in CVT if form.startswith("rs.")])
def test_stochastic(form: str):
    """Over all random bits the mean is the value, to what f32 has beside the result's type and an
    element takes of random bits."""
    modifiers, to, _ = split(form)
    name, count = to[:-2], int(to[-1])
    bits = 13 if name == "f16" else 16
    values = np.arange(1 << bits, dtype=np.uint32)
    random = values | values << np.uint32(16)
    if name == "e2m1":
        # A byte of each half of the word, the upper ones for the first two elements.
        low, high = values & 0xFF, values >> 8
        random = low | low << np.uint32(8) | high << np.uint32(16) | high << np.uint32(24)
    largest = float(ml_dtypes.finfo(DTYPES[name]).max)
    inputs = [1.2345, -3.0001, 0.75, 1e-3, 60000.5, -0.0]
    inputs = [value for value in inputs if abs(value) <= largest]
    for value in np.array(inputs, np.float32):
        word = np.full(random.size, value).view(np.uint32)
        got = scalar("cvt", form)(*[word] * count, random)
        exact = max(float(value), 0.0) if "relu" in modifiers else float(value)
        for element in elements(got, to):
            numbers = element.view(DTYPES[name]).astype(np.float64)
            unit = np.ptp(numbers)
            share = 2.0**-bits * unit if name not in ("f16", "bf16") else 0
            assert abs(numbers.mean() - exact) <= abs(exact) * 2.0**-23 + share
            assert np.unique(element).size <= 2


@pytest.mark.parametrize("octet", ["s8", "u8"])
def test_octets(octet: str):
    low, high = (-128, 127) if octet == "s8" else (0, 255)
    for source, bits in (("f32", F32.view(np.uint32)), ("f16", HALVES)):
        with np.errstate(all="ignore"):
            values = bits.view(DTYPES[source]).astype(np.float64)
        for rounding, whole in (("rni", np.rint), ("rzi", np.trunc)):
            got = scalar("cvt", f"{rounding}.sat.{octet}.{source}")(bits)
            wanted = np.clip(whole(np.where(np.isnan(values), 0, values)), low, high)
            assert_array_equal(got, wanted.astype(np.int16).view(np.uint16))
    words = default_rng(1).integers(-400, 400, 500).astype(np.int32)
    got = scalar("cvt", f"sat.{octet}.s32")(words.view(np.uint32))
    assert_array_equal(got, np.clip(words, low, high).astype(np.int16).view(np.uint16))
    for real, dtype in (("f16", np.float16), ("f32", np.float32), ("f64", np.float64)):
        got = scalar("cvt", f"rn.{real}.{octet}")(HALVES).view(dtype)
        octets = HALVES.astype(np.uint8).view(np.int8 if octet == "s8" else np.uint8)
        assert_array_equal(got, octets)
