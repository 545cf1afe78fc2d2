"""Loads by `cp.async` in stages: PTX for targets of `mma.sync` equals the program level."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_warpgroups import DTYPES, operand, product

import tilewright as tw

COPY = "cp.async.cg.shared.global"


def check(
    text: str, arch: str, sizes: tuple[int, int, int], types: tuple[str, str, str],
    grid: tuple[int, int], *, b_order: str = "", schedule: int | None = None,
) -> None:  # fmt: skip
    """At the `ptx` level the result is that of the program level, but for the order of sums."""
    m, n, k = sizes
    a, b = operand(m, k, types[0]), operand(k, n, types[1], b_order)
    c = np.zeros((m, n), DTYPES[types[2]])
    args = [part for array in (a, b, c) for part in (array, array.shape[1])] + [m, n, k]
    want = tw.interpret(text, "k", grid=grid, args=args, arch=arch)[2].astype(np.float64)
    options = {"level": "ptx", "arch": arch, "schedule": schedule}
    got = tw.interpret(text, "k", grid=grid, args=args, **options)[2].astype(np.float64)
    largest = np.abs(want).max()
    assert largest > 0 and np.abs(got - want).max() <= 2.0**-16 * largest


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_120a"])
def test_stages_of_copies(arch: str) -> None:
    """Edges along every dimension, more steps than stages, copies that complete late."""
    text = product(("bf16", "f32"), (64, 64, 32))
    ptx = tw.compile(text, arch).ptx
    assert COPY in ptx and "cp.async.wait_group 2" in ptx and "st.shared" not in ptx
    check(text, arch, (72, 56, 216), ("bf16", "bf16", "f32"), (2, 1), schedule=3)


@pytest.mark.parametrize(
    "types, order, convert",
    [
        (("bf16", "f32"), "", ""),
        (("f16", "f32"), "columns", ""),
        (("f8E4M3FN", "f32"), "", ""),
        (("tf32", "f32"), "", "f32"),
    ],
)
def test_warpgroups_read_copies(types: tuple[str, str], order: str, convert: str) -> None:
    """Where TMA is not to be used: as they lie, turned, or converted."""
    hints = " optimization_hints = <default = {allow_tma = false}>"
    text = product(types, (64, 32, 32), b_order=order, hints=hints, convert=convert)
    ptx = tw.compile(text, "sm_90a").ptx
    assert "wgmma.mma_async" in ptx and COPY in ptx and "tensor.2d.shared" not in ptx
    memory = (convert or types[0],) * 2
    check(text, "sm_90a", (72, 32, 112), (*memory, types[1]), (2, 1), b_order=order, schedule=2)


@pytest.mark.parametrize(
    "types, k, order",
    [
        (("f16", "f16"), 32, "columns"),
        (("f8E4M3FN", "f32"), 64, "columns"),
        (("f8E5M2", "f32"), 64, ""),
        (("i8", "i32"), 64, "columns"),
        (("tf32", "f32"), 16, ""),
    ],
)
def test_types_and_orders(types: tuple[str, str], k: int, order: str) -> None:
    text = product(types, (32, 32, k), b_order=order)
    assert COPY in tw.compile(text, "sm_89").ptx
    check(text, "sm_89", (32, 32, 2 * k + 16), (types[0], *types), (1, 1), b_order=order)
