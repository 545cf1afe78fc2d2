"""Every MMA row of the lattice makes tiles: partition, fragments, gemm, the same bits at three
levels, NumPy's numbers, and PTX that ptxas takes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
import pytest
import umma_tiles
from covering import covering
from mma_tiles import FragmentMma, arguments_of, expected, product, text_of, traits_of
from numpy.testing import assert_array_equal
from tile_levels import lowered, run

from tilewright.arguments.dtypes import dtype_of_element
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, UMMA_ROWS, WGMMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, lowest
from tilewright.launch.ptxas import PtxasReport

ATOMS = [atom for row in MMA_ROWS for atom in atoms_of(row) if atom.types[2] == atom.types[3]]


def differences(atom: MmaAtom) -> Iterator[Hashable]:
    row = atom.row
    yield row.op, row.shape
    yield from ((which, atom.element(which)) for which in atom.inputs)
    yield row.kind, row.scale, row.bit_op, row.matrices and atom.majors


def differences_of_wgmma(atom: WgmmaAtom) -> Iterator[Hashable]:
    yield atom.op, atom.types[0], atom.frag_kind
    yield atom.types[1:]


WGMMAS = [
    WgmmaAtom(row, 8, types, frag_kind=kind)
    for row in WGMMA_ROWS
    for types in row.element_types()
    for kind in ("ss", "rs")
]


@pytest.mark.parametrize("atom", covering(ATOMS, differences), ids=str)
def test_atoms_of_warps(atom: MmaAtom, ptxas: Callable[..., PtxasReport]):
    check(atom, ptxas)


@pytest.mark.parametrize("atom", covering(WGMMAS, differences_of_wgmma), ids=str)
def test_atoms_of_warpgroups(atom: WgmmaAtom, ptxas: Callable[..., PtxasReport]):
    check(atom, ptxas)


UMMAS = [
    UmmaAtom(row, tile.m, n, types, tile.cta_group, ("k", "k"), kind)
    for row in UMMA_ROWS
    for types in row.element_types()
    for tile in row.tiles
    for kind, ns in (("ss", tile.ns), ("ts", tile.tmem_ns))
    for n in [n for n in (32, 64) if n in ns][:1]
    if row.scale is None or row.scale.vector <= 4
]


def differences_of_umma(atom: UmmaAtom) -> Iterator[Hashable]:
    yield atom.op, atom.frag_kind
    yield atom.m, atom.cta_group
    yield atom.row.kind, atom.row.scale, atom.shape[2]
    yield from atom.types


@pytest.mark.parametrize("atom", covering(UMMAS, differences_of_umma), ids=lambda x: x.parameters)
def test_atoms_of_ctas(atom: UmmaAtom, ptxas: Callable[..., PtxasReport]):
    given, count = umma_tiles.arguments_of(atom), umma_tiles.columns_of(atom)
    text, arch = umma_tiles.text_of(atom, given), "sm_103a" if atom.shape[2] == 96 else "sm_100a"
    lanes, ctas = umma_tiles.LANES * atom.cta_group, atom.cta_group
    out = np.zeros(lanes * count, f"uint{atom.element('D').bits}")
    args = [*(argument.array for argument in given.values()), out]
    launch: dict[str, Any] = {"threads": umma_tiles.LANES, "grid": (ctas,), "arch": arch}
    found = run(text, *args, numerics="exact", **launch)[-1]
    numbers = umma_tiles.numbers_of(atom, found.reshape(lanes, count))
    assert_array_equal(numbers, product(given))
    report = ptxas(lowered(text, arch)[1], arch)
    assert report.clean, report.output


def check(atom: FragmentMma, ptxas: Callable[..., PtxasReport]) -> None:
    given = arguments_of(atom)
    text, target = text_of(atom, given), lowest([atom.row.target])
    arch = max(target, TARGETS["sm_75"], key=lambda each: each.number).name
    args: list[Any] = [argument.array for argument in given.values()]
    place, threads = list(given).index("C"), traits_of(atom).together
    found = run(text, *args, arch=arch, numerics="exact", threads=threads)[place]
    element, shape = atom.element("D").mlir, given["C"].numbers.shape
    numbers = found.view(dtype_of_element(element)).reshape(shape).astype(np.float64)
    assert_array_equal(numbers, expected(atom, given))
    report = ptxas(lowered(text, arch)[1], arch)
    assert report.ok, report.errors
