"""`tilewright explain`."""

import re
from dataclasses import replace

import pytest
import run_command
from covering import THOROUGH

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.atom import atoms_of
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import matrix_copies
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.cute_nvgpu.ops.matrix_copy import MatrixCopyOp
from tilewright.source.parsing import parse_module
from tilewright.tools.instructions.catalogue import lattice
from tilewright.tools.instructions.matrix_copy import ir_form
from tilewright.tools.instructions.mma_explained import ir_spelling
from tilewright.tools.tilewright import main

BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"


def explained(capsys, *words):
    main(["explain", *words])
    return capsys.readouterr().out


def refused(capsys, *words):
    error = run_command.refused(capsys, main, ["explain", *words])
    assert error.startswith("error: ") and error.count("\n") == 1
    return error


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
        for mnemonic in row.mnemonics[:: 1 if THOROUGH else 1 + len(row.mnemonics) // 4]:
            shown = explained(capsys, mnemonic)
            assert shown.startswith(mnemonic + "\n") and row.section in shown


def test_modifiers(capsys):
    assert "modifiers none" in explained(capsys, BF16)
    satfinite = "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32"
    assert "modifiers .satfinite" in explained(capsys, satfinite)
    rounding = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
    assert "modifiers .rn | .rz | .rm | .rp (none is .rn)" in explained(capsys, rounding)


# Where value v of thread t lies in the 16-byte rows of shared memory: (row, column). PTX ISA
# 9.7.14.5.15 and 9.7.14.5.16, and of m16n8 the accumulator of an m16n8 MMA.
PLACES = {
    ("m8n8", False): lambda t, v: (t // 4, 2 * (t % 4) + v),
    ("m8n8", True): lambda t, v: (2 * (t % 4) + v, t // 4),
    ("m8n16", False): lambda t, v: (t // 4, 4 * (t % 4) + v),
    ("m16n16", True): lambda t, v: (4 * (t % 4) + v % 4, t // 4 + 8 * (v // 4)),
    ("m16n8", True): lambda t, v: (2 * (t % 4) + v % 2, t // 4 + 8 * (v // 2)),
}


@pytest.mark.parametrize("copy", matrix_copies().values(), ids=str)
def test_matrix_copies(copy, capsys):
    shown, row = explained(capsys, copy.mnemonic), copy.row
    assert f"{copy.registers} x .b32" in shown and f"{copy.values} x b{row.bits}" in shown
    match = re.search(r"(\(\(4,8\)\S+) -> row \+ (\d+)\*column(?: \+ (\d+)\*matrix)?", shown)
    assert match is not None
    layout, rows, elements = Layout.parse(match[1]), int(match[2]), int(match[3] or 0)
    assert f"thread {rows}*i + r gives row r of matrix i: 16 bytes" in shown
    for thread in range(32):
        for value in range(copy.values):
            matrix, inside = divmod(value, copy.values // copy.number)
            at, column = PLACES[row.ptx_shape, copy.trans](thread, inside)
            assert layout((thread, value)) == at + rows * column + elements * matrix


@pytest.mark.parametrize("copy", matrix_copies().values(), ids=str)
def test_the_op_of_a_matrix_copy_is_spelled_as_ir_parses_it(copy):
    """The op so spelled, on a fragment and memory of any legal type, is that copy."""
    held = {16: "f16", 8: "ui8"}[copy.row.bits]
    fragment = f"!cute_nvgpu.fragment<{copy.values}x{held}>"
    memory = f"memref<64x64x{held}, #cute<space smem>>"
    op = f"%s[%i, %i] {ir_form(copy)} :"
    body = (
        f"%f = cute_nvgpu.ldmatrix {op} {memory} -> {fragment}"
        if copy.row.op == "ldmatrix"
        else f"cute_nvgpu.stmatrix %v, {op} {fragment}, {memory}"
    )
    module = parse_module(
        f"func.func @f(%s: {memory}, %i: index, %v: {fragment}) {{\n{body}\nfunc.return }}"
    )
    module.verify()
    [found] = [op for op in module.walk() if isinstance(op, MatrixCopyOp)]
    assert found.matrix_copy == replace(copy, space="shared")


def test_packed_rows(capsys):
    shown = explained(capsys, "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64")
    assert "load one 8x16 matrix of 4-bit elements from shared memory\n" in shown
    assert "16 elements, low bits first, then 8 bytes of padding" in shown
    assert "low 4 bits of a byte, with zeros above" in shown
    assert "then" not in explained(capsys, "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8")


def test_movmatrix(capsys):
    lines = explained(capsys, "movmatrix.sync.aligned.m8n8.trans.b16").splitlines()
    layouts = {line.split()[0]: Layout.parse(line.split()[7]) for line in lines[5:7]}
    for thread in range(32):
        for value in range(2):
            row, column = thread // 4, 2 * (thread % 4) + value
            assert layouts["a"]((thread, value)) == row + 8 * column
            assert layouts["d"]((thread, value)) == column + 8 * row


def test_async_copies(capsys):
    shown = explained(capsys, "cp.async.ca.shared.global")
    assert "  operands  [dst], [src], cp-size{, src-size}\n" in shown
    assert "cp-size: the constant 4, 8 or 16\n" in shown
    shown = explained(capsys, "cp.async.cg.shared.global")
    assert "cp-size: the constant 16\n" in shown
    assert "src-size: a register or an integer of 0 to 16\n" in shown


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
            "expected .x1, .x2 or .x4 after 'ldmatrix.sync.aligned.m8n8', got .x8 (undocumented: "
            "ptxas takes it, but .num is .x1, .x2 or .x4, PTX ISA 9.7.14.5.15); nearest legal "
            "mnemonic: ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        ),
        ("ldmatrix", "expected .sync after 'ldmatrix', got the end"),
        (
            "cp.async.cg.shared.global.x",
            "error: not judged: tilewright has no listing of 'cp.async.cg.shared.global.x'; "
            "nearest legal mnemonic: cp.async.cg.shared.global\n",
        ),
        ("wgmma.fence.sync.x", "got .x; nearest legal mnemonic: wgmma.fence.sync.aligned"),
        ("mmma.sync", "got 'mmma'; nearest legal mnemonic: mma.sync.aligned."),
        ("red.f32", "not judged: tilewright has no listing of 'red.f32'"),
        ("", "not judged: tilewright has no listing of ''\n"),
        ("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32", "expected layouts row.col, got"),
        ("x" * 10_000, "not judged"),
    ],
)
def test_what_is_wrong_and_what_is_nearest(mnemonic, said, capsys):
    assert said in refused(capsys, mnemonic)


def labelled(capsys, label, mnemonic):
    """The texts of the lines of that label."""
    start = f"  {label.ljust(10)}"
    return [line.removeprefix(start) for line in explained(capsys, mnemonic).splitlines()
            if line.startswith(start)]  # fmt: skip


def test_every_operand_of_a_sparse_block_scaled_mma(capsys):
    mnemonic = (
        "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale"
        ".scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
    )
    atom = parse(mnemonic)
    for operand in (*atom.inputs, "D"):
        text = labelled(capsys, operand, mnemonic)[0]
        register, count = atom.registers(operand)
        assert re.split("  +", text)[:2] == [
            f"{count} x .{register}",
            f"{atom.values(operand)} x {atom.element(operand).name}",
        ]
        assert f"{atom.tv_layout(operand)} -> " in text
    assert labelled(capsys, "operands", mnemonic) == [
        "{d0,d1,d2,d3}, {a0,a1,a2,a3}, {b0,b1,b2,b3}, {c0,c1,c2,c3}, e, 0, "
        "scale_a_data, {0,0}, scale_b_data, {0,0}"
    ]
    assert labelled(capsys, "A", mnemonic)[1] == (
        "stored as 16 x 64: 2 of the 4 pairs in every 8 neighbours of a row (4:8)"
    )
    assert labelled(capsys, "SFA", mnemonic)[1:] == [
        "byte-id-a 0, 2: 2 bytes from byte-id on",
        "thread-id-a 0: threads 0, 1; 1: threads 2, 3 of each group of four",
    ]
    assert labelled(capsys, "SFB", mnemonic)[2] == (
        "thread-id-b 0: thread 0; 1: thread 1; 2: thread 2; 3: thread 3 of each group of four"
    )


@pytest.mark.parametrize(
    ("mnemonic", "stored", "indices", "selector"),
    [
        (
            "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
            "16 x 4: one of every 2 neighbours",
            "4 bits for every 2 neighbours: 0b0100 stores the first, 0b1110 the second",
            "0: thread 0; 1: thread 1; 2: thread 2; 3: thread 3 of each",
        ),
        (
            "mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32",
            "16 x 16: 2 of every 4 neighbours",
            "which elements are stored, different, in any order",
            "0: threads 0, 1; 1: threads 2, 3 of each",
        ),
        (
            "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u8.s8.s32",
            "16 x 32: 2 of every 4 neighbours",
            "which elements are stored, in increasing order",
            "0: threads 0, 1, 2, 3 of each",
        ),
        (
            "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32",
            "16 x 32: 2 of the 4 pairs in every 8 neighbours",
            "which pairs are stored, in increasing order",
            "0: threads 0, 1; 1: threads 2, 3 of each",
        ),
    ],
)
def test_metadata(mnemonic, stored, indices, selector, capsys):
    assert stored in labelled(capsys, "A", mnemonic)[1]
    _, meaning, threads = labelled(capsys, "E", mnemonic)
    assert indices in meaning
    assert threads.startswith(f"sparsity selector {selector}")


def test_elements_that_stand_in_bytes(capsys):
    kind = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.{}.{}.f16"
    assert labelled(capsys, "A", kind.format("e2m1", "e3m2"))[1] == (
        "e2m1 stands in bits 2 to 5 of a byte, the others are padding"
    )
    assert "bits 0 to 5 of a byte" in labelled(capsys, "B", kind.format("e2m1", "e3m2"))[1]
    assert "bits 2 to 5" in labelled(capsys, "A, B", kind.format("e2m1", "e2m1"))[0]
    assert len(labelled(capsys, "A", kind.format("e4m3", "e3m2"))) == 1


def test_the_four_mmas_of_m8n8k4(capsys):
    mnemonic = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"
    assert "4 times, once a quad pair: A is 8 x 4" in labelled(capsys, "computes", mnemonic)[0]
    assert labelled(capsys, "A", mnemonic)[0].endswith("-> m + 8*k + 32*q")
    assert labelled(capsys, "D", mnemonic)[0].endswith("-> m + 8*n + 64*q")
    assert labelled(capsys, "q", mnemonic)[0].startswith("quad pair 0 to 3: threads 4*q to 4*q + 3")
    assert labelled(capsys, "modifiers", mnemonic) == [".row.row, .row.col, .col.row, .col.col"]


def test_single_bits_are_counted(capsys):
    mnemonic = "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc"
    assert "the number of ones in A and B along K" in labelled(capsys, "computes", mnemonic)[0]


def test_what_it_requires(capsys):
    kind = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32"
    assert labelled(capsys, "requires", kind) == ["sm_120f or later of the same family"]
    assert labelled(capsys, "targets", kind) == ["sm_120a, sm_120f, sm_121a, sm_121f"]


def test_the_scale_vector_may_be_left_out_where_it_has_a_default(capsys):
    mnemonic = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{}.f32.e2m1.e2m1.f32.ue8m0"
    short = explained(capsys, mnemonic.format(""))
    assert short == explained(capsys, mnemonic.format(".scale_vec::2X"))
    assert short.startswith(mnemonic.format(".scale_vec::2X") + "\n")
    assert "expected" in refused(capsys, mnemonic.format("").replace("mxf4.", "mxf4nvf4."))
