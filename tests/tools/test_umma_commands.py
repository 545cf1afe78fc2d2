"""What the command line says of tcgen05.mma and its descriptors."""

from __future__ import annotations

import json

import pytest
import run_command
from run_command import shown

from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import mnemonics_of
from tilewright.dialects.cute_nvgpu.lattice import UMMA_ROWS
from tilewright.tools.instructions.catalogue import listings
from tilewright.tools.instructions.judge import why_illegal
from tilewright.tools.tilewright import main

F16 = "tcgen05.mma.cta_group::1.kind::f16"


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    return run_command.refused(capsys, main, words)


def test_every_mnemonic_is_listed_and_explained(capsys: pytest.CaptureFixture[str]):
    known = listings()
    for op, kind in dict.fromkeys((row.op, row.kind) for row in UMMA_ROWS):
        for each in mnemonics_of(op, kind):
            assert known[each.text].target is each.spelling.target
        out = shown(capsys, "explain", each.text)
        assert out.startswith(f"{each.text}\n  computes")
        assert f"cute_nvgpu.{op}<" in out


def test_a_row_is_one_line(capsys: pytest.CaptureFixture[str]):
    lines = shown(capsys, "atoms", "--op", "sm100.mma").splitlines()[1:]
    cells = [[cell.strip() for cell in line.split("  ") if cell] for line in lines]
    assert [line[0] for line in cells] == ["sm100.mma"] * 4
    assert cells[0][1:6] == [
        "MxNx16, M 64|128|256, N 8..256 step 8",
        "f16,f16 -> f16 | f32; bf16,bf16 -> f32",
        "kind::f16",
        "cta_group::1|2,ashift,collector::a::fill|use|lastuse|discard",
        "sm_100f or sm_110f",
    ]


def test_scale_factors_are_explained(capsys: pytest.CaptureFixture[str]):
    out = shown(capsys, "explain", "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16")
    assert "shape     K 64; M 128: N 16 to 256 in steps of 16; M 256:" in out
    assert "shape     K 96; M 256: N 16 to 256 in steps of 16" in out
    assert "K 64: 4 factors of ue4m3 a row, each for 16 stored elements; ids 0\n" in out
    assert "K 96: 6 factors of ue4m3 a row, each for 16 stored elements; ids 0, 2\n" in out
    assert "bits 23     type of the scale factors  0 ue4m3, 1 ue8m0" in out


@pytest.mark.parametrize(
    "line, arch, why",
    [
        ("tcgen05.mma.cta_group::1.kind::nvf4", None, "expected a kind of f16"),
        ("tcgen05.mma.kind::f16.cta_group::1", "sm_100a", "undocumented: ptxas takes its"),
        (F16, "sm_120a", "requires sm_100f or sm_110f, or later of the same family, got sm_120a"),
        ("tcgen05.mma.cta_group::1.kind::i8", "sm_103a", "requires sm_100a or sm_110a, got"),
        ("tcgen05.mma.sp.ws.cta_group::1.kind::f16", "sm_100a", "nearest legal mnemonic on"),
        (f"{F16} [%r0], %rd0, %rd1, %r2, %p0, 16;", "sm_100a", "as scale-input-d, got 16"),
        (f"{F16} [%r0], %rd0, %rd1, %r2, %p0, 3;", "sm_110a", "nothing on sm_110a (it requires"),
        (f"{F16} [%r0], %rd0, %rd1, %r2, 7;", "sm_100a", "undocumented: ptxas takes any integer"),
        (f"{F16} [%r0], [%r1], %rd1, %r2;", "sm_100a", "got 4"),
    ],
)
def test_why_not(line: str, arch: str | None, why: str):
    said = why_illegal(line, arch)
    assert said is not None and why in said


def test_where_d_is(capsys: pytest.CaptureFixture[str]):
    out = shown(capsys, "layout", F16, "D", "--idesc", "0x04040010").splitlines()
    assert out[0].startswith(f"{F16}: D of 64x16x16, elem_type = (f16, f16, f32)")
    assert out[1] == "layout ((16,4),16):((65536,2097152),1)"
    assert out[3].split() == ["m\\n", *map(str, range(16))]
    assert out[4 + 17].split()[:3] == ["17", "L33C0", "L33C1"]
    a = shown(capsys, "layout", F16, "A", "--idesc", "0x04040010").splitlines()
    assert a[4].split()[:4] == ["0", "L0C0.0", "L0C0.16", "L0C1.0"]
    assert "expected --idesc" in refused(capsys, "layout", F16, "D")
    assert "bits 6 set" in refused(capsys, "layout", F16, "D", "--idesc", "0x04040050")
    assert "got B" in refused(capsys, "layout", F16, "B", "--idesc", "0x04040010")
    dense = "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32"
    assert "expected no --idesc" in refused(capsys, "layout", dense, "D", "--idesc", "0")


