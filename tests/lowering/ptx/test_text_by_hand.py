"""What people write and compilers do not: expressions, vectors, elements of arrays, other names."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.constant_expressions import evaluate
from tilewright.dialects.ptx.module_variables import GlobalOp, content_of
from tilewright.launch.ptxas import assembled
from tilewright.lowering.ptx.parsing.module import read_module
from tilewright.lowering.ptx.text import module_text
from tilewright.source.diagnostic import CompileError

Ptxas = Callable[..., Any]
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
REAL = ("1.0/3.0", "1.5-1e-9", "-(2.5)*3.", "0d3FF0000010000001+0.0", "1.0e39", "- .7", "-0.0")
WORDS = ("0", "1", "7", "63", "64", "5U", "017", "0b101", "0x80000000", "WARP_SZ",
         "9223372036854775807", "9223372036854775808", "0xFFFFFFFFFFFFFFFF")  # fmt: skip
SIGNS = ("-", "~", "!", "+", "(.s64)", "(.u64)")
BETWEEN = ("+", "-", "*", "/", " % ", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^",
           "&&", "||")  # fmt: skip


def expression(draw: random.Random, depth: int) -> str:
    """One of nested operators and brackets."""
    kind = draw.random() if depth else 0
    inner = [expression(draw, depth - 1) for _ in range(3)] if kind else []
    if kind < 0.15:
        return draw.choice(WORDS)
    if kind < 0.4:
        return f"{draw.choice(SIGNS)}({inner[0]})"
    if kind < 0.55:
        return f"({inner[0]}?{inner[1]}:{inner[2]})"
    return draw.choice(BETWEEN).join(draw.choice((one, f"({one})")) for one in inner[:2])


@pytest.mark.parametrize("type_", ["u64", "s32", "f32", "f64"])
def test_constant_expressions(type_: str) -> None:
    """ptxas folds them to the same bytes."""
    draw = random.Random(type_)
    drawn = (expression(draw, 4) for _ in range(400))
    values = [one for one in drawn if evaluate(one) is not None] if type_[0] != "f" else REAL
    content = ", ".join(values)
    text = f"{HEAD}.visible .global .{type_} x[] = {{{content}}};\n.visible .entry k() {{ ret; }}"
    [variable] = (op for op in read_module(text).walk() if isinstance(op, GlobalOp))
    octets = content_of(variable.octets)
    cubin = assembled(text, "sm_90")
    assert (
        cubin is not None and octets in cubin and len(octets) == len(values) * int(type_[1:]) // 8
    )


def kernel(body: str, before: str = "") -> str:
    return f"""{HEAD}{before}
