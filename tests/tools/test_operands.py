"""Operands of `tilewright check-ptx`: what is legal, what is wrong with the rest, and whether ptxas
agrees."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from covering import THOROUGH

from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Vector
from tilewright.dialects.cute_nvgpu.lattice.operand_text import read, split
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS
from tilewright.launch.ptxas import PtxasReport
from tilewright.tools.instructions.catalogue import listings, operand_lists
from tilewright.tools.instructions.judge import is_legal, why_illegal

Ptxas = Callable[..., PtxasReport]

ARCH = "sm_120a"
DENSE = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
SCALED = (
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X"
    ".f32.e2m1.e2m1.f32.ue8m0"
)
LOAD = "ldmatrix.sync.aligned.m8n8.x2.shared.b16"
STORE = "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16"
ASYNC = "cp.async.ca.shared.global"

D = "{%f0,%f1,%f2,%f3}"
R = "{%r0,%r1,%r2,%r3}"
B = "{%r4,%r5}"
FILL = {DENSE: f"{D}, {R}, {B}, {D}", SPARSE: f"{D}, {R}, {R}, {D}", SCALED: f"{D}, {R}, {B}, {D}"}

KERNEL = """\
.version 9.0
.target {arch}
.address_size 64
.visible .entry kernel() {{
.reg .b16 %h<8>;
.reg .pred %p<2>;
.reg .b32 %r<8>;
.reg .f32 %f<8>;
.reg .b64 %rd<8>;
.shared .align 16 .b8 tile[1024];
{line};
ret;
}}
"""

LEGAL = [
    f"{DENSE} {FILL[DENSE]}",
    f"{DENSE}{{%f0,%f1,%f2,%f3}},{R},{B},{D};".replace("{%f0", " {%f0", 1),
    f"{DENSE}\t{{ %f0 , %f1,%f2,%f3 }} , {R},{B},{D} ;",
    f"{SPARSE} {FILL[SPARSE]}, %r0, 0x1;",
    f"{SPARSE} {FILL[SPARSE]}, {{%r0}}, 0b1",
    f"{SPARSE} {FILL[SPARSE]}, %r0, 00",
    f"{SPARSE} {FILL[SPARSE]}, %r0, +1",
    f"{SCALED} {FILL[SCALED]}, %r0, {{0, 1}}, %r1, {{2, 3}};",
    f"{SCALED} {FILL[SCALED]}, {{%r0}}, {{%h0, 1}}, {{%r1}}, {{2, %h1}};",
    f"{LOAD} {{%r0,%r1}}, [%rd0];",
    f"{LOAD} {{%r0,%r1}}, [ %rd0 + 16 ];",
    f"{LOAD} {{%r0,%r1}}, [tile+0x10];",
    f"{LOAD} {{%r0,%r1}}, [%rd0+-16];",
    f"{STORE} [%rd0], {{%r0}};",
    f"{ASYNC} [%rd0], [%rd1], 16;",
    f"{ASYNC} [%rd0], [%rd1], 8, 5;",
    f"{ASYNC} [%rd0], [%rd1], 4, %r0;",
    "@%p0 st.global.v2.f32 [%rd0+8], {%f0, %f1};",
    "shfl.sync.bfly.b32 %r0|%p0, %r1, 2, 31, 0xffffffff;",
    "cp.async.wait_group 0;",
]  # fmt: skip


def assembles(ptxas: Ptxas, line: str) -> bool:
    text = KERNEL.format(arch=ARCH, line=line.rstrip("; "))
    return ptxas(text, ARCH, options=["-O0"], verbose=False).ok


@pytest.mark.parametrize("line", LEGAL)
def test_legal_operands(line: str, ptxas: Ptxas):
    assert is_legal(line, ARCH) and why_illegal(line, ARCH) is None
    assert assembles(ptxas, line)


ILLEGAL = {
    f"{DENSE} {D}, {R}, {B};": (
        f"{DENSE} expected 4 operands (d, a, b, c), got 3 (PTX ISA 9.7.14.5.8); "
        f"nearest legal: {D}, {R}, {B}, {{c0,c1,c2,c3}}"
    ),
    f"{DENSE} {FILL[DENSE]}, %r0;": "expected 4 operands (d, a, b, c), got 5",
    f"{DENSE};": "expected 4 operands (d, a, b, c), got 0",
    f"{DENSE} {D}, {{%r0,%r1}}, {B}, {D};": (
        f"{DENSE} expected a vector of 4 .b32 registers as a, got {{%r0,%r1}} "
        "(PTX ISA 9.7.14.5.8); nearest legal: {%r0,%r1,a0,a1}"
    ),
    f"{DENSE} {{%f0,%f1}}, {R}, {B}, {D};": "expected a vector of 4 .f32 registers as d",
    f"{DENSE} {D}, {R}, {{%r0,%r1,%r2}}, {D};": "nearest legal: {%r0,%r1}",
    f"{DENSE} {D}, {R}, %r0, {D};": "got %r0 (PTX ISA 9.7.14.5.8); nearest legal: {%r0,b0}",
    f"{DENSE} {D}, {R}, {B}, 0;": "expected a vector of 4 .f32 registers as c, got 0",
    f"{DENSE} {D}, [%rd0], {B}, {D};": "as a, got [%rd0]",
    f"{DENSE} {D}, {R}, {B}, {{%f0,%f1,%f2,0f00000000}};": (
        "undocumented: ptxas takes constants beside registers"
    ),
    f"{DENSE} {D}, {R}, {{%r0,7}}, {D};": "undocumented: ptxas takes constants beside registers",
    f"{DENSE} {{%f0,_,%f1,%f2}}, {R}, {B}, {D};": "undocumented: ptxas takes _ beside registers",
    f"{SPARSE} {FILL[SPARSE]}, %r0;": (
        "expected 6 operands (d, a, b, c, e, sparsity selector), got 5"
    ),
    f"{SPARSE} {FILL[SPARSE]}, 5, 0;": "expected a .b32 register as e, got 5",
    f"{SPARSE} {FILL[SPARSE]}, %r0, %r1;": "the constant 0 or 1 as sparsity selector, got %r1",
    f"{SPARSE} {FILL[SPARSE]}, %r0, 2;": (
        "undocumented: ptxas takes it, but a pair of threads gives the metadata, selected by 0 "
        "or 1, PTX ISA 9.7.14.6.1); nearest legal: 1"
    ),
    f"{SPARSE} {FILL[SPARSE]}, %r0, 4;": "got 4 (PTX ISA 9.7.14.6.1); nearest legal: 1",
    f"{SPARSE} {FILL[SPARSE]}, %r0, -1;": "got -1 (PTX ISA 9.7.14.6.1); nearest legal: 0",
    f"{SCALED} {FILL[SCALED]}, %r0, {{1, 1}}, %r1, {{2, 3}};": (
        "expected {byte-id of 0 or 2, thread-id of 0 or 1} as {byte-id-a, thread-id-a}, got {1, 1} "
        "(PTX ISA 9.7.14.3); nearest legal: {0,1}"
    ),
    f"{SCALED} {FILL[SCALED]}, %r0, {{0, 2}}, %r1, {{2, 3}};": "nearest legal: {0,1}",
    f"{SCALED} {FILL[SCALED]}, %r0, {{0, 1}}, %r1, {{2, 4}};": "nearest legal: {2,3}",
    f"{SCALED} {FILL[SCALED]}, %r0, {{%h0}}, %r1, {{2, 3}};": "nearest legal: {%h0,0}",
    f"{SCALED} {FILL[SCALED]}, %r0, 0, %r1, {{2, 3}};": "thread-id-a}, got 0",
    f"{SCALED} {FILL[SCALED]}, %r0, %r1;": (
        "expected 8 operands (d, a, b, c, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, "
        "{byte-id-b, thread-id-b}), got 6"
    ),
    f"{LOAD} {{%r0}}, [%rd0];": "expected a vector of 2 .b32 registers as r, got {%r0}",
    f"{LOAD} {{%r0,%r1}}, %rd0;": (
        f"{LOAD} expected an address as p, got %rd0 (PTX ISA 9.7.14.5.15); nearest legal: [%rd0]"
    ),
    f"{LOAD} {{%r0,%r1}}, [%rd0+%rd1];": "its offset a constant of 64 bits as p, got [%rd0+%rd1]",
    f"{LOAD} {{%r0,%r1}}, [%rd0+99999999999999999999];": (
        f"{LOAD} expected an address, its offset a constant of 64 bits as p, got "
        "[%rd0+99999999999999999999] (PTX ISA 9.7.14.5.15); nearest legal: [%rd0]"
    ),
    f"{ASYNC} [%rd0], [%rd1], 8, 9;": (
        "expected a register or an integer of 0 to 8 as src-size, got 9 (PTX ISA 9.7.9.25.3.1); "
        "nearest legal: 8"
    ),
    f"{STORE} {{%r0}}, [%rd0];": "expected an address as p, got {%r0}",
    f"{STORE} [%rd0], %r0;": "nearest legal: {%r0}",
    f"{ASYNC} [%rd0], [%rd1], 12;": "expected the constant 4, 8 or 16 as cp-size, got 12",
    f"{ASYNC} [%rd0], [%rd1];": "expected 3 to 4 operands (dst, src, cp-size, src-size or not)",
    f"{ASYNC} [%rd0], [%rd1], 16, 17;": "expected a register or an integer of 0 to 16 as src-size",
    f"{ASYNC} [%rd0], [%rd1], 16, 8, 8, 8;": "expected 3 to 4 operands",
}


@pytest.mark.parametrize("line", ILLEGAL)
def test_illegal_operands(line: str, ptxas: Ptxas):
    why = why_illegal(line, ARCH)
    assert not is_legal(line, ARCH)
    assert why is not None and ILLEGAL[line] in why
    assert assembles(ptxas, line) == ("undocumented" in why)


def test_every_mnemonic_takes_the_operands_that_explain_shows():
    """For a fifth of the targets; for others the next mnemonic."""
    for place, (mnemonic, row) in enumerate(listings().items()):
        for forms in operand_lists(mnemonic):
            spelled = ", ".join(form.spelling for form in forms if form.spelling)
            needed = [row.target, *(form.target for form in forms if form.target is not None)]
            for arch in [*TARGETS] if THOROUGH else [*TARGETS][place % 5 :: 5]:
                legal = all(map(TARGETS[arch].supports, needed))
                assert is_legal(f"{mnemonic} {spelled};", arch) == legal
            assert not is_legal(f"{mnemonic} {spelled}, extra;", None)


def test_no_mnemonic_takes_another_number_of_registers():
    for mnemonic, forms in ((each, forms) for each in listings() for forms in operand_lists(each)):
        for place, form in enumerate(forms):
            if not isinstance(form, Vector):
                continue
            others = (list_[place] for list_ in operand_lists(mnemonic) if len(list_) > place)
            legal = {other.count for other in others if isinstance(other, Vector)}
            for count in {1, 2, 4, 8, form.count - 1, form.count + 1} - {0, *legal}:
                spelled = [each.spelling for each in forms]
                spelled[place] = "{" + ",".join(f"%r{i}" for i in range(count)) + "}"
                assert not is_legal(f"{mnemonic} {', '.join(spelled)};", None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("12", 12), ("-3", -3), ("+4", 4), ("0x1F", 31), ("-0X1f", -31), ("0b101", 5),
        ("017", 15), ("3U", 3), ("0x2U", 2), ("- 1", -1),
    ],
)  # fmt: skip
def test_integers(text: str, value: int):
    [written] = read(text)
    assert (written.kind, written.value) == ("integer", value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("%r0", "register"), ("r0", "register"), ("$a_1", "register"), ("%laneid.x", "register"),
        ("_", "sink"), ("1.5", "float"), ("0f3F800000", "float"), ("{%r0, %r1}", "vector"),
        ("[%r0]", "address"), ("[a+4+4]", "address"), ("", "other"), ("1u", "other"),
        ("08", "other"), ("0x", "other"), ("%", "other"), ("{%r0", "other"), ("[]", "other"),
        ("[4+%r0]", "other"), ("a b", "other"), ("\u0660", "other"),
    ],
)  # fmt: skip
def test_kinds_of_operands(text: str, kind: str):
    assert [each.kind for each in read(text)] == [kind]


@pytest.mark.parametrize("line", ["a b; c d;", "a b;;", "; ", "{a}", "[a]"])
def test_what_is_no_instruction(line: str):
    assert split(line) is None
    assert not is_legal(line, ARCH)
    assert str(why_illegal(line, ARCH)).startswith("expected one instruction a line, got '")


def test_a_mnemonic_alone_is_judged_as_such():
    assert split(DENSE) == (DENSE, None)
    assert split(f"{DENSE};") == (DENSE, ())
    assert is_legal(DENSE, ARCH) and not is_legal(f"{DENSE};", ARCH)


def test_a_wrong_mnemonic_is_said_before_its_operands():
    wrong = DENSE.replace("k16", "k32")
    assert why_illegal(f"{wrong} {{%r0}};", ARCH) == why_illegal(wrong, ARCH)
