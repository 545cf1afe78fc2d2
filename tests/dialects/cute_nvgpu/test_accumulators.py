"""Rows, reductions and chained MMAs against what each thread holds, element by element."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tilewright.dialects.cute import Layout, LayoutError
from tilewright.dialects.cute.accumulators import along, as_operand_a, lanes_along
from tilewright.dialects.cute.atoms import Operand
from tilewright.dialects.cute.symbolic.layouts import slice_layout
from tilewright.dialects.cute.tiled_mma import TiledMma
from tilewright.dialects.cute_nvgpu.atoms.lookup import find
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import find_wgmma
from tilewright.dialects.cute_nvgpu.types.atoms import MMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.shared_atoms import WGMMA_ATOM_TYPES


def warps(m: int, n: int, *, k: int = 16, element: str = "bf16") -> TiledMma:
    """m16n8 atoms of warps along M and N, two atoms of a warp side by side along N."""
    atom = find("sm80.mma", (16, 8, k), (element, element, "f32", "f32"))
    permutation = tuple(Layout(extent, 1) for extent in (16 * m, 16 * n, k))
    return TiledMma(MMA_ATOM_TYPES[atom.op](atom), Layout((m, n, 1)), permutation)  # type: ignore[arg-type]


def warpgroups(m: int, n: int) -> TiledMma:
    atom = find_wgmma("sm90.mma", (64, n, 16), ("bf16", "bf16", "f32"))
    return TiledMma(WGMMA_ATOM_TYPES["sm90.mma"](atom), Layout((m, 1, 1)))


CASES = [
    (warps(4, 1), (64, 64)), (warps(2, 1), (64, 32)), (warps(1, 1), (16, 16)),
    (warps(4, 1), (128, 48)), (warpgroups(1, 64), (64, 64)), (warpgroups(2, 32), (256, 64)),
]  # fmt: skip
ACROSS = [(warps(2, 2), (64, 64)), (warps(1, 4), (32, 64))]


def held(mma: TiledMma, which: Operand, extents: tuple[int, int]) -> NDArray[np.int64]:
    """The elements of each thread, [threads, registers], as row + rows * column."""
    whole = mma.thrfrg(which, Layout(extents))
    found: list[NDArray[np.int64]] = []
    for thread in range(mma.threads):
        at = mma.partition_coord(which, whole, thread)
        part = slice_layout(at, whole)
        start = whole((at[0], (0, 0)))
        found.append(start + np.asarray(part(np.arange(part.size()))))
    return np.stack(found)


@pytest.mark.parametrize("mma, extents", CASES + ACROSS)
@pytest.mark.parametrize("mode", [0, 1])
def test_registers_along_a_mode(mma: TiledMma, extents: tuple[int, int], mode: int):
    """Two elements of a thread share a register just where they share the row (or column)."""
    layout = along(mma, extents, {mode})
    registers = np.asarray(layout(np.arange(layout.size())))
    assert sorted(set(registers)) == list(range(layout.cosize()))
    places = held(mma, "C", extents)
    places = places % extents[0] if mode == 0 else places // extents[0]
    for mine in places:
        assert len(set(mine)) == len(set(zip(mine, registers, strict=True))) == layout.cosize()


@pytest.mark.parametrize("mma, extents", CASES)
def test_registers_along_both_modes_are_all(mma: TiledMma, extents: tuple[int, int]):
    layout = along(mma, extents, (0, 1))
    assert np.asarray(layout(np.arange(layout.size()))).tolist() == list(range(layout.size()))


@pytest.mark.parametrize("mma, extents", CASES)
def test_lanes_that_share_rows(mma: TiledMma, extents: tuple[int, int]):
    """The threads reached over those bits have the whole of each other's rows, nobody else any."""
    bits = lanes_along(mma, 1)
    assert bits == [1, 2]
    rows = held(mma, "C", extents) % extents[0]
    groups: dict[int, set[int]] = {}
    for thread, mine in enumerate(rows):
        groups.setdefault(thread & ~sum(bits), set()).update(mine)
    for key, found in groups.items():
        assert found == set(rows[key])
    assert sum(map(len, groups.values())) == extents[0]


@pytest.mark.parametrize("mma, extents", ACROSS)
def test_rows_that_several_warps_share(mma: TiledMma, extents: tuple[int, int]):
    with pytest.raises(LayoutError, match=r"expected each warp to have all of mode 1 of C"):
        lanes_along(mma, 1)


def test_columns_within_a_warp_and_across():
    assert lanes_along(warps(1, 2), 0) == [4, 8, 16]
    with pytest.raises(LayoutError, match="all of mode 0"):
        lanes_along(warpgroups(1, 64), 0)


@pytest.mark.parametrize("mma, extents", CASES[:4])
def test_accumulators_as_a(mma: TiledMma, extents: tuple[int, int]):
    """Through the order, a thread's registers of C are its elements of A, in A's order."""
    order = as_operand_a(mma, mma, extents)
    c, a = (held(mma, which, extents) for which in ("C", "A"))
    registers = np.asarray(order(np.arange(order.size())))
    assert (c[:, registers] == a).all() and sorted(registers) == list(range(c.shape[1]))


def test_accumulators_as_a_worked_example():
    mma = warps(1, 1)
    assert str(along(mma, (16, 16), (0, 1))) == "((2,2),1,2):((1,2),4,4)"
    assert str(as_operand_a(mma, mma, (16, 16))) == "((2,2,2),1,1):((1,2,4),4,8)"


@pytest.mark.parametrize("second, extents", [
    (warps(2, 2), (64, 64)),  # other rows
    (warps(4, 1, k=8, element="tf32"), (64, 64)),  # other columns
])  # fmt: skip
def test_accumulators_that_are_no_a(second: TiledMma, extents: tuple[int, int]):
    with pytest.raises(LayoutError):
        as_operand_a(warps(4, 1), second, extents)
