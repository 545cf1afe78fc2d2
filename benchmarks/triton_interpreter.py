"""Triton kernels on the CPU: seconds of one run by tilewright, races checked, and by Triton's own
interpreter (TRITON_INTERPRET=1).

    python benchmarks/triton_interpreter.py [NAME ...] [--require RATIO]

A row for each of vector add of 2^20 elements, softmax of 1024 x 1024, a product of 512^3 in f16
and attention of shape (1, 2, 512, 64). Compilation is in neither time: each has run once before.
With --require the exit status is 1 where tilewright takes more than RATIO of the interpreter's
time. Needs torch beside the extra `triton`.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * n + i, powers / tl.sum(powers, 0), mask=i < n)


@triton.jit
def matmul(a, b, out, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a += rows[:, None] * K + k[None, :]
    b += k[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(a), tl.load(b), total)
        a += BK
        b += BK * N
    tl.store(out + rows[:, None] * N + columns[None, :], total.to(tl.float16))


@triton.jit
def attention(
    q, k, v, out, scale, L: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    head = tl.program_id(1) * L * D
    rows, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    own = head + rows[:, None] * D + d[None, :]
    queries = tl.load(q + own)
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for start in range(0, L, BN):
        others = head + (start + tl.arange(0, BN))[:, None] * D + d[None, :]
        scores = tl.dot(queries, tl.trans(tl.load(k + others))) * scale
        above = tl.maximum(largest, tl.max(scores, 1))
        weights, kept = tl.exp2(scores - above[:, None]), tl.exp2(largest - above)
        total = total * kept + tl.sum(weights, 1)
        result = tl.dot(weights.to(tl.float16), tl.load(v + others), result * kept[:, None])
        largest = above
    tl.store(out + own, (result / total[:, None]).to(tl.float16))


def _add() -> Callable[[], Any]:
    x, y = torch.randn(2, 1 << 20)
    return lambda: add[(1 << 10,)](x, y, torch.empty_like(x), 1 << 20, BLOCK=1 << 10)


def _softmax() -> Callable[[], Any]:
    x = torch.randn(1024, 1024)
    return lambda: softmax[(1024,)](x, torch.empty_like(x), 1024, BLOCK=1024)


def _matmul() -> Callable[[], Any]:
    a, b = torch.randn(2, 512, 512).half()
    blocks = {"BM": 64, "BN": 64, "BK": 32}
    return lambda: matmul[(8, 8)](a, b, torch.empty_like(a), 512, 512, **blocks)


def _attention() -> Callable[[], Any]:
    q, k, v = torch.randn(3, 1, 2, 512, 64).half()
    blocks = {"D": 64, "BM": 64, "BN": 64}
    return lambda: attention[(8, 2)](q, k, v, torch.empty_like(q), 0.18, 512, **blocks)


KERNELS = {"add": _add, "softmax": _softmax, "matmul": _matmul, "attention": _attention}


def _seconds(name: str) -> float:
    """One run of a kernel, by whatever runs it in this process."""
    run = KERNELS[name]()
    run()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(KERNELS), metavar="NAME")
    parser.add_argument("--require", type=float, metavar="RATIO")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(_seconds(*options.names))
        return 0
    import tilewright as tw

    worst = 0.0
    print("| kernel | tilewright, s | Triton's interpreter, s | ratio |\n|---|---|---|---|")
    for name in options.names:
        with tw.triton.on_cpu():
            ours = _seconds(name)
        command = [sys.executable, __file__, "--one", name]
        interpreting = {**os.environ, "TRITON_INTERPRET": "1"}
        theirs = float(subprocess.check_output(command, env=interpreting, text=True))
        worst = max(worst, ours / theirs)
        print(f"| {name} | {ours:.3f} | {theirs:.3f} | {ours / theirs:.2f} |", flush=True)
    return int(options.require is not None and worst > options.require)


if __name__ == "__main__":
    sys.exit(main())
