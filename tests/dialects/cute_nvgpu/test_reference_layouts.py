"""The seven arms of the published reference-layout synthesizer, as rows of the lattice."""

from __future__ import annotations

import re
from math import gcd
from pathlib import Path

import pytest

from tilewright.dialects.cute import Layout, equivalent, flatten
from tilewright.dialects.cute_nvgpu.atoms.atom import WARP, AtomError, MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.atoms.lookup import mnemonics, parse
from tilewright.dialects.cute_nvgpu.atoms.reference_layouts import (
    ARMS,
    Arm,
    ReferenceKey,
    reference_layouts,
)
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS

PAGE = (Path(__file__).parents[3] / "docs" / "reference_layouts.md").read_text()
TIERS = ("sm80.mma", "sm80.sparse_mma", "sm89.mma", "sm89.sparse_mma")


def number(arm: Arm) -> str:
    return str(ARMS.index(arm))


@pytest.mark.parametrize("arm", ARMS, ids=number)
def test_every_arm_is_a_row(arm: Arm):
    atom = mnemonics()[arm.mnemonic]
    assert atom.row in MMA_ROWS and atom.op in TIERS
    assert (atom.shape[2], atom.shape[0]) == (arm.key.k, arm.key.m)
    assert (atom.row.sparsity is not None) == arm.key.sparse
    assert (atom.types[0] in ("e4m3", "e5m2")) == arm.key.fp8


@pytest.mark.parametrize("arm", ARMS, ids=number)
def test_slots(arm: Arm):
    layouts = reference_layouts(arm.key)
    assert arm.slots == (("A", "B", "C", "E") if arm.key.sparse else ("A", "B", "C"))
    assert len(layouts) == len(arm.slots)
    for operand, layout in zip(arm.slots, layouts, strict=True):
        rows, columns = arm.atom.extents(operand)
        values = layout.size() // WARP
        # Metadata repeat for every sparsity selector.
        times = 1 if operand != "E" else len(arm.atom.selectors[0].legal)
        assert values * WARP == rows * columns * times == layout.size()
        assert values == arm.atom.values(operand)


