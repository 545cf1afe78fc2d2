"""Long texts are checked in a time that grows with their length, and what goes round for ever is
left alone. The sizes are such that what grows with the square of a length takes minutes."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tilewright.passes.analysis.functions import functions
from tilewright.passes.analysis.hazards.check import check
from tilewright.passes.analysis.hazards.values import Values
from tilewright.pipeline import verified

KERNEL = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) .reqntid {threads}
{{
  .reg .pred %p<4000>;
  .reg .f32 %f<4>;
  .reg .b32 %r<4000>;
  .reg .b64 %rd<4000>;
  .shared .align 16 .b8 s[16384];
  mov.f32 %f0, 0f00000000;
  ld.param.u64 %rd0, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, s;
  shl.b32 %r4, %r2, 2;
  add.s32 %r5, %r3, %r4;
  mov.u32 %r9, 0;
  mov.u32 %r10, %r1;
{body}
  ret;
}}
"""
STORE = "st.shared.f32 [%r5], %f0;\n"
LOAD = "ld.shared.f32 %f1, [%r5];\n"


def stores(n: int) -> str:
    return "".join(f"st.shared.f32 [%r5+{i % 4 * 4096}], %f0;\n" for i in range(n))


def loops(n: int) -> str:
    return "".join(
        f"mov.u32 %r{10 + i}, 0;\nL{i}: {STORE} add.s32 %r{10 + i}, %r{10 + i}, 1;\n"
        f"setp.lt.s32 %p{i}, %r{10 + i}, %r1;\n@%p{i} bra L{i};\n"
        for i in range(n)
    )


def exits(n: int) -> str:
    return "".join(
        f"setp.eq.s32 %p{i}, %r2, {i + 5000};\n@%p{i} bra EXIT;\n{STORE}" for i in range(n)
    ) + "EXIT:\n"  # fmt: skip


def branches_of_data(n: int) -> str:
    return "".join(
        f"ld.global.f32 %f1, [%rd0+{4 * i}];\nsetp.gt.f32 %p{i}, %f1, %f0;\n@%p{i} bra L{i};\n"
        f"st.global.f32 [%rd0+{4 * i}], %f0;\nL{i}:\n"
        for i in range(n)
    ) + STORE  # fmt: skip


def length_of_many_sums(n: int) -> str:
    chain = "".join(f"add.s32 %r{11 + i}, %r{10 + i}, {i % 2};\n" for i in range(n))
    return chain + (
        f"L: {STORE} add.s32 %r9, %r9, 1;\nsetp.lt.s32 %p0, %r9, %r{10 + n};\n@%p0 bra L;\n"
    )


def each_thread_as_often_as_its_number(n: int) -> str:
    return f"L: {STORE} add.s32 %r9, %r9, {n};\nsetp.lt.s32 %p0, %r9, %r2;\n@%p0 bra L;\n"


def some_wait_for_ever(n: int) -> str:
    chain = "".join(f"W{i}: bra W{(i + 1) % n};\n" for i in range(n))
    return f"setp.eq.s32 %p0, %r2, 5;\n@%p0 bra W0;\n{STORE}ret;\n{chain}"


def data_sends_some_away_for_ever(n: int) -> str:
    return some_wait_for_ever(n).replace(
        "setp.eq.s32 %p0, %r2, 5;", "ld.global.f32 %f1, [%rd0];\nsetp.gt.f32 %p0, %f1, %f0;"
    )


@pytest.mark.parametrize(("body", "size", "threads"), [
    (stores, 1500, 128), (loops, 400, 128), (exits, 500, 128), (branches_of_data, 600, 128),
    (length_of_many_sums, 1500, 128), (each_thread_as_often_as_its_number, 1, 640),
    (some_wait_for_ever, 3, 128), (data_sends_some_away_for_ever, 3, 128),
])  # fmt: skip
def test_a_long_text_is_answered_soon(body: Callable[[int], str], size: int, threads: int):
    module, _ = verified(KERNEL.format(threads=threads, body=body(size)))
    (function,) = functions(module)
    begin = time.process_time()
    hazard, _ = check(function)
    assert hazard is None
    assert time.process_time() - begin < 8


@pytest.mark.parametrize(("steps", "rule"), [(1 << 20, "nothing"), (1500, None)])
def test_launches_share_a_bound(steps: int, rule: str | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Values, "steps_in_all", steps)
    body = f"L: add.s32 %r9, %r9, 1;\nsetp.lt.s32 %p0, %r9, 400;\n@%p0 bra L;\n{LOAD}"
    module, _ = verified(KERNEL.format(threads=128, body=body).replace(" .reqntid 128", ""))
    (function,) = functions(module)
    hazard, unproven = check(function)
    assert (hazard and hazard.rule) == rule
    assert list(unproven.values()) == ([] if rule else ["it has more events than are followed"])


@pytest.mark.parametrize(("pairs", "rule"), [(1 << 20, "nothing"), (600, None)])
def test_accesses_of_threads_that_part_share_a_bound(
    pairs: int, rule: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Values, "pairs_left", pairs)
    rounds = f"{STORE}bar.sync 0;\nld.shared.f32 %f1, [%r5+4];\nbar.sync 0;\n" * 2
    body = each_thread_as_often_as_its_number(1) + rounds + "ld.shared.f32 %f1, [%r5+12288];\n"
    module, _ = verified(KERNEL.format(threads=64, body=body))
    (function,) = functions(module)
    hazard, unproven = check(function)
    assert (hazard and hazard.rule) == rule
    assert list(unproven.values()) == ([] if rule else ["it has more events than are followed"])
