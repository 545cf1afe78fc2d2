"""Tiles that TMA stores, and those that it must not: PTX for Hopper equals the program level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_warpgroups import RNG, check, operand, product, whole
from tile_ir import entry, equal_as_ptx

import tilewright as tw


@pytest.mark.parametrize("element, depth, rounds", [("f8E4M3FN", 128, 2), ("bf16", 64, 4)])
def test_a_tile_is_stored_in_fewer_rounds_where_stages_leave_room(
    element: str, depth: int, rounds: int
) -> None:
    """128 KiB: three stages do, of products that are added in f32; as many as fit do not."""
    text = whole(product((element, "f32"), (128, 256, depth), b_order="columns"))
    ptx = tw.compile(text, "sm_90a").ptx
    assert ptx.count("\tcp.async.bulk.commit_group") == rounds
    check(text, (72, 256, 144), (element, element, "f32"), (1, 1), b_order="columns", schedule=2)


def test_what_is_summed_over_is_no_size_of_a_result() -> None:
    """Sizes are those of three matrices; `m` and `n` of what is stored, too."""
    entry = tw.compile(whole(product(("bf16", "f32"), (128, 128, 64))), "sm_90a").entry()
    assert {*entry.sizes} == {6, 7, 8} and {*entry.written_sizes} == {6, 7}


def test_rows_that_end_within_16_bytes() -> None:
    """TMA writes all of a row's last 16 bytes, on an H200 too: such rows are left to threads."""
    text = product(("bf16", "f32"), (64, 32, 32))
    assert "bulk.tensor.2d.global" in tw.compile(whole(text), "sm_90a").ptx
    assert "bulk.tensor.2d.global" not in tw.compile(text, "sm_90a").ptx
    a, b, c = operand(64, 32, "bf16"), operand(32, 40, "bf16"), np.ones((64, 40), np.float32)
    args: list[Any] = [a, 32, b, 40, c, 40, 64, 29, 32]
    want, got, wrong = (
        tw.interpret(text, "k", grid=(1, 1), args=args, level=level, arch="sm_90a")[2]
        for level, text in (("program", text), ("ptx", text), ("ptx", whole(text)))
    )
    assert (got == want).all() and (want[:, 29:] == 1).all()
    assert [*np.flatnonzero((wrong != want).any(axis=0))] == [29, 30, 31]


@pytest.mark.parametrize("order", ["ow iw", "iw ow", "ow ow"])
def test_stores_of_threads_and_of_tma_are_in_order(order: str) -> None:
    """A row over a tile is complete before or after it, so threads store both; a tile over a tile
    both come by TMA."""
    tensor = "tensor_view<64x64xf32, strides=[64,1]>"
    views = {
        name: f"partition_view<tile=({rows}x64), {tensor}>"
        for name, rows in (("ow", 64), ("iw", 1))
    }
    stored, token = "", "%t0"
    for i, name in enumerate(order.split()):
        value, shape = ("%d" if i == 0 else "%e", "64x64") if name == "ow" else ("%row", "1x64")
        stored += f"""
    %u{i} = store_view_tko weak {value}, %{name}[%c0, %c0] token = {token}
        : tile<{shape}xf32>, {views[name]}, tile<i32> -> token
"""
        token = f"%u{i}"
    text = entry(
        "%p: tile<ptr<f16>>, %q: tile<ptr<f32>>",
        f"""
    %pa = assume div_by<16>, %p : tile<ptr<f16>>
    %qa = assume div_by<16>, %q : tile<ptr<f32>>
    %v = make_tensor_view %pa, shape = [64, 64], strides = [64, 1]
        : tensor_view<64x64xf16, strides=[64,1]>
    %w = make_partition_view %v
        : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
    %o = make_tensor_view %qa, shape = [64, 64], strides = [64, 1] : {tensor}
    %ow = make_partition_view %o : {views["ow"]}
    %iw = make_partition_view %o : {views["iw"]}
    %c0 = constant <i32: 0> : tile<i32>
    %t0 = make_token : token
    %l, %t = load_view_tko weak %w[%c0, %c0] token = %t0
        : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32>
        -> tile<64x64xf16>, token
    %zero = constant <f32: 0.0> : tile<64x64xf32>
    %row = constant <f32: 7.0> : tile<1x64xf32>
    %d = mmaf %l, %l, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %e = addf %d, %d rounding<nearest_even> : tile<64x64xf32>
{stored}
""",
    )
    copies = tw.compile(text, "sm_90a").ptx.count("cp.async.bulk.tensor.2d.global")
    assert (copies > 0) is (order == "ow ow")
    a, c = RNG.integers(-3, 4, (64, 64)).astype(np.float16), np.zeros((64, 64), np.float32)
    options: dict[str, Any] = {"grid": (1,), "args": [a, c], "arch": "sm_90a"}
    assert equal_as_ptx(text, place=1, schedule=None, **options).any()
