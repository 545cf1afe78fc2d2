"""Products of eight rows: columns of MMAs, which multiply in another order than the program level
says of tiles as low."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_copied_loads import check
from test_rows import OF_ROWS, ROWS
from test_warpgroups import operand, product
from tile_ir import entry
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

import tilewright as tw
from tilewright.cutile.gpu import BlockSchedule
from tilewright.passes.cuda_tile.scheduling.cut_rows import CudaTileBoundSizesPass
from tilewright.source.parsing import parse_module

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


def test_a_warp_multiplies_what_no_other_does() -> None:
    """Sums of 16 x 16 are those of two MMAs, whatever else is as large as four warps."""
    text = product(("bf16", "f32"), (16, 16, 64))
    assert tw.compile(text, "sm_80").entry().block == (64, 1, 1)
    check(text, "sm_80", (24, 16, 136), ("bf16", "bf16", "f32"), (2, 1), schedule=1)


SIZES = {"m": 6, "n": 7, "k": 8}
"""The places of sizes among the parameters of such a product."""


def bounded(text: str, most: int, names: str = "m") -> ModuleOp:
    module = parse_module(text, "product")
    places = tuple(SIZES[name] for name in names)
    CudaTileBoundSizesPass(places, (most,) * len(places)).apply(Context(), module)
    return module


@pytest.mark.covered
@pytest.mark.parametrize(
    "tile, rows, most, mma, stages",
    [
        ((64, 64, 32), 10, 16, "mma.sync", 16),
        ((128, 64, 64), 31, 32, "mma.sync", 16),
        ((128, 64, 64), 57, 64, "wgmma", 12),
    ],
)
@pytest.mark.parametrize("persistent", [False, True])
def test_rows_that_no_array_has_are_cut(
    tile: tuple[int, int, int], rows: int, most: int, mma: str, stages: int, persistent: bool
) -> None:
    """Bits are those of all rows, by `wgmma`; one warpgroup multiplies, and as many stages are in
    flight as pays."""
    text = product(("bf16", "f32"), tile, persistent=persistent)
    module = bounded(text, most)
    kernel = tw.compile(module, "sm_90a")
    assert f"\t{mma}" in kernel.ptx and kernel.entry().block == (160, 1, 1)
    assert kernel.ptx.count("mbarrier.init.shared") == 2 * stages
    arrays = [operand(rows, 200, "bf16"), operand(200, 64, "bf16"), np.zeros((rows, 64), "f4")]
    args: list[Any] = [x for one in arrays for x in (one, one.shape[1])] + [rows, 64, 200]
    options = {"grid": (1, 1), "args": args, "level": "ptx", "arch": "sm_90a", "schedule": 1}
    got, want = (tw.interpret(one, "k", **options)[2] for one in (module, text))
    assert np.abs(want).max() > 0
    np.testing.assert_array_equal(got, want)


def test_rows_that_are_kept() -> None:
    """Where C may have more rows, and of fp8, whose sums by other MMAs are others."""
    for element, names in (("bf16", "nk"), ("f8E4M3FN", "m")):
        text = product((element, "f32"), (64, 64, 32))
        assert "wgmma" in tw.compile(bounded(text, 16, names), "sm_90a").ptx


def test_launches_know_small_sizes() -> None:
    """Of tensors that TMA copies; of more than 512 rows nothing is known."""
    kernel = tw.compile(product(("bf16", "f32"), (64, 64, 32)), "sm_90a")
    for rows, most in ((1, 16), (16, 16), (17, 32), (65, 128), (512, 512), (513, None)):
        flat = [*range(6), rows, 1280, 2000]
        schedule = BlockSchedule.of(kernel, (2, 1, 1), flat, 132)
        assert schedule.known == (() if most is None else ((6, most),))


@pytest.mark.parametrize("most, hints", [(16, 1), (256, 1), (257, 0)])
def test_what_few_blocks_read_is_the_first_to_leave_the_cache(most: int, hints: int) -> None:
    """Columns of B, where four blocks have all rows of A."""
    ptx = tw.compile(bounded(product(("bf16", "f32"), (64, 64, 32)), most), "sm_90a").ptx
    assert ptx.count("\tcp.async.bulk.tensor.2d.shared") == 2
    assert ptx.count("complete_tx::bytes.L2::cache_hint [") == hints


def test_stores_of_one_dimension_have_no_rows() -> None:
    module = parse_module(entry(OF_ROWS, ROWS), "rows")
    CudaTileBoundSizesPass((1,), (16,)).apply(Context(), module)
    assert "L2::cache_hint" not in tw.compile(module, "sm_90a").ptx
