"""`tilewright explain`."""

import re

import pytest

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atom import atoms_of
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.cute_nvgpu.lookup import parse
from tilewright.parsing import parse_module
from tilewright.tools.command_atoms import lattice
from tilewright.tools.command_explain import ir_spelling
from tilewright.tools.tilewright import main

BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"


def explained(capsys, *words):
    main(["explain", *words])
    return capsys.readouterr().out


def refused(capsys, *words):
    with pytest.raises(SystemExit) as leaving:
        main(["explain", *words])
    captured = capsys.readouterr()
    assert leaving.value.code == 1 and not captured.out
    assert captured.err.startswith("error: ") and captured.err.count("\n") == 1
    return captured.err


def test_an_mma(capsys):
    lines = explained(capsys, BF16).splitlines()
    assert lines[0] == BF16
    assert "  atom      cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32)>" in lines
    a, b, c = (next(line for line in lines if line.startswith(f"  {name} ")) for name in "ABC")
    assert re.split(r"  +", a.strip()) == [
        "A", "4 x .b32", "8 x bf16", "((4,8),(2,2,2)):((32,1),(16,8,128)) -> m + 16*k",
    ]  # fmt: skip
    assert re.split(r"  +", b.strip())[1:3] == ["2 x .b32", "4 x bf16"]
    assert re.split(r"  +", c.strip())[1:3] == ["4 x .f32", "4 x f32"]
    targets = next(line for line in lines if line.startswith("  targets")).split(None, 1)[1]
    assert targets.split(", ")[0] == "sm_80" and "sm_120f" in targets and "sm_75" not in targets
    assert "  PTX ISA   7.0 or later, section 9.7.14.5.8" in lines


def test_the_atom_is_spelled_as_ir_parses_it():
    for row in MMA_ROWS:
        for atom in atoms_of(row):
            spelled = f"!{ir_spelling(atom)}"
            module = parse_module(f'"test.op"() {{atom = {spelled}}} : () -> ()')
            [op] = module.body.block.ops
            assert op.attributes["atom"].data == atom


def test_every_mnemonic_of_the_lattice_is_explained(capsys):
    for row in lattice():
        for mnemonic in row.mnemonics:
            shown = explained(capsys, mnemonic)
            assert shown.startswith(mnemonic + "\n") and row.section in shown


def test_modifiers(capsys):
    assert "modifiers none" in explained(capsys, BF16)
    satfinite = "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32"
    assert "modifiers .satfinite" in explained(capsys, satfinite)
    rounding = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
    assert "modifiers .rn | .rz | .rm | .rp (none is .rn)" in explained(capsys, rounding)


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("op", ["ldmatrix", "stmatrix"])
@pytest.mark.parametrize("trans", ["", ".trans"])
def test_matrix_copies(number, op, trans, capsys):
    shown = explained(capsys, f"{op}.sync.aligned.m8n8.x{number}{trans}.shared.b16")
    assert f"{number} x .b32" in shown and f"{2 * number} x b16" in shown
    match = re.search(r"(\(\(4,8\)\S+) -> row", shown)
    assert match is not None
    layout = Layout.parse(match[1])
    for thread in range(32):
        for value in range(2 * number):
            # PTX ISA 9.7.14.5.15: thread t gets elements 2*(t%4) and +1 of row t/4.
            row, column = thread // 4, 2 * (thread % 4) + value % 2
            if trans:
                row, column = column, row
            assert layout((thread, value)) == row + 8 * column + 64 * (value // 2)


def test_async_copies(capsys):
    assert "4 or 8 or 16 bytes" in explained(capsys, "cp.async.ca.shared.global")
    assert "  cp-size   16 bytes" in explained(capsys, "cp.async.cg.shared.global")


def test_the_long_name_of_shared(capsys):
    long = explained(capsys, "ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16")
    assert long == explained(capsys, "ldmatrix.sync.aligned.m8n8.x1.shared.b16")


def test_an_illegal_mma_says_what_the_atom_says(capsys):
    mnemonic = "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
    with pytest.raises(ValueError) as error:
        parse(mnemonic)
    said = refused(capsys, mnemonic)
    assert str(error.value) in said
    assert said.endswith(
        "; nearest legal mnemonic: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\n"
    )


def test_an_arch_that_cannot_run_it(capsys):
    mnemonic = "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64"
    assert explained(capsys, mnemonic, "--arch", "sm_90") == explained(capsys, mnemonic)
    said = refused(capsys, mnemonic, "--arch", "sm_80")
    assert f"{mnemonic} requires sm_90 or later, got sm_80" in said
    assert "nearest legal mnemonic on sm_80: mma.sync.aligned.m8n8k4.row.col.f64" in said


def test_an_instruction_that_the_arch_lacks_has_no_nearest(capsys):
    said = refused(capsys, "stmatrix.sync.aligned.m8n8.x4.shared.b16", "--arch", "sm_80")
    assert "requires sm_90 or later, got sm_80" in said and "nearest" not in said


@pytest.mark.parametrize(
    ("mnemonic", "said"),
    [
        (
            "ldmatrix.sync.aligned.m8n8.x8.shared.b16",
            "expected .x1, .x2 or .x4 after 'ldmatrix.sync.aligned.m8n8', got .x8; nearest legal "
            "mnemonic: ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        ),
        ("ldmatrix", "expected .sync after 'ldmatrix', got the end"),
        ("cp.async.cg.shared.global.x", "expected the end after 'cp.async.cg.shared.global', got"),
        ("cp.async.ca.global.shared", "got .global; nearest legal mnemonic: cp.async.ca.shared"),
        ("mmma.sync", "got 'mmma'; nearest legal mnemonic: mma.sync.aligned."),
        ("fma.rn.f32", "('cp', 'ldmatrix', 'mma' or 'stmatrix'), got 'fma'\n"),
        ("", "got ''\n"),
        ("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32", "expected layouts row.col, got"),
        ("x" * 10_000, "expected an instruction"),
    ],
)
def test_what_is_wrong_and_what_is_nearest(mnemonic, said, capsys):
    assert said in refused(capsys, mnemonic)
