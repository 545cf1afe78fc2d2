"""Decoupled look-back: each CTA waits for the sum of those before it, behind a flag."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.source.diagnostic import ExecutionError

CTAS = 3
TEXT = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_in, .param .u64 k_out, .param .u64 k_sum, .param .u64 k_flag)
{
  .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [k_in];
  ld.param.u64 %rd2, [k_out];
  ld.param.u64 %rd3, [k_sum];
  ld.param.u64 %rd4, [k_flag];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r4, %r2, 32, %r1;
  mul.wide.u32 %rd5, %r4, 4;
  add.s64 %rd6, %rd1, %rd5;
  add.s64 %rd7, %rd2, %rd5;
  ld.global.u32 %r5, [%rd6];
  mul.wide.u32 %rd8, %r2, 4;
  add.s64 %rd9, %rd3, %rd8;
  add.s64 %rd10, %rd4, %rd8;
  redux.sync.add.u32 %r6, %r5, 0xffffffff;
  setp.ne.u32 %p1, %r1, 0;
  mov.u32 %r8, 0;
  mov.u32 %r10, 1;
  @%p1 bra done;
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra first;
look:
  ASK
  setp.eq.u32 %p3, %r7, 0;
  @%p3 bra look;
  TAKE
  add.u32 %r6, %r6, %r8;
first:
  GIVE
done:
  shfl.sync.idx.b32 %r8, %r8, 0, 31, -1;
  add.u32 %r9, %r5, %r8;
  st.global.u32 [%rd7], %r9;
  ret;
}
"""
TAKE, GIVE = "ld.global.u32 %r8, [%rd9+-4];", "st.global.u32 [%rd9], %r6;"
FLAG = "ld.{}.u32 %r7, [%rd10+-4];", "st.{}.u32 [%rd10], %r10;"
ACQUIRE, RELEASE = (text.format(f"{order}.gpu.global") for text, order in
                    zip(FLAG, ("acquire", "release"), strict=True))  # fmt: skip
VOLATILE = [text.format("volatile.global") for text in FLAG]
ORDERED: dict[str, tuple[str, str, str]] = {
    "acquire and release": (ACQUIRE, TAKE, f"{GIVE} {RELEASE}"),
    "volatile and membar": (
        VOLATILE[0], f"membar.gl; {TAKE}", f"{GIVE} membar.gl; {VOLATILE[1]}",
    ),
    "relaxed and fence": (
        FLAG[0].format("relaxed.gpu.global"), f"fence.acq_rel.gpu; {TAKE}",
        f"{GIVE} fence.acq_rel.gpu; {FLAG[1].format('relaxed.gpu.global')}",
    ),
    "atomic operations": (
        "atom.global.acquire.gpu.or.b32 %r7, [%rd10+-4], 0;", TAKE,
        f"{GIVE} atom.global.release.gpu.exch.b32 %r11, [%rd10], 1;",
    ),
}  # fmt: skip
RACES: dict[str, tuple[str, str, str]] = {
    "plain": (FLAG[0].format("global"), TAKE, f"{GIVE} {FLAG[1].format('global')}"),
    "volatile without membar": (VOLATILE[0], TAKE, f"{GIVE} {VOLATILE[1]}"),
    "of a CTA": (
        FLAG[0].format("acquire.cta.global"), TAKE,
        f"{GIVE} {FLAG[1].format('release.cta.global')}",
    ),
}  # fmt: skip


def sums(parts: tuple[str, str, str], **launch: Any) -> tuple[np.ndarray, np.ndarray]:
    """What the CTAs leave, and what they should."""
    text = TEXT
    for word, part in zip(("ASK", "TAKE", "GIVE"), parts, strict=True):
        text = text.replace(f"  {word}\n", f"  {part}\n")
    given = np.arange(CTAS * 32, dtype=np.uint32)
    args = [given, np.zeros_like(given), *(np.zeros(CTAS, np.uint32) for _ in "sf")]
    before = np.cumsum(np.append([0], given.reshape(CTAS, 32).sum(axis=1)))[:-1]
    results = tw.interpret(text, grid=(CTAS,), block=(32,), args=args, **launch)
    return results[1], given + np.repeat(before, 32)


@pytest.mark.covered
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("schedule", [None, 3])
@pytest.mark.parametrize("name", ORDERED)
def test_a_flag_that_orders_is_no_race(name: str, schedule: int | None):
    left, expected = sums(ORDERED[name], schedule=schedule)
    assert (left == expected).all()


@pytest.mark.parametrize("name", RACES)
def test_a_flag_that_orders_nothing_is_a_race(name: str):
    with pytest.raises(ExecutionError, match="race on global memory"):
        sums(RACES[name])
