"""How matrices lie in tensor memory, and what the threads of a warp hold of it.

The formulas are those of the PTX ISA's figures and tables (tcgen05), written out.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from covering import covering
from hypothesis import given, settings
from hypothesis import strategies as st
from tmem_kernels import cells_of_shapes

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import (
    TmemAccess,
    copy_lanes,
    find_access,
    why_overlapping,
)
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import (
    DATA_PATHS,
    HALVED_SCALE_COPIES,
    PAIR_STRIDE,
    SCALE_COPIES,
    DataPath,
    TmemLayoutError,
    accumulator,
    copies,
    data_path,
    halved_scale_factors,
    metadata,
    multiplicand,
    scale_factors,
    span,
)
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import (
    TMEM_COPY_SHAPES,
    TMEM_SHAPES,
    TmemShape,
)

Place = tuple[int, int, int, int]
"""CTA of the pair, lane, column, bit of the cell."""


def place(offset: int, bits: int) -> Place:
    """Where an element is."""
    cell, bit = divmod(offset * bits, 32)
    cta, address = divmod(cell, PAIR_STRIDE)
    return cta, address >> 16, address & 0xFFFF, bit


def table(layout: Layout, bits: int) -> dict[int, Place]:
    return {i: place(layout(i), bits) for i in range(layout.size())}


# D: (cta, lane, column) of row i and column j, N columns in all.
D: dict[str, Callable[[int, int, int], tuple[int, int, int]]] = {
    "A": lambda i, j, n: (i // 128, i % 128, j),
    "B": lambda i, j, n: (i // 64, i % 64 + 64 * (j >= n // 2), j % (n // 2)),
    "C": lambda i, j, n: (i // 64, i % 64 % 16 + 32 * (i % 64 // 16), j),
    "D": lambda i, j, n: (0, i, j),
    "E": lambda i, j, n: (0, i + 64 * (j >= n // 2), j % (n // 2)),
    "F": lambda i, j, n: (0, i % 16 + 32 * (i // 16), j),
    "G": lambda i, j, n: (0, i + 32 * (j // (n // 4)), j % (n // 4)),
}
paths = pytest.mark.parametrize("path", DATA_PATHS, ids=lambda path: path.letter)


@pytest.mark.covered
@paths
@pytest.mark.parametrize("n, bits", [(16, 16), (16, 32), (64, 16), (256, 32)])
def test_accumulator(path: DataPath, n: int, bits: int):
    layout = accumulator(path, n, bits)
    assert (layout[0].size(), layout[1].size()) == (path.m, n)
    found: set[tuple[int, int, int]] = set()
    for i in range(path.m):
        for j in range(n):
            cta, lane, column, bit = place(layout(i, j), bits)
            assert (cta, lane, column) == D[path.letter](i, j, n)
            assert bit == 0, "an element of 16 bits has a cell of its own"
            found.add((cta, lane, column))
    assert len(found) == path.m * n


def test_which_path():
    letters = {
        (m, group, ws, sparse): path.letter
        for path in DATA_PATHS
        for m, group in [(path.m, path.cta_group)]
        for ws in path.ws
        for sparse in path.sparse
    }
    assert letters[64, 1, False, False] == "F" and letters[64, 1, True, True] == "E"
    assert letters[128, 2, False, False] == "B" and letters[128, 2, False, True] == "C"
    for (m, group, ws, sparse), letter in letters.items():
        assert data_path(m, group, ws=ws, sparse=sparse).letter == letter
    with pytest.raises(TmemLayoutError, match="expected M 128 or 256 with cta_group 2, got 64"):
        data_path(64, 2)
    with pytest.raises(TmemLayoutError, match="expected M none with cta_group 2 weight-stationary"):
        data_path(64, 2, ws=True)
    with pytest.raises(TmemLayoutError, match="expected N a multiple of 4, got 6"):
        accumulator(data_path(32, ws=True), 6)


@paths
@pytest.mark.parametrize("bits", [4, 8, 16, 32])
def test_multiplicand(path: DataPath, bits: int):
    """A's rows lie in the lanes of D's first part, K packed with low bits first."""
    k = 256 // bits
    layout, again = multiplicand(path, k, bits), copies(path, bits)
    found: set[Place] = set()
    for i in range(path.m):
        for j in range(k):
            cta, lane, column, bit = place(layout(i, j), bits)
            assert (cta, lane) == D[path.letter](i, 0, 16)[:2]
            assert (column, bit) == divmod(j * bits, 32)
            for copy in range(again.size()):
                found.add(place(layout(i, j) + again(copy), bits))
    assert len(found) == path.m * k * again.size()
    used = {
        lane for i in range(path.m) for j in (0, 15) for _, lane, _ in [D[path.letter](i, j, 16)]
    }
    assert {lane for _, lane, _, _ in found} >= used


def test_metadata():
    """Of M = 128, bit by bit, as the formulas for f16 and 8-bit types have it."""
    path = data_path(128, sparse=True)
    f16, f8 = metadata(path, 16, 16), metadata(path, 8, 32)
    for i in range(128):
        for index in range(16):
            k = 2 * index  # an index of 2 bits stands for 2 of 4 neighbours: bit k of them
            lane = i % 8 + 8 * (k // 16) + 16 * (i // 16)
            bit = k % 16 + 16 * (i // 8 % 2)
            assert place(f16(i, index), 2) == (0, lane, 0, bit)
        for index in range(32):
            assert place(f8(i, index), 2) == (0, i, *divmod(2 * index, 32))


@paths
@pytest.mark.parametrize("bits, indices", [(32, 16), (16, 16), (8, 32), (4, 32)])
def test_metadata_once_each(path: DataPath, bits: int, indices: int):
    layout, again = metadata(path, bits, indices), copies(path, 2)
    found = {place(layout(i) + again(copy), 2)
             for i in range(layout.size()) for copy in range(again.size())}  # fmt: skip
    assert len(found) == layout.size() * again.size() == path.m * indices * again.size()
    lanes = {(cta, lane) for cta, lane, _, _ in found}
    rows = {D[path.letter](i, j, 16)[:2] for i in range(path.m) for j in range(16)}
    assert lanes == rows


@pytest.mark.parametrize("rows", [8, 32, 64, 128, 256])
def test_scale_factors(rows: int):
    layout = scale_factors(rows)
    found: set[Place] = set()
    for row in range(rows):
        for factor in range(4):
            assert place(layout(row, factor), 8) == (0, row % 32, row // 32, 8 * factor)
            found |= {place(layout(row, factor) + SCALE_COPIES(copy), 8) for copy in range(4)}
    assert len(found) == 16 * rows


def test_scale_factors_of_several_words():
    """Factors beyond a word go on behind all columns, or behind a group of columns."""
    assert place(scale_factors(128, 2)(5, 4), 8) == (0, 5, 4, 0)
    assert place(scale_factors(96, 2, 4)(40, 6), 8) == (0, 8, 5, 16)


def test_halved_scale_factors():
    layout = halved_scale_factors(128)
    for column in range(128):
        found = place(layout(column, 2), 8)
        assert found == (0, column % 64 % 32 + 64 * (column // 64), column % 64 // 32, 16)
    assert place(HALVED_SCALE_COPIES(1), 8) == (0, 32, 0, 0)


# Loads and stores: (lane, column) of thread t and register r


HALF = 64
CELLS = cells_of_shapes(HALF)
ACCESSES = [
    (shape, number, packed)
    for shape in TMEM_SHAPES.values()
    for number in shape.numbers
    for packed in (False, True)
]


def differences(case: tuple[TmemShape, int, bool]) -> tuple[object, ...]:
    """Packed or not, each shape has its own cells; numbers repeat them."""
    shape, number, packed = case
    return (shape, packed), number


accesses = pytest.mark.parametrize("shape, number, packed", covering(ACCESSES, differences))


def access_of(shape: TmemShape, number: int, packed: bool, half: int = HALF) -> TmemAccess:
    return TmemAccess(shape, number, packed, half if shape.halves else 0)


def packed_cells(shape: TmemShape, t: int, r: int, part: int) -> tuple[int, int]:
    """Column c becomes the pair 2c and 2c + 1; the second half begins where it did."""
    lane, column = CELLS[shape.name](t, r)
    begin = HALF if shape.halves and t >= 16 else 0
    return lane, 2 * (column - begin) + begin + part


@accesses
def test_access(shape: TmemShape, number: int, packed: bool):
    access = access_of(shape, number, packed)
    cells, memory = access.cells(), access.memory(16 if packed else 32)
    assert (cells[0].size(), cells[1].size()) == (32, access.registers)
    for t in range(32):
        for r in range(access.registers):
            if packed:
                for part in (0, 1):
                    lane, column = packed_cells(shape, t, r, part)
                    assert place(memory(t, 2 * r + part), 16) == (0, lane, column, 0)
                assert cells(t, r) << 1 == memory(t, 2 * r)
            else:
                lane, column = CELLS[shape.name](t, r)
                assert place(memory(t, r), 32) == (0, lane, column, 0)
                assert cells(t, r) == memory(t, r)


def tiles() -> list[tuple[TmemShape, int, bool, int]]:
    every = product(ACCESSES, (4, 8, 16, 32))
    legal = [(*access, bits) for access, bits in every if bits == 16 or not access[2]]
    return covering(legal, lambda case: ((case[0], *case[2:]), case[1]))


@pytest.mark.parametrize("shape, number, packed, bits", tiles())
def test_tile(shape: TmemShape, number: int, packed: bool, bits: int):
    """The fragment's layout and that of memory name the same places: lane + lanes * element."""
    access = access_of(shape, number, packed)
    memory, tile = access.memory(bits), access.tile(bits)
    assert memory.size() == tile.size() == 32 * access.registers * (32 // bits)
    per_lane = 1 if packed else 32 // bits
    for i in range(0, tile.size(), 37):
        cta, lane, column, bit = place(memory(i), bits)
        element = column * per_lane + bit // bits
        assert (cta, tile(i)) == (0, lane + shape.lanes * element)
    lanes, elements = access.extents(bits)
    assert max(tile(i) for i in range(tile.size())) < lanes * elements


@settings(deadline=None)
@given(st.sampled_from([each for each in ACCESSES if each[1] <= 32]))
def test_each_cell_once(case: tuple[TmemShape, int, bool]):
    """A store hits no cell twice, and together with the others of its kind all of a window."""
    shape, number, packed = case
    half = number * (2 if packed else 1)
    access = access_of(shape, number, packed, half)
    memory = access.memory(16 if packed else 32)
    hit = {memory(i) for i in range(memory.size())}
    assert len(hit) == memory.size()
    assert span(memory, 16 if packed else 32) == (shape.lanes, access.columns)
    assert len(hit) == shape.lanes * access.columns
    assert why_overlapping(access) is None
    if shape.halves:
        assert why_overlapping(access_of(shape, number, packed, half - 1)) is not None


def test_accumulator_then_load():
    """16x256b of f32 is the accumulator fragment of mma.m16n8."""
    tile = access_of(TMEM_SHAPES["16x256b"], 4, packed=False).tile(32)
    for t in range(32):
        for v in range(16):
            row, column = t // 4 + 8 * (v // 2 % 2), 2 * (t % 4) + v % 2 + 8 * (v // 4)
            assert tile(t, v) == row + 16 * column


def test_find_access():
    shape = TMEM_SHAPES["16x128b"]
    assert find_access(shape, 8) == TmemAccess(shape, 4)
    with pytest.raises(AtomError, match="got 256; nearest legal: 128"):
        find_access(shape, 256)


# Copies


def test_copy_lanes():
    lanes = {
        name: [[layout(row + layout[0].size() * copy) for copy in range(layout[1].size())]
               for row in range(layout[0].size())]
        for name, layout in ((shape.spelled, copy_lanes(shape)) for shape in
                             TMEM_COPY_SHAPES.values())
    }  # fmt: skip
    assert lanes["128x256b"] == lanes["128x128b"] == [[row] for row in range(128)]
    assert lanes["4x256b"] == [[0], [32], [64], [96]]
    assert lanes["64x128b.warpx2::02_13"] == [[row, row + 64] for row in range(64)]
    spread = [row % 32 + 64 * (row // 32) for row in range(64)]
    assert lanes["64x128b.warpx2::01_23"] == [[lane, lane + 32] for lane in spread]
    assert lanes["32x128b.warpx4"] == [[row + 32 * q for q in range(4)] for row in range(32)]
    assert np.prod([shape.columns for shape in TMEM_COPY_SHAPES.values()]) == 8 * 4 * 8 * 4 * 4 * 4
