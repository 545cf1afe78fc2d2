"""cuTile kernels of our own, with arguments: what `record_cuda_tile.py` records on a chip and
`export_cuda_tile.py` exports as bytecode without one. Needs PyPI cuda-tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cuda.tile as ct  # pyright: ignore
import numpy as np

Int = ct.Constant[int]


@ct.kernel
def saxpy(x, y, a, T: Int):
    i = ct.bid(0)
    ct.store(y, (i,), a * ct.load(x, (i,), (T,)) + ct.load(y, (i,), (T,)))


@ct.kernel
def matmul(A, B, C, tm: Int, tn: Int, tk: Int):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(A, axis=1, shape=(tm, tk))):
        a = ct.load(A, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(B, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(a, b, acc)
    ct.store(C, (i, j), acc)


@ct.kernel
def softmax(x, y, T: Int):
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, T))
    e = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(y, (i, 0), e / ct.sum(e, axis=1, keepdims=True))


@ct.kernel
def histogram(x, counts, T: Int):
    i = ct.bid(0)
    ct.atomic_add(counts, ct.load(x, (i,), (T,)), 1)


@ct.kernel
def collatz(n, steps):
    i = ct.bid(0)
    value, count = ct.gather(n, i), 0
    while value != 1:
        if value % 2 == 0:  # noqa: SIM108 (the branch is what is tested)
            value = value // 2
        else:
            value = 3 * value + 1
        count += 1
    ct.scatter(steps, i, count)


def _random(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


CASES: dict[str, tuple[Any, tuple[int, ...], Callable[[], tuple[Any, ...]]]] = {
    "saxpy": (saxpy, (4,), lambda: (_random(1000), _random(1000), 1.5, 256)),
    "matmul": (
        matmul,
        (3, 2),
        lambda: (
            _random(80, 70).astype(np.float16),
            _random(70, 60).astype(np.float16),
            np.zeros((80, 60), np.float32),
            32,
            32,
            32,
        ),
    ),
    "softmax": (softmax, (8,), lambda: (_random(8, 64), np.zeros((8, 64), np.float32), 64)),
    "histogram": (
        histogram,
        (4,),
        lambda: (
            np.random.default_rng(0).integers(0, 10, 512).astype(np.int32),
            np.zeros(10, np.int32),
            128,
        ),
    ),
    "collatz": (
        collatz,
        (27,),
        lambda: (np.arange(1, 28, dtype=np.int32), np.zeros(27, np.int32)),
    ),
}
"""Kernels by name: the kernel, its grid, and what makes its arguments."""
