"""Zeros that take no memory until they are touched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.lowering.interpreter.machine.sparse_zeros import sparse_zeros


def resident() -> int:
    """The bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_a_touch_costs_a_page():
    before = resident()
    zeros = sparse_zeros((64, 1 << 20), np.uint32)
    zeros[:, 5] = 7
    assert resident() - before < 64 << 20  # a huge page for each row would be 128 MiB
    assert zeros[:, :6].sum() == 64 * 7


@pytest.mark.parametrize("rows", [1, 1 << 10])
def test_they_are_zeros(rows: int):
    zeros = sparse_zeros((rows, 1 << 11), np.int32)
    assert zeros.shape == (rows, 1 << 11) and zeros.dtype == np.int32 and not zeros.any()
    zeros[:] = -1
    assert (zeros == -1).all()
