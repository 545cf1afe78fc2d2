"""Products of eight rows: columns of MMAs, which multiply in another order than the program level
says of tiles as low."""

from __future__ import annotations

import pytest
from test_copied_loads import check
from test_warpgroups import product

import tilewright as tw

TARGETS = {"sm_80": "mma.sync", "sm_90a": "wgmma.mma_async", "sm_100a": "tcgen05.mma"}


@pytest.mark.parametrize("arch, mma", TARGETS.items(), ids=TARGETS)
@pytest.mark.parametrize("order", ["", "columns"])
def test_few_rows_are_columns_of_mmas(arch: str, mma: str, order: str) -> None:
    """Of B' A', whatever the order of B in memory; sums begin with C."""
    text = product(("bf16", "f32"), (8, 64, 32), b_order=order, more=True)
    ptx = tw.compile(text, arch).ptx
    assert mma in ptx and "fma.rn.f32" not in ptx
    check(text, arch, (8, 56, 72), ("bf16", "bf16", "f32"), (1, 1), b_order=order, schedule=2)


def test_what_no_mma_has_so_few_columns_for() -> None:
    """Four rows are multiplied without MMAs, and so are eight by eight."""
    for tile in ((4, 64, 32), (8, 8, 32)):
        assert "mma" not in tw.compile(product(("bf16", "f32"), tile), "sm_90a").ptx