@pytest.mark.parametrize(
    ("arm", "values"),
    list(enumerate([(8, 4, 4), (8, 4, 4), (4, 4, 4, 16), (16, 8, 4), (16, 8, 4), (8, 8, 4, 16),
                    (4, 2, 4)])),
)  # fmt: skip
def test_elements_a_thread(arm: int, values: tuple[int, ...]):
    assert tuple(each.size() // WARP for each in reference_layouts(ARMS[arm].key)) == values


def test_fragments_as_the_isa_gives_them():
    """PTX ISA 9.7.14.5.8 and 9.7.14.6.2.5, by coordinates of the first and the last thread."""
    a, b, c = reference_layouts(ReferenceKey(16, 16))
    assert [divmod(a((31, v)), 16)[::-1] for v in range(8)] == [
        (7, 6), (7, 7), (15, 6), (15, 7), (7, 14), (7, 15), (15, 14), (15, 15)
    ]  # fmt: skip
    assert [divmod(b((31, v)), 8)[::-1] for v in range(4)] == [(7, 6), (7, 7), (7, 14), (7, 15)]
    assert [divmod(c((31, v)), 16)[::-1] for v in range(4)] == [(7, 6), (7, 7), (15, 6), (15, 7)]
    a, _, _, e = reference_layouts(ReferenceKey(32, 16, sparse=True))
    assert [divmod(a((1, v)), 16)[::-1] for v in range(8)] == [
        (0, 4), (0, 5), (0, 6), (0, 7), (8, 4), (8, 5), (8, 6), (8, 7)
    ]  # fmt: skip
    assert [e((0, v)) for v in range(16)] == [16 * j for j in range(16)]
    assert [e((1, v)) for v in range(16)] == [8 + 16 * j for j in range(16)]


def test_transposed_a_has_the_same_fragments():
    plain, transposed = ReferenceKey(16, 16), ReferenceKey(16, 16, trans_a=True)
    assert reference_layouts(plain) == reference_layouts(transposed)
    with pytest.raises(AtomError, match=r"expected layouts row\.col, got row\.row .*ldmatrix"):
        parse("mma.sync.aligned.m16n8k16.row.row.f16.f16.f16.f16")


def test_keys_are_apart():
    assert len(ARMS) == len({arm.key for arm in ARMS}) == 7


@pytest.mark.parametrize(
    ("key", "near"),
    [
        (ReferenceKey(64, 16), "K=32, M=16"),
        (ReferenceKey(16, 8, sparse=True), "K=16, M=16, sparse"),
        (ReferenceKey(32, 16, sparse=True, fp8=True), "K=32, M=16, fp8"),
    ],
)
def test_no_arm(key: ReferenceKey, near: str):
    with pytest.raises(AtomError) as error:
        reference_layouts(key)
    said = str(error.value)
    assert said.startswith("expected a key of K=16, M=16; K=16, M=16, trans_a; ")
    assert said.endswith(f"got {key}; nearest legal: {near}")


def test_the_page_lists_every_arm():
    lines = [line for line in PAGE.splitlines() if re.match(r"\| \d \|", line)]
    assert lines == [
        f"| {i} | {arm.key} | `{arm.mnemonic}` | "
        f"{', '.join(f'{operand} {arm.atom.values(operand)}' for operand in arm.slots)} |"
        for i, arm in enumerate(ARMS)
    ]


def same_key(arm: Arm) -> set[MmaAtom]:
    """Atoms of the tiers that have the arm's key, and layouts of their own."""
    found: set[MmaAtom] = set()
    for row in MMA_ROWS:
        atom = next(atoms_of(row))
        fp8 = atom.types[0] in ("e4m3", "e5m2")
        key = ReferenceKey(row.shape[2], row.shape[0], row.sparsity is not None, fp8)
        if row.op in TIERS and key == arm.key:
            layouts: list[Layout] = [atom.tv_layout(each) for each in atom.inputs]
            if not all(map(equivalent, layouts, reference_layouts(key))):
                found.add(atom)
    return found


def test_the_key_leaves_the_element_type_open():
    """The page names every row that shares an arm's key and not its layouts."""
    named = re.findall(r"`(mma\S+)` has the key of arm (\d)", PAGE)
    assert {(mnemonic, int(arm)) for mnemonic, arm in named} == {
        (atom.mnemonic.replace("sp::ordered_metadata", "sp"), i)
        for i, arm in enumerate(ARMS)
        for atom in same_key(arm)
    }
    assert len(named) == 8


FOOTPRINT = re.compile(
    r"^\| `(mma\S+)` ([ABC]) \| `\(([\d, ]+)\):\(([\d, ]+)\)` \| (\d+) \| (\d+) \|$", re.MULTILINE
)


def test_the_page_counts_the_published_footprints():
    """Extents, strides, how many elements they span, and how many a thread holds."""
    rows = FOOTPRINT.findall(PAGE)
    assert len(rows) == 12
    for mnemonic, operand, extents, strides, spans, holds in rows:
        sizes = [int(each) for each in extents.split(",")]
        assert len(sizes) == strides.count(",") + 1
        product = 1
        for size in sizes:
            product *= size
        assert product == int(spans)
        atom = parse(mnemonic)
        assert atom.values(operand) == int(holds)
        canonical = atom.tv_layout(operand)[1]
        assert [int(each) for each in strides.split(",")] != list(flatten(canonical.stride))


def test_the_metadata_strides_are_no_layout_of_e():
    """The published triple is bits 21, 26 and 27: further than any word of metadata reaches."""
    triple = (0x200000, 0x4000000, 0x8000000)
    assert [step.bit_length() - 1 for step in triple] == [21, 26, 27]
    assert all(f"{step:#x}" in PAGE for step in triple)
    for arm in ARMS:
        if arm.key.sparse:
            layout = reference_layouts(arm.key)[3]
            assert layout.cosize() < gcd(*triple)
