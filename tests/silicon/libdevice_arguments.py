"""The arguments on which libdevice's results are recorded, and the digest of results."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORDS = 1 << 20
NANS = {"f32": 0x7FFFFFFF, "f64": 0x7FFFFFFFFFFFFFFF}
"""The words that stand for any NaN."""
_DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64}


def arguments(arity: int, type_: str, count: int, seed: int = 0) -> list[NDArray[Any]]:
    """Bits of so many arguments: a third of any numbers, a third around 1, the rest around 0 and
    with few digits, and zeros, infinities, NaN and the ends of the ranges."""
    rng, real = np.random.default_rng(seed), np.dtype(_DTYPES[type_])
    word, third = np.dtype(f"u{real.itemsize}"), count // 3
    edges = np.array(
        [0, 1, np.inf, np.nan, 0.5, 2, 3, np.finfo(real).tiny, np.finfo(real).max], real
    )
    operands: list[NDArray[Any]] = []
    for _ in range(arity):
        anything = rng.integers(0, 1 << word.itemsize * 8, third, word, endpoint=False)
        near = np.exp(rng.normal(0, 1, third)).astype(real)
        small = (rng.normal(0, 8, count - 2 * third).astype(np.float16)).astype(real)
        small[: 2 * len(edges)] = np.concatenate([edges, -edges])
        operands.append(np.concatenate([anything, near.view(word), small.view(word)]))
        operands[-1] = rng.permutation(operands[-1]) if arity > 1 else operands[-1]
    return operands


def digest(words: NDArray[Any]) -> str:
    """Of results with the same NaN."""
    return hashlib.sha256(np.ascontiguousarray(words).tobytes()).hexdigest()
