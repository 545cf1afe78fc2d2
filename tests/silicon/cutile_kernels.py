"""cuTile kernels of our own, with arguments: what `prepare_cuda_tile.py` compiles for a chip and
`export_cuda_tile.py` exports as bytecode. Needs PyPI cuda-tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cuda.tile as ct  # pyright: ignore
import ml_dtypes
import numpy as np
from numpy.random import default_rng

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


@ct.kernel
def sums(x, up, down, T: Int):
    tile = ct.load(x, (ct.bid(0), 0), (4, T))
    ct.store(up, (ct.bid(0), 0), ct.cumsum(tile, axis=1))
    ct.store(down, (ct.bid(0), 0), ct.cumsum(tile, axis=0, reverse=True))


@ct.kernel
def extremes(x, largest, smallest, where, T: Int):
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, T))
    ct.store(largest, (i,), ct.max(row, axis=1))
    ct.store(smallest, (i,), ct.min(row, axis=1))
    ct.store(where, (i,), ct.argmax(row, axis=1))


@ct.kernel
def integers(x, y, quotient, remainder, left, right, bits, T: Int):
    i = ct.bid(0)
    a, b = ct.load(x, (i,), (T,)), ct.load(y, (i,), (T,))
    ct.store(quotient, (i,), a // b)
    ct.store(remainder, (i,), a % b)
    ct.store(left, (i,), a << (b & 31))
    ct.store(right, (i,), a >> (b & 31))
    ct.store(bits, (i,), (a & b) ^ (~a | b))


@ct.kernel
def conversions(x, half, brain, e4m3, e5m2, signed, T: Int):
    i = ct.bid(0)
    tile = ct.load(x, (i,), (T,))
    ct.store(half, (i,), tile.astype(ct.float16))
    ct.store(brain, (i,), tile.astype(ct.bfloat16))
    ct.store(e4m3, (i,), tile.astype(ct.float8_e4m3fn))
    ct.store(e5m2, (i,), tile.astype(ct.float8_e5m2))
    ct.store(signed, (i,), tile.astype(ct.int32))


@ct.kernel
def functions(x, exponential, logarithm, sine, root, inverse, hyperbolic, T: Int):
    i = ct.bid(0)
    tile = ct.load(x, (i,), (T,))
    ct.store(exponential, (i,), ct.exp2(tile))
    ct.store(logarithm, (i,), ct.log(tile))
    ct.store(sine, (i,), ct.sin(tile))
    ct.store(root, (i,), ct.sqrt(tile))
    ct.store(inverse, (i,), ct.rsqrt(tile))
    ct.store(hyperbolic, (i,), ct.tanh(tile))


@ct.kernel
def gathered(x, places, y, T: Int):
    i = ct.bid(0)
    index = ct.load(places, (i,), (T,))
    ct.scatter(y, i * T + ct.arange(T, dtype=ct.int32), ct.gather(x, index, padding_value=-1.0))


@ct.kernel
def atomics(x, largest, smallest, parity, T: Int):
    tile = ct.load(x, (ct.bid(0),), (T,))
    slot = ct.arange(T, dtype=ct.int32) % 8
    ct.atomic_max(largest, slot, tile)
    ct.atomic_min(smallest, slot, tile)
    ct.atomic_xor(parity, slot, tile)


@ct.kernel
def product(A, B, C, D, tm: Int, tn: Int, tk: Int):
    a, b = ct.load(A, (0, 0), (tm, tk)), ct.load(B, (0, 0), (tk, tn))
    ct.store(D, (0, 0), ct.mma(a, b, ct.load(C, (0, 0), (tm, tn))))


@ct.kernel
def transposed(x, y, T: Int):
    i, j = ct.bid(0), ct.bid(1)
    tile = ct.load(x, (i, j), (T, T), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, (j, i), ct.where(tile > 0, tile, -tile).transpose())


def _random(*shape: int) -> np.ndarray[Any, Any]:
    return default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def _floats(*shape: int) -> np.ndarray[Any, Any]:
    """Floats of every size, infinities and zeros of both signs, NaN, subnormals."""
    wide = _random(*shape) * np.exp2(_random(*shape) * 24).astype(np.float32)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 65519, 448, 464], "f4")
    wide.flat[: special.size] = special
    return wide


def _integers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return default_rng(seed).integers(-(2**31), 2**31, shape).astype(np.int32)


def _divisors(count: int) -> np.ndarray[Any, Any]:
    small = default_rng(3).integers(1, 2**16, count) >> np.arange(count) % 16
    return ((small | 1) * np.where(np.arange(count) % 3, 1, -1)).astype(np.int32)


def _matrices(dtype: Any, result: Any) -> Callable[[], tuple[Any, ...]]:
    def arguments() -> tuple[Any, ...]:
        a, b, c = _random(32, 64) * 8, _random(64, 16) * 8, _random(32, 16) * 8
        parts = a.astype(dtype), b.astype(dtype), c.astype(result), np.zeros((32, 16), result)
        return *parts, 32, 16, 64

    return arguments


def _zeros(count: int, shape: Any, dtype: Any) -> list[np.ndarray[Any, Any]]:
    return [np.zeros(shape, dtype) for _ in range(count)]


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
            default_rng(0).integers(0, 10, 512).astype(np.int32),
            np.zeros(10, np.int32),
            128,
        ),
    ),
    "collatz": (
        collatz,
        (27,),
        lambda: (np.arange(1, 28, dtype=np.int32), np.zeros(27, np.int32)),
    ),
    "sums": (sums, (2,), lambda: (_random(8, 64), *_zeros(2, (8, 64), "f4"), 64)),
    "integer_sums": (sums, (2,), lambda: (_integers(8, 64), *_zeros(2, (8, 64), "i4"), 64)),
    "extremes": (
        extremes,
        (8,),
        lambda: (_floats(8, 64), *_zeros(2, 8, "f4"), np.zeros(8, np.int32), 64),
    ),
    "integers": (
        integers,
        (4,),
        lambda: (_integers(512), _divisors(512), *_zeros(5, 512, "i4"), 128),
    ),
    "conversions": (
        conversions,
        (4,),
        lambda: (
            _floats(512),
            np.zeros(512, np.float16),
            np.zeros(512, ml_dtypes.bfloat16),
            np.zeros(512, ml_dtypes.float8_e4m3fn),
            np.zeros(512, ml_dtypes.float8_e5m2),
            np.zeros(512, np.int32),
            128,
        ),
    ),
    "functions": (
        functions,
        (4,),
        lambda: (np.abs(_random(512)) * 4, *_zeros(6, 512, "f4"), 128),
    ),
    "gathered": (
        gathered,
        (4,),
        lambda: (
            _random(200),
            default_rng(5).integers(0, 260, 512).astype(np.int32),
            np.zeros(512, np.float32),
            128,
        ),
    ),
    "atomics": (atomics, (4,), lambda: (_integers(512), *_zeros(3, 8, "i4"), 128)),
    "product_f16": (product, (1,), _matrices(np.float16, np.float32)),
    "product_bf16": (product, (1,), _matrices(ml_dtypes.bfloat16, np.float32)),
    "product_e4m3": (product, (1,), _matrices(ml_dtypes.float8_e4m3fn, np.float32)),
    "product_i8": (product, (1,), _matrices(np.int8, np.int32)),
    "product_f64": (product, (1,), _matrices(np.float64, np.float64)),
    "transposed": (transposed, (3, 2), lambda: (_floats(40, 30), np.zeros((30, 40), "f4"), 16)),
}
"""Kernels by name: the kernel, its grid, and what makes its arguments."""
