"""wgmma on the command line: explain, layout and check-ptx, with and without operands."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from run_command import shown

from tilewright.dialects.cute import Layout, equivalent, parse_layout
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import parse_wgmma, wgmmas_of
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    MAJOR_MODES,
    SWIZZLE_MODES,
    MajorMode,
    SmemDescriptor,
)
from tilewright.dialects.cute_nvgpu.lattice import WGMMA_ROWS
from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.launch.ptxas import PtxasReport
from tilewright.source.parsing import parse_module
from tilewright.tools.instructions.judge import is_legal, why_illegal
from tilewright.tools.instructions.wgmma_explained import canonical_layout, op_spelling
from tilewright.tools.tilewright import main

Ptxas = Callable[..., PtxasReport]

ARCH = "sm_90a"
ATOMS = [atom for row in WGMMA_ROWS for atom in wgmmas_of(row)]
FEW = [next(iter(wgmmas_of(row))) for row in WGMMA_ROWS]

HALF = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
FP8 = "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2"
BYTES = "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8"
BITS = "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc"
SPARSE = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16"
SPARSE_BYTES = "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.u8.u8"
F, R = "{%f0,%f1,%f2,%f3}", "{%r0,%r1,%r2,%r3}"
A = "{%r4,%r5,%r6,%r7}"
WAIT = "wgmma.wait_group.sync.aligned"

KERNEL = """\
.version 9.0
.target sm_90a
.address_size 64
.visible .entry kernel() {{
.reg .pred %p<2>;
.reg .b32 %r<8>;
.reg .f32 %f<8>;
.reg .b64 %rd<4>;
{line};
ret;
}}
"""


def assembles(ptxas: Ptxas, line: str) -> bool:
    text = KERNEL.format(line=line.rstrip("; "))
    return ptxas(text, ARCH, options=["-O0"], verbose=False).ok


# explain


def test_explain(capsys: pytest.CaptureFixture[str]):
    lines = shown(capsys, "explain", HALF.replace("n8", "n64")).splitlines()
    scales = "imm-scale-a, imm-scale-b"
    d = "{d0,...,d31}"
    assert lines[4:6] == [
        f"  operands  {d}, a-desc, b-desc, scale-d, {scales}, imm-trans-a, imm-trans-b",
        f"  or        {d}, {{a0,a1,a2,a3}}, b-desc, scale-d, {scales}, imm-trans-b",
    ]
    text = "\n".join(lines)
    assert "D = A * B + D, or D = A * B where scale-d is false: A is 64 x 16, B 16 x 64" in text
    assert "  scale-d   a predicate, or the constant 0 or 1" in lines
    assert "1, or -1 to negate" in text and "1 for an MN-major one" in text
    assert "  requires  sm_90a" in lines and "8.0 or later, section 9.7.15.5.2" in text
    assert text.count("K-major   ") == 4 and text.count("MN-major  ") == 4


def test_explain_says_only_what_an_instruction_has(capsys: pytest.CaptureFixture[str]):
    text = shown(capsys, "explain", BITS)
    assert "the number of ones in A and B" in text
    assert "imm-" not in text and "MN-major" not in text and " E " not in text
    text = shown(capsys, "explain", SPARSE_BYTES.replace("k64", "k64.satfinite"))
    assert text.splitlines()[0] == f"{SPARSE_BYTES}.satfinite"
    assert "sp-sel 0: threads 0, 1, 2, 3 of each group of four" in text
    assert "stored as 64 x 32: 2 of every 4" in text and "  modifiers .satfinite" in text
    assert "sp-sel 0: threads 0, 1; 1: threads 2, 3" in shown(capsys, "explain", SPARSE)


@pytest.mark.parametrize("atom", FEW, ids=str)
def test_layouts_of_explain(atom: WgmmaAtom, capsys: pytest.CaptureFixture[str]):
    found = re.findall(
        r"^  ([ADE])  .* x .*? x \w+ +(\S+) -> m \+ 64\*[knj]$",
        shown(capsys, "explain", atom.mnemonic),
        re.MULTILINE,
    )
    operands = ["A", "D", "E"] if atom.row.sparse else ["A", "D"]
    assert [operand for operand, _ in found] == operands
    for operand, layout in found:
        assert Layout.parse(layout) == atom.tv_layout(operand)


@pytest.mark.parametrize("atom", FEW, ids=str)
@pytest.mark.parametrize("swizzle", SWIZZLE_MODES)
@pytest.mark.parametrize("major", MAJOR_MODES)
def test_canonical_layouts_are_those_of_descriptors(
    atom: WgmmaAtom, major: MajorMode, swizzle: int
):
    element = atom.element("B")
    chunk, lead, stride = 128 // element.bits, 4096, 8192
    wide = swizzle // 16 or 1
    k = 1 if major == "mn" or not swizzle else max(wide // 2, 1)
    text = canonical_layout(element, major, swizzle)
    for name, value in (
        ("LBO", lead * 8 // element.bits),
        ("SBO", stride * 8 // element.bits),
        ("2k", 2 * k),
        ("m", 2),
        ("k", k),
    ):
        text = re.sub(rf"\b{name}\b", str(value), text)
    layout = parse_layout(text)
    extents = (16 if major == "k" else 2 * wide * chunk, 2 * k * chunk if major == "k" else 8)
    descriptor = SmemDescriptor(0, lead, stride, swizzle)
    plain = layout if isinstance(layout, Layout) else layout.outer
    assert equivalent(plain, descriptor.layout(major, extents, element.bits))
    assert isinstance(layout, Layout) == (swizzle == 0)


@pytest.mark.parametrize("atom", FEW, ids=str)
def test_the_op_is_spelled_as_ir_parses_it(atom: WgmmaAtom):
    n, k = atom.extents("B")
    matrix = '!cute_nvgpu.smem_desc_view<{0}x{1}x{2}, "(({3},{4}),({5},{6})):(({5},512),(1,256))">'
    chunk = 128 // atom.element("B").bits

    def view(rows: int, columns: int, operand: str) -> str:
        mlir = atom.element(operand).mlir
        return matrix.format(rows, columns, mlir, 8, rows // 8, chunk, columns // chunk)

    held = f"!cute_nvgpu.fragment<{atom.values('D')}x{atom.element('D').mlir}>"
    types = [view(*atom.extents("A"), "A"), view(n, k, "B"), held]
    names = ["%a", "%b", "%c"]
    if atom.row.sparse:
        types.append("!cute_nvgpu.fragment<16xui2>")
        names.append("%e")
    arguments = ", ".join(map("{}: {}".format, [*names, "%p"], [*types, "i1"]))
    line = f"{op_spelling(atom)} : ({', '.join([*types, 'i1'])}) -> {held}"
    module = parse_module(f"func.func @f({arguments}) {{\n{line}\nfunc.return }}")
    module.verify()
    [op] = [each for each in module.walk() if isinstance(each, WarpgroupMmaOp)]
    assert op.mma_atom == atom and op.negated == (atom.row.negates,) * 2


def test_explain_what_orders(capsys: pytest.CaptureFixture[str]):
    text = shown(capsys, "explain", WAIT)
    assert (
        "  operands  N\n            N: an integer constant of 0 or more\n"
        "  op        cute_nvgpu.wgmma.wait_group\n" in text
    )
    assert "section 9.7.15.7.3" in text
    text = shown(capsys, "explain", "fence.proxy.async")
    assert "  op        cute_nvgpu.fence.proxy.async" in text and "sm_90 or later" in text


# layout


def test_layout(capsys: pytest.CaptureFixture[str]):
    """Warp w holds rows 16w to 16w + 15, its threads 4g to 4g + 3 rows g and g + 8 of them."""
    for operand in ("C", "D"):
        lines = shown(capsys, "layout", HALF, operand).splitlines()
        assert lines[3].split() == ["m\\n", *map(str, range(8))]
        for row, line in enumerate(lines[4:]):
            thread = 32 * (row // 16) + 4 * (row % 8)
            first = 2 * (row % 16 // 8)
            assert line.split() == [
                str(row),
                *(f"T{thread + n // 2}V{first + n % 2}" for n in range(8)),
            ]
    assert shown(capsys, "layout", HALF, "A").count("T127V") == 8
    lines = shown(capsys, "layout", SPARSE, "E", "--select", "1").splitlines()
    assert lines[0].endswith("E, 64 x 16 of u2, rows m, columns j, sp-sel 1")
    assert lines[4].split()[1] == "T2V0"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((HALF, "B"), "an operand of A, C, D, got B (B is always in shared memory"),
        ((HALF, "E"), "expected an operand of A, C, D, got E"),
        ((SPARSE, "E", "--select", "2"), "a sp-sel of 0, 1 for E, got '2'; nearest legal: 0"),
        ((WAIT, "D"), "expected an MMA"),
    ],
)
def test_wrong_layouts(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["layout", *words])
    assert said in capsys.readouterr().err


# check-ptx


def test_every_mnemonic_is_read_both_ways():
    for atom in ATOMS:
        assert is_legal(atom.mnemonic, ARCH) and parse_wgmma(atom.mnemonic) == atom
        if atom.satfinite:
            plain = replace(atom, satfinite=False).mnemonic
            head, *types = plain.rsplit(".", 3)
            assert is_legal(".".join([head, "satfinite", *types]), ARCH)


LEGAL = [
    f"{HALF} {F}, %rd0, %rd1, %p0, 1, 1, 0, 0;",
    f"{HALF} {F}, %rd0, %rd1, 1, -1, 0x1, 1, 0b1",
    f"{HALF} {F}, %rd0, %rd1, 0, 1, -1, 0, 1",
    f"{HALF} {F}, {A}, %rd1, %p1, 1, -1, 1;",
    f"{HALF.replace('f32', 'f16')} {{%r0,%r1}}, {A}, %rd1, %p1, 1, -1, 0;",
    f"{FP8} {F}, %rd0, %rd1, %p0, 1, -1;",
    f"{FP8} {F}, {A}, %rd0, %p0, -1, 1;",
    f"{BYTES} {R}, %rd0, %rd1, %p0;",
    f"{BYTES} {R}, {A}, %rd1, 1;",
    f"{BYTES}.satfinite {R}, {A}, %rd1, 1;",
    f"{BYTES.replace('k32', 'k32.satfinite')} {R}, %rd0, %rd1, 1;",
    f"{BITS} {R}, %rd0, %rd1, %p0;",
    f"{BITS} {R}, {A}, %rd1, %p0;",
    f"{SPARSE} {F}, %rd0, %rd1, %r4, 1, %p0, 1, 1, 0, 0;",
    f"{SPARSE} {F}, {A}, %rd1, {{%r0}}, 0, 1, 1, 1, 1;",
    f"{SPARSE_BYTES} {R}, %rd0, %rd1, %r4, 0, %p0;",
    f"{SPARSE_BYTES.replace('k64', 'k64.satfinite')} {R}, {A}, %rd1, %r4, 0, %p0;",
    f"{SPARSE_BYTES}.satfinite {R}, {A}, %rd1, %r4, 0, %p0;",
    "wgmma.fence.sync.aligned;",
    "wgmma.commit_group.sync.aligned;",
    f"{WAIT} 0;",
    f"{WAIT} 0x7fffffffffffffff;",
    "fence.proxy.async;",
    "fence.proxy.async.global;",
    "fence.proxy.async.shared::cta;",
    "fence.proxy.async.shared::cluster;",
]


@pytest.mark.parametrize("line", LEGAL)
def test_legal(line: str, ptxas: Ptxas):
    assert is_legal(line, ARCH) and why_illegal(line, ARCH) is None
    assert assembles(ptxas, line)


ILLEGAL = {
    f"{HALF} {F}, %rd0, %rd1, %p0, 0, 1, 0, 0;": (
        f"{HALF} expected the constant 1 or -1 as imm-scale-a, got 0 (PTX ISA 9.7.15.5.2); "
        "nearest legal: 1"
    ),
    f"{HALF} {F}, %rd0, %rd1, %p0, 1, -2, 0, 0;": "as imm-scale-b, got -2 (PTX ISA 9.7.15.5.2)",
    f"{HALF} {F}, %rd0, %rd1, %p0, 1, 1, -1, 0;": "expected the constant 0 or 1 as imm-trans-a",
    f"{HALF} {F}, %rd0, %rd1, %p0, 1, 1, 0, 2;": "as imm-trans-b, got 2",
    f"{HALF} {F}, %rd0, %rd1, %p0, %r0, 1, 0, 0;": "or -1 as imm-scale-a, got %r0",
    f"{HALF} {F}, %rd0, %rd1, 2, 1, 1, 0, 0;": (
        "expected a predicate or the constant 0 or 1 as scale-d, got 2 (PTX ISA 9.7.15.5.2); "
        "nearest legal: 1"
    ),
    f"{HALF} {F}, %rd0, %rd1, !%p0, 1, 1, 0, 0;": (
        "got !%p0 (undocumented: ptxas takes a negated predicate, PTX ISA 9.7.15.5.2); "
        "nearest legal: scale_d"
    ),
    f"{HALF} {F}, %rd0, %rd1, {{%p0}}, 1, 1, 0, 0;": "as scale-d, got {%p0} (PTX ISA",
    f"{HALF} {F}, %rd0, %rd1, %p0, 1, 1;": (
        "expected 8 operands (d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, "
        "imm-trans-b), got 6"
    ),
    f"{HALF} {F}, {A}, %rd1, %p0, 1, 1, 0, 0;": (
        "expected 7 operands (d, a, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-b), got 8"
    ),
    f"{HALF} {F}, {{%r0,%r1}}, %rd1, %p0, 1, 1, 0;": (
        "expected a vector of 4 .b32 registers as a, got {%r0,%r1}"
    ),
    f"{HALF} {F}, {{%r0,%r1,%r2,7}}, %rd1, %p0, 1, 1, 0;": "ptxas takes constants beside registers",
    f"{HALF} {F}, {{%r0,%r1,%r2,_}}, %rd1, %p0, 1, 1, 0;": "as a, got {%r0,%r1,%r2,_} (PTX ISA",
    f"{HALF} {{%f0,%f1,%f2,_}}, %rd0, %rd1, %p0, 1, 1, 0, 0;": "as d, got {%f0,%f1,%f2,_} (PTX ISA",
    f"{HALF} {{%f0,%f1,%f2}}, %rd0, %rd1, %p0, 1, 1, 0, 0;": "a vector of 4 .f32 registers as d",
    f"{HALF} {F}, 5, %rd1, %p0, 1, 1, 0, 0;": (
        "expected a .b64 register as a-desc, got 5 (undocumented: ptxas takes a constant "
        "descriptor, PTX ISA 9.7.15.5.2); nearest legal: a_desc"
    ),
    f"{HALF} {F}, {A}, -5, %p0, 1, 1, 0;": "as b-desc, got -5 (undocumented",
    f"{HALF} {F}, [%rd0], %rd1, %p0, 1, 1, 0, 0;": "as a-desc, got [%rd0] (PTX ISA",
    f"{HALF} {F}, %rd0, {A}, %p0, 1, 1, 0, 0;": "expected a .b64 register as b-desc",
    f"{FP8} {F}, %rd0, %rd1, %p0, 1, 1, 0, 0;": "expected 6 operands",
    f"{BYTES} {R}, %rd0, %rd1, %p0, 1, 1;": "expected 4 operands (d, a-desc, b-desc, scale-d)",
    f"{SPARSE} {F}, %rd0, %rd1, %r4, 2, %p0, 1, 1, 0, 0;": (
        "expected the constant 0 or 1 as sp-sel, got 2 (PTX ISA 9.7.15.6.1); nearest legal: 1"
    ),
    f"{SPARSE} {F}, %rd0, %rd1, 5, 0, %p0, 1, 1, 0, 0;": "expected a .b32 register as sp-meta",
    f"{SPARSE_BYTES} {R}, {A}, %rd1, %r4, 1, %p0;": "expected the constant 0 as sp-sel, got 1",
    f"{SPARSE_BYTES} {R}, {A}, %rd1, %r4, %p0;": "expected 6 operands (d, a, b-desc, sp-meta,",
    f"{WAIT} -1;": (
        f"{WAIT} expected an integer constant of 0 or more as N, got -1 (PTX ISA 9.7.15.7.3); "
        "nearest legal: 0"
    ),
    f"{WAIT} %r0;": "an integer constant of 0 or more as N, got %r0",
    f"{WAIT} 0xffffffffffffffff;": "nearest legal: 9223372036854775807",
    f"{WAIT};": f"{WAIT} expected 1 operands (N), got 0",
    "wgmma.fence.sync.aligned 0;": "expected 0 operands (), got 1",
    "fence.proxy.async.shared;": "after 'fence.proxy.async', got .shared",
    # Mnemonics.
    f"{HALF.replace('n8', 'n12')} {F}, %rd0, %rd1, %p0, 1, 1, 0, 0;": (
        "expected a shape 64xNx16 for (f16, f16, f32), N 8 to 256 in steps of 8, got 64x12x16"
    ),
    f"{BYTES.replace('n8', 'n40')} {R}, %rd0, %rd1, %p0;": "N 8, 16, 24, 32, then 48 to 256",
    f"{HALF.replace('f32.f16', 'f16.bf16')} {F}, %rd0, %rd1, %p0, 1, 1, 0, 0;": (
        "expected element types (a, b, d) that wgmma has, got (bf16, f16, f16)"
    ),
    f"{BITS.replace('and', 'xor')} {R}, %rd0, %rd1, %p0;": "expected .and.popc for (b1, b1, s32)",
    f"{BITS.replace('and.popc', 'popc.and')} {R}, %rd0, %rd1, %p0;": "expected wgmma.mma_async",
    f"{FP8}.satfinite {F}, %rd0, %rd1, %p0, 1, 1;": "only sums of s8 and u8 saturate",
    "wgmma.sync.commit_group.aligned;": "expected .commit_group, .fence, .mma_async or .wait_group",
    "wgmma.mma_async.aligned.sync.m64n8k16.f32.f16.f16 "
    f"{F}, %rd0, %rd1, %p0, 1, 1, 0, 0;": "undocumented: ptxas takes its qualifiers in any order",
    "wgmma.fence.aligned.sync;": "undocumented: ptxas takes its qualifiers in any order",
    "fence.proxy.global.async;": "undocumented: ptxas takes its qualifiers in any order",
}


@pytest.mark.parametrize("line", ILLEGAL)
def test_illegal(line: str, ptxas: Ptxas):
    why = why_illegal(line, ARCH)
    assert not is_legal(line, ARCH)
    assert why is not None and ILLEGAL[line] in why
    assert assembles(ptxas, line) == ("undocumented" in why)


@pytest.mark.parametrize("arch", ["sm_90", "sm_100a", "sm_120a"])
def test_wgmma_is_sm_90a_alone(arch: str):
    assert f"requires sm_90a, got {arch} (PTX ISA 9.7.15.5.2)" in str(why_illegal(HALF, arch))
    assert not is_legal("wgmma.fence.sync.aligned", arch)
    assert is_legal("fence.proxy.async", arch)
