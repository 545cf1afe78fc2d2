"""The kernels of `user_kernels.py` as cases: what they work on, and the first result by NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from cutile_problems import Case, Matrix, Problem
from numpy.typing import NDArray

OWN = "user_kernels"
"""Their module."""
Sizes = tuple[int, ...]
_LOG2E = math.log2(math.e)


@dataclass(frozen=True)
class KernelWork:
    """The work of a kernel: the problem of some sizes and constants, the `sizes` to measure and a
    `small` one, the constants by the name of a configuration, and what the kernel leaves: of its
    arguments, whose floats are f32."""

    problem: Callable[[Sizes, tuple[Any, ...]], Problem]
    sizes: tuple[Sizes, ...]
    small: Sizes
    configurations: dict[str, tuple[Any, ...]]
    result: Callable[..., NDArray[Any]]


def cases() -> Iterator[Case]:
    """Every kernel in every configuration."""
    for kernel, work in WORKS.items():
        for name, constants in work.configurations.items():
            problems = tuple(work.problem(sizes, constants) for sizes in work.sizes)
            yield Case(OWN, kernel, f"{kernel} {name}", constants, problems)


def small(case: Case) -> Problem:
    """A problem of a few tiles."""
    return WORKS[case.kernel].problem(WORKS[case.kernel].small, case.constants)


def result(case: Case, *arguments: Any) -> NDArray[Any]:
    """The first array that a case's kernel leaves of arguments."""
    return WORKS[case.kernel].result(*arguments)


def _named(sizes: Sizes, arguments: tuple[Any, ...], grid: Sizes, **work: float) -> Problem:
    return Problem("x".join(map(str, sizes)), arguments, grid, **work)


