"""What the meaning of a PTX text leaves open and ptxas makes other machine code of, written again
as it was read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from small_kernel import kernel as small

import tilewright as tw
from tilewright.dialects.ptx.registers import ConstOp
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


def test_addresses_of_parameters_come_back() -> None:
    """Each is converted where the text does it, if it does."""
    parameters = ".param .u64 k_p, .param .align 64 .b8 k_m[128], .param .align 8 .b8 k_y[16]"
    lines = (
        "mov.b64 %rd2, k_m;", "mov.b64 %rd3, k_y;", "cvta.param.u64 %rd4, %rd2;",
        "prefetch.tensormap [%rd4];", "mov.b64 %rd5, k_m;", "cvta.param.u64 %rd6, %rd5;",
        "prefetch.tensormap [%rd6];", "cvta.param.u64 %rd7, %rd3;", "ld.b32 %r1, [%rd7+4];",
        "st.global.b32 [%rd1], %r1;",
    )  # fmt: skip
    for converted in (lines[4:7], ("prefetch.param.tensormap [k_m];",)):
        body = "\n".join((*lines[:4], *converted, *lines[7:]))
        again = module_text(parse_module(small(f"{body}\n", parameters).replace("80", "90a")))
        assert "\n\t".join(lines) in again
    body = "mov.b64 %rd2, k_m;\nld.param.b64 %rd3, [%rd2+8];\nst.b64 [%rd1], %rd3;\n"
    assert "cvta" not in module_text(parse_module(small(body, parameters)))


def test_registers_that_a_launch_says_nothing_of() -> None:
    """ptxas leaves setmaxnreg out where a text does not say how many CTAs there are."""
    text = small("setmaxnreg.dec.sync.aligned.u32 40;\n").replace("sm_80", "sm_90a")
    again = module_text(parse_module(text.replace(")\n{", ")\n.reqntid 128\n{")))
    assert "setmaxnreg" in again
    assert ".minnctapersm" not in again


def test_a_load_of_tensor_memory_without_a_wait_comes_round() -> None:
    body = (
        "mov.u32 %r1, 0;\nround:\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r1];\n"
        "st.global.b32 [%rd1], %r2;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 8;\n"
        "@%p1 bra round;\n"
    )
    again = module_text(parse_module(small(body).replace("sm_80", "sm_100a")))
    assert "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r" in again


@pytest.mark.parametrize(
    "branches", ["@!done bra again; }", "@done bra.uni over; bra.uni again; over: }"]
)
@pytest.mark.parametrize("hint", ["10000000", "%r2"])
def test_loops_of_waits_come_back(branches: str, hint: str) -> None:
    """With as many branches, and the time of a try where it was."""
    wait = f"mbarrier.try_wait.parity.shared.b64 done, [%r1], 0, {hint};"
    loop = f"{{ .reg .pred done;\nagain:\n{wait}\n{branches}\n"
    text = small(f"mov.u32 %r1, %tid.x;\nmov.b32 %r2, 10000000;\n{loop}").replace("80", "90a")
    module = parse_module(text)
    again = module_text(module)
    assert loop in again.replace("\t", "")
    assert module_text(parse_module(str(module))) == again.replace("k_p", "k_0")


def test_instructions_come_back() -> None:
    """Instructions stand under predicates, read registers of either kind and of 64 bits, and
    constants in registers, as in the text that was read."""
    body = (
        "mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 0;\nmov.b64 %rd2, own;\n"
        "@%p1 mbarrier.init.shared.b64 [%rd2], 1;\n@!%p1 mbarrier.init.shared.b64 [%rd2], 2;\n"
        "mov.b32 %r2, 7;\nadd.s32 %r3, %r1, %r2;\nmax.f32 %r4, %r3, %r1;\nadd.s32 %r5, %r4, 1;\n"
        "bar.sync %r5, 64;\n@%p1 add.s32 %r5, %r5, %r3;\n@%p1 ld.shared.b32 %r6, [%rd2];\n"
        "st.global.v2.b32 [%rd1], {%r5, %r6};\n"
    )
    text = small(f".shared .align 8 .b8 own[8];\n{body}").replace(
        ")\n{", ")\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{"
    )
    module = parse_module(text.replace("sm_80", "sm_90a"))
    again = module_text(module)
    assert module_text(parse_module(str(module))) == again.replace("k_p", "k_0")
    assert ")\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{" in again
    lines = [line.strip() for line in again.splitlines() if not line.startswith("$")]
    assert lines[lines.index("mov.u32 %r1, %tid.x;") + 2 :] == [
        "mov.u64 %rd2, k_shared;",
        "@%p1 mbarrier.init.shared.b64 [%rd2], 1;",
        "@!%p1 mbarrier.init.shared.b64 [%rd2], 2;",
        "mov.b32 %r2, 7;",
        "add.s32 %r3, %r1, %r2;",
        "max.f32 %r4, %r3, %r1;",
        "add.s32 %r5, %r4, 1;",
        "bar.sync %r5, 64;",
        "@%p1 add.s32 %r5, %r5, %r3;",
        "@%p1 ld.shared.b32 %r6, [%rd2];",
        "st.global.v2.b32 [%rd1], {%r5, %r6};",
        "ret;",
        "}",
    ]


def test_what_ptxas_sees_comes_back() -> None:
    """Bounds of a launch, variables in the order of their declarations, moves where they are."""
    text = small(
        ".shared .align 1 .b8 byte;\n.shared .align 8 .b8 late[8];\n.local .align 8 .b8 own[24];\n"
        "mov.u32 %r1, late;\nmov.u32 %r2, byte;\nmov.u64 %rd2, own;\nst.local.u32 [%rd2], %r1;\n"
        "st.shared.u32 [%r1], %r2;\nmov.u32 %r4, 7;\nmov.u32 %r3, %r2;\nadd.s32 %r2, %r2, 1;\n"
        "setp.eq.s32 %p1, %r2, 9;\n@%p1 bra yes;\nbra.uni no;\nyes:\nmov.u32 %r4, 8;\n"
        "no:\nst.global.v2.u32 [%rd1], {%r4, %r3};\n"
    ).replace(")\n{", ")\n.maxntid 256, 2, 1\n.minnctapersm 2\n.maxnreg 40\n{")
    module = parse_module(text)
    again = module_text(module)
    assert module_text(parse_module(str(module))) == again.replace("k_p", "k_0")
    for part in (
        ".maxntid 256, 2, 1\n.minnctapersm 2\n.maxnreg 40\n",
        ".local .align 8 .b8 k_local[24];",
        ".shared .align 8 .b8 k_shared[8];\n.shared .align 8 .b8 k_shared_1[8];\n",
        "mov.u32 %r1, k_shared_1;\n\tmov.u32 %r2, k_shared;",
        "mov.b32 %r3, 7;\n\tmov.b32 %r4, %r2;\n\tadd.s32 ",
        "@%p1 bra $yes;\n\tbra.uni $no;\n$yes:\n\tmov.b32 %r3, 8;\n$no:",
    ):
        assert part in again, part


def test_a_comparison_of_halves_is_one_instruction_again() -> None:
    """As long as its ops are as they were read."""
    body = (
        "ld.global.b32 %r1, [%rd1];\nset.gt.f16x2.f16x2 %r2, %r1, 0;\n"
        "setp.ne.f16x2 %p1|%p2, %r2, %r1;\n@%p1 st.global.b32 [%rd1], %r2;\n"
        "@%p2 st.global.b32 [%rd1], %r1;\n"
    )
    module = parse_module(small(body))
    again = module_text(module)
    assert "set.gt.f16x2.f16x2 %r2, %r1, 0;" in again
    assert "setp.ne.f16x2 %p1|%p2, %r2, %r1;" in again
    assert "selp" not in again and "mov.b32 {" not in again
    assert module_text(parse_module(str(module))) == again.replace("k_p", "k_0")
    choice = next(op for op in module.walk() if op.name == "ptx.selp")
    choice.parent.insert_op_before(ConstOp(7, "b32"), choice)
    again = module_text(module)
    assert "set.gt" not in again and again.count("selp.b16") == 2


def test_loads_and_names_come_back() -> None:
    """Parameters are loaded, and variables called by their names, where the text does it; a narrow
    load is one instruction, and a lane that nothing reads is given."""
    body = "\n\t".join((
        "ld.param.u64 %rd2, [k_p];", "ld.param.u8 %r1, [k_n];", "ld.param.s16 %r2, [k_n];",
        "mov.b64 %rd3, k_b;", "ld.param.b32 %r3, [k_b+4];", "ld.shared.s8 %r4, [%rd2];",
        "ld.shared.b32 %r5, [k_shared+8];", "mov.b32 %r6, 64;",
        "mbarrier.init.shared.b64 [%r4], %r6;", "mbarrier.inval.shared.b64 [k_shared+16];",
        "elect.sync %r7|%p1, 0xffffffff;",
        "mov.b32 %r8, %r7;", "ld.local.b64 %rd4, [k_local+8];",
        "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], %r6;", "ld.param.u64 %rd5, [k_p];",
    ))  # fmt: skip
    parameters = ".param .u64 k_p, .param .u32 k_n, .param .align 4 .b8 k_b[8]"
    variables = ".shared .align 8 .b8 k_shared[32];\n.local .align 8 .b8 k_local[16];\n"
    text = small(f"{variables}{body}\n", parameters).replace("80", "90a")
    start = "ld.param.u64 %rd1, [k_p];\n\t"
    assert f"{start}{body}\n\tret;" in module_text(parse_module(text))


def test_labels_that_nothing_names() -> None:
    """Behind a branch, and a wait, a block has a label where the text has it."""
    body = (
        "mov.u32 %r1, 0;\nagain:\nmbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;\n"
        "@%p1 bra done;\nbra again;\ndone:\nsetp.eq.s32 %p2, %r1, 0;\n@%p2 bra end;\n"
        "here:\nbar.sync 0;\n@%p2 bra end;\nbar.sync 1;\nend:\n"
    )
    again = module_text(parse_module(small(body).replace("80", "90a")))
    assert re.findall(r"^\S+:$", again, re.MULTILINE) == ["$here:", "$end:"]
