"""The reference arithmetic as a fixture (importlib mode has no sibling imports); random words."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tilewright.lowering.interpreter.numerics import FORMATS, dot_add


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


@pytest.fixture(scope="session")
def scaled_dots(reference: ModuleType):
    """A function of (types of A, B and scales, K, S), kind of words, and model: D of a block-scaled
    MMA on random words, and the same from `exact_dot`, or from `scaled_dot` for a model."""

    def compute(case, kind: str, model):
        a_type, b_type, scale_type, k, count = case
        rng = np.random.default_rng(83)
        a, b = (
            random_words(rng, a_type, (9, 2, k), kind),
            random_words(rng, b_type, (9, k, 2), kind),
        )
        c = random_words(rng, "f32", (9, 2, 2), kind)
        scale_a = random_words(rng, scale_type, (9, 2, count), kind)
        scale_b = random_words(rng, scale_type, (9, count, 2), kind)
        d = dot_add(
            a, b, c, a_type=a_type, b_type=b_type, c_type="f32", d_type="f32", model=model,
            scale_a=scale_a, scale_b=scale_b, scale_type=scale_type,
        )  # fmt: skip
        expected = np.empty_like(c)
        for index in np.ndindex(*c.shape):
            batch, m, n = index
            scaling = reference.Scaling(
                scale_a[batch, m].tolist(), scale_b[batch, :, n].tolist(), scale_type
            )
            operands = a[batch, m].tolist(), b[batch, :, n].tolist(), int(c[index])
            if model == "exact":
                types = (a_type, b_type, "f32", "f32")
                expected[index] = reference.exact_dot(*operands, types, scaling)
            else:
                block = getattr(model, "block", None)
                bits = model.fraction_bits
                expected[index] = reference.scaled_dot(
                    *operands, (a_type, b_type), scaling, bits, block
                )
        return d, expected

    return compute


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", KINDS)
