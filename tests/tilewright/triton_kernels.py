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
    configs=[triton.Config({"BLOCK": block}, pre_hook=_tried) for block in (32, 64)], key=["n"]
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
