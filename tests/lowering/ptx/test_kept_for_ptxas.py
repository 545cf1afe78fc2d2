"""What the meaning of a PTX text leaves open and ptxas makes other machine code of, written again
as it was read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

import tilewright as tw
from tilewright.lowering.ptx.text import module_text
from tilewright.source.parsing import parse_module

Ptxas = Callable[..., Any]


def kernel(body: str, arch: str) -> str:
    return f""".version 9.0\n.target {arch}\n.address_size 64
.visible .entry k(.param .u64 k_p)
{{ .reg .pred %p<9>; .reg .b32 %r<99>; .reg .f32 %f<99>; .reg .b64 %rd<9>;
.shared .align 1024 .b8 own[4096]; ld.param.u64 %rd1, [k_p]; mov.u32 %r1, own;
mov.u32 %r2, %tid.x; setp.eq.s32 %p1, %r2, 0; mov.b32 %r3, 5;
{body} ret; }}"""


def written(body: str, arch: str, ptxas: Ptxas) -> str:
    """What is written of a kernel, and of its IR's text."""
    module = parse_module(kernel(body, arch))
    text = module_text(module)
    assert module_text(parse_module(str(module))) == text.replace("k_p", "k_0")
    assert ptxas(text, arch).ok
    return text


LABELS = "$tmp0:\nadd.s32 %r3, %r3, 1;\n$tmp1:\n$tmp2:\nst.global.b32 [%rd1], %r3;\n"
BRANCH = "@%p1 bra.uni on;\nadd.s32 %r3, %r3, 2;\non:\nst.global.b32 [%rd1], %r3;\n"
COMMIT = (
    "cvt.u64.u32 %rd2, %r1; add.s32 %r4, %r1, 8; mov.b16 h, 3;\n"
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd2];\n"
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.b64 [%rd2], h;\n"
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];\n"
)
PLACES = (
    "mov.b32 %r5, 136314896;\n"
    "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r2], [%r1+8], %rd1, %r5, %p1;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r1+128], [%rd1, {%r2, %r3}], [%r1+-8];\n"
)

IN_PLACE = """mov.f32 %f9, 0f3F000000;
shl.b32 %r4, %r2, 5; add.s32 %r4, %r1, %r4;
st.shared.v4.f32 [%r4], {%f9, %f9, %f9, %f9};
st.shared.v4.f32 [%r4+16], {%f9, %f9, %f9, %f9};
fence.proxy.async; bar.sync 0;
mov.b64 %rd2, 0x4000000000000000;
on:
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd2, 0, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
mul.f32 %f1, %f9, %f1;
add.f32 %f5, %f1, %f9;
neg.f32 %f1, %f5;
st.global.f32 [%rd1], %f1;
add.s32 %r3, %r3, -1; setp.ne.s32 %p1, %r3, 0;
@%p1 bra on;
"""


def test_labels_that_no_branch_names(ptxas: Ptxas) -> None:
    """Debuggers have them, and ptxas begins a block at each."""
    text = written(LABELS, "sm_90a", ptxas)
    assert re.findall(r"here|add\.s32", text) == ["here", "add.s32", "here", "here"]
    [out] = tw.interpret(text, grid=(1,), block=(1,), args=[np.zeros(1, np.int32)], arch="sm_90a")
    assert out[0] == 6


def test_branches_of_whole_warps(ptxas: Ptxas) -> None:
    text = written(BRANCH, "sm_90a", ptxas)
    assert re.search(r"@%p\d bra\.uni \$on;", text)
    assert re.search(r"@%p\d bra \$on;", written(BRANCH.replace(".uni", ""), "sm_90a", ptxas))


def test_generic_addresses_of_commits(ptxas: Ptxas) -> None:
    text = written(f".reg .b16 h;\n{COMMIT}", "sm_100a", ptxas)
    assert re.findall(r"one\.(\S+) \[%(r|rd)\d\]", text) == [
        ("b64", "rd"), ("multicast::cluster.b64", "rd"), ("shared::cluster.b64", "r"),
    ]  # fmt: skip


