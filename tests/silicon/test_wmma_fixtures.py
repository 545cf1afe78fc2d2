"""wmma loads, multiplies and stores what the chip did (fixtures written by record.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from inputs import MMA_CASES, mma_inputs
from numpy.testing import assert_array_equal
from record import all_mmas
from wmma_matrices import WARP, access_arguments, access_kernel, access_result, accesses_of

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice import WMMA_MMA

FIXTURES = np.load(Path(__file__).parent / "fixtures" / "wmma.npz")
ARCH = str(FIXTURES["chip"][1])
MMAS = {name: atom for name, atom, _ in all_mmas(ARCH, WMMA_MMA)}
ACCESSES = {name: (access, space) for name, access, space in accesses_of(ARCH)}


def test_everything_that_the_chip_runs_was_recorded():
    assert set(FIXTURES.files) == {"chip", *MMAS, *ACCESSES}


@pytest.mark.parametrize("name", MMAS)
def test_mma_equals_the_chip(name: str):
    atom = MMAS[name]
    for case in range(MMA_CASES):
        a, b, c = mma_inputs(atom, (), case)
        d = tw.simulate(atom, a=a, b=b, c=c, arch=ARCH)
        assert_array_equal(d, FIXTURES[name][case])


@pytest.mark.parametrize("name", ACCESSES)
def test_access_equals_the_chip(name: str):
    access, space = ACCESSES[name]
    kernel = access_kernel(access, space)
    outputs = tw.interpret(
        kernel, grid=(1,), block=(WARP,), args=access_arguments(access, space), arch=ARCH
    )
    assert_array_equal(access_result(access, outputs), FIXTURES[name])
