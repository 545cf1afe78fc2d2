"""Record what a chip leaves of kernels in Python, compiled by Numba for sm_90.

    python tests/silicon/record_numba_kernels.py tests/silicon/fixtures/numba_kernels.tar.xz

Needs numba-cuda, cupy and a GPU. The archive is as record_cuda_kernels.py writes it, a file of PTX
for each kernel. The fixture was recorded on an H200, of texts by numba-cuda 0.68 whose version was
lowered to 9.0, which its ptxas takes.
"""

# pyright: basic
# ruff: noqa: E402
from __future__ import annotations

import lzma
import math
import pickle
import re
import sys
from typing import Any

import cupy  # pyright: ignore
import numpy as np

# numba-cuda 0.30 asks NumPy for it when it is imported, and NumPy 2.4 has it no more.
np.row_stack = getattr(np, "row_stack", np.vstack)  # pyright: ignore

from numba import cuda, float32, float64, int32
from numba.cuda import compile_ptx
from record_cuda_kernels import archived, run

random = np.random.default_rng(11)
TILE = 16


def matmul(a, b, c):
    rows = cuda.shared.array((TILE, TILE), float32)
    columns = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0.0)
    for i in range((a.shape[1] + TILE - 1) // TILE):
        rows[ty, tx] = columns[ty, tx] = 0
        if y < a.shape[0] and tx + i * TILE < a.shape[1]:
            rows[ty, tx] = a[y, tx + i * TILE]
        if x < b.shape[1] and ty + i * TILE < b.shape[0]:
            columns[ty, tx] = b[ty + i * TILE, x]
        cuda.syncthreads()
        for j in range(TILE):
            total += rows[ty, j] * columns[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def reduce_sum(x, out):
    sums = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    sums[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    k = 64
    while k > 0:
        if t < k:
            sums[t] += sums[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        cuda.atomic.add(out, 0, sums[0])


def scan(x, out):
    sums = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < 128:
        before = sums[t - d] if t >= d else 0
        cuda.syncthreads()
        sums[t] += before
        cuda.syncthreads()
        d *= 2
    out[t] = sums[t]


def histogram(x, bins):
    i, n = cuda.grid(1), cuda.gridsize(1)
    while i < x.size:
        cuda.atomic.add(bins, x[i] & 15, 1)
        i += n


def shuffle(x, out):
    i = cuda.grid(1)
    value = x[i]
    for k in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, k)
    out[i] = value


def mathy(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.exp(x[i]) + math.sqrt(abs(x[i])) * math.log(x[i] + 2)


def local(x, out):
    i = cuda.grid(1)
    multiples = cuda.local.array(8, int32)
    for k in range(8):
        multiples[k] = x[i] * k
    out[i] = multiples[x[i] & 7]


def atomics(x, out):
    i = cuda.grid(1)
    cuda.atomic.max(out, 0, x[i])
    cuda.atomic.min(out, 1, x[i])
    cuda.atomic.cas(out, 2, 0, x[i])
    cuda.atomic.exch(out, 3, x[i])


def whole(low: int, high: int, count: int) -> np.ndarray:
    return random.integers(low, high, count).astype(np.int32)


def floats(*shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


def zeros(count: int) -> np.ndarray:
    return np.zeros(count, np.int32)


F1, F2, I1 = float32[:], float32[:, :], int32[:]
CASES = [
    # kernel, types, grid, block, arguments
    (matmul, (F2, F2, F2), (2, 2), (16, 16),
     [floats(32, 40), floats(40, 32), np.zeros((32, 32), np.float32)]),
    (reduce_sum, (F1, F1), (1,), (128,), [floats(120), np.zeros(1, np.float32)]),
    (scan, (I1, I1), (1,), (128,), [whole(-99, 99, 128), zeros(128)]),
    (histogram, (I1, I1), (2,), (64,), [whole(0, 999, 500), zeros(16)]),
    (shuffle, (I1, I1), (2,), (64,), [whole(-999, 999, 128), zeros(128)]),
    (mathy, (float64[:], float64[:]), (2,), (64,),
     [np.abs(random.standard_normal(120)), np.zeros(120)]),
    (local, (I1, I1), (1,), (64,), [whole(0, 99, 64), zeros(64)]),
    (atomics, (I1, I1), (1,), (1,), [whole(1, 99, 1), zeros(4)]),
]  # fmt: skip


def as_numba_passes(array: np.ndarray) -> list[Any]:
    """An array as the parameters of a kernel: no owner, its size, itself, extents and strides."""
    sizes = map(np.uint64, (0, 0, array.size, array.itemsize))
    return [*sizes, array, *map(np.uint64, (*array.shape, *array.strides))]


def main(archive: str) -> None:
    files: dict[str, bytes] = {}
    cases: dict[str, list[dict[str, Any]]] = {}
    for function, types, grid, block, arrays in CASES:
        ptx, _ = compile_ptx(function, types, cc=(9, 0))
        module = cupy.cuda.function.Module()
        module.load(re.sub(r"(?m)^\.version .*", ".version 9.0", ptx).encode() + b"\0")
        kernel = re.findall(r"\.entry\s+(\S+?)\s*\(", ptx)[0]
        given = [one for array in arrays for one in as_numba_passes(array)]
        name = f"{function.__name__}_90"
        files[f"{name}.ptx"] = ptx.encode()
        cases[name] = [run(module, kernel, grid, block, 0, given)]
    files["cases.pkl.xz"] = lzma.compress(pickle.dumps(cases))
    archived(archive, files)


if __name__ == "__main__":
    main(sys.argv[1])
