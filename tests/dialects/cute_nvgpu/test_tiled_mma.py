"""TiledMMA against its definition: the atoms' fragments, copied over warps and rest tiles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.atoms import OPERAND_MODES, Operand
from tilewright.dialects.cute.symbolic.layouts import slice_layout
from tilewright.dialects.cute.tiled_mma import TiledMma, why_no_tiled_mma
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.atoms.lookup import find
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import find_wgmma
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.cute_nvgpu.types.atoms import MMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.shared_atoms import WGMMA_ATOM_TYPES

OPERANDS: tuple[Operand, ...] = ("A", "B", "C")
F16 = find("sm80.mma", (16, 8, 16), ("f16", "f16", "f32", "f32"))
SHAPES = ((16, 8, 16), (16, 8, 8))


def tiled(atom: MmaAtom, *parts: object) -> TiledMma:
    return TiledMma(MMA_ATOM_TYPES[atom.op](atom), *parts)  # type: ignore[arg-type]


def is_dense(atom: MmaAtom) -> bool:
    """Of one matrix, and no other operands than A, B and C."""
    return atom.inputs == OPERANDS and atom.row.matrices == 1


# Of the dense atoms one of each set of layouts: the others differ in what they multiply.
DENSE = list(
    {
        (atom.op, atom.shape, *(atom.tv_layout(which) for which in OPERANDS)): atom
        for row in MMA_ROWS
        for atom in atoms_of(row)
        if is_dense(atom)
    }.values()
)


def image(layout: Layout, count: int) -> NDArray[np.int64]:
    return np.asarray(layout(np.arange(count)))


def indices(mma: TiledMma, which: Operand, rows: int, columns: int) -> NDArray[np.int64]:
    """What each thread has of a column-major matrix: [threads, values] of its indices."""
    whole = mma.thrfrg(which, Layout((rows, columns)))
    found: list[NDArray[np.int64]] = []
    for thread in range(mma.threads):
        at = mma.partition_coord(which, whole, thread)
        part = slice_layout(at, whole)
        start = whole((at[0], (0, 0)))
        found.append(start + image(part, part.size()))
    return np.stack(found)


def test_there_are_atoms_of_every_dense_tier():
    assert {atom.op for atom in DENSE} >= {"sm80.mma", "sm89.mma", "SM120.mma"}
    for op in ("sm80.sparse_mma", "SM120.mma_bs", "wmma.mma"):
        assert not any(atom.op == op for atom in DENSE)


@pytest.mark.parametrize("which", OPERANDS)
def test_one_atom_is_held_as_its_fragment_says(which: Operand):
    for atom in DENSE:
        mma = tiled(atom)
        rows, columns = atom.extents(which)
        coords = atom.coords(which)
        expected = coords[..., 0] + rows * coords[..., 1]
        assert_array_equal(indices(mma, which, rows, columns), expected)


def expected_indices(
    mma: TiledMma, atom: MmaAtom, which: Operand, rows: int, columns: int
) -> NDArray[np.int64]:
    """The definition, element by element: value i of lane v of the warp at (wm, wn, wk), in the
    rest tile (r, c), is element (row, column) of its atom, permuted within the tile."""
    modes = OPERAND_MODES[which]
    warps = [mode.size() for mode in mma.atom_layout]
    tile = mma.tile_of(which)
    units = [mma.traits.shape[mode] * warps[mode] for mode in modes]
    repeats = [extent // unit for extent, unit in zip(tile, units, strict=True)]
    coords = atom.coords(which)
    found = np.zeros((mma.threads, coords.shape[1], rows // units[0], columns // units[1]), int)
    for thread in range(mma.threads):
        place = [
            next(
                w for w in np.ndindex(*warps) if mma.atom_layout(tuple(map(int, w))) == thread // 32
            )
        ][0]
        for value in range(coords.shape[1]):
            for rest in np.ndindex(found.shape[2], found.shape[3]):
                at: list[int] = []
                for side, mode in enumerate(modes):
                    inside = int(coords[thread % 32, value, side])
                    inside += mma.traits.shape[mode] * place[mode]
                    inside += units[side] * (rest[side] % repeats[side])
                    permuted = mma.permuted(mode)(inside)
                    at.append(permuted + tile[side] * (rest[side] // repeats[side]))
                found[(thread, value, *rest)] = at[0] + rows * at[1]
    return found.reshape(mma.threads, -1, order="F")


ATOM_LAYOUTS = ("(1,1,1):(0,0,0)", "(2,2,1):(1,2,0)", "(2,2,1):(2,1,0)", "(1,2,2):(0,1,2)")


@st.composite
def tiled_mmas(draw: st.DrawFn) -> tuple[TiledMma, MmaAtom]:
    atom = find("sm80.mma", draw(st.sampled_from(SHAPES)), ("f16", "f16", "f32", "f32"))
    atom_layout = Layout.parse(draw(st.sampled_from(ATOM_LAYOUTS)))
    permutation: list[Layout | None] = []
    for mode in range(3):
        unit = atom.shape[mode] * atom_layout[mode].size()
        times = draw(st.sampled_from((1, 2)))
        choices = [None, Layout(unit * times, 1)]
        half = unit // 2
        choices.append(Layout((half, times, 2), (1, 2 * half, half)))
        choices.append(Layout((times, unit), (unit, 1)))
        permutation.append(draw(st.sampled_from(choices)))
    return tiled(atom, atom_layout, tuple(permutation)), atom


@settings(deadline=None)
@given(tiled_mmas(), st.sampled_from(OPERANDS), st.sampled_from((1, 2)), st.sampled_from((1, 3)))
def test_partitions_are_those_of_the_definition(
    made: tuple[TiledMma, MmaAtom], which: Operand, down: int, right: int
):
    mma, atom = made
    assert why_no_tiled_mma(mma) is None
    rows, columns = (
        extent * times for extent, times in zip(mma.tile_of(which), (down, right), strict=True)
    )
    found = indices(mma, which, rows, columns)
    assert_array_equal(found, expected_indices(mma, atom, which, rows, columns))
    # Each element is held as often as there are warps along the mode that the operand has not.
    other = ({0, 1, 2} - set(OPERAND_MODES[which])).pop()
    held = np.bincount(found.ravel(), minlength=rows * columns)
    assert set(held) == {mma.atom_layout[other].size()}


@settings(deadline=None)
@given(tiled_mmas(), st.sampled_from(OPERANDS))
def test_the_tv_layout_says_the_same(made: tuple[TiledMma, MmaAtom], which: Operand):
    mma, _ = made
    rows, columns = mma.tile_of(which)
    tv = mma.tv_layout(which)
    threads, values = image(tv[0], mma.threads), image(tv[1], tv[1].size())
    assert_array_equal(threads[:, None] + values[None, :], indices(mma, which, rows, columns))


def test_the_tile_of_cutes_sm80_tutorial():
    """sgemm_sm80.cu: 2x2 warps, Tile<_32,_32,_16>."""
    mma = tiled(F16, Layout((2, 2, 1)), (Layout(32, 1), Layout(32, 1), Layout(16, 1)))
    assert (mma.threads, mma.tile_shape) == (128, (32, 32, 16))
    # (MMA,MMA_M,MMA_K,PIPE) of sA (128,64,3), and (MMA,MMA_M,MMA_N) of gC (128,128)
    assert [mode.size() for mode in mma.partition("A", Layout((128, 64, 3)))] == [8, 4, 4, 3]
    assert [mode.size() for mode in mma.partition("B", Layout((128, 64, 3)))] == [4, 8, 4, 3]
    assert [mode.size() for mode in mma.partition("C", Layout((128, 128)))] == [4, 4, 8]


@pytest.mark.parametrize("n", [8, 64, 256])
def test_warpgroups_hold_c_and_name_whole_matrices_of_a_and_b(n: int):
    atom = find_wgmma("sm90.mma", (64, n, 16), ("bf16", "bf16", "f32"))
    mma = TiledMma(WGMMA_ATOM_TYPES["sm90.mma"](atom), Layout((2, 1, 1)))
    assert mma.tile_shape == (128, n, 16)
    c = indices(mma, "C", 128, n)
    coords = atom.coords("C")
    for group in range(2):
        expected = coords[..., 0] + 64 * group + 128 * coords[..., 1]
        assert_array_equal(c[128 * group : 128 * group + 128], expected)
    # Every thread of a warpgroup has all of its 64 x 16 of A, and of B what all have.
    a, b = indices(mma, "A", 128, 16), indices(mma, "B", n, 16)
    rows = np.arange(64)[:, None] + 128 * np.arange(16)
    for group in range(2):
        wanted = (rows + 64 * group).ravel(order="F")
        assert (a[128 * group : 128 * group + 128] == wanted).all()
    assert (b == np.arange(n * 16)).all()


def fault(atom_layout: str, *permutation: str | None) -> str | None:
    tiles = tuple(each and Layout.parse(each) for each in permutation)
    return why_no_tiled_mma(tiled(F16, Layout.parse(atom_layout), tiles or None))


def test_what_is_no_tiled_mma():
    assert fault("(2,2,1):(1,2,0)") is None
    assert "threads of their own" in (fault("(2,2,1):(1,1,0)") or "")
    assert "nearest legal: 32" in (fault("(2,2,1):(1,2,0)", "40:1", None, None) or "")
    assert "each of its 32 places once" in (fault("(2,2,1):(1,2,0)", "32:2", None, None) or "")
    assert "three modes" in (fault("(2,2,1):(1,2,0)", "32:1") or "")
    turned = (None, None, Layout((16, 2), (2, 1)))
    sparse = next(a for row in MMA_ROWS for a in atoms_of(row) if a.op == "sm80.sparse_mma")
    assert "the permutation of K to be none" in (
        why_no_tiled_mma(tiled(sparse, None, turned)) or ""
    )
    quad_pair = next(a for row in MMA_ROWS for a in atoms_of(row) if a.op == "sm70.mma")
    assert "whole groups of 32 threads" in (why_no_tiled_mma(tiled(quad_pair)) or "")
    assert why_no_tiled_mma(tiled(quad_pair, Layout((2, 2, 1)))) is None


def test_every_dense_atom_makes_a_tile_of_two_by_two_warps():
    for atom in DENSE:
        mma = tiled(atom, Layout((2, 2, 1)))
        assert why_no_tiled_mma(mma) is None
        for which in OPERANDS:
            rows, columns = mma.tile_of(which)
            held = np.bincount(indices(mma, which, rows, columns).ravel())
            assert len(held) == math.prod((rows, columns)) and len(set(held)) == 1
