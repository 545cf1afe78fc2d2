"""Barriers of PTX text whose numbers and counts are in registers, or that are in PTX alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.launch.ptxas import assemble
from tilewright.lowering.ptx.text import module_text
from tilewright.source.diagnostic import ExecutionError
from tilewright.source.parsing import parse_module

HEAD = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_out)
{
  .shared .align 256 .b8 tile[256];
  .shared .align 8 .b64 bar;
  .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [k_out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  mov.u64 %rd5, bar;
  cvta.shared.u64 %rd5, %rd5;
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, tile;
  add.u32 %r3, %r3, %r4;
  st.shared.u32 [%r3], %r1;
  mov.u32 %r0, 0;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [bar], %r2;
  bar.sync 0;
"""
TAIL = """
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r0;
  ret;
}
"""
WAIT = "{0}: mbarrier.try_wait.shared.b64 %p2, [bar], %rd6; @!%p2 bra {0};"
ARRIVE = "mbarrier.arrive.shared.b64 %rd6, [bar];"
MEMBERS = """shr.u32 %r5, %r1, 3; and.b32 %r5, %r5, 3; shl.b32 %r5, %r5, 3;
mov.u32 %r6, 255; shl.b32 %r6, %r6, %r5; """
BODIES: dict[str, tuple[str, Callable[[int], int]]] = {
    "generic addresses": (
        "mbarrier.arrive.b64 %rd6, [%rd5]; w: mbarrier.try_wait.b64 %p2, [%rd5], %rd6;"
        "@!%p2 bra w; xor.b32 %r6, %r3, 4; ld.shared.u32 %r0, [%r6];",
        lambda thread: thread ^ 1,
    ),
    "later phases without eight threads": (
        "mov.u32 %r0, 1; setp.lt.u32 %p3, %r1, 8; @%p3 bra d;"
        f"{ARRIVE} {WAIT.format('w')} {ARRIVE} {WAIT.format('v')} mov.u32 %r0, 2; bra e;"
        "d: mbarrier.arrive_drop.shared.b64 %rd6, [bar]; e:",
        lambda thread: 1 + (thread >= 8),
    ),
    "how many a phase waits for": (
        "setp.ne.u32 %p3, %r1, 5; @%p3 bra e;"
        "mbarrier.arrive.noComplete.shared.b64 %rd6, [bar], 3;"
        "mbarrier.arrive_drop.noComplete.shared.b64 %rd7, [bar], 2;"
        "mbarrier.pending_count.b64 %r7, %rd6; mbarrier.pending_count.b64 %r8, %rd7;"
        "mad.lo.u32 %r0, %r7, 100, %r8; e:",
        lambda thread: 6461 if thread == 5 else 0,
    ),
    "bytes that come without a copy": (
        "setp.ne.u32 %p3, %r1, 5; @%p3 bra f;"
        "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], %r2;"
        "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], %r2;"
        f"f: {ARRIVE} {WAIT.format('w')} mov.u32 %r0, 7;",
        lambda thread: 7,
    ),
    "bytes of an arrival": (
        "setp.ne.u32 %p3, %r1, 5; @%p3 bra f;"
        "mbarrier.arrive.expect_tx.shared.b64 %rd6, [bar], %r2;"
        "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], %r2; bra g;"
        f"f: {ARRIVE} g: {WAIT.format('w')} mov.u32 %r0, 7;",
        lambda thread: 7,
    ),
    "a barrier for each warp": (
        "shr.u32 %r5, %r1, 5; add.u32 %r5, %r5, 1; bar.sync %r5, 32;"
        "xor.b32 %r6, %r3, 64; ld.shared.u32 %r0, [%r6];",
        lambda thread: thread ^ 16,
    ),
    "a vote of each warp": (
        "shr.u32 %r5, %r1, 5; add.u32 %r5, %r5, 1; and.b32 %r6, %r2, 32; add.u32 %r6, %r6, 32;"
        "setp.lt.u32 %p3, %r1, 40; bar.red.popc.u32 %r7, %r5, 32, %p3;"
        "barrier.red.and.pred %p4, %r5, %r6, %p3; sub.u32 %r9, %r6, 26;"
        "bar.red.or.pred %p5, %r9, !%p3; selp.u32 %r8, 100, 0, %p4; selp.u32 %r0, 200, 300, %p5;"
        "add.u32 %r0, %r0, %r7; add.u32 %r0, %r0, %r8; barrier.red.popc.u32 %r7, %r9, !%p3;"
        "add.u32 %r0, %r0, %r7;",
        lambda thread: 224 + (132 if thread < 32 else 8),
    ),
    "arrivals of a count in a register": (
        "setp.lt.u32 %p3, %r1, 32; @%p3 bra d; bar.sync 3, %r2; xor.b32 %r6, %r3, 128;"
        "ld.shared.u32 %r0, [%r6]; bra e; d: bar.arrive 3, %r2; e:",
        lambda thread: thread ^ 32 if thread >= 32 else 0,
    ),
    "members of warps": (
        MEMBERS + "bar.warp.sync %r6; xor.b32 %r7, %r3, 16; ld.shared.u32 %r0, [%r7];",
        lambda thread: thread ^ 4,
    ),
}


def left(text: str) -> list[int]:
    [out] = tw.interpret(text, grid=(1,), block=(64,), args=[np.zeros(64, np.uint32)])
    return out.tolist()


@pytest.mark.parametrize("name", BODIES)
def test_what_registers_say(name: str) -> None:
    body, expected = BODIES[name]
    text = HEAD + body + TAIL
    again = module_text(parse_module(text), target("sm_90"))
    assert left(text) == left(again) == [expected(thread) for thread in range(64)]
    assert assemble(text, "sm_90").ok
    assert assemble(again, "sm_90").ok


@pytest.mark.parametrize(
    "body, said",
    [
        (MEMBERS + "not.b32 %r6, %r6; bar.warp.sync %r6;", "a membermask with its own thread"),
        ("add.u32 %r5, %r1, 16; bar.sync %r5, 32;", "expected a barrier below 16"),
        ("mbarrier.arrive.noComplete.shared.b64 %rd6, [bar], 64;", "completes a phase of"),
        ("setp.lt.u32 %p3, %r1, 4; @%p3 bra e;" + MEMBERS + "bar.warp.sync %r6; e:",
         "its membermask 0x000000ff, and 4 execute it"),
    ],
)  # fmt: skip
def test_what_is_wrong(body: str, said: str) -> None:
    with pytest.raises(ExecutionError, match=said):
        left(HEAD + body + TAIL)
