"""What is called undocumented: ptxas takes exactly that, and check-ptx says why it is illegal."""

from __future__ import annotations

from itertools import permutations

import pytest
from covering import THOROUGH

from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS
from tilewright.dialects.cute_nvgpu.lattice.undocumented import (
    UNDOCUMENTED,
    UNDOCUMENTED_SELECTORS,
    Undocumented,
    UndocumentedSelector,
)
from tilewright.tools.conformance.ptxas_bulk import taken
from tilewright.tools.instructions.catalogue import listings
from tilewright.tools.instructions.judge import why_illegal
from tilewright.tools.instructions.undocumented import remark

Row = Undocumented | UndocumentedSelector

ROWS: tuple[Row, ...] = (*UNDOCUMENTED, *UNDOCUMENTED_SELECTORS)
OLDEST = 75
"""The oldest target that ptxas of CUDA 13 knows."""
ARCHES = [name for name, each in TARGETS.items() if each.number >= OLDEST]


@pytest.mark.parametrize("arch", ARCHES if THOROUGH else ARCHES[::2])
def test_ptxas_takes_what_is_called_undocumented_and_nothing_else(arch: str):
    whys = {row.example: why_illegal(row.example, arch) for row in ROWS}
    called = {line: why is None or "undocumented" in why for line, why in whys.items()}
    assert any(called.values())
    assert dict(zip(called, taken(list(called), arch), strict=True)) == called


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.form)
def test_the_reason_names_the_rule_and_its_section(row: Row):
    found = [why_illegal(row.example, arch) or "" for arch in ARCHES]
    said = [why for why in found if "undocumented" in why]
    assert said, "no target takes it"
    why = f"undocumented: ptxas takes it, but {row.rule}, PTX ISA {row.section}"
    assert all(why in each for each in said)


@pytest.mark.parametrize("row", UNDOCUMENTED, ids=lambda row: row.form)
def test_what_is_legal_nowhere_is_no_row_of_the_lattice(row: Undocumented):
    """Only forms that are legal on other targets may be in the lattice."""
    legal = [each for each in listings() if row.pattern.fullmatch(each)]
    assert not legal or "beyond" in row.form


def test_the_order_of_qualifiers():
    """Any order but the legal one is undocumented, and assembles."""
    rest = ("sync", "aligned", "x2")
    lines = [
        f"{'.'.join(('ldmatrix', *order, 'm8n8', 'shared', 'b16'))} {{%r0,%r1}}, [%rd0];"
        for order in permutations(rest)
    ]
    whys = [why_illegal(line, "sm_80") for line in lines]
    assert None not in whys
    assert all("undocumented: ptxas takes its qualifiers in any order" in str(why) for why in whys)
    legal = "ldmatrix.sync.aligned.m8n8.x2.shared.b16"
    assert all(f"expected the order of words of {legal}" in str(why) for why in whys)
    assert all(taken(lines, "sm_80"))


@pytest.mark.parametrize(
    ("mnemonic", "arch"),
    [
        ("mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32", "sm_90"),
        ("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.f32", "sm_90"),
        ("ldmatrix.sync.aligned.m8n8.x3.shared.b16", "sm_90"),
        ("ldmatrix.sync.aligned.m8n8.x256.shared.b16", "sm_90"),
        ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e4m3.f32", "sm_100a"),
        ("mma.sync.aligned.m16n8k32.row.col.kind::mxf4.f32.e4m3.e4m3.f32", "sm_100"),
        ("mma.sync.aligned.m8n8k4.row.col.f32.bf16.bf16.f32", "sm_75"),
        ("stmatrix.sync.aligned.m8n8.x8.shared.b16", "sm_80"),
    ],
)
def test_what_ptxas_refuses_is_just_illegal(mnemonic: str, arch: str):
    assert why_illegal(mnemonic, arch) is not None
    assert remark(mnemonic, arch) is None


@pytest.mark.parametrize(
    "line, legal",
    [
        ("add.f32.rn %f1,%f2,%f3;", "add.rn.f32"),
        ("setp.s32.lt %p1,%r1,%r2;", "setp.lt.s32"),
        ("cvt.f32.rn.f64 %f1,%fd1;", "cvt.rn.f32.f64"),
        ("mad.s32.lo %r1,%r2,%r3,%r4;", None),
    ],
)
def test_scalars_in_other_orders(line: str, legal: str | None):
    """Types and the half of a product stay in theirs."""
    why = why_illegal(line, "sm_90a")
    assert why is not None and taken([line], "sm_90a") == [legal is not None]
    expected = f"expected the order of words of {legal}" if legal else "not judged"
    assert why.startswith(expected) and (legal is not None) == ("undocumented: ptxas" in why)


@pytest.mark.parametrize("spelled", ["setp.lo.u32", "membar.gl", "selp.s64", "atom.global.add.s32"])
def test_other_spellings_that_are_documented_are_legal(spelled: str):
    assert why_illegal(spelled, "sm_90a") is None