def _rows(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    del constants
    x = Matrix(sizes)
    return _named(sizes, (x, Matrix(sizes, result=True)), sizes[:1], bytes=4.0 * math.prod(sizes))


def _weighted_rows(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    own = _rows(sizes, constants)
    x, y = own.arguments
    return _named(sizes, (x, Matrix(sizes[1:]), y, 1e-5), own.grid, bytes=own.bytes)


def _softmax(x: NDArray[Any], *_: Any) -> NDArray[Any]:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _rms_norm(x: NDArray[Any], w: NDArray[Any], y: NDArray[Any], eps: float) -> NDArray[Any]:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


def _backward(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    """Heads, tokens and depth."""
    heads, tokens, depth = sizes
    x, y = Matrix(sizes), Matrix(sizes, result=True)
    of_rows = Matrix(sizes[:2], "float32")
    arguments = (x, x, x, x, of_rows, of_rows, y, y, y, 1 / math.sqrt(depth))
    work = 10.0 * math.prod(sizes) * tokens
    return _named(sizes, arguments, (tokens // constants[1], heads), operations=work)


def _of_keys(
    q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], o: NDArray[Any], lse: NDArray[Any],
    delta: NDArray[Any], *others: Any,
) -> NDArray[Any]:  # fmt: skip
    scale = others[-1]
    p = np.exp2(q @ k.swapaxes(1, 2) * (scale * _LOG2E) - lse[..., None])
    of_scores = p * (o @ v.swapaxes(1, 2) - delta[..., None])
    return of_scores.swapaxes(1, 2) @ q * scale


def _decode(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    """Sequences, heads of keys, tokens, and the parts of these."""
    batch, heads, tokens, parts = sizes
    group, depth, _ = constants
    keys = Matrix((batch, heads, tokens, depth))
    arguments = (
        Matrix((batch, heads, group, depth)), keys, keys,
        Matrix((batch, heads, parts, group, depth), "float32", result=True),
        Matrix((batch, heads, parts, group), "float32", result=True), 1 / math.sqrt(depth),
    )  # fmt: skip
    return _named(sizes, arguments, (parts, heads, batch), bytes=4.0 * math.prod(keys.shape))


def _paged(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    own = _decode(sizes, constants)
    batch, heads, tokens, _ = sizes
    _, depth, page = constants
    q, _, _, *others = own.arguments
    pages = batch * tokens // page
    keys = Matrix((pages, heads, page, depth))
    table = Matrix((batch, tokens // page), "int32", below=pages, shuffled=True)
    return _named(sizes, (q, keys, keys, table, *others), own.grid, bytes=own.bytes)


def _attention(
    q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], out: NDArray[Any], *others: Any
) -> NDArray[Any]:
    parts, scale = out.shape[2], others[-1]
    k, v = (np.stack(np.split(x, parts, axis=2), axis=2) for x in (k, v))
    return _softmax(q[:, :, None] @ k.swapaxes(-1, -2) * scale) @ v


def _paged_attention(
    q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], table: NDArray[Any], *others: Any
) -> NDArray[Any]:
    k, v = (
        x[table].swapaxes(1, 2).reshape(*q.shape[:2], -1, q.shape[-1]) for x in (k, v)
    )  # fmt: skip
    return _attention(q, k, v, *others)


def _grouped(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    """Rows, columns, what is summed, and experts."""
    m, n, k, experts = sizes
    tiles = m // constants[0]
    arguments = (
        Matrix((m, k)), Matrix((experts, k, n)), Matrix((tiles,), "int32", below=experts),
        Matrix((m, n), result=True),
    )  # fmt: skip
    return _named(sizes, arguments, (n // constants[1], tiles), operations=2.0 * m * n * k)


def _by_experts(
    a: NDArray[Any], b: NDArray[Any], owners: NDArray[Any], c: NDArray[Any]
) -> NDArray[Any]:
    del c
    tiles = zip(np.split(a, len(owners)), owners, strict=True)
    return np.concatenate([rows @ b[owner] for rows, owner in tiles])


def _column_sums(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    """Rows, columns, and the parts of the rows."""
    rows, columns, parts = sizes
    y = Matrix((parts, columns), "float32", result=True)
    grid = columns // constants[1], parts
    return _named(sizes, (Matrix(sizes[:2]), y), grid, bytes=2.0 * rows * columns)


def _group_norm(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    """Images, groups, channels of a group, and pixels."""
    del constants
    weights = Matrix(sizes[1:3])
    arguments = Matrix(sizes), weights, weights, Matrix(sizes, result=True), 1e-5
    return _named(sizes, arguments, (sizes[1], sizes[0]), bytes=4.0 * math.prod(sizes))


def _normalized(
    x: NDArray[Any], w: NDArray[Any], b: NDArray[Any], y: NDArray[Any], eps: float
) -> NDArray[Any]:
    del y
    mean, square = (z.mean((2, 3), keepdims=True) for z in (x, x * x))
    return (x - mean) / np.sqrt(square - mean * mean + eps) * w[..., None] + b[..., None]


def _rope(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    """Heads, tokens and depth."""
    heads, tokens, depth = sizes
    angle = Matrix((tokens, depth // 2), "float32")
    arguments = Matrix(sizes), angle, angle, Matrix(sizes, result=True)
    grid = tokens // constants[1], heads
    return _named(sizes, arguments, grid, bytes=4.0 * math.prod(sizes))


def _turned(x: NDArray[Any], cos: NDArray[Any], sin: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    del y
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def _losses(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    """Rows and classes."""
    del constants
    rows, classes = sizes
    targets = Matrix((rows,), "int32", below=classes)
    arguments = Matrix(sizes), targets, Matrix((rows,), "float32", result=True)
    return _named(sizes, arguments, (rows,), bytes=2.0 * rows * classes)


def _cross_entropy(x: NDArray[Any], targets: NDArray[Any], loss: NDArray[Any]) -> NDArray[Any]:
    del loss
    most = x.max(-1)
    own = np.take_along_axis(x, targets[:, None].astype(int), 1)[:, 0]
    return np.log(np.exp(x - most[:, None]).sum(-1)) + most - own


def _largest(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    rows, columns = sizes
    values = Matrix((rows, constants[0]), "float32", result=True)
    places = Matrix((rows, constants[0]), "int32", result=True)
    return _named(sizes, (Matrix(sizes), values, places), (rows,), bytes=2.0 * rows * columns)


def _top(x: NDArray[Any], values: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    del places
    return -np.sort(-x, axis=-1)[:, : values.shape[1]]


def _counted(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    """Numbers and bins."""
    count, bins = sizes
    x = Matrix((count,), "int32", below=bins, shuffled=True)
    arguments = x, Matrix((bins,), "int32", result=True)
    return _named(sizes, arguments, (count // constants[0],), bytes=4.0 * count)


def _histogram(x: NDArray[Any], bins: NDArray[Any]) -> NDArray[Any]:
    return np.bincount(x.astype(int), minlength=len(bins))


def _sums(sizes: Sizes, constants: tuple[Any, ...]) -> Problem:
    """Rows and columns, of which each block has some of the latter, or a row."""
    y = Matrix(sizes, "float32", result=True)
    grid = sizes[0] if len(constants) == 1 else sizes[1] // constants[1]
    return _named(sizes, (Matrix(sizes, "float32"), y), (grid,), bytes=8.0 * math.prod(sizes))


_WIDE = ((16384, 4096),)
WORKS = {
    "softmax": KernelWork(_rows, _WIDE, (3, 4096), {"bf16": (4096,)}, _softmax),
    "rms_norm": KernelWork(_weighted_rows, _WIDE, (3, 4096), {"bf16": (4096,)}, _rms_norm),
    "attention_backward": KernelWork(
        _backward, ((32, 4096, 64),), (2, 256, 64), {"d64 64": (64, 64), "d64 128": (64, 128)},
        _of_keys,
    ),
    "decode_attention": KernelWork(
        _decode, ((16, 8, 8192, 1), (16, 8, 32768, 1), (1, 8, 131072, 16)), (1, 2, 512, 2),
        {"128": (8, 128, 128), "64": (8, 128, 64)}, _attention,
    ),
    "paged_attention": KernelWork(
        _paged, ((16, 8, 8192, 1), (16, 8, 32768, 1)), (2, 2, 256, 1), {"64": (8, 128, 64)},
        _paged_attention,
    ),
    "grouped_gemm": KernelWork(
        _grouped, ((32768, 2048, 2048, 64),), (256, 256, 96, 2),
        {"128x128x64": (128, 128, 64), "128x256x64": (128, 256, 64)}, _by_experts,
    ),
    "column_sums": KernelWork(
        _column_sums, ((16384, 4096, 32),), (256, 256, 2),
        {"64x128": (64, 128), "128x64": (128, 64), "32x128": (32, 128)},
        lambda x, y: x.reshape(len(y), -1, x.shape[1]).sum(1),
    ),
    "group_norm": KernelWork(
        _group_norm, ((32, 32, 16, 4096),), (1, 2, 16, 1024), {"16x512": (16, 512)}, _normalized
    ),
    "rope": KernelWork(_rope, ((128, 4096, 128),), (2, 64, 128), {"32": (128, 32)}, _turned),
    "cross_entropy": KernelWork(
        _losses, ((4096, 131072),), (3, 16384), {"4096": (4096,), "8192": (8192,)}, _cross_entropy
    ),
    "top_k": KernelWork(_largest, _WIDE, (3, 4096), {"8 of 4096": (8, 4096)}, _top),
    "histogram": KernelWork(
        _counted, ((1 << 26, 4096),), (8192, 256), {"4096": (4096,)}, _histogram
    ),
    "cumsum_rows": KernelWork(
        _sums, ((8192, 4096),), (3, 4096), {"4096": (4096,)}, lambda x, y: x.cumsum(1)
    ),
    "cumsum_columns": KernelWork(
        _sums, ((8192, 4096),), (256, 64), {"64x32": (64, 32)}, lambda x, y: x.cumsum(0)
    ),
}  # fmt: skip
"""By the kernel's name."""