.visible .entry k(.param .u64 out) {{ .reg .v4 .u32 v; .reg .v2 .f32 w; .reg .u32 r < 4 >, n;
.reg .f32 f; .reg .b16 h; .reg .b64 d<3>; .reg .pred p; .shared .v2 .u32 s[4], t;
ld.param.u64 d0, [out]; {body} ret; }}"""


RUNS = (
    ("st.global.u32 [d0+(1<<3)-4*1], (1<<4)|3; st.global.v2.u32 [d0+8], {2+3, -7/2};", "",
     [0, 19, 5, -3]),
    ("mov.u32 r1, %tid.x; setp.lt.u32 p, r1, 3>2; @ !p st.global.u32 [d0], !0; "
     "@ p st.global.u32 [d0+4], ~5U;", "", [0, -6]),
    ("mov.v4.u32 v, %ntid; mov.u32 v.w, 9; add.u32 v.g, v.x, v.b; st.global.v4.u32 [d0], v;", "",
     [1, 2, 1, 9]),
    ("mov.v2.f32 w, {1.5, 2.0-0.5}; add.f32 f, w.x, w.y; cvt.rzi.u32.f32 r1, f; "
     "st.shared.v2.u32 [s+8], {2, r1}; ld.shared.v2.u32 {r2, r3}, s[2]; "
     "st.global.u32 [d0], r3;", "", [3]),
    ("ld.global.u32 r1, a[1+1]; mov.u64 d1, a[1]; ld.global.u32 r2, [d1]; mov.u64 d2, b; "
     "ld.global.v2.u32 {r3, n}, b[2]; st.global.v4.u32 [d0], {r1, r2, r3, n};",
     ".global .attribute(.managed) .u32 a[] = {4, 5, 6}, c;\n"
     ".global .v2 .u32 b[2] = {{1, 2}, {3, 4}};", [6, 5, 3, 4]),
    ("mov.u32 r1, 1; { .param .b32 y, z; st.param::func.b32 [y], r1; call (z), g, (y); "
     "ld.param::func.b32 r1, [z]; } st.global.u32 [d0], r1;",
     ".visible .func (.param .b32 r) f(.param .b32 q) { .reg .u32 x; ld.param::func.u32 x, [q]; "
     "add.u32 x, x, 40; st.param.b32 [r], x; ret; }\n"
     ".visible .func (.param .b32 r) g(.param .b32 q);\n.alias g, f;", [41]),
    ("{ .param .align 8 .b8 y[16]; .param .align 8 .b8 z[8]; st.param.b8 [y], 5; "
     "st.param.b8 [y+1], 6; st.param.b16 [y+2], 7; st.param.v2.b32 [y+8], {0x12345678, -2}; "
     "call (z), fn, (y); ld.param.v2.b32 {r1, r2}, [z]; ld.param.u16 h, [z+6]; "
     "cvt.u32.u16 r3, h; st.global.v4.u32 [d0], {r1, r2, r3, 0}; }",
     ".visible .func (.param .align 8 .b8 r[8]) fn(.param .align 8 .b8 q[16]) { .reg .b32 x; "
     ".reg .b16 c; .reg .b64 e; ld.param.b32 x, [q]; ld.param.u8 c, [q+9]; st.param.b32 [r], x; "
     "ld.param.b64 e, [q+8]; shr.u64 e, e, 8; cvt.u32.u64 x, e; cvt.u32.u16 x, c; "
     "mad.lo.u32 x, x, 65537, 1; st.param.b32 [r+4], x; ret; }",
     [0x70605, 0x560057, 0x56]),
    ('.pragma "nounroll", "used_bytes_mask 1"; mov.u32 r1, %ctaid.x;\n#line 3 "k.cu"\n'
     "table: .branchtargets W<2>, L; brx.idx.uni r1, table; L: trap; W1: trap; "
     "W0: st.global.u32 [d0], 017;", "", [15]),
)  # fmt: skip


@pytest.mark.parametrize(("body", "before", "expected"), RUNS)
def test_kernels(body: str, before: str, expected: list[int], ptxas: Ptxas) -> None:
    text = kernel(body, before)
    assert ptxas(text, "sm_90").ok and ptxas(module_text(read_module(text)), "sm_90").ok
    [out] = tw.interpret(text, grid=(1,), block=(1,), args=[np.zeros(4, np.int32)], arch="sm_90a")
    assert out[: len(expected)].tolist() == expected


@pytest.mark.parametrize(
    "body",
    [
        "mov.u32 r1, 1.5;", "mov.u32 r1, 0f3F800000;", "add.f32 f, f, 1;", "mov.u32 r1, 1/0;",
        "st.global.f32 [d0], 1?1.0:2.0;", "st.global.u32 [d0+d1], r1;", "add.f16 h, h, 0x3c00;",
        "st.global.u32 [d0+1.0], r1;", "st.global.u32 [d0-4], r1;", "mov.u32 r1, 7 +;",
        "mov.u32 r1, (((1);", "mov.u32 r1, 1 == 1.0;", "mov.u32 r1, 08;", "mov.f32 f, 1.0e999;",
    ],
)  # fmt: skip
def test_what_is_no_constant_of_a_type(body: str, ptxas: Ptxas) -> None:
    assert not ptxas(kernel(body), "sm_90").ok
    with pytest.raises(CompileError, match=r"k\.ptx:7:25: error: expected"):
        tw.compile(kernel(body), "sm_90a", name="k.ptx")
