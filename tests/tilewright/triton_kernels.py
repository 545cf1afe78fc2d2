"""Kernels of Triton for the tests of `tilewright.triton`, in a file as Triton wants them."""

from typing import Any

import triton
import triton.language as tl

BLOCKS: list[int] = []


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def racing(out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), tl.program_id(0))


@triton.jit
def scaled(pair, out, factors, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, factors[0] * tl.load(pair[0] + i) + factors[1] * tl.load(pair[1] + i))


@triton.jit
def added(x, n, once, twice, BLOCK: tl.constexpr):
    """In the order of the program, where `once` is `x`."""
    i = tl.arange(0, BLOCK)
    tl.store(once + n + i, tl.load(x + i) + 1.0)
    tl.store(twice + i, tl.load(x + i) + 2.0)


@triton.jit
def waiting():
    tl.debug_barrier()


@triton.jit
def scattered(x, out, factor, n, first: tl.int16, BLOCK: tl.constexpr):
    i = first + tl.arange(0, BLOCK)
    tl.store(out + i, factor * tl.load(x + i), mask=i < n)


@triton.jit
def doubled(x):
    return 2 * x


@triton.jit
def calling(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, doubled(tl.load(x + i)))


@triton.jit
def miscalling(out):
    tl.store(out, doubled())


@triton.jit
def locked(flag):
    while tl.atomic_cas(flag, 0, 1) == 1:
        pass


@triton.jit
def printing(out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_print("at", i)
    tl.store(out + i, i)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * stride + i, powers / tl.sum(powers, 0), mask=i < n)


def _tried(arguments: dict[str, Any], *_: Any, **__: Any) -> None:
    BLOCKS.append(arguments["BLOCK"])


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": block}, num_stages=stages, pre_hook=_tried)
        for block, stages in ((32, 2), (32, 3), (64, 2))
    ],
    key=["n"],
)
@triton.heuristics({"EVEN": lambda arguments: arguments["n"] % arguments["BLOCK"] == 0})
@triton.jit
def tuned(x, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = None if EVEN else i < n
    tl.store(out + i, 2.0 * tl.load(x + i, mask=mask), mask=mask)


@triton.jit
def from_descriptor(descriptor, out, M: tl.constexpr, N: tl.constexpr):
    tile = descriptor.load([0, 0])
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + rows * N + columns, tile)


@triton.jit
def product(
    a, b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Rows and columns beyond the matrices wrap around."""
    i = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    j = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a += i[:, None] * K + k[None, :]
    b += k[:, None] * N + j[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = tl.load(a, mask=k[None, :] < K - step * BK, other=0.0)
        right = tl.load(b, mask=k[:, None] < K - step * BK, other=0.0)
        total = tl.dot(left, right, total)
        a += BK
        b += BK * N
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (i[:, None] < M) & (j[None, :] < N)
    tl.store(out + i[:, None] * N + j[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def rows_from(
    x, out, rows, columns, stride, first, BR: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """The rows from `first` on, zeros where there are none."""
    i = tl.program_id(0) * BR + tl.arange(0, BR)
    for begin in range(0, columns, BC):
        j = begin + tl.arange(0, BC)
        row, inside = i + first, (i[:, None] < rows) & (j[None, :] < columns)
        there = inside & (row[:, None] >= 0) & (row[:, None] < rows)
        tile = tl.load(x + row[:, None] * stride + j[None, :], mask=there, other=0.0)
        tl.store(out + i[:, None] * columns + j[None, :], tile, mask=inside)


@triton.jit
def tables(addresses, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(addresses + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(out + tl.program_id(0) * BLOCK + i, tl.load(x + i))
    tl.store(x + i, 0.0)


@triton.jit
def reread(x, same, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for number in range(n):
        tl.store(x + i, total + number)
        total += tl.load(same + i)
    tl.store(out + i, total)


@triton.jit
def turned_product(a, b, out, n, columns, WRAPS: tl.constexpr):
    i, j, k = tl.arange(0, 64), tl.arange(0, 32), tl.arange(0, 32)
    first = tl.program_id(0)
    wrapped = (first * 32 + j) % columns
    total = tl.zeros((64, 32), tl.float32)
    for number in range(0, tl.cdiv(n, 32)):
        inside = k < n - number * 32
        x = tl.load(a + i[:, None] * n + k[None, :] + number * 32, mask=inside[None, :], other=0)
        if WRAPS:
            at = b + wrapped[None, :] * n + k[:, None] + number * 32
            mask = inside[:, None] & ((wrapped < columns) & (wrapped >= 0))[None, :]
            y = tl.load(at, mask=mask, other=0)
        else:
            y = tl.load(b + (number * 32 + k)[:, None] * n + (first + j)[None, :])
        total += tl.dot(x, y)
    tl.store(out + first * 2048 + i[:, None] * 32 + j[None, :], total)


@triton.jit
def narrowed(x, out, n, BLOCK: tl.constexpr):
    i = (tl.program_id(0).to(tl.int64) * BLOCK).to(tl.int32) + tl.arange(0, BLOCK)
    inside = (i >= 0) & (i < n)
    tl.store(out + i, 2.0 * tl.load(x + i, mask=inside), mask=inside)


@triton.jit
def divided(quotients, rests, n, first, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = place + first
    tl.store(quotients + place, i // n)
    tl.store(rests + place // n * n + place % n, i % n)


@triton.jit
def filled(out, VALUE: tl.constexpr, BLOCK: tl.constexpr):
    value: tl.constexpr = VALUE[0] if isinstance(VALUE, tl.tuple) else VALUE
    tl.store(out + tl.arange(0, BLOCK), value)
