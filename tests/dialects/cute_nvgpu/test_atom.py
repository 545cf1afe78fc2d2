"""Atoms: finding and parsing them, what is said of illegal ones, and their layouts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from failures import failures

from tilewright.dialects.cute_nvgpu.atoms.atom import WARP, AtomError, MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.atoms.lookup import find, parse
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS, Operand
from tilewright.dialects.cute_nvgpu.lattice.targets import TargetError

ATOMS = [
    MmaAtom(row, types, majors=majors)
    for row in MMA_ROWS
    for types in row.element_types()
    for majors in row.majors
]
BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"


def check_every_element_of_the_matrix_is_held_once(atom: MmaAtom, operand: Operand) -> None:
    rows, columns = atom.extents(operand)
    coords = atom.coords(operand)
    assert coords.shape == (WARP, atom.values(operand), 2)
    places = coords.reshape(-1, 2)
    assert (places >= 0).all() and (places < [rows, columns]).all()
    assert len(np.unique(places, axis=0)) == len(places) == rows * columns


def test_every_element_of_the_matrix_is_held_once():
    assert not failures(check_every_element_of_the_matrix_is_held_once, product(ATOMS, OPERANDS))


def check_registers_hold_the_values(atom: MmaAtom) -> None:
    for operand in OPERANDS:
        register, count = atom.registers(operand)
        bits = atom.element(operand).bits * atom.values(operand)
        assert int(register[1:]) * count == bits
    if atom.types[2] == atom.types[3]:
        assert atom.registers("C") == atom.registers("D")


def test_registers_hold_the_values():
    assert not failures(check_registers_hold_the_values, product(ATOMS))


REPEATED: tuple[Operand, ...] = ("E", "SFA", "SFB")


def check_metadata_and_scale_factors_cover_their_matrices(atom: MmaAtom) -> None:
    """Once by the threads and bytes of every selector, as many times as there are selectors."""
    legal = {each.name: each.legal for each in atom.selectors}
    assert len(atom.selectors) == (atom.row.sparsity is not None) + 4 * (atom.row.scale is not None)
    for operand in set(REPEATED) & set(atom.inputs):
        rows, columns = atom.extents(operand)
        assert atom.registers(operand) == ("b32", 1)
        places = atom.coords(operand).reshape(-1, 2)
        assert (places >= 0).all() and (places < [rows, columns]).all()
        _, times = np.unique(places, axis=0, return_counts=True)
        choices = {
            "E": len(legal.get("sparsity selector", ())),
            "SFA": len(legal.get("byte-id-a", ())) * len(legal.get("thread-id-a", ())),
            "SFB": len(legal.get("byte-id-b", ())) * len(legal.get("thread-id-b", ())),
        }[operand]
        assert len(times) == rows * columns and (times == choices).all()


def test_metadata_and_scale_factors_cover_their_matrices():
    assert not failures(
        check_metadata_and_scale_factors_cover_their_matrices,
        product(atom for atom in ATOMS if len(atom.inputs) > 3),
    )


def test_quad_pairs_as_the_isa_gives_them():
    """PTX ISA 9.7.14.5.1: threads 4q..4q+3 and 16+4q..16+4q+3 compute the q-th of four MMAs."""
    for row_major in (True, False):
        majors = ("row", "col") if row_major else ("col", "row")
        atom = parse(f"mma.sync.aligned.m8n8k4.{'.'.join(majors)}.f32.f16.f16.f16")
        for lane in range(WARP):
            quad, thread, high = lane % 16 // 4, lane % 4, 4 * (lane >= 16)
            for i in range(4):
                place = (thread + high, i) if row_major else (i + high, thread)
                assert tuple(atom.coords("A")[lane, i]) == (place[0], place[1] + 4 * quad)
                assert tuple(atom.coords("B")[lane, i]) == (place[0], place[1] + 4 * quad)
            for i in range(8):
                assert tuple(atom.coords("C")[lane, i]) == (thread + high, i + 8 * quad)
                x = (lane & 1) + (i & 2)
                column = (i & 4) + (lane & 2) + (i & 1)
                assert tuple(atom.coords("D")[lane, i]) == (x + high, column + 8 * quad)


def test_sparse_fragments_as_the_isa_gives_them():
    """PTX ISA 9.7.14.6.2.2 and 9.7.14.6.2.6: in the dense A, a thread's values stand in chunks of
    four columns from `firstcol` on; two of four are stored."""
    half = parse("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
    byte = parse("mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32")
    for lane in range(WARP):
        group, thread = divmod(lane, 4)
        for i in range(8):
            row, column = half.coords("A")[lane, i]
            assert row == group + (0 if i < 2 or 4 <= i < 6 else 8)
            assert column // 2 * 4 == thread * 4 + (16 if i >= 4 else 0)
        for i in range(16):
            row, column = byte.coords("A")[lane, i]
            assert row == group + (0 if i < 4 or 8 <= i < 12 else 8)
            assert column // 4 * 8 == thread * 8 + (32 if i >= 8 else 0)


@pytest.mark.parametrize(
    ("mnemonic", "contributors"),
    [
        ("m16n8k16.row.col.f16.f16.f16.f16", 1),
        ("m16n8k32.row.col.f32.bf16.bf16.f32", 2),
        ("m16n8k8.row.col.f32.tf32.tf32.f32", 1),
        ("m16n8k16.row.col.f32.tf32.tf32.f32", 2),
        ("m16n8k32.row.col.s32.s8.u8.s32", 2),
        ("m16n8k64.row.col.satfinite.s32.u8.u8.s32", 4),
        ("m16n8k64.row.col.s32.s4.u4.s32", 2),
        ("m16n8k128.row.col.s32.s4.u4.s32", 4),
        ("m16n8k64.row.col.f32.e4m3.e5m2.f32", 4),
    ],
)
def test_sparsity_selectors(mnemonic: str, contributors: int):
    """PTX ISA 9.7.14.6.1: one thread of a group, a pair or all four give the metadata."""
    atom = parse(f"mma.sp.sync.aligned.{mnemonic}")
    [selector] = atom.selectors
    assert selector.legal == tuple(range(4 // contributors))
    for value in selector.legal:
        atom.check_selectors([value])
    last = selector.legal[-1]
    with pytest.raises(AtomError, match=f"got {last + 1}; nearest legal: {last}$"):
        atom.check_selectors([last + 1])
    with pytest.raises(AtomError, match="expected 1 selectors \\(sparsity selector\\), got 0"):
        atom.check_selectors([])


def test_scale_selectors():
    """PTX ISA 9.7.14.3, table 37."""
    scaled = "block_scale.scale_vec::{}X.f32.{}.e2m1.f32.{}"
    base = "mma.sync.aligned.m16n8k{}.row.col.kind::{}." + scaled
    for k, kind, vector, a, scale, byte_ids in (
        (32, "mxf8f6f4", 1, "e5m2", "ue8m0", (0, 1, 2, 3)),
        (64, "mxf4", 2, "e2m1", "ue8m0", (0, 2)),
        (64, "mxf4nvf4", 2, "e2m1", "ue8m0", (0, 2)),
        (64, "mxf4nvf4", 4, "e2m1", "ue4m3", (0,)),
    ):
        atom = parse(base.format(k, kind, vector, a, scale))
        assert [each.legal for each in atom.selectors] == [
            byte_ids, (0, 1), byte_ids, (0, 1, 2, 3)
        ]  # fmt: skip


@pytest.mark.parametrize("vector, kind, k", [(1, "mxf8f6f4", 32), (2, "mxf4", 64)])
def test_the_default_scale_vector(vector: int, kind: str, k: int):
    short = f"mma.sync.aligned.m16n8k{k}.row.col.kind::{kind}.block_scale.f32.e2m1.e2m1.f32.ue8m0"
    long = short.replace("block_scale", f"block_scale.scale_vec::{vector}X")
    assert parse(short) == parse(long) and parse(short).mnemonic == long
    with pytest.raises(AtomError, match="expected a scale vector size"):
        parse(short.replace(kind, "mxf4nvf4").replace("k32", "k64"))


def test_coordinates_as_the_isa_gives_them():
    """PTX ISA 9.7.14.5.8: group = lane / 4, thread = lane % 4; a2, a3 are 8 rows further, a4 to a7
    8 columns; b2, b3 8 rows of B further; c2, c3 8 rows."""
    atom = parse(BF16)
    for lane in range(WARP):
        group, thread = divmod(lane, 4)
        for i in range(8):
            row = group + (8 if i in (2, 3, 6, 7) else 0)
            column = 2 * thread + (i & 1) + (8 if i >= 4 else 0)
            assert tuple(atom.coords("A")[lane, i]) == (row, column)
        for i in range(4):
            k = 2 * thread + (i & 1) + (8 if i >= 2 else 0)
            assert tuple(atom.coords("B")[lane, i]) == (group, k)
            row = group + (8 if i >= 2 else 0)
            assert tuple(atom.coords("C")[lane, i]) == (row, 2 * thread + (i & 1))


def test_find_and_parse_agree():
    atom = find("sm80.mma", (16, 8, 16), ("bf16", "bf16", "f32", "f32"))
    assert atom == parse(BF16) and atom.mnemonic == str(atom) == BF16
    assert (atom.op, atom.shape) == ("sm80.mma", (16, 8, 16))
    saturating = parse("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32")
    assert saturating.satfinite and saturating.types == ("s8", "u8", "s32", "s32")
    for every in (atom for row in MMA_ROWS for atom in atoms_of(row)):
        assert parse(every.mnemonic) == every
    rounded = parse("mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64")
    assert rounded.rounding == "rz"


@pytest.mark.parametrize(
    ("mnemonic", "found", "nearest"),
    [
        (BF16.replace("m16n8k16", "m16n8k32"), "got 16x8x32", "nearest legal: 16x8x16"),
        (BF16.replace("bf16.bf16", "bf16.f16"), "got (bf16, f16, f32, f32)", "nearest legal: (bf"),
        (BF16.replace("row.col", "col.row"), "got col.row", f"nearest legal: {BF16}"),
        (BF16.replace("mma.", "mma.sp::ordered."), "ordered", "mma{.sp{::ordered_metadata}}"),
        (BF16.replace("row.col", "row.col.kind::f8f6f4"), "got f8f6f4", "legal: none"),
        (BF16.replace("row.col", "row.col.satfinite"), "got satfinite", "integer"),
        (BF16.replace("row.col", "row.col.rz"), "got rz", "legal: none"),
        (BF16.replace(".f32.bf16", ".e99.bf16"), "got e99", "bf16"),
    ],
)
def test_illegal_mnemonics(mnemonic: str, found: str, nearest: str):
    with pytest.raises(AtomError) as error:
        parse(mnemonic)
    assert found in str(error.value) and nearest in str(error.value)


@pytest.mark.parametrize(
    "text", ["", "mma", "mma.sync", BF16 + ".x", "MMA" + BF16[3:], "\0", BF16[:-4]]
)
def test_what_is_no_mnemonic(text: str):
    with pytest.raises(AtomError):
        parse(text)


def test_unknown_op():
    with pytest.raises(AtomError, match="expected an op of the lattice, got 'sm80\\.mna'"):
        find("sm80.mna", (16, 8, 16), ("bf16", "bf16", "f32", "f32"))


def test_check():
    atom = parse(BF16)
    for arch in ("sm_80", "sm_90a", "sm_120f"):
        atom.check(arch)
    with pytest.raises(AtomError, match="requires sm_80 or later, got sm_75"):
        atom.check("sm_75")
    with pytest.raises(TargetError, match="unknown target 'sm_81'; nearest legal: sm_8"):
        atom.check("sm_81")