def test_an_instruction_descriptor_both_ways(capsys: pytest.CaptureFixture[str]):
    words = ("--format", "idesc", "--kind", "f16")
    out = shown(capsys, "desc", "decode", "0x08200490", *words).splitlines()
    assert out[0] == "0x08200490"
    assert [line.split()[-1] for line in out[1:]] == [
        "selector=0", "sparse=no", "saturate=no", "d_type=f32", "a_type=bf16", "b_type=bf16",
        "negate_a=no", "negate_b=no", "a_major=k", "b_major=k", "n=128", "m=128", "max_shift=0",
    ]  # fmt: skip
    given = "m=128,n=128,a_type=bf16,b_type=bf16"
    assert shown(capsys, "desc", "encode", given, *words).splitlines() == out
    as_json = json.loads(shown(capsys, "desc", "encode", given, *words, "--json"))
    assert as_json["word"] == "0x08200490" and as_json["a_type"] == "bf16"
    turned = shown(capsys, "desc", "encode", f"{given},b_major=mn,negate_a=yes", *words)
    assert turned.startswith("0x08212490")


@pytest.mark.parametrize(
    "words, message",
    [
        (("decode", "0x08200490", "--format", "idesc"), "expected a --kind"),
        (("decode", "0", "--format", "zero-columns", "--kind", "f16"), "expected no --kind"),
        (("decode", "0x50", "--format", "idesc", "--kind", "f16"), "bits 6 set"),
        (("encode", "m=128", "--format", "idesc", "--kind", "f16"), "expected a_type, b_type, n"),
        (("encode", "m", "--format", "idesc", "--kind", "f16"), "fields such as m=128,n=64"),
        (("encode", "q=1", "--format", "idesc", "--kind", "f16"), "expected a field of selector"),
        (("encode", "m=128,n=8,a_type=f32,b_type=f16", "--format", "idesc", "--kind", "f16"),
         "expected type of A of f16, bf16, got f32"),
        (("encode", "used=300", "--format", "zero-columns"), "expected 0 to 255 for the columns"),
        (("decode", "0", "--format", "tcgen05"), "expected 1 in bits 48-46 (version)"),
        (("decode", "0", "--format", "tcgen05", "--type", "b1"), "expected --type of f16"),
        (("decode", "0", "--kind", "f16"), "desc --format wgmma expected no --kind"),
        (("decode", "0x4000404000010040", "--format", "tcgen05", "--type", "e2m1", "--major", "mn"),
         "elements of 6 and 4 bits lie K-major"),
    ],
)  # fmt: skip
def test_what_desc_refuses(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
):
    assert message in refused(capsys, "desc", *words)


def test_a_mask_both_ways(capsys: pytest.CaptureFixture[str]):
    words = ("--format", "zero-columns")
    out = shown(capsys, "desc", "encode", "used=3,zeroed=2,start1=1,first1=1", *words)
    assert out.startswith("0x0002018200000100")
    assert shown(capsys, "desc", "decode", "0x0002018200000100", *words) == out
    assert "used=3" in out and "start1=1" in out


def test_a_descriptor_of_tcgen05_both_ways(capsys: pytest.CaptureFixture[str]):
    words = ("--format", "tcgen05", "--type", "bf16")
    layout = "S<3,3,3> o 0 o (64,16):(64,1)"
    out = shown(capsys, "desc", "encode", layout, *words, "--address", "0x400")
    assert out.startswith("0x4000404000010040\n") and out.endswith("  K-major\n")
    read = shown(capsys, "desc", "decode", "0x4000404000010040", *words, "--major", "k")
    assert "bits 48-46  version                              1" in read
    assert "  1   0x490  0x480" in read
    coarse = shown(capsys, "desc", "decode", "0x2000404000010040", "--format", "tcgen05",
                   "--type", "tf32", "--major", "mn")  # fmt: skip
    assert "128 bytes in atoms of 32, S<2,5,2> on addresses" in coarse
    assert "  1  0x4a0  0x4b0  0x480  0x490" in coarse
    absolute = shown(capsys, "desc", "decode", "0x4010404000010040", *words)
    assert "LBO is an absolute address" in absolute and "K-major" not in absolute
