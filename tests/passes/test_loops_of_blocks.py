"""Loops of blocks, in the forms that compilers give them: what two rounds do is seen."""

from __future__ import annotations

import pytest

from tilewright.passes.analysis.functions import functions
from tilewright.passes.analysis.hazards.check import check
from tilewright.pipeline import verified

KERNEL = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n) .reqntid 128
{{
  .reg .pred %p<4>;
  .reg .f32 %f<2>;
  .reg .b32 %r<10>;
  .shared .align 16 .b8 s[512];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, s;
  shl.b32 %r4, %r2, 2;
  add.s32 %r5, %r3, %r4;
  xor.b32 %r6, %r4, 256;
  add.s32 %r7, %r3, %r6;
  mov.f32 %f0, 0f00000000;
  {before}
L:
  {first}
  st.shared.f32 [%r5], %f0;
  bar.sync 0;
  ld.shared.f32 %f0, [%r7];
  {barrier}
  {onward}
  {last}
END:
  ret;
}}
"""
TESTED = "setp.lt.s32 %p0, %r1, 1; @%p0 bra END; "
FORMS = {
    "its first block asks": (
        "mov.u32 %r9, 0;", "setp.ge.s32 %p1, %r9, %r1; @%p1 bra END;", "add.s32 %r9, %r9, 1;",
        "bra L;",
    ),
    "its last block asks": (
        TESTED + "mov.u32 %r9, 0;", "", "add.s32 %r9, %r9, 1;",
        "setp.ne.s32 %p1, %r9, %r1; @%p1 bra L;",
    ),
    "the bound stands first": (
        TESTED + "mov.u32 %r9, 0;", "", "add.s32 %r9, %r9, 1;",
        "setp.gt.s32 %p1, %r1, %r9; @%p1 bra L;",
    ),
    "up to zero": (
        TESTED + "neg.s32 %r9, %r1;", "", "add.s32 %r9, %r9, 1;",
        "setp.ne.s32 %p1, %r9, 0; @%p1 bra L;",
    ),
    "down, four rounds unrolled": (
        TESTED + "and.b32 %r9, %r1, -4;", "", "add.s32 %r9, %r9, -4;",
        "setp.ne.s32 %p1, %r9, 0; @%p1 bra L;",
    ),
    "what it counts is taken away": (
        TESTED + "mov.u32 %r9, %r1;", "", "sub.s32 %r9, %r9, 1;",
        "setp.gt.s32 %p1, %r9, 0; @%p1 bra L;",
    ),
}  # fmt: skip
"""What stands before a loop, at its begin, what counts, and what stands at its end."""


@pytest.mark.parametrize(("barrier", "rule"), [("bar.sync 0;", None), ("", "race")])
@pytest.mark.parametrize("form", FORMS)
def test_rounds_are_ordered(form: str, barrier: str, rule: str | None):
    before, first, onward, last = FORMS[form]
    text = KERNEL.format(before=before, first=first, barrier=barrier, onward=onward, last=last)
    (function,) = functions(verified(text)[0])
    hazard, unproven = check(function)
    assert ((hazard and hazard.rule), unproven) == (rule, {})
