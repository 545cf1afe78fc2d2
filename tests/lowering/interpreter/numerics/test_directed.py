"""Arithmetic rounded to one side, against exact fractions: no float lies between the result and the
exact value, and the result is on its side."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tilewright.lowering.interpreter.numerics.directed import directed

COUNT = 150
RNG = np.random.default_rng(1)
OPERATIONS: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "sqrt": None,
    "fma": lambda a, b, c: a * b + c,
}
ARITIES = {"sqrt": 1, "fma": 3}


def values(dtype: Any) -> Any:
    """Numbers of every size, the largest and the smallest among them."""
    words = RNG.integers(0, 256, COUNT * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)
    words = np.where(np.arange(COUNT) % 2, words, RNG.standard_normal(COUNT)).astype(dtype)
    info = np.finfo(dtype)
    words[:8] = [0, -0.0, info.max, -info.max, info.tiny, info.smallest_subnormal, 1, -1]
    with np.errstate(invalid="ignore"):
        return RNG.permutation(np.where(np.isfinite(words), words, dtype(3)))


def above(name: str, value: Any, operands: list[Fraction]) -> int:
    """The sign of value - exact."""
    if np.isinf(value):
        return int(np.sign(value))
    got = Fraction(float(value))
    if name == "sqrt":
        (square,) = operands
        return -1 if got < 0 else (got * got > square) - (got * got < square)
    exact = OPERATIONS[name](*operands)
    return (got > exact) - (got < exact)


@pytest.mark.parametrize("rounding", ["rz", "rm", "rp"])
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_float_is_closer(dtype: Any, name: str, rounding: Any):
    arrays = [values(dtype) for _ in range(ARITIES.get(name, 2))]
    if name == "div":
        arrays[1][arrays[1] == 0] = 1
    if name == "sqrt":
        arrays[0] = np.abs(arrays[0])
    results = directed(name, "f32" if dtype is np.float32 else "f64", rounding)(*arrays)
    for result, *given in zip(results, *arrays, strict=True):
        operands = [Fraction(float(number)) for number in given]
        if not (sign := above(name, result, operands)):
            continue
        down = rounding == "rm" or (rounding == "rz" and not math.copysign(1, result) < 0)
        with np.errstate(over="ignore"):
            beyond = np.nextafter(result, dtype(math.inf if down else -math.inf))
        assert sign == (-1 if down else 1), (given, result)
        assert above(name, beyond, operands) == -sign, (given, result)


def test_an_exact_zero_has_the_sign_of_its_rounding():
    one = np.ones(1)
    assert np.signbit(directed("sub", "f64", "rm")(one, one)).all()
    assert not np.signbit(directed("sub", "f64", "rz")(one, one)).any()
