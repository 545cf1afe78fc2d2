"""Calls of functions in PTX text: what a call gives is a copy, of a register or of a constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.lowering.ptx.parsing.module import read_module
from tilewright.lowering.ptx.text import module_text

Ptxas = Callable[..., Any]
TEXT = """.version 8.5
.target sm_80
.address_size 64
.func (.reg .u32 r) own(.reg .u32 x) { add.u32 x, x, 5; mov.u32 r, x; ret; }
.func (.reg .f32 r) sum(.reg .f32 x, .reg .f32 y) { add.f32 x, x, y; mov.f32 r, x; ret; }
.func (.param .b32 r) next(.param .b32 x) {
.reg .b32 t; ld.param.b32 t, [x]; add.s32 t, t, 1; st.param.b32 [r], t; ret; }
.func (.reg .u32 r) both(.reg .u32 x) { .reg .u32 t; call (t), own, (x); add.u32 r, x, t; ret; }
.visible .entry k(.param .u64 out) {
.reg .u32 r<4>; .reg .f32 f<4>; .reg .u64 d<4>; .reg .pred p;
ld.param.u64 d1, [out]; mov.u32 r1, %tid.x; setp.eq.u32 p, r1, 0; mov.u32 r2, 0;
CALL
mad.wide.u32 d2, r1, 0, d1; mov.u32 r3, %tid.x; mul.wide.u32 d3, r3, 8; add.s64 d2, d2, d3;
st.global.v2.u32 [d2], {r1, r2}; ret; }
"""
LANE = np.arange(32, dtype=np.uint32)
CALLS = {
    "a register that the function writes": ("call (r2), own, (r1);", LANE, LANE + 5),
    "into the register itself": ("call (r1), own, (r1);", LANE + 5, LANE * 0),
    "a constant": ("call (r2), own, (3);", LANE, LANE * 0 + 8),
    "floats": (
        "mov.f32 f1, 0.5; call (f2), sum, (1.5, f1); mov.b32 r2, f2;", LANE,
        (LANE * 0 + np.float32(2)).astype(np.float32).view(np.uint32),
    ),
    "a register in memory": ("call (r2), next, (r1);", LANE, LANE + 1),
    "a constant in memory": ("call (r2), next, (0x10);", LANE, LANE * 0 + 17),
    "in a function": ("call (r2), both, (r1);", LANE, LANE * 2 + 5),
    "under a predicate": ("@p call (r2), own, (9);", LANE, np.where(LANE == 0, 14, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_function_has_copies(name: str, ptxas: Ptxas) -> None:
    call, first, second = CALLS[name]
    text = TEXT.replace("CALL", call)
    assert ptxas(text, "sm_80").ok
    for one in (text, again := module_text(read_module(text))):
        [out] = tw.interpret(one, grid=(1,), block=(32,), args=[np.zeros(64, np.uint32)])
        np.testing.assert_array_equal(out.reshape(32, 2).T, [first, second])
    assert ptxas(again, "sm_80").ok


@pytest.mark.parametrize("call", ["(r2), own, (r9)", "(r2), own, (1.5)", "(3), own, (r1)"])
def test_what_no_call_gives(call: str) -> None:
    got = call.strip("()").rpartition("(")[2] if "(3" not in call else "3"
    with pytest.raises(tw.CompileError, match=f"a variable that is declared, got {got}"):
        tw.interpret(
            TEXT.replace("CALL", f"call {call};"),
            grid=(1,), block=(32,), args=[np.zeros(64, np.uint32)],
        )  # fmt: skip
