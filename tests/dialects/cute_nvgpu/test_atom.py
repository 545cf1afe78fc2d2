"""Atoms: finding and parsing them, what is said of illegal ones, and their layouts."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.dialects.cute_nvgpu.atom import WARP, AtomError, MmaAtom, find, parse
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS, Operand
from tilewright.dialects.cute_nvgpu.targets import TargetError

ATOMS = [MmaAtom(row, types) for row in MMA_ROWS for types in row.element_types()]
BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"


@pytest.mark.parametrize("atom", ATOMS, ids=str)
@pytest.mark.parametrize("operand", OPERANDS)
def test_every_element_of_the_matrix_is_held_once(atom: MmaAtom, operand: Operand) -> None:
    rows, columns = atom.row.extents(operand)
    coords = atom.coords(operand)
    assert coords.shape == (WARP, atom.values(operand), 2)
    places = coords.reshape(-1, 2)
    assert (places >= 0).all() and (places < [rows, columns]).all()
    assert len(np.unique(places, axis=0)) == len(places) == rows * columns


@pytest.mark.parametrize("atom", ATOMS, ids=str)
def test_registers_hold_the_values(atom: MmaAtom) -> None:
    for operand in OPERANDS:
        register, count = atom.registers(operand)
        bits = atom.element(operand).bits * atom.values(operand)
        assert int(register[1:]) * count == bits
    assert atom.registers("C") == atom.registers("D")


def test_coordinates_as_the_isa_gives_them() -> None:
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


def test_find_and_parse_agree() -> None:
    atom = find("sm80.mma", (16, 8, 16), ("bf16", "bf16", "f32", "f32"))
    assert atom == parse(BF16) and atom.mnemonic == str(atom) == BF16
    assert (atom.op, atom.shape) == ("sm80.mma", (16, 8, 16))
    saturating = parse("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32")
    assert saturating.satfinite and saturating.types == ("s8", "u8", "s32", "s32")
    rounded = parse("mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64")
    assert rounded.rounding == "rz"


@pytest.mark.parametrize(
    ("mnemonic", "found", "nearest"),
    [
        (BF16.replace("m16n8k16", "m16n8k32"), "got 16x8x32", "nearest legal: 16x8x16"),
        (BF16.replace("bf16.bf16", "bf16.f16"), "got (bf16, f16, f32, f32)", "nearest legal: (bf"),
        (BF16.replace("row.col", "col.row"), "got col.row", f"nearest legal: {BF16}"),
        (BF16.replace("row.col", "row.col.satfinite"), "got satfinite", "integer"),
        (BF16.replace("row.col", "row.col.rz"), "got rz", "legal: none"),
        (BF16.replace(".f32.bf16", ".e99.bf16"), "got e99", "bf16"),
    ],
)
def test_illegal_mnemonics(mnemonic: str, found: str, nearest: str) -> None:
    with pytest.raises(AtomError) as error:
        parse(mnemonic)
    assert found in str(error.value) and nearest in str(error.value)


@pytest.mark.parametrize(
    "text", ["", "mma", "mma.sync", BF16 + ".x", "MMA" + BF16[3:], "\0", BF16[:-4]]
)
def test_what_is_no_mnemonic(text: str) -> None:
    with pytest.raises(AtomError):
        parse(text)


def test_unknown_op() -> None:
    with pytest.raises(AtomError, match="expected an op of the lattice, got 'sm80\\.mna'"):
        find("sm80.mna", (16, 8, 16), ("bf16", "bf16", "f32", "f32"))


def test_check() -> None:
    atom = parse(BF16)
    for arch in ("sm_80", "sm_90a", "sm_120f"):
        atom.check(arch)
    with pytest.raises(AtomError, match="requires sm_80 or later, got sm_75"):
        atom.check("sm_75")
    with pytest.raises(TargetError, match="unknown target 'sm_81'; nearest legal: sm_8"):
        atom.check("sm_81")
