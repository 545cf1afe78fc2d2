"""TiledCopy against what threads and values are said to be, and what ldmatrix does."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from tilewright.dialects.cute import Layout, LayoutError
from tilewright.dialects.cute.atoms import CopyTraits
from tilewright.dialects.cute.symbolic.layouts import slice_layout
from tilewright.dialects.cute.tiled_copy import (
    Side,
    TiledCopy,
    make_tiled_copy,
    make_tiled_copy_of,
    why_no_tiled_copy,
)
from tilewright.dialects.cute.tiled_mma import TiledMma
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.copy import CopyInstruction
from tilewright.dialects.cute_nvgpu.atoms.lookup import find
from tilewright.dialects.cute_nvgpu.types.atoms import MMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.copies import CopyInstructionAttr

Matrix = NDArray[np.int64]


def copier(kind: str, element: str = "f16", **parameters: object) -> CopyInstructionAttr:
    return CopyInstructionAttr(CopyInstruction(kind, element, **parameters))  # type: ignore[arg-type]


def image(layout: Layout) -> Matrix:
    return np.asarray(layout(np.arange(layout.size())))


def indices(copy: TiledCopy, side: Side, shape: tuple[int, int]) -> Matrix:
    """What each thread has of a column-major matrix: [threads, values] of its indices."""
    whole = copy.tidfrg(side, Layout(shape))
    found: list[Matrix] = []
    for thread in range(copy.threads):
        part = slice_layout(copy.partition_coord(whole, thread), whole)
        found.append(whole((thread, (0, 0), 0)) + image(part))
    return np.stack(found)


# --- threads and values ---------------------------------------------------------------------------

THREADS = ("(16,8):(8,1)", "(32,4):(1,32)", "(4,2):(2,1)", "(8,1):(1,0)", "(1,32):(0,1)")
VALUES = ("(1,8):(0,1)", "(4,1):(1,0)", "(2,4):(4,1)", "(2,2):(1,2)", "(1,1):(0,0)")


@settings(deadline=None)
@given(
    st.sampled_from(THREADS),
    st.sampled_from(VALUES),
    st.sampled_from((1, 2)),
    st.sampled_from((1, 3)),
)
def test_value_v_of_thread_t_is_where_the_layouts_say(
    threads: str, values: str, down: int, right: int
):
    """Element (i, j) of the values of thread (m, n) is (i + VM*m, j + VN*n): values interleave."""
    t, v = Layout.parse(threads), Layout.parse(values)
    copy = make_tiled_copy(copier("universal", bits=16), t, v)
    assert why_no_tiled_copy(copy) is None
    extents = [(a.size(), b.size()) for a, b in zip(t, v, strict=True)]
    tile = tuple(a * b for a, b in extents)
    assert copy.tile_shape == tile
    rows, columns = tile[0] * down, tile[1] * right
    expected = np.zeros((t.size(), v.size(), down, right), int)
    for m, n in np.ndindex(extents[0][0], extents[1][0]):
        for i, j in np.ndindex(extents[0][1], extents[1][1]):
            row, column = i + extents[0][1] * m, j + extents[1][1] * n
            for r, c in np.ndindex(down, right):
                element = row + tile[0] * r + rows * (column + tile[1] * c)
                expected[t((int(m), int(n))), v((int(i), int(j))), r, c] = element
    found = indices(copy, "S", (rows, columns))
    assert_array_equal(found, expected.reshape(t.size(), -1, order="F"))
    assert_array_equal(np.sort(found.ravel()), np.arange(rows * columns))
    assert_array_equal(found, indices(copy, "D", (rows, columns)))


def test_the_copy_of_cutes_sm80_tutorial():
    """sgemm_sm80.cu: threads 16x8 k-major, 8 values each along k."""
    copy = make_tiled_copy(
        copier("cp_async", bits=128, cache="ca"), Layout((16, 8), (8, 1)), Layout((1, 8))
    )
    assert (copy.threads, copy.tile_shape) == (128, (16, 64))
    found = indices(copy, "S", (16, 64))
    for thread in (0, 1, 8, 127):
        row, column = thread // 8, 8 * (thread % 8)
        assert list(found[thread]) == [row + 16 * (column + i) for i in range(8)]


# --- ldmatrix and stmatrix ------------------------------------------------------------------------

Layouts = tuple[str, str]
# CuTe's copy_traits_sm75.hpp and _sm90.hpp, their bits as elements of 16 bits.
CUTE_TRAITS: dict[tuple[int, bool], Layouts] = {
    (1, False): ("((8,4),8):((8,0),1)", "(32,2):(2,1)"),
    (2, False): ("((16,2),8):((8,0),1)", "(32,(2,2)):(2,(1,64))"),
    (4, False): ("(32,8):(8,1)", "(32,(2,4)):(2,(1,64))"),
    (1, True): ("((8,4),8):((8,0),1)", "((4,8),(1,2)):((16,1),(1,8))"),
    (2, True): ("((16,2),8):((8,0),1)", "((4,8),(1,2,2)):((16,1),(1,8,64))"),
    (4, True): ("(32,8):(8,1)", "((4,8),(1,2,4)):((16,1),(1,8,64))"),
}


def same(a: Layout, b: Layout) -> bool:
    threads, values = (np.arange(b[mode].size()) for mode in (0, 1))
    pairs = [np.asarray(x[0](threads))[:, None] + np.asarray(x[1](values)) for x in (a, b)]
    return a[0].size() == 32 and a.size() == b.size() and np.array_equal(*pairs)


@pytest.mark.parametrize(("number", "trans"), CUTE_TRAITS)
def test_traits_are_those_of_cute(number: int, trans: bool):
    memory, registers = (Layout.parse(text) for text in CUTE_TRAITS[number, trans])
    loads = copier("ldmatrix", number=number, trans=trans).copy_traits
    stores = copier("stmatrix", number=number, trans=trans).copy_traits
    for traits, source, destination in ((loads, memory, registers), (stores, registers, memory)):
        assert same(traits.source, source) and same(traits.destination, destination)
        assert same(traits.reference, registers)


def loaded(rows: Matrix, number: int, trans: bool) -> Matrix:
    """What ldmatrix gives each lane for the rows that its lanes name: PTX ISA 9.7.14.5.15."""
    found = np.zeros((32, 2 * number), np.int64)
    for matrix in range(number):
        held = rows[8 * matrix : 8 * matrix + 8]
        held = held.T if trans else held
        for lane in range(32):
            group, place = divmod(lane, 4)
            found[lane, 2 * matrix : 2 * matrix + 2] = held[group, 2 * place : 2 * place + 2]
    return found


MMAS = {
    "2x2 warps, 32x32x16": ("(2,2,1):(1,2,0)", (32, 32, 16)),
    "one warp, 16x16x16": ("(1,1,1):(0,0,0)", (16, 16, 16)),
    "4 warps along M, 64x32x32": ("(4,1,1):(1,0,0)", (64, 32, 32)),
}


def tiled(name: str) -> TiledMma:
    atom = find("sm80.mma", (16, 8, 16), ("f16", "f16", "f32", "f32"))
    atom_layout, tile = MMAS[name]
    m, n, k = (Layout(extent, 1) for extent in tile)
    return TiledMma(MMA_ATOM_TYPES["sm80.mma"](atom), Layout.parse(atom_layout), (m, n, k))


def fragment(mma: TiledMma, which: Literal["A", "B", "C"], shape: tuple[int, int]) -> list[Matrix]:
    """The indices that each thread's fragment holds, in the order of its registers."""
    whole = mma.thrfrg(which, Layout(shape))
    found: list[Matrix] = []
    for thread in range(mma.threads):
        at = mma.partition_coord(which, whole, thread)
        found.append(whole((at[0], (0, 0))) + image(slice_layout(at, whole)))
    return found


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("which", ["A", "B"])
@pytest.mark.parametrize("name", MMAS)
def test_ldmatrix_brings_what_the_mma_reads(name: str, which: Literal["A", "B"], number: int):
    """The rows that partition_S names, through the instruction, into the registers that retile
    names, are the MMA's fragment."""
    mma = tiled(name)
    copy = make_tiled_copy_of(which, copier("ldmatrix", number=number), mma)
    assert why_no_tiled_copy(copy) is None
    rows, columns = mma.tile_of(which)
    shape = (2 * rows, 2 * columns)
    wanted = fragment(mma, which, shape)
    registers = mma.partition(which, Layout(shape)).shape
    retiled = copy.retile(Layout(registers))
    source = indices(copy, "S", shape)
    places = image(retiled).reshape(2 * number, -1, order="F")
    named = source.reshape(copy.threads, 8, -1, order="F")
    for warp in range(0, mma.threads, 32):
        for instruction in range(places.shape[1]):
            got = loaded(named[warp : warp + 32, :, instruction], number, trans=False)
            for lane in range(32):
                held = wanted[warp + lane][places[:, instruction]]
                assert_array_equal(got[lane], held)


