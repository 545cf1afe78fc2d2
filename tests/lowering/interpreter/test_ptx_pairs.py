"""Pairs of CTAs, of which the one of even rank is the leader: its address is one without bit 24,
as CUTLASS has it (`Sm100MmaPeerBitMask`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.lowering.ptx.parsing.module import read_module
from tilewright.lowering.ptx.text import module_text
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.source.parsing import default_context

Ptxas = Callable[..., Any]

LOADS = """.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
.reqntid 32 .reqnctapercluster CLUSTER {
.reg .pred p, even; .reg .b16 h; .reg .b32 r<20>; .reg .b64 d<9>;
.shared .align 128 .b8 box[1024]; .shared .align 16 .b8 bar[16];
mov.u32 r0, %tid.x; mov.u32 r1, %cluster_ctarank; mov.u32 r2, bar; mov.u32 r3, box;
mov.u64 d0, map; cvta.param.u64 d0, d0; ld.param.u64 d1, [out]; cvta.to.global.u64 d1, d1;
and.b32 r4, r1, 1; setp.eq.u32 even, r4, 0; setp.eq.u32 p, r0, 0; shl.b32 r5, r1, 3;
and.b32 r6, r2, MASK; mov.u32 r7, 0; shl.b32 r8, 0x55, r4; cvt.u16.u32 h, r8;
@!p bra made;
mbarrier.init.shared::cta.b64 [r2], 1; fence.mbarrier_init.release.cluster;
made: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; @!p bra started;
@even mbarrier.arrive.expect_tx.shared::cta.b64 _, [r2], BYTES;
START
started: @!even bra done;
wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [r2], 0; @!p bra wait;
done: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
mad.lo.u32 r9, r1, 32, r0; mul.wide.u32 d2, r9, 32; add.s64 d3, d1, d2; shl.b32 r10, r0, 5;
add.u32 r11, r3, r10; ld.shared.v4.b32 {r12, r13, r14, r15}, [r11];
st.global.v4.b32 [d3], {r12, r13, r14, r15}; ld.shared.v4.b32 {r12, r13, r14, r15}, [r11+16];
st.global.v4.b32 [d3+16], {r12, r13, r14, r15}; ret; }
"""
COPY = "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes"
ALONE = f"{COPY} [r3], [d0, {{r7, r5}}], [r6];"
TO_ALL = f"""shr.u32 r17, r1, 1; setp.eq.u32 p, r17, 0;
@p {COPY}.multicast::cluster [r3], [d0, {{r7, r5}}], [r6], h;"""

FAR = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) .reqntid 32 .reqnctapercluster 4 {
.reg .pred p; .reg .b32 r<9>; .reg .b64 d<5>; .shared .align 16 .b8 words[256];
mov.u32 r0, %tid.x; mov.u32 r1, %cluster_ctarank; ld.param.u64 d0, [out]; cvta.to.global.u64 d0, d0;
mov.u32 r2, words; and.b32 r3, r1, 1; mad.lo.u32 r4, r3, 32, r0; mad.lo.u32 r2, r4, 4, r2;
and.b32 r5, r2, 0xFEFFFFFF; mad.lo.u32 r6, r1, 1000, r0;
barrier.cluster.arrive; barrier.cluster.wait;
st.shared::cluster.u32 [r5], r6; barrier.cluster.arrive; barrier.cluster.wait;
ld.shared::cluster.u32 r7, [r5]; mad.lo.u32 r8, r1, 32, r0; mul.wide.u32 d1, r8, 4;
add.s64 d2, d0, d1; st.global.u32 [d2], r7;
ld.shared::cluster.u32 r7, [r5]; barrier.cluster.arrive; barrier.cluster.wait;
xor.b32 r8, r3, 1; mad.lo.u32 r2, r8, 128, r2; setp.eq.u32 p, r3, 1; @p ret;
ld.shared.u32 r7, [r2]; st.global.u32 [d2+512], r7; ret; }
"""


def check(text: str, arch: str, ptxas: Ptxas) -> None:
    """It comes back as it was, ptxas takes it, and no hazard is in it."""
    module = read_module(text)
    assert ptxas(text, arch).ok and ptxas(module_text(module), arch).ok
    CheckHazardsPass("ignore").apply(default_context(), module)


@pytest.mark.parametrize("mask", ["0xFEFFFFFF", "-16777232"])
@pytest.mark.parametrize("ctas, start", [(2, ALONE), (4, TO_ALL)])
def test_boxes_at_the_barrier_of_the_leader(mask: str, ctas: int, start: str, ptxas: Ptxas) -> None:
    """Each CTA copies its rows, alone or those of the first pair to all pairs."""
    text = LOADS.replace("CLUSTER", str(ctas)).replace("MASK", mask).replace("START", start)
    text = text.replace("BYTES", "2048")
    if ctas == 4:
        text = text.replace("0x55", "5")
    check(text, "sm_100a", ptxas)
    rows = np.arange(8 * ctas * 32, dtype=np.float32).reshape(-1, 32)
    args = [tw.TensorMap(rows, box=(8, 32)), np.zeros((ctas, 8, 32), np.float32)]
    _, out = tw.interpret(text, grid=(ctas,), block=(32,), args=args, arch="sm_100a")
    pairs = rows.reshape(ctas, 8, 32)[[0, 1] * (ctas // 2)]
    np.testing.assert_array_equal(out, pairs)


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_words_of_the_leader(engine: Any, ptxas: Ptxas) -> None:
    """Each thread of a pair writes a word of the leader's, as an H200 leaves them."""
    check(FAR, "sm_90", ptxas)
    args = [np.zeros((8, 32), np.uint32)]
    (out,) = tw.interpret(FAR, grid=(4,), block=(32,), args=args, arch="sm_90a", engine=engine)
    written = np.arange(4)[:, None] * 1000 + np.arange(32)
    np.testing.assert_array_equal(out[:4], written)
    np.testing.assert_array_equal(out[4::2], written[1::2])


def test_a_number_with_the_mask(ptxas: Ptxas) -> None:
    """What is no address is a number."""
    text = FAR.replace("0xFEFFFFFF; mad", "0xFFFFFFFF; and.b32 r6, r0, 0xFEFFFFFF; mad")
    assert "ptx.mapa.leader" not in str(read_module(text)) and ptxas(text, "sm_90").ok
