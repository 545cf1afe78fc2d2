"""PTX of other compilers whose wgmmas are in flight where ways meet: read, executed, written."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.launch.ptxas import assemble
from tilewright.lowering.ptx.text import module_text
from tilewright.source.diagnostic import ExecutionError
from tilewright.source.parsing import parse_module

NAMES = "{%f0, %f1, %f2, %f3}"
TEXT = f"""\
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_out)
{{
  .shared .align 128 .b8 tile[4096];
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [k_out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  mad.lo.u32 %r3, %r1, 32, %r2;
  mov.b32 %r4, 0x3C003C00;
  st.shared.v4.b32 [%r3], {{%r4, %r4, %r4, %r4}};
  st.shared.v4.b32 [%r3+16], {{%r4, %r4, %r4, %r4}};
  fence.proxy.async.shared::cta;
  bar.sync 0;
  shr.u32 %r5, %r2, 4;
  or.b32 %r5, %r5, 0x80000;
  mov.b64 %rd2, {{%r5, 16}};
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f3F800000;
  mov.f32 %f2, 0f40000000;
  mov.f32 %f3, 0f40400000;
  mov.u32 %r6, 0;
round:
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {NAMES}, %rd2, %rd2, 1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 1;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, 3;
  @%p1 bra round;
  wgmma.wait_group.sync.aligned 0;
  mul.wide.u32 %rd3, %r1, 16;
  add.s64 %rd4, %rd1, %rd3;
  st.global.v4.f32 [%rd4], {NAMES};
  ret;
}}
"""


def test_accumulators_are_in_flight_over_a_back_edge():
    again = module_text(parse_module(TEXT), target("sm_90a"))
    for text in (TEXT, again):
        [out] = tw.interpret(text, grid=(1,), block=(128,), args=[np.zeros((128, 4), np.float32)])
        assert (out == np.arange(4) + 3 * 16).all()
    assert assemble(again, "sm_90a").ok
    loop = again[again.index("round:") :]
    assert not re.search(r"\tmov\.f32", loop[: loop.index("wait_group.sync.aligned 0")])


def test_accumulators_that_something_reads_in_the_loop_are_waited_for():
    early = TEXT.replace("  add.u32 %r6", "  mul.f32 %f1, %f1, %f1;\n  add.u32 %r6")
    with pytest.raises(ExecutionError, match="reads an accumulator of"):
        tw.interpret(early, grid=(1,), block=(128,), args=[np.zeros((128, 4), np.float32)])
