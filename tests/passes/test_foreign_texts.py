"""What compilers of PTX write, and what is said of it: nothing that is wrong of what is right."""

from __future__ import annotations

import pytest

from tilewright.passes.analysis.functions import functions
from tilewright.passes.analysis.hazards.check import check
from tilewright.pipeline import verified

SUMS = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 256
{{
  .reg .pred %p<2>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<2>;
  .shared .align 16 .b8 s[1024];
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, s;
  and.b32 %r2, %r0, 31;
  {place}
  shl.b32 %r4, %r3, 2;
  add.s32 %r5, %r1, %r4;
  setp.eq.b32 %p0, %r2, 0;
  @%p0 st.shared.b32 [%r5], %r0;
  {barrier}
  setp.lt.u32 %p1, %r0, 8;
  shl.b32 %r6, %r0, 2;
  add.s32 %r7, %r1, %r6;
  @%p1 ld.shared.b32 %r8, [%r7];
  ret;
}}
"""
"""A number of each warp, by its first thread; the first warp reads all."""

ACCUMULATOR = ", ".join(f"%r{n}" for n in range(4))
PRODUCT = f""".version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 128
{{{{
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  .shared .align 128 .b8 s[4096];
  ld.param.u64 %rd0, [p];
  mov.b64 %rd1, 4611686293305294848;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16
    {{{{{ACCUMULATOR}}}}}, %rd1, %rd1, 0, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  {{before}}
  wgmma.wait_group.sync.aligned 0;
  {{behind}}
  st.global.b32 [%rd0], %r4;
  ret;
}}}}
"""
"""A wgmma whose accumulator is registers without a type."""


ASKED = """.reg .pred %p0;
  ld.global.b32 %r4, [%rd0];
  setp.ne.b32 %p0, %r4, 0;
  @%p0 bra ON;
  bra.uni PAST;
ON:
  add.u32 %r0, %r0, 1;
PAST:"""
"""A use of a register on one of two ways, of which memory says which."""

LOCK = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 64
{{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<3>;
  .shared .align 4 .b8 lock[4];
  .shared .align 4 .b8 sum[4];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, lock;
  cvt.u64.u32 %rd0, %r1;
  cvta.shared.u64 %rd1, %rd0;
  mov.u32 %r2, 0;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra MADE;
  st.shared.b32 [lock], %r2;
  st.shared.b32 [sum], %r2;
MADE:
  bar.sync 0;
  and.b32 %r3, %r0, 31;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra OVER;
ASK:
  atom.exch.{acquire}.cta.b32 %r4, [%rd1], 1;
  setp.ne.b32 %p2, %r4, 0;
  @%p2 bra ASK;
  ld.shared.b32 %r5, [sum];
  add.u32 %r5, %r5, 1;
  st.shared.b32 [sum], %r5;
  st.{release}.cta.b32 [%rd1], 0;
OVER:
  ret;
}}
"""
"""A sum that a lock in shared memory guards, as `cuda::binary_semaphore` is one."""


def rule_of(text: str) -> tuple[str | None, int]:
    """The rule that a kernel breaks, and how much is not proven of it."""
    (function,) = functions(verified(text)[0])
    hazard, unproven = check(function)
    return hazard and hazard.rule, len(unproven)


@pytest.mark.parametrize(("place", "barrier", "expected"), [
    ("bfe.u32 %r3, %r0, 5, 3;", "bar.sync 0;", (None, 0)),
    ("bfe.u32 %r3, %r0, 5, 3;", "", ("race", 0)),
    ("bfe.s32 %r3, %r0, 5, 3;", "bar.sync 0;", (None, 1)),
    ("ld.global.b32 %r3, [%rd0];", "bar.sync 0;", (None, 1)),
])  # fmt: skip
def test_numbers_of_warps(place: str, barrier: str, expected: tuple[str | None, int]):
    assert rule_of(SUMS.format(place=place, barrier=barrier)) == expected


@pytest.mark.parametrize(("before", "behind", "rule"), [
    ("", "mov.b32 %r4, %r0;", None),
    ("add.u32 %r4, %r0, 1;", "", "accumulator"),
])  # fmt: skip
def test_registers_without_a_type(before: str, behind: str, rule: str | None):
    found, _ = rule_of(PRODUCT.format(before=before, behind=behind))
    assert found == rule


def test_registers_on_ways_that_nobody_knows():
    """Where threads may go both ways, accumulators are in flight on each."""
    end = "mov.b32 %r4, %r0;"
    assert rule_of(PRODUCT.format(before="", behind=ASKED + end)) == (None, 0)
    assert rule_of(PRODUCT.format(before=ASKED, behind="")) == ("accumulator", 0)
    past = ASKED.replace("add.u32 %r0, %r0, 1;", "add.u32 %r4, %r4, 1;") + end
    assert rule_of(PRODUCT.format(before=past, behind=""))[0] == "accumulator"


@pytest.mark.parametrize(("acquire", "release", "rule"), [
    ("acquire", "release", None), ("acquire", "relaxed", "race"), ("relaxed", "release", "race"),
])  # fmt: skip
def test_a_lock_in_shared_memory(acquire: str, release: str, rule: str | None):
    """What it orders is not proven, and no error; where it orders nothing that is one."""
    found, unproven = rule_of(LOCK.format(acquire=acquire, release=release))
    assert found == rule and (rule or unproven)
