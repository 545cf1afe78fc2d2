"""`tilewright.simulate` of `wgmma` equals the chip, bit for bit (fixtures written by record.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from warpgroup_mmas import CASES, Form, digest, forms, immediates, inputs

import tilewright as tw

WGMMA = np.load(Path(__file__).parent / "fixtures" / "wgmma.npz")
ARCH = str(WGMMA["chip"][1])
FORMS = forms()


def test_every_form_was_recorded():
    digests = {f"{form.name} digests" for form in FORMS}
    results = {form.name for form in FORMS if form.is_smallest}
    assert results | digests | {"chip"} == set(WGMMA.files)


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
def test_wgmma_equals_the_chip(form: Form):
    for case in range(CASES):
        d = tw.simulate(form.atom, **inputs(form, case), **immediates(form), arch=ARCH)
        if case == 0 and form.is_smallest:
            assert_array_equal(d, WGMMA[form.name])
        found, recorded = digest(d), WGMMA[f"{form.name} digests"][case]
        assert_array_equal(found, recorded, err_msg=f"case {case}")
