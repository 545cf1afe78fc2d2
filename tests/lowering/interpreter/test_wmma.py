"""wmma from memory to memory at both levels, against NumPy."""

from __future__ import annotations

from itertools import product as product_of

import numpy as np
import pytest
from covering import covering
from fragment_kernels import both
from numpy.testing import assert_array_equal
from wmma_kernels import OPERANDS, matrix_of, product_kernel

import tilewright as tw
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.lattice import WMMA_MMA

ATOMS = [atom for row in WMMA_MMA for atom in atoms_of(row)]
RANGES = {"u8": (0, 256), "s8": (-128, 128), "u4": (0, 16), "s4": (-8, 8), "b1": (0, 2)}


def drawn(atom: MmaAtom) -> dict[str, np.ndarray]:
    """A [M, K], B [K, N], C [M, N]: integers small enough that every sum is exact."""
    rng = np.random.default_rng(1)
    m, n, k = atom.shape
    low, high = RANGES.get(atom.types[0], (-8, 9))
    return {
        "A": rng.integers(low, high, (m, k)),
        "B": rng.integers(low, high, (k, n)),
        "C": rng.integers(-1000, 1000, (m, n)),
    }


def product(atom: MmaAtom, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """D, exact. A b1 product counts the ones of `xor` or `and`."""
    if atom.row.bit_op == "xor":
        return (a[:, :, None] ^ b[None]).sum(1) + c
    return a @ b + c


def differences(case: tuple[MmaAtom, str]) -> tuple[object, ...]:
    """An atom's row, its types, and how its matrices lie."""
    atom, major = case
    return (atom.row, major), atom.types, (atom.shape, atom.types[0], atom.majors, major)


PRODUCTS = covering(product_of(ATOMS, ("row", "col")), differences)


@pytest.mark.parametrize("atom, major", PRODUCTS, ids=str)
def test_every_wmma_from_memory_to_memory(atom: MmaAtom, major: str):
    """Matrices with rows of others around them, C in one layout and D in the other."""
    other = {"row": "col", "col": "row"}[major]
    matrices = {each: matrix_of(atom, each, other if each == "D" else major) for each in OPERANDS}
    values = drawn(atom)
    expected = product(atom, *values.values())
    values["D"] = np.zeros_like(expected)
    args = [matrices[each].memory(values[each]) for each in OPERANDS]
    found = both(product_kernel(atom, matrices), args)
    wanted = [*args[:3], matrices["D"].memory(expected)]
    for have, want in zip(found, wanted, strict=True):
        assert_array_equal(have, want)


def test_satfinite_clamps():
    atom = tw.atom("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite")
    matrices = {each: matrix_of(atom, each) for each in OPERANDS}
    ones, most = np.ones((16, 16), int), np.full((16, 16), (1 << 31) - 3)
    values = {"A": ones, "B": ones, "C": most, "D": 0 * ones}
    args = [matrices[each].memory(values[each]) for each in OPERANDS]
    found = both(product_kernel(atom, matrices), args)
    want = matrices["D"].memory(np.full((16, 16), (1 << 31) - 1))
    assert_array_equal(found[3], want)
