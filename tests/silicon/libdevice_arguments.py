"""The arguments on which libdevice's results are recorded, and the digest of results."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORDS = 1 << 20
INSTRUCTIONS = ("rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64")
NANS = {"f32": 0x7FFFFFFF, "f64": 0x7FFFFFFFFFFFFFFF}
"""The words that stand for any NaN."""
_DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64}


def arguments(arity: int, type_: str, count: int, seed: int = 0) -> list[NDArray[Any]]:
    """Bits of so many arguments: a third of any numbers, a third around 1, the rest around 0 and
    with few digits, and zeros, infinities, NaN and the ends of the ranges. They are random integers
    but for these, alike on every machine."""
    rng, real = np.random.default_rng(seed), np.dtype(_DTYPES[type_])
    word, third = np.dtype(f"u{real.itemsize}"), count // 3
    rest = count - 2 * third
    edges = np.array(
        [0, 1, np.inf, np.nan, 0.5, 2, 3, np.finfo(real).tiny, np.finfo(real).max], real
    )
    operands: list[NDArray[Any]] = []
    for _ in range(arity):
        anything = rng.integers(0, 1 << word.itemsize * 8, third, word, endpoint=False)
        near = np.ldexp(rng.integers(1 << 52, 1 << 53, third), rng.integers(-54, -49, third))
        small = np.ldexp(rng.integers(-2047, 2048, rest), rng.integers(-15, -5, rest))
        near, small = near.astype(real), small.astype(real)
        small[: 2 * len(edges)] = np.concatenate([edges, -edges])
        operands.append(np.concatenate([anything, near.view(word), small.view(word)]))
        operands[-1] = rng.permutation(operands[-1]) if arity > 1 else operands[-1]
    return operands


def upper_words() -> NDArray[np.uint64]:
    """Arguments of the instructions that read the upper word of an f64: every significand with an
    even and with an odd exponent, and every exponent and sign with a few."""
    significands = np.arange(1 << 20, dtype=np.uint64)
    ends = np.arange(1 << 12, dtype=np.uint64) << np.uint64(20)
    few = [0, 1, 2, 0x55555, 0x6A09E, 0x7FFFF, 0x80000, 0xFFFFF]
    high = [significands | np.uint64(e << 20) for e in (0x3FF, 0x400)]
    high += [ends | np.uint64(significand) for significand in few]
    return np.concatenate(high) << np.uint64(32) | np.uint64(0x12345678)


def digest(words: NDArray[Any]) -> str:
    """Of results with the same NaN."""
    return hashlib.sha256(np.ascontiguousarray(words).tobytes()).hexdigest()
