"""CTAs that wait for each other: by the workspace of a cooperative launch, and at a barrier in a
loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tilewright as tw
from tilewright.lowering.interpreter.machine.grid import RESIDENT_THREADS

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out) {
.reg .pred p<9>; .reg .b32 r<20>; .reg .b64 d<20>;
ld.param.u64 d1, [data]; ld.param.u64 d2, [out];
mov.u32 r0, %tid.x; mov.u32 r1, %ctaid.x; mov.u32 r2, %nctaid.x; mov.u32 r3, %ntid.x;
setp.eq.u32 p0, r0, 0;
"""
GRID_SYNC = """
mad.lo.u32 r4, r1, r3, r0; mul.wide.u32 d3, r4, 4; add.s64 d4, d1, d3;
add.u32 r5, r4, 1; st.global.u32 [d4], r5;
mov.u32 r6, %envreg2; cvt.u64.u32 d5, r6; mov.u32 r7, %envreg1; cvt.u64.u32 d6, r7;
bfi.b64 d7, d6, d5, 32, 32;
bar.sync 0;
@!p0 bra over;
setp.eq.u32 p1, r1, 0; sub.u32 r8, 0x80000001, r2; selp.b32 r9, r8, 1, p1;
atom.add.release.gpu.u32 r10, [d7+4], r9;
ask: ld.acquire.gpu.u32 r11, [d7+4]; xor.b32 r12, r11, r10; setp.gt.s32 p2, r12, -1; @p2 bra ask;
over: bar.sync 0;
mul.lo.u32 r13, r2, r3; sub.u32 r14, r13, r5; mul.wide.u32 d8, r14, 4; add.s64 d9, d1, d8;
ld.global.u32 r15, [d9]; add.s64 d10, d2, d3; st.global.u32 [d10], r15; ret; }
"""
"""Each thread reads, behind `grid.sync()` of CUDA, what the last but its number wrote."""

TURNS = """
mov.u32 r4, -1;
again: setp.ne.u32 p1, r4, r1; bar.red.and.pred p2, 0, p1; @!p2 bra mine;
@!p0 bra again; ld.global.acquire.gpu.u32 r4, [d1]; bra again;
mine: bar.sync 0; mul.wide.u32 d3, r0, 4; add.s64 d4, d2, d3; ld.global.u32 r5, [d4];
mad.lo.u32 r6, r5, 3, r1; st.global.u32 [d4], r6; bar.sync 0;
@!p0 bra over; add.u32 r7, r1, 1; st.global.release.gpu.u32 [d1], r7;
over: ret; }
"""
"""CTA by CTA, as of a split K: all threads vote whether the first has seen their turn."""


def run(body: str, grid: int, block: int, **launch: Any) -> np.ndarray:
    args = [np.zeros(grid * block, np.uint32), np.zeros(grid * block, np.uint32)]
    return tw.interpret(HEAD + body, grid=(grid,), block=(block,), args=args, **launch)[1]


@pytest.mark.parametrize("ctas", [3, RESIDENT_THREADS // 256 + 1])
def test_a_grid_waits_for_itself(ctas: int):
    """More threads, too, than are resident otherwise."""
    expected = np.arange(ctas * 256, 0, -1)
    assert_array_equal(run(GRID_SYNC, ctas, 256), expected)


def test_a_grid_that_does_not_release_races():
    with pytest.raises(tw.ExecutionError, match=r"race on global memory.*release\.gpu"):
        run(GRID_SYNC.replace("release", "relaxed"), 3, 64)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("schedule", [None, 0])
def test_ctas_take_turns_at_a_barrier_in_a_loop(schedule: int | None):
    out = run(TURNS, 4, 64, schedule=schedule)
    assert_array_equal(out[:64], 18)


def test_turns_that_order_nothing_race():
    with pytest.raises(tw.ExecutionError, match="race on global memory"):
        run(TURNS.replace("release", "relaxed"), 3, 64)