def test_constants_that_are_added_to_addresses(ptxas: Ptxas) -> None:
    text = written(PLACES, "sm_100a", ptxas)
    assert re.search(r"@%p1 tcgen05\.mma\S* \[%r\d\], \[%r1\+8\], ", text)
    assert re.search(r"\[%r1\+128\], \[%rd1, \{%r\d, %r\d\}\], \[%r1\+-8\];", text)
    assert "add.s32" not in text


def test_results_of_a_wgmma_stay_where_they_are_computed_with(ptxas: Ptxas) -> None:
    """And so are they in the next round, where the wgmma reads nothing of it."""
    text = written(IN_PLACE, "sm_90a", ptxas)
    [first] = re.findall(r"wgmma\.mma\S* \{(%f\d+),", text)
    assert re.search(rf"mul\.f32 {first}, %f\d+, {first};\n\s*add\.f32 (?!{first})", text)
    assert f"neg.f32 {first}, " in text
    args = [np.zeros(1, np.float32)]
    for one in (kernel(IN_PLACE, "sm_90a"), text):
        # 16 products of f16, of 0.5's high and low halves: 1.75 and 0.
        [out] = tw.interpret(one, grid=(1,), block=(128,), args=args, arch="sm_90a")
        assert out[0] == -(8 * 1.75**2 * 0.5 + 0.5)


def test_instructions_that_are_several_ops(ptxas: Ptxas) -> None:
    """Numbers under `selp.s16` are signed, and generic addresses of a cluster are one `mapa`."""
    body = (
        ".reg .b16 h, i, j; .reg .b8 b; mov.b32 {i, j}, %r3; selp.s16 h, -1, 0, %p1;\n"
        "cvt.rzi.bf16.bf16 j, i; cvt.rzi.s32.bf16 %r4, j; mapa.u64 %rd2, %rd1, %r4;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b, %f1, %f1; mov.b16 i, {b, 0};\n"
        "st.b16 [%rd2], h; st.b16 [%rd2+2], i;\n"
    )
    text = written(body, "sm_100a", ptxas)
    assert re.search(r"selp\.s16 %h\d, -1, 0, %p1;", text)
    assert re.search(r"mov\.b16 %h\d, \{%b1, 0\};", text)
    assert "cvt.rzi.bf16.bf16" in text and "cvt.rzi.s32.bf16" in text and "mapa.u64" in text
    assert not re.search(r"cvt\S*f32\.bf16|cvta|selp\.b16", text)


def test_branches_of_waits(ptxas: Ptxas) -> None:
    for branch in ("bra", "bra.uni"):
        loop = (
            f"a: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @%p1 {branch} d; {branch} a; d:"
        )
        text = written(f"{loop}\n", "sm_90a", ptxas)
        assert f"@done {branch} over; {branch} again; over: }}" in text


def test_hints_of_loads(ptxas: Ptxas) -> None:
    """A pragma stands right before the load that it says something of."""
    body = '.pragma "used_bytes_mask 15"; ld.shared.v2.b32 {%r4, %r5}, [own];\n'
    text = written(f"{body}st.global.b32 [%rd1], %r4;\n", "sm_90a", ptxas)
    assert re.search(r'pragma "used_bytes_mask 15";\n\s*ld\.shared', text)


def test_constants_that_calls_pass(ptxas: Ptxas) -> None:
    """And what a call returns is loaded, whether something reads it or not."""
    body = (
        "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd1;\n"
        "st.param.b64 [b], 0; call.uni (r), vprintf, (a, b); ld.param.b32 %r4, [r]; }\n"
    )
    known = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.visible"
    module = parse_module(kernel(body, "sm_90a").replace(".visible", known))
    text = module_text(module)
    assert re.search(r"st\.param\.b64 \[vprintf_given1\+0\], 0;", text)
    assert re.search(r"ld\.param\.b32 %r\d+, \[vprintf_result0\+0\];", text)
    assert ptxas(text, "sm_90a").ok
