"""The special functions are those of the chip: for samples of all bit patterns, and (by checksum)
for every mantissa or for 2^18 words."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from record_special_functions import SAMPLES, halves, words

from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.numerics.special_functions import (
    cos,
    ex2,
    lg2,
    rcp,
    rsqrt,
    sin,
    sqrt,
    tanh,
)

RECORDED = np.load(Path(__file__).parent / "fixtures" / "special_functions.npz")
FUNCTIONS = {
    "ex2": (ex2, (127,)),
    "lg2": (lg2, (126, 127)),
    "rcp": (rcp, (127,)),
    "rsqrt": (rsqrt, (127, 128)),
    "sqrt": (sqrt, (127, 128)),
}
ON_WORDS = {"sqrt": sqrt, "sin": sin, "cos": cos, "tanh": tanh}
Function = Callable[[NDArray[np.uint32]], NDArray[np.uint32]]


@pytest.mark.parametrize("name", ["ex2", "lg2", "rcp", "rsqrt"])
def test_special_function_equals_the_chip(name: str):
    function, _ = FUNCTIONS[name]
    assert_array_equal(function(RECORDED["x"]), RECORDED[name])


@pytest.mark.parametrize("name", ON_WORDS)
def test_special_function_of_many_words_equals_the_chip(name: str):
    result = ON_WORDS[name](words())
    assert_array_equal(result[:SAMPLES], RECORDED[f"{name}_words"])
    assert zlib.crc32(result) == int(RECORDED[f"{name}_words_crc"])


@pytest.mark.parametrize("name, function, exponents", [(k, *v) for k, v in FUNCTIONS.items()])
def test_every_mantissa_equals_the_chip(name: str, function: Function, exponents: tuple[int, ...]):
    mantissas = np.arange(1 << 23, dtype=np.uint32).reshape(-1, 1 << 14)
    checksum = 0
    for exponent in exponents:
        for block in mantissas:
            checksum = zlib.crc32(function(block | np.uint32(exponent << 23)), checksum)
    assert checksum == int(RECORDED[f"{name}_crc"])


@pytest.mark.parametrize("name, form", halves())
def test_every_half_equals_the_chip(name: str, form: str):
    result = scalar(name, form)(*halves()[name, form])
    assert zlib.crc32(result) == int(RECORDED[f"{name}.{form}_crc"])


def test_logarithms_of_powers_of_two_equal_the_chip():
    """Those below 1 are no whole numbers."""
    assert_array_equal(lg2(RECORDED["powers"]), RECORDED["powers_lg2"])
    assert (RECORDED["powers_lg2"] != np.arange(-126, 128).astype("f4").view("u4")).sum() == 126
