"""Atoms, loads and stores of wmma: their mnemonics, layouts, and what is said of illegal ones."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from failures import failures

from tilewright.dialects.cute_nvgpu.atoms.atom import WARP, AtomError, MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.atoms.lookup import find, parse
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess, find_access, parse_access
from tilewright.dialects.cute_nvgpu.lattice import WMMA_ACCESS, WMMA_MMA
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS, Operand

ATOMS = [atom for row in WMMA_MMA for atom in atoms_of(row)]
ACCESSES = [WmmaAccess(row, major) for row in WMMA_ACCESS for major in row.majors]
F16 = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"
LOAD = "wmma.load.a.sync.aligned.row.m16n16k16.f16"


def check_every_element_of_the_matrix_is_held_equally_often(
    atom: MmaAtom, operand: Operand
) -> None:
    """Several times by f16 A and B alone, which always take eight registers."""
    rows, columns = atom.extents(operand)
    places, times = np.unique(atom.coords(operand).reshape(-1, 2), axis=0, return_counts=True)
    assert len(places) == rows * columns and set(times) == {
        WARP * atom.values(operand) // (rows * columns)
    }
    assert (places >= 0).all() and (places < [rows, columns]).all()
    multiplicand = operand in ("A", "B") and atom.element(operand).name == "f16"
    assert atom.registers(operand) == ("b32", 8) if multiplicand else set(times) == {1}


def test_every_element_of_the_matrix_is_held_equally_often():
    assert not failures(
        check_every_element_of_the_matrix_is_held_equally_often, product(ATOMS, OPERANDS)
    )


def test_how_often_an_f16_element_is_held():
    """PTX ISA 9.7.14.4.1: eight registers whatever the extents, 16 x 16, 8 x 16 or 32 x 16."""
    shapes = {(16, 16, 16): (2, 2), (8, 32, 16): (4, 1), (32, 8, 16): (1, 4)}
    for (m, n, k), expected in shapes.items():
        atom = find("wmma.mma", (m, n, k), ("f16", "f16", "f16", "f16"), majors=("row", "row"))
        held = (WARP * atom.values("A") // (m * k), WARP * atom.values("B") // (n * k))
        assert held == expected


def check_loads_and_stores_have_the_layouts_of_the_mma(access: WmmaAccess) -> None:
    row = access.row
    users = [
        atom
        for atom in ATOMS
        if atom.shape == row.shape and atom.element(row.operand).name == row.element.name
    ]
    assert users
    for atom in users:
        assert atom.tv_layout(row.operand) == access.tv_layout
        assert atom.registers(row.operand) == row.registers
        rows, columns = atom.extents(row.operand)
        assert row.extents == ((columns, rows) if row.operand == "B" else (rows, columns))
    assert row.target in [atom.row.target for atom in users]


def test_loads_and_stores_have_the_layouts_of_the_mma():
    assert not failures(check_loads_and_stores_have_the_layouts_of_the_mma, product(ACCESSES))


@pytest.mark.parametrize(
    ("mnemonic", "alignment", "lines"),
    [
        (LOAD, 16, (16, 16)),  # 9.7.14.4.2 says 32: docs/decisions.md
        ("wmma.load.a.sync.aligned.col.m8n32k16.f16", 16, (16, 8)),
        ("wmma.load.b.sync.aligned.row.m8n32k16.bf16", 16, (16, 32)),
        ("wmma.load.c.sync.aligned.row.m16n16k16.f32", 16, (16, 16)),
        ("wmma.load.a.sync.aligned.row.m16n16k16.s8", 8, (16, 16)),
        ("wmma.load.a.sync.aligned.row.m8n8k32.s4", 4, (8, 32)),
        ("wmma.load.b.sync.aligned.col.m8n8k128.b1", 4, (8, 128)),
        ("wmma.load.a.sync.aligned.row.m8n8k4.f64", 8, (8, 4)),
        ("wmma.store.d.sync.aligned.col.m8n8k4.f64", 16, (8, 8)),
        # From shared memory as ldmatrix reads it: rows of 16 bytes, on an H100.
        ("wmma.load.a.sync.aligned.row.m16n16k16.shared.s8", 16, (16, 16)),
        ("wmma.load.a.sync.aligned.col.m16n16k16.shared.s8", 8, (16, 16)),
        ("wmma.load.b.sync.aligned.col.m8n8k128.shared.b1", 16, (8, 128)),
        ("wmma.load.a.sync.aligned.col.m8n32k16.shared.bf16", 16, (16, 8)),
    ],
)
def test_alignment(mnemonic: str, alignment: int, lines: tuple[int, int]):
    access, space = parse_access(mnemonic)
    assert (access.alignment(space), access.lines) == (alignment, lines)


def test_mnemonics_in_the_order_of_the_examples():
    """The examples of 9.7.14.4.3 to 9.7.14.4.5 have the shape in front of the layout."""
    assert parse("wmma.mma.sync.aligned.m16n16k16.row.col.f32.f32").mnemonic == F16
    examples = {
        "wmma.load.b.sync.aligned.m16n16k16.row.f16": "wmma.load.b.sync.aligned.row.m16n16k16.f16",
        "wmma.load.a.sync.aligned.row.m16n16k16.shared::cta.f16": (
            "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16"
        ),
        "wmma.store.d.sync.aligned.m16n16k16.row.shared.s32": (
            "wmma.store.d.sync.aligned.row.m16n16k16.shared.s32"
        ),
    }
    for written, canonical in examples.items():
        access, space = parse_access(written)
        assert access.mnemonic(space) == canonical


@pytest.mark.parametrize(
    ("mnemonic", "found", "nearest"),
    [
        (F16.replace("m16n16k16", "m16n16k8"), "got 16x16x8", "nearest legal: 16x16x16"),
        (F16.replace("f32.f32", "f32.f16.f16.f32"), "expected no .ATYPE.BTYPE", f"legal: {F16}"),
        (F16.replace("f32.f32", "f32.bf16.f16.f32"), "got (bf16, f16, f32, f32)", "(bf16, bf16"),
        (F16 + ".satfinite", "got satfinite", "integer"),
        (F16.replace(".f32.f32", ".rz.f32.f32"), "got rz", "legal: none"),
        (F16.replace("f32.f32", "f32.e99"), "got e99", "bf16"),
        (F16.replace("row.col", "row"), "expected wmma.mma", "ALAYOUT.BLAYOUT"),
        ("wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32", "got row.row", "row.col.m8n8k32"),
        ("wmma.mma.or.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", "got or", "xor or and"),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f64.f64.f64.f64", "got 16x16x16", "8x8x4"),
    ],
)
def test_illegal_mmas(mnemonic: str, found: str, nearest: str):
    with pytest.raises(AtomError) as error:
        parse(mnemonic)
    assert found in str(error.value) and nearest in str(error.value)


@pytest.mark.parametrize(
    ("mnemonic", "message"),
    [
        (LOAD.replace("load.a", "load.d"), "an operand, got d; nearest legal: a, b, c"),
        (LOAD.replace("m16n16k16", "m16n16k8"), "a shape that a of f16 has, got 16x16x8"),
        (LOAD.replace(".f16", ".f32"), "an element type that a has, got f32; nearest legal: f16"),
        (LOAD.replace(".f16", ".param.f16"), "a state space of global, shared or none, got param"),
        (LOAD.replace(".f16", ".x16"), "expected an element type of f16, f32"),
        (LOAD.replace(".row", ""), "expected wmma.load.{a,b,c}.sync.aligned.LAYOUT.SHAPE"),
        ("wmma.load.b.sync.aligned.row.m8n8k32.u4", "a layout that b of u4 has, got row (elements"),
    ],
)
def test_illegal_loads(mnemonic: str, message: str):
    with pytest.raises(AtomError, match=re.escape(message)):
        parse_access(mnemonic)


def test_find_access():
    access = find_access("wmma.load", "a", (16, 16, 16), "f16", "row")
    assert access.mnemonic() == str(access) == LOAD
    assert access.mnemonic("shared") == LOAD.replace(".f16", ".shared.f16")
    assert access.parameters == "16x16x16, operand = a, elem_type = f16, layout = row"


@pytest.mark.parametrize(
    ("stride", "several", "legal"),
    [(32, 1, True), (24, 1, True), (20, 1, False), (0, 1, False), (8, 2, True), (4, 2, False)],
)
def test_strides(stride: int, several: int, legal: bool):
    access = parse_access(LOAD if several == 1 else "wmma.load.a.sync.aligned.row.m16n16k16.s8")[0]
    assert (access.why_stride(stride, None, several) is None) == legal
