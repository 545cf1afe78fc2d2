"""An mbarrier asked in a loop of the text's own, by parity or by the state of an arrival."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright.pipeline import run_pipeline, stages_of
from tilewright.source.parsing import parse_module

TEXT = """\
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_out) .reqntid 64
{
  .shared .align 8 .b64 bar;
  .shared .align 4 .b8 tile[256];
  .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [k_out];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r10, bar;
  mov.u32 %r11, tile;
  shl.b32 %r2, %r1, 2;
  add.u32 %r3, %r11, %r2;
  xor.b32 %r4, %r2, 252;
  add.u32 %r4, %r11, %r4;
  mov.u32 %r7, 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra MADE;
  mbarrier.init.shared.b64 [%r10], 64;
MADE:
  bar.sync 0;
AGAIN:
  add.u32 %r8, %r1, %r7;
  st.shared.u32 [%r3], %r8;
  mbarrier.arrive.shared.b64 %rd5, [%r10];
ASK:
  FIRST;
  selp.b32 %r9, 1, 0, %p2;
  setp.eq.s32 %p3, %r9, 0;
  @%p3 bra ASK;
  ld.shared.u32 %r5, [%r4];
  mbarrier.arrive.shared.b64 %rd6, [%r10];
BACK:
  SECOND;
  @!%p2 bra BACK;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p4, %r7, 3;
  @%p4 bra AGAIN;
  st.global.u32 [%rd3], %r5;
  ret;
}
"""
BY_PARITY = "mbarrier.try_wait.parity.shared.b64 %p2, [%r10], {}"
BY_STATE = "mbarrier.try_wait.shared.b64 %p2, [%r10], %rd{}"
IGNORED = "mbarrier.try_wait.shared.b64 %p5, [%r10], %rd5"
TESTED = "mbarrier.test_wait.shared.b64 %p2, [%r10], %rd{}"
NONE = "setp.eq.u32 %p2, %r1, %r1"


def checked(first: str, second: str) -> str:
    """The text with both waits, once it is checked."""
    text = TEXT.replace("FIRST", first).replace("SECOND", second)
    stages = stages_of("cute-nvgpu-check-hazards")
    run_pipeline(parse_module(text), "sm_90a", stages=stages)
    return text


@pytest.mark.filterwarnings("error::tilewright.passes.check_hazards.UnprovenWarning")
@pytest.mark.parametrize(
    "first, second",
    [
        (BY_PARITY.format(0), BY_PARITY.format(1)),
        (BY_STATE.format(5), BY_STATE.format(6)),
        (TESTED.format(5), BY_PARITY.format(1)),
    ],
)
def test_a_wait_for_either_orders(first: str, second: str):
    text = checked(first, second)
    [result] = tw.interpret(text, grid=(1,), block=(64,), args=[np.zeros(64, np.uint32)])
    np.testing.assert_array_equal(result, np.arange(64)[::-1] + 2)


@pytest.mark.parametrize(
    "first, second, verb",
    [
        (NONE, BY_STATE.format(6), "got what 'ptx.st' at line 28 writes"),
        (BY_STATE.format(5), NONE, "got what 'ptx.ld' at line 35 reads"),
        (BY_PARITY.format(1), BY_PARITY.format(0), "got what 'ptx.st' at line 28 writes"),
        (f"{IGNORED};\n{NONE}", BY_STATE.format(6), "got what 'ptx.st' at line 28 writes"),
    ],
)  # fmt: skip
def test_without_one_nothing_is_ordered(first: str, second: str, verb: str):
    with pytest.raises(tw.CompileError, match=verb):
        checked(first, second)
