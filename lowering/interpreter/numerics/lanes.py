"""The layout of matrices in memory while the element-wise work runs over all K products.

NumPy is fast where its innermost loop is long and the operands stay in the L2 cache. So a batch
of products lives as one block [K, ..., lanes]: K outermost, because sums and maxima over K are
then whole-row operations, and as lanes whichever is longer, the batch or N.

    batch of many small matrices       few or large matrices
    A  [K, M, 1, batch]                A  [K, batch, M, 1]
    B  [K, 1, N, batch]                B  [K, batch, 1, N]
    C  [M, N, batch]                   C  [batch, M, N]
"""

from collections.abc import Callable, Iterator
from math import prod

import numpy as np

from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_types import AnyDType
from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.formats import Bits

BLOCK_PRODUCTS = 1 << 17
"""Products per block: 1 MiB of float64. Measured best among powers of two with 1 MiB of L2 cache:
longer innermost loops win more than the last misses lose."""


@frozen
class Block:
    """One block's operands: words as they came, not yet decoded. A, B and their scales (the
    latter None where nothing is scaled) are broadcastable to [K, ...], C is laid out like D."""

    a: Bits
    b: Bits
    c: Bits
    scale_a: Bits | None = None
    scale_b: Bits | None = None


BlockFunction = Callable[[Block], Bits]
"""From a block to the words of D, laid out like `Block.c`."""


def check_shapes(a: Bits, b: Bits, c: Bits) -> None:
    """NumericsError unless a [..., M, K], b [..., K, N], c [..., M, N] fit together, K >= 1."""
    fits = a.ndim >= 2 and a.ndim == b.ndim == c.ndim
    fits = fits and a.shape[:-2] == b.shape[:-2] == c.shape[:-2]
    fits = fits and a.shape[-1] == b.shape[-2] and a.shape[-1] > 0
    if not fits or c.shape[-2:] != (a.shape[-2], b.shape[-1]):
        raise NumericsError(
            "expected a [..., M, K], b [..., K, N], c [..., M, N] with K >= 1, "
            f"got a {a.shape}, b {b.shape}, c {c.shape}"
        )


def in_blocks(
    a: Bits,
    b: Bits,
    c: Bits,
    container: AnyDType,
    f: BlockFunction,
    scales: tuple[Bits, Bits] | None = None,
) -> Bits:
    """Apply `f` to cache-sized blocks of a [..., M, K], b [..., K, N], c [..., M, N].

    scales: of A [..., M, K] and of B [..., K, N], one to an element. Returns D [..., M, N] of
    `container`. Raises NumericsError for shapes that do not fit.
    """
    check_shapes(a, b, c)
    (m, k), n = a.shape[-2:], b.shape[-1]
    batches = prod(a.shape[:-2])
    d = np.empty(c.shape, container)
    pairs = [(a, b)] if scales is None else [(a, b), scales]
    flat = [(x.reshape(batches, m, k), y.reshape(batches, k, n)) for x, y in pairs]
    c3, d3 = c.reshape(batches, m, n), d.reshape(batches, m, n)
    for batch, rows in _slices(batches, m, n, k):
        cut = [(x[batch, rows], y[batch]) for x, y in flat]
        lanes = batch.stop - batch.start > n
        words = f(_block(cut, c3[batch, rows], lanes=lanes))
        d3[batch, rows] = words.transpose(2, 0, 1) if lanes else words
    return d


def _slices(batch: int, m: int, n: int, k: int) -> Iterator[tuple[slice, slice]]:
    """Batches and rows that make up one block each."""
    matrices = max(1, BLOCK_PRODUCTS // max(1, m * n * k))
    rows = max(1, min(m, BLOCK_PRODUCTS // max(1, n * k)))
    for start in range(0, batch, matrices):
        stop = min(batch, start + matrices)
        for row in range(0, m, rows):
            yield slice(start, stop), slice(row, min(m, row + rows))


def _block(pairs: list[tuple[Bits, Bits]], c: Bits, *, lanes: bool) -> Block:
    """The block of A, B and their scales, and C; the batch as lanes, or in front."""
    first, second, gap = ((2, 1, 0), (1, 2, 0), 2) if lanes else ((2, 0, 1), (1, 0, 2), 3)
    operands = [
        np.expand_dims(np.ascontiguousarray(matrix.transpose(axes)), place)
        for x, y in pairs
        for matrix, axes, place in ((x, first, gap), (y, second, gap - 1))
    ]
    a, b, *scales = operands
    return Block(a, b, np.ascontiguousarray(c.transpose(1, 2, 0) if lanes else c), *scales)
