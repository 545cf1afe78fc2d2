"""The reference arithmetic as a fixture (importlib mode has no sibling imports); random words."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tilewright.lowering.interpreter.numerics import FORMATS


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    """`reference.py` beside this file."""
    name = "tilewright_tests_numerics_reference"
    path = Path(__file__).with_name("reference.py")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # dataclasses looks a class's module up by name.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


KINDS = ("any", "finite", "near", "tiny", "few", "zeros")


def random_words(rng: np.random.Generator, name: str, shape: tuple[int, ...], kind: str):
    """Words of a format. any: all patterns, NaN and infinities too; finite: all but those; near:
    exponents within 4 of 0; tiny: subnormals and their neighbours; few: mostly zeros, a few of
    all patterns; zeros: both zeros."""
    fmt = FORMATS[name]
    words = rng.integers(0, 1 << fmt.bits, shape, dtype=np.uint64)
    low = fmt.ignored_low_bits + fmt.mantissa_bits
    field_mask = ((1 << fmt.exponent_bits) - 1) << low
    top = (1 << fmt.exponent_bits) - 1
    fields = {
        "finite": rng.integers(0, max(top, 1), shape),
        "near": np.clip(fmt.bias + rng.integers(-4, 5, shape), 0, top - 1),
        "tiny": np.minimum(rng.integers(0, 3, shape), top),
        "zeros": np.zeros(shape, np.int64),
    }
    if kind in fields:
        words = (words & np.uint64(~field_mask & (2**64 - 1))) | (
            fields[kind].astype(np.uint64) << np.uint64(low)
        )
    if kind == "zeros":
        words &= np.uint64(fmt.sign_bit)
    if kind == "few":
        words[rng.random(shape) < 0.8] &= np.uint64(fmt.sign_bit)
    return words.astype(fmt.container)


@pytest.fixture(scope="session")
def words():
    """`random_words`, for tests."""
    return random_words


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", KINDS)
