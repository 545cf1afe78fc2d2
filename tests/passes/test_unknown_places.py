"""Accesses whose place or condition memory holds: what is free of hazards wherever they are is
proven, and what may not be is neither proven nor refused."""

from __future__ import annotations

import pytest

import tilewright as tw
from tilewright.passes.check_hazards import UnprovenWarning

HISTOGRAM = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 128
{{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<4>;
  .shared .align 16 .b8 s[512];
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, s;
  shl.b32 %r2, %r0, 2;
  add.s32 %r3, %r1, %r2;
  mov.b32 %r4, 0;
  st.shared.b32 [%r3], %r4;
  {before}
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd1, %rd0, %rd1;
  ld.global.b32 %r5, [%rd1];
  shl.b32 %r6, %r5, 2;
  add.s32 %r7, %r1, %r6;
  setp.lt.u32 %p0, %r5, 128;
  {counts}
  {behind}
  ld.shared.b32 %r8, [%r3];
  st.global.b32 [%rd1], %r8;
  ret;
}}
"""
ATOMIC = "@%p0 red.shared.add.u32 [%r7], 1;"


@pytest.mark.parametrize("counts", [ATOMIC, "ld.shared.b32 %r9, [%r7];"])
def test_what_is_free_of_hazards_anywhere_is_proven(counts: str):
    text = HISTOGRAM.format(before="bar.sync 0;", behind="bar.sync 0;", counts=counts)
    tw.compile(text, arch="sm_90a", unproven="error")


@pytest.mark.parametrize("before, behind, counts", [
    ("", "bar.sync 0;", ATOMIC), ("bar.sync 0;", "", ATOMIC),
    ("", "bar.sync 0;", "ld.shared.b32 %r9, [%r7];"),
    ("bar.sync 0;", "bar.sync 0;", "st.shared.b32 [%r7], %r0;"),
    ("", "bar.sync 0;", "@%p0 ld.shared.b32 %r9, [%r1];"),
])  # fmt: skip
def test_what_may_meet_is_neither_proven_nor_refused(before: str, behind: str, counts: str):
    text = HISTOGRAM.format(before=before, behind=behind, counts=counts)
    with pytest.warns(UnprovenWarning, match="not known before it runs"):
        tw.compile(text, arch="sm_90a")
