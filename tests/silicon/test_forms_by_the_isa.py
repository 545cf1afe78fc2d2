"""Scalar forms that no chip was asked for compute what the PTX ISA says, by exact fractions."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from exact import of_integers, result
from inputs import form_inputs
from kernels import scalar_forms
from numpy.testing import assert_array_equal
from test_fixtures import SEEDS

from tilewright.lowering.interpreter.arithmetic.scalar import scalar

FORMS = {
    name: form
    for name, form in scalar_forms("sm_100a").items()
    if name not in SEEDS and not name.startswith("ptx.cvt.")
}
"""What Blackwell's `cvt` computes is in test_float_conversions.py."""


@pytest.mark.parametrize("name", FORMS)
def test_form_equals_exact_arithmetic(name: str):
    op, form = FORMS[name]
    row = op.ROW.forms[form]
    inputs = [column[::3] for column in form_inputs(row, zlib.crc32(name.encode()))]
    computed = scalar(op.name.removeprefix("ptx."), form)(*inputs)
    mnemonic = name.removeprefix("ptx.")
    expected = [
        result(mnemonic, row.types, row.result, operands)
        for operands in zip(*(column.tolist() for column in inputs), strict=True)
    ]
    assert_array_equal(computed, np.array(expected, dtype=computed.dtype))


WHOLE = {
    name: form
    for name, form in scalar_forms("sm_120a").items()
    if name not in (*SEEDS, *FORMS) and not name.startswith("ptx.cvt.")
}


@pytest.mark.parametrize("name", WHOLE)
def test_integers_side_by_side(name: str):
    op, form = WHOLE[name]
    inputs = form_inputs(op.ROW.forms[form], zlib.crc32(name.encode()))
    computed = scalar(op.name.removeprefix("ptx."), form)(*inputs)
    rows = zip(*(column.tolist() for column in inputs), strict=True)
    expected = [of_integers(name.removeprefix("ptx."), operands) for operands in rows]
    assert_array_equal(computed, np.array(expected, dtype=np.uint32))
