"""mbarriers whose arrivals and waits are relaxed or of a cluster, of PTX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.lowering.ptx.parsing.module import read_module
from tilewright.lowering.ptx.text import module_text
from tilewright.source.diagnostic import ExecutionError

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) .reqntid 64 .reqnctapercluster CLUSTER {
.reg .pred p, first, low; .reg .b32 r<9>; .reg .b64 d<5>; .shared .align 16 .b8 words[256];
.shared .align 8 .b8 bar[8]; mov.u32 r0, %tid.x; mov.u32 r1, words; mov.u32 r2, bar;
ld.param.u64 d0, [out]; cvta.to.global.u64 d0, d0; mad.wide.u32 d1, r0, 4, d0;
mad.lo.u32 r3, r0, 4, r1; setp.eq.u32 first, r0, 0; setp.lt.u32 low, r0, 32;
@!first bra made; mbarrier.init.shared.b64 [r2], COUNT; fence.mbarrier_init.release.cluster;
made: bar.sync 0;
"""

HANDED = (
    HEAD.replace("CLUSTER", "1").replace("COUNT", "32")
    + """@!low bra look; st.shared.u32 [r3+128], r0; mbarrier.arrive.shared.b64 _, [r2]; bra done;
look: mbarrier.ORDER.shared.b64 p, [r2], 0; @!p bra look;
FENCE
ld.shared.u32 r4, [r3]; st.global.u32 [d1], r4; done: ret; }
"""
)

FAR = (
    HEAD.replace("CLUSTER", "2").replace("COUNT", "3")
    + """barrier.cluster.arrive; barrier.cluster.wait; mov.u32 r5, %cluster_ctarank;
xor.b32 r5, r5, 1; mapa.shared::cluster.u32 r6, r2, r5; @!first bra look;
mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [r6];
mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [r6], 16;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r6], 1;
mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [r6], 16;
look: mbarrier.test_wait.parity.acquire.cluster.shared.b64 p, [r2], 0; @!p bra look;
@!first bra done; mbarrier.arrive.release.cluster.shared.b64 d2, [r2];
mbarrier.pending_count.b64 r4, d2; st.global.u32 [d1], r4;
done: barrier.cluster.arrive; barrier.cluster.wait; ret; }
"""
)


def read(text: str, ptxas: Callable[..., Any]) -> str:
    assert ptxas(text, "sm_90a").ok and ptxas(module_text(read_module(text)), "sm_90a").ok
    return text


ORDERS = ["try_wait.parity.relaxed.cta", "test_wait.parity.relaxed.cluster"]


@pytest.mark.parametrize("order", ORDERS)
def test_behind_a_fence_a_relaxed_look_is_a_wait(order: str, ptxas: Callable[..., Any]) -> None:
    text = read(HANDED.replace("ORDER", order).replace("FENCE", "fence.acq_rel.cta;"), ptxas)
    (out,) = tw.interpret(text, grid=(1,), block=(64,), args=[np.zeros(64, np.uint32)])
    np.testing.assert_array_equal(out[32:], np.arange(32))


@pytest.mark.parametrize("order", ORDERS)
def test_a_relaxed_look_alone_orders_nothing(order: str) -> None:
    text = HANDED.replace("ORDER", order).replace("FENCE", "")
    with pytest.raises(ExecutionError, match="race"):
        tw.interpret(text, grid=(1,), block=(64,), args=[np.zeros(64, np.uint32)])


def test_arrivals_in_another_cta(ptxas: Callable[..., Any]) -> None:
    """One leaves for good, one expects bytes, which come, and one is counted."""
    text = read(FAR, ptxas)
    args = [np.zeros(64, np.uint32)]
    (out,) = tw.interpret(text, grid=(2,), block=(64,), args=args, arch="sm_90a")
    assert out[0] == 2
