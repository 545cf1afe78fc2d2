"""Boxes of four rows, there and back, and what tensor maps are for, by the PTX ISA's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.lowering.ptx.parsing.module import read_module
from tilewright.lowering.ptx.text import module_text

Ptxas = Callable[..., Any]

TEXT = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .align 64 .b8 m[128], .param .align 64 .b8 n[128], .param .u64 out)
.reqntid 32 {
.reg .pred p, first; .reg .b16 h; .reg .b32 r<9>; .reg .b64 d<5>;
.shared .align 1024 .b8 box[512]; .shared .align 8 .b8 bar[8];
ld.param.u64 d2, [out]; cvta.to.global.u64 d2, d2; mov.b64 d0, m; cvta.param.u64 d0, d0;
mov.b64 d1, n; cvta.param.u64 d1, d1; mov.u32 r0, %tid.x; setp.eq.u32 first, r0, 0;
mov.u32 r1, box; mov.u32 r2, bar; mov.u32 r3, 16; mov.u32 r4, 5; mov.u32 r5, -1; mov.b16 h, 0;
@!first bra begun; mbarrier.init.shared.b64 [r2], 1; fence.mbarrier_init.release.cluster;
mbarrier.arrive.expect_tx.shared.b64 _, [r2], 256; cp.async.bulk.prefetch.PREFETCH;
LOAD
begun: bar.sync 0; wait: mbarrier.try_wait.parity.shared.b64 p, [r2], 0; @!p bra wait;
@!first bra kept; STORE
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; kept: bar.sync 0;
shl.b32 r6, r0, 3; add.u32 r7, r1, r6; ld.shared.b64 d3, [r7]; cvt.u64.u32 d4, r6;
add.u64 d4, d2, d4; st.global.b64 [d4], d3; ret; }
"""
LOAD = """cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes
[r1], [d0, {r3, r4, r5, r4, 9}], [r2];"""
STORE = "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group"
SCATTER = f"{STORE} [d1, {{r3, 7, r5, 2, 0}}], [r1];"
PREFETCH = "tensor.2d.L2.global.tile::gather4 [d0, {r3, r4, r5, r4, 9}]"
TENSOR = np.arange(1, 10 * 64 + 1, dtype=np.float32).reshape(10, 64)


def text_of(load: str = LOAD, store: str = SCATTER) -> str:
    return TEXT.replace("PREFETCH", PREFETCH).replace("LOAD", load).replace("STORE", store)


def run(text: str, **map_: Any) -> list[Any]:
    more = {"box": (1, 16), "swizzle": 64, **map_}
    maps = [tw.TensorMap(array, **more) for array in (TENSOR, np.zeros_like(TENSOR))]
    args = [*maps, np.zeros((4, 16), np.float32)]
    return tw.interpret(text, grid=(1,), block=(32,), args=args, arch="sm_100a")


def test_four_rows_there_and_back(ptxas: Ptxas) -> None:
    """Zeros stand for a row that is outside, which is not written either; the swizzle is that of
    one box of all four."""
    text = text_of()
    assert ptxas(text, "sm_100a").ok and ptxas(module_text(read_module(text)), "sm_100a").ok
    _, stored, box = run(text)
    rows = np.stack([TENSOR[5, 16:32], np.zeros(16), TENSOR[5, 16:32], TENSOR[9, 16:32]])
    chunks = rows.reshape(16, 4)
    place = np.arange(16)
    np.testing.assert_array_equal(box.reshape(16, 4), chunks[place ^ place // 8 % 4])
    expected = np.zeros_like(TENSOR)
    expected[[7, 2, 0], 16:32] = rows[[0, 2, 3]]
    np.testing.assert_array_equal(stored, expected)


def test_four_rows_are_summed(ptxas: Ptxas) -> None:
    text = text_of(
        store=f"cp.reduce{STORE[2:].replace('.tile', '.add.tile')} [d1, {{r3, 7, 7, 2, 0}}], [r1];"
    )
    assert ptxas(text, "sm_100a").ok
    _, stored, _ = run(text.replace("5, -1", "5, 6"))
    np.testing.assert_array_equal(stored[7, 16:32], TENSOR[5:7, 16:32].sum(axis=0))
    with pytest.raises(tw.ExecutionError, match="writes two elements to one place"):
        run(text_of(store=SCATTER.replace("r5, 2", "7, 2")))


IMAGES = {"shape": (2, 5, 64), "strides": (320, 64, 1), "im2col": tw.Im2col((0,), (0,))}


@pytest.mark.parametrize(("load", "map_", "message"), [
    (LOAD, {"box": (4, 16)}, "expected a tensor map of one row for tile::gather4"),
    (LOAD, {"box": (4, 16), **IMAGES},
     "expected a tensor map for tile, got one of"),
    (LOAD.replace("2d", "3d").replace("tile::gather4", "im2col::w").replace("r4, 9}], [r2]",
     "r4}], [r2], {h, h}").replace("r5, r4}", "r4}"), {"box": (4, 16), **IMAGES},
     "expected a tensor map for im2col::w, got one of"),
    (LOAD.replace("2d", "3d").replace("tile::gather4", "im2col").replace("r4, 9}], [r2]",
     "r4}], [r2], {h}").replace("r5, r4}", "r4}"), {}, "expected a tensor map for im2col"),
])  # fmt: skip
def test_maps_are_of_a_mode(load: str, map_: dict[str, Any], message: str) -> None:
    with pytest.raises(tw.ExecutionError, match=message):
        run(text_of(load), **map_)
