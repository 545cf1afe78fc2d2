"""The interpreter computes what the chip computed, bit for bit (fixtures written by record.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from inputs import MMA_CASES, THREADS, form_inputs, mma_inputs
from kernels import access_type, scalar_forms, scalar_kernel
from numpy.testing import assert_array_equal
from record import all_mmas

import tilewright as tw
from tilewright.dialects.ptx.types import KINDS
from tilewright.lowering.interpreter.arithmetic.scalar import scalar

FOLDER = Path(__file__).parent / "fixtures"
SCALAR = np.load(FOLDER / "scalar.npz")
MMA = np.load(FOLDER / "mma.npz")
ARCH = str(MMA["chip"][1])
SCALAR_FORMS = scalar_forms(ARCH)
SEEDS = dict(zip(SCALAR["names"].tolist(), SCALAR["seeds"].tolist(), strict=True))
MMAS = [each for each in all_mmas(ARCH) if each[0] in MMA.files]
ARGUMENTS = {"A": "a", "B": "b", "C": "c", "E": "metadata"}


def test_every_form_that_the_chip_runs_was_recorded():
    assert SCALAR_FORMS.keys() == SEEDS.keys()


def test_every_atom_that_the_chip_runs_was_recorded():
    assert {name for name, _, _ in MMAS} == {name for name, _, _ in all_mmas(ARCH)}


@pytest.mark.parametrize("name", SEEDS)
def test_scalar_instruction_equals_the_chip(name: str):
    op, form = SCALAR_FORMS[name]
    row = op.ROW.forms[form]
    inputs = form_inputs(row, SEEDS[name])
    out = np.zeros(THREADS, dtype=f"uint{KINDS[access_type(row.result)]}")
    expected = SCALAR[name]
    if op.name in ("ptx.div", "ptx.rem") and form[0] in "su":
        # Division by zero is an error here; the chip's result for it is unspecified.
        defined = inputs[1] != 0
        inputs[1] = np.where(defined, inputs[1], 1).astype(inputs[1].dtype)
    else:
        defined = np.ones(THREADS, dtype=bool)
    args = [*inputs, out]
    result = tw.interpret(scalar_kernel(op, form), grid=(1,), block=(THREADS,), args=args)[-1]
    assert_array_equal(result[defined], expected[defined])


SMALLEST: dict[str, tuple[list[int], int]] = {
    "mul.rn.ftz.f32": ([0x1FFFFFFF, 0x20000000], 0),
    "mul.rz.ftz.f32": ([0x1FFFFFFF, 0x20000000], 0),
    "mul.rm.ftz.f32": ([0x9FFFFFFD, 0x20000001], 0x80000000),
    "mul.rp.ftz.f32": ([0x1FFFFFFB, 0x20000002], 0),
    "fma.rn.ftz.f32": ([0x9FFFFFFF, 0x20000000, 1], 0x80000000),
    "fma.rp.ftz.f32": ([0x1FFFFFFB, 0x20000002, 0x80000001], 0),
    "div.rn.ftz.f32": ([0x8D7FFFFF, 0x4C800000], 0x80000000),
    "div.rm.ftz.f32": ([0x8D800000, 0x4C800001], 0x80000000),
    "mul.rn.f32": ([0x1FFFFFFF, 0x20000000], 0x00800000),
}
"""What an H100 gave where a result below the smallest normal number would round up to it."""


@pytest.mark.parametrize("name", SMALLEST)
def test_what_would_round_up_to_a_normal_number_is_flushed(name: str):
    operands, expected = SMALLEST[name]
    words = [np.array([word], dtype=np.uint32) for word in operands]
    assert scalar(*name.split(".", 1))(*words).tolist() == [expected]


@pytest.mark.parametrize("name, atom, selectors", MMAS, ids=[name for name, _, _ in MMAS])
def test_mma_equals_the_chip(name: str, atom: tw.MmaAtom, selectors: tuple[int, ...]):
    for case in range(MMA_CASES):
        words = mma_inputs(atom, selectors, case)
        inputs = {
            ARGUMENTS[operand]: each for operand, each in zip(atom.inputs, words, strict=True)
        }
        d = tw.simulate(atom, **inputs, selector=sum(selectors), arch=ARCH)
        assert_array_equal(d, MMA[name][case])