@pytest.mark.parametrize("number", [2, 4])
def test_ldmatrix_transposes_what_lies_along_n(number: int):
    """B with N contiguous: each named run goes along N, `.trans` turns the matrices."""
    mma = tiled("2x2 warps, 32x32x16")
    copy = make_tiled_copy_of("B", copier("ldmatrix", number=number, trans=True), mma)
    shape = (64, 32)
    wanted = fragment(mma, "B", shape)
    retiled = copy.retile(Layout(mma.partition("B", Layout(shape)).shape))
    places = image(retiled).reshape(2 * number, -1, order="F")
    named = indices(copy, "S", shape).reshape(copy.threads, 8, -1, order="F")
    # Runs are elements that are neighbours along mode 0.
    assert (np.diff(named, axis=1) == 1).all()
    for warp in range(0, mma.threads, 32):
        for instruction in range(places.shape[1]):
            got = loaded(named[warp : warp + 32, :, instruction], number, trans=True)
            for lane in range(32):
                held = wanted[warp + lane][places[:, instruction]]
                assert_array_equal(got[lane], held)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_stmatrix_stores_what_the_mma_holds(number: int):
    mma = tiled("2x2 warps, 32x32x16")
    copy = make_tiled_copy_of("C", copier("stmatrix", number=number), mma)
    shape = (64, 64)
    held = fragment(mma, "C", shape)
    retiled = copy.retile(Layout(mma.partition("C", Layout(shape)).shape))
    places = image(retiled).reshape(2 * number, -1, order="F")
    named = indices(copy, "D", shape).reshape(copy.threads, 8, -1, order="F")
    for warp in range(0, mma.threads, 32):
        for instruction in range(places.shape[1]):
            got = loaded(named[warp : warp + 32, :, instruction], number, trans=False)
            for lane in range(32):
                assert_array_equal(got[lane], held[warp + lane][places[:, instruction]])


