"""Layouts of tiles as tables of bits, and where their elements are in shared memory."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from tilewright.passes.cuda_tile.layouts.layouts import (
    TileLayout,
    blocked,
    broadcast_bits,
    inverse,
    permuted_bits,
    spread,
)
from tilewright.passes.cuda_tile.layouts.shared_order import (
    converting,
    row_major,
    rows_of_chunks,
)


def numbers(layout: TileLayout) -> NDArray[np.int64]:
    """The number of the element that each register of each thread holds: [threads, registers]."""
    threads = [spread(t, layout.threads) for t in range(1 << len(layout.threads))]
    return np.array(threads)[:, None] + np.array(layout.places)[None]


def test_blocked_layouts_hold_every_element_once() -> None:
    for bits, threads, run in product(range(0, 9), (0, 3, 5), (0, 2)):
        if run <= max(0, bits - threads):
            layout = blocked(range(bits), threads, run)
            elements = numbers(layout)
            assert sorted(set(elements.ravel().tolist())) == list(range(1 << bits))
            assert elements.size == 1 << max(bits, threads)
            assert layout.run_bits >= run


def test_permuted_and_broadcast_tiles() -> None:
    shape, order = (4, 8, 2), (2, 0, 1)
    layout = blocked(range(6), 3, 1)
    turned = layout.renumbered(inverse(permuted_bits(shape, order)))
    want = np.arange(64).reshape(shape).transpose(order).ravel()
    assert (want[numbers(turned)] == numbers(layout)).all()
    wide = blocked(range(6), 4, 1)
    own = wide.renumbered(broadcast_bits((1, 8, 1), shape))
    source = np.broadcast_to(np.arange(8).reshape(1, 8, 1), shape).ravel()
    assert set(source[numbers(wide)][0]) == set(numbers(own)[0])


@pytest.mark.parametrize("columns, size", [(64, 2), (32, 2), (128, 1), (16, 4)])
def test_swizzled_rows_lie_in_different_banks(columns: int, size: int) -> None:
    """Both 8 rows of one chunk, and the chunks of one row as far as a line goes."""
    low, rows = columns.bit_length() - 1, 5
    order = rows_of_chunks(range(low), range(low, low + rows), size)
    addresses = [order.at(number) for number in range(columns << rows)]
    assert sorted(addresses) == list(range(0, size * columns << rows, size))
    chunk = 16 // size
    for column in range(0, columns, chunk):
        matrix = [order.at(row * columns + column) for row in range(8)]
        assert len({address // 16 % 8 for address in matrix}) == 8
    line = [order.at(column) for column in range(0, min(columns, 8 * chunk), chunk)]
    assert len({address // 16 % 8 for address in line}) == len(line)


def test_lanes_that_conflict() -> None:
    """Rows of 256 bytes begin in one bank: 8 lanes of 16 bytes each, or 32 of 4; neighbours do
    not."""
    order = row_major(12, 4)
    rows = (*range(6, 11), None, None)
    assert order.conflicts(TileLayout(rows, (0, 1, 2, 3, 4, 5, 11))) == 8
    assert row_major(12, 4).conflicts(TileLayout(rows, (11,))) == 32
    assert order.conflicts(blocked(range(12), 7)) == 1


def test_the_side_that_takes_fewer_addresses_has_its_registers_side_by_side() -> None:
    """Sums of eight columns that eight warps have of each, of which a thread adds up those of one:
    eight addresses of a word each, or two of 16 bytes, of which swizzled banks make the second."""
    warps = (7, 8, 9)
    written = TileLayout((3, 4, 5, 6, None, *warps), (0, 1, 2))
    read = TileLayout((*range(7), None), warps)
    for source, target in ((written, read), (read, written)):
        order = converting(source, target, 4)
        assert [order.run_bits(layout) for layout in (written, read)] == [2, 0]
        assert [order.addresses(layout) for layout in (written, read)] == [2, 1]
        assert [order.conflicts(layout) for layout in (written, read)] == [1, 1]
