"""Bank conflicts against what is known of a few layouts, and the swizzles that avoid them."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.dialects.cute import Layout, Swizzle
from tilewright.dialects.cute_nvgpu.descriptors.bank_conflicts import (
    WarpAccess,
    choose_swizzle,
    ways,
)


@pytest.mark.parametrize("stride, width, expected", [
    (4, 4, 1), (0, 4, 1), (8, 4, 2), (128, 4, 32), (2, 2, 1), (132, 4, 1),
    (8, 8, 1), (128, 8, 16), (16, 16, 1), (128, 16, 8), (144, 16, 1), (64, 16, 4),
])  # fmt: skip
def test_strides(stride: int, width: int, expected: int):
    """Threads one after the other at a stride in bytes."""
    assert ways([i * stride for i in range(32)], width) == expected


def test_ways_by_counting_words():
    """Random addresses of 4 bytes: the fullest bank's different words."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        words = rng.integers(0, 256, 32)
        fullest = max(len({w for w in words.tolist() if w % 32 == bank}) for bank in range(32))
        assert ways((words * 4).tolist(), 4) == fullest


ROWS = {32: 1, 64: 2, 128: 3}
"""Bytes of a row, and the bits of the swizzle that rows of so many bytes want."""


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_rows_of_matrices(row: int, bits: int):
    """ldmatrix reads 16 bytes of 8 neighbouring rows; cp.async writes rows from left to right."""
    columns, chunk = 8 * row // bits, 128 // bits
    per_row = row // 16
    reads = WarpAccess.of(Layout((8, 4), (columns, 8 * columns)), 16)
    writes = WarpAccess.of(Layout((per_row, 32 // per_row), (chunk, columns)), 16)
    assert reads.ways(bits) == row // 16 and writes.ways(bits) == 1
    chosen = choose_swizzle([reads, writes], bits)
    assert chosen == Swizzle(ROWS[row], chunk.bit_length() - 1, 3)
    assert reads.ways(bits, chosen) == writes.ways(bits, chosen) == 1


def test_what_does_not_conflict_is_not_swizzled():
    assert choose_swizzle([WarpAccess.of(Layout(32, 8), 16)], 16).bits == 0