# --- what is none ---------------------------------------------------------------------------------


def fault(layout_tv: str, *tiler: int, **atom: object) -> str:
    copy = TiledCopy(
        copier("universal", **(atom or {"bits": 128})),
        Layout.parse(layout_tv),
        tuple(Layout(extent, 1) for extent in tiler),
    )
    return why_no_tiled_copy(copy) or "none"


def test_what_is_no_tiled_copy():
    assert fault("((4,32),8):((256,1),32)", 32, 32) == "none"
    assert "cover the tile of 2048 elements" in fault("((4,32),8):((256,1),32)", 32, 64)
    assert "cover the tile of 1024 elements" in fault("((4,32),8):((128,1),32)", 32, 32)
    assert "nearest legal: 8" in fault("(32,4):(4,1)", 32, 4)
    assert "(thread, value)" in fault("(4,32,8):(256,1,32)", 32, 32)


def test_a_fragment_that_is_not_the_tile_s():
    mma = tiled("2x2 warps, 32x32x16")
    copy = make_tiled_copy_of("A", copier("ldmatrix", number=4), mma)
    with pytest.raises(LayoutError):
        copy.retile(Layout((6, 4, 2)))
    with pytest.raises(LayoutError):
        copy.retile(Layout((8,)))


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("universal", {"bits": 48}, "16 or 32 or 64 or 128 bits of f16, got 48; nearest legal: 32"),
        ("universal", {"bits": 32, "cache": "cg"}, "a cache with cp_async alone"),
        ("cp_async", {"bits": 64, "cache": "cg"}, "128 bits of f16, got 64; nearest legal: 128"),
        ("cp_async", {"bits": 128}, "a cache of ca, cg, got None"),
        ("ldmatrix", {"number": 3}, "x1 or x2 or x4, got x3; nearest legal: x2"),
    ],
)
def test_what_no_instruction_copies(kind: str, parameters: dict[str, object], message: str):
    with pytest.raises(AtomError, match=message):
        copier(kind, **parameters)


def test_elements_of_other_widths():
    """ldmatrix moves runs of 16 bytes, whatever they are made of."""

    def traits(element: str) -> CopyTraits:
        return copier("ldmatrix", element, number=4).copy_traits

    assert (traits("i8").source[1].size(), traits("i8").values) == (16, 16)
    assert (traits("f32").source[1].size(), traits("f32").values) == (4, 4)
    with pytest.raises(AtomError, match="of 8 or 16 bits, got f32"):
        copier("ldmatrix", "f32", number=4, trans=True)
