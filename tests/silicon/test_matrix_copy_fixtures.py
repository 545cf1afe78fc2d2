"""ldmatrix, stmatrix and movmatrix move what the chip moved (fixtures written by record.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matrix_copies import WARP, arguments, copies_of, kernel, result
from run_levels import at_levels

import tilewright as tw
from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import matrix_copies
from tilewright.dialects.cute_nvgpu.lattice import MOVMATRIX

FIXTURES = np.load(Path(__file__).parent / "fixtures" / "matrix_copies.npz")
ARCH = str(FIXTURES["chip"][1])
MNEMONICS = [name for name in FIXTURES.files if name != "chip"]


def test_every_copy_of_the_chip_was_recorded():
    legal = {MOVMATRIX.mnemonic, *(copy.mnemonic for copy in copies_of(ARCH))}
    assert set(MNEMONICS) == legal


@at_levels()
@pytest.mark.parametrize("mnemonic", MNEMONICS)
def test_copy_equals_the_chip(mnemonic: str, level: str):
    copy = None if mnemonic == MOVMATRIX.mnemonic else matrix_copies()[mnemonic]
    outputs = tw.interpret(
        kernel(copy), grid=(1,), block=(WARP,), args=arguments(copy), arch=ARCH, level=level
    )  # type: ignore[arg-type]
    np.testing.assert_array_equal(result(copy, outputs), FIXTURES[mnemonic])
