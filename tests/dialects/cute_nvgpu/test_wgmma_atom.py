"""Atoms of wgmma: layouts, mnemonics, and what is said of illegal ones.

The PTX ISA draws the fragments (9.7.15.5.1.1, figures 148 to 155): in the 16 rows of each warp they
are those of mma, whose formulas (9.7.14.5) are written out here.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from failures import failures

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import (
    canonical_wgmma,
    find_wgmma,
    parse_wgmma,
    wgmmas_of,
)
from tilewright.dialects.cute_nvgpu.lattice import WGMMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.sm90 import SM90_MMA, WgmmaRow
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS

HALF = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
ATOMS = [atom for row in WGMMA_ROWS for atom in wgmmas_of(row)]
FEW = [next(iter(wgmmas_of(row))) for row in WGMMA_ROWS]
DENSE = [atom for atom in FEW if not atom.row.sparse]
SPARSE = [atom for atom in FEW if atom.row.sparse]
TYPES = ("f16", "f16", "f32")


def in_rows(thread: int) -> tuple[int, int, int]:
    """The group of a thread, its place in the group, and the first row of its warp."""
    lane = thread % 32
    return lane // 4, lane % 4, 16 * (thread // 32)


def of_d(thread: int, i: int) -> tuple[int, int]:
    """Figures 149, 151, 153 and 155: where D's element i is."""
    group, place, first = in_rows(thread)
    row = group if i % 4 < 2 else group + 8
    return first + row, 8 * (i // 4) + 2 * place + i % 2


def of_a16(thread: int, i: int) -> tuple[int, int]:
    """Figure 148: k16, elements of 16 bits."""
    group, place, first = in_rows(thread)
    row = group if i in (0, 1, 4, 5) else group + 8
    column = 2 * place + i % 2 if i < 4 else 2 * place + i % 2 + 8
    return first + row, column


def of_a32(thread: int, i: int) -> tuple[int, int]:
    """Figure 150: k8, elements of 32 bits."""
    group, place, first = in_rows(thread)
    return first + (group if i in (0, 2) else group + 8), place if i < 2 else place + 4


def of_a8(thread: int, i: int) -> tuple[int, int]:
    """Figure 152: k32, elements of 8 bits."""
    group, place, first = in_rows(thread)
    row = group if i % 8 < 4 else group + 8
    column = 4 * place + i % 4 if i < 8 else 4 * place + i % 4 + 16
    return first + row, column


def of_a1(thread: int, i: int) -> tuple[int, int]:
    """Figure 154: k256, single bits."""
    group, place, first = in_rows(thread)
    row = group if i % 64 < 32 else group + 8
    column = 32 * place + i % 32 if i < 64 else 32 * place + i % 32 + 128
    return first + row, column


OF_A = {32: of_a32, 16: of_a16, 8: of_a8, 1: of_a1}


@pytest.mark.parametrize("atom", FEW, ids=str)
def test_a_in_registers(atom: WgmmaAtom):
    """A sparse A is held as the dense one of half its K (9.7.15.6.2)."""
    found, place = atom.coords("A"), OF_A[atom.row.multiplicand_bits]
    expected = [[place(thread, i) for i in range(atom.values("A"))] for thread in range(128)]
    assert np.array_equal(found, expected)
    assert atom.registers("A") == ("b32", 4)


@pytest.mark.parametrize("atom", FEW, ids=str)
@pytest.mark.parametrize("n", [8, 24, 256])
def test_accumulators(atom: WgmmaAtom, n: int):
    atom = replace(atom, n=n)
    expected = [[of_d(thread, i) for i in range(n // 2)] for thread in range(128)]
    for operand in ("C", "D"):
        assert np.array_equal(atom.coords(operand), expected)


@pytest.mark.parametrize("atom", SPARSE, ids=str)
def test_metadata_covers_its_rows_once_for_every_selector(atom: WgmmaAtom):
    """Warp w speaks of rows 16w to 16w + 15 (9.7.15.6.2); a pair of threads of each group of four,
    or all four, give the indices (9.7.15.6.1)."""
    found = atom.coords("E")
    assert atom.contributors == (4 if atom.row.multiplicand_bits == 8 else 2)
    [selectors] = atom.selectors
    assert selectors.legal == tuple(range(4 // atom.contributors))
    for selector in selectors.legal:
        threads = [each for each in range(128) if each % 4 // atom.contributors == selector]
        places = found[threads].reshape(-1, 2)
        assert len(np.unique(places, axis=0)) == len(places) == 64 * atom.row.indices
    for thread in range(128):
        assert set(found[thread, :, 0] // 16) == {thread // 32}


def test_metadata_of_16_bits_and_8_bits():
    """A word holds a stretch of rows g and g + 8, or one row's (9.7.15.6.2.1, 9.7.15.6.2.3)."""
    half = parse_wgmma("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16").coords("E")
    assert half[5].tolist() == [[1 + 8 * (i // 8), 8 + i % 8] for i in range(16)]
    byte = parse_wgmma("wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8").coords("E")
    assert byte[5].tolist() == [[9, i] for i in range(16)]
    assert byte[6].tolist() == [[1, 16 + i] for i in range(16)]


def test_shapes_are_those_of_the_table():
    """9.7.15.2."""
    eights, sixteens = list(range(8, 257, 8)), [8, 16, 24, 32, *range(48, 257, 16)]
    for row in WGMMA_ROWS:
        integer = row.accumulators == ("s32",)
        assert list(row.ns) == (sixteens if integer else eights)
        k = {32: 8, 16: 16, 8: 32, 1: 256}[row.multiplicand_bits]
        assert row.k == (2 * k if row.sparse else k)
        assert row.shape(8) == (64, 8, row.k)


def check_mnemonics_parse_back(atom: WgmmaAtom) -> None:
    assert (
        parse_wgmma(atom.mnemonic)
        == atom
        == find_wgmma(atom.op, atom.shape, atom.types, satfinite=atom.satfinite)
    )
    assert canonical_wgmma(atom.mnemonic) == atom.mnemonic


def test_mnemonics_parse_back():
    assert not failures(check_mnemonics_parse_back, product(ATOMS))


def test_satfinite_before_the_types():
    late = "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.u8.satfinite"
    early = "wgmma.mma_async.sp.sync.aligned.m64n8k64.satfinite.s32.s8.u8"
    assert parse_wgmma(early) == parse_wgmma(late) and parse_wgmma(late).satfinite
    assert canonical_wgmma(early) == late


def test_immediates():
    """9.7.15.5.2: floats are negated; 16-bit matrices in shared memory are transposed."""
    scales = ("imm-scale-a", "imm-scale-b")
    for atom in FEW:
        registers = replace(atom, frag_kind="rs")
        if not atom.row.negates:
            assert atom.immediates == registers.immediates == ()
        elif atom.row.multiplicand_bits == 16:
            assert atom.immediates == (*scales, "imm-trans-a", "imm-trans-b")
            assert registers.immediates == (*scales, "imm-trans-b")
        else:
            assert atom.immediates == registers.immediates == scales
    assert {atom.row.multiplicands[0][0] for atom in FEW if atom.row.negates} == {
        *("f16", "bf16", "tf32", "e4m3"),
    }


SIXTEENS = "8, 16, 24, 32, then 48 to 256 in steps of 16"
ILLEGAL: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    (("sm80.mma", (64, 8, 16), TYPES), {}, "expected an op of sm90.mma, sm90.sparse_mma, got"),
    (
        ("sm90.mma", (64, 8, 16), ("f16", "bf16", "f32")),
        {},
        "'sm90.mma' expected element types (a, b, d) that wgmma has, got (f16, bf16, f32); "
        "nearest legal: (f16, f16, f32)",
    ),
    (("sm90.sparse_mma", (64, 8, 512), ("b1", "b1", "s32")), {}, "that wgmma has, got (b1, b1,"),
    (
        ("sm90.mma", (64, 12, 16), TYPES),
        {},
        "'sm90.mma' expected a shape 64xNx16 for (f16, f16, f32), N 8 to 256 in steps of 8, "
        "got 64x12x16; nearest legal: 64x8x16 (PTX ISA 9.7.15.2)",
    ),
    (("sm90.mma", (64, 8, 32), TYPES), {}, "got 64x8x32; nearest legal: 64x8x16"),
    (("sm90.mma", (128, 264, 16), TYPES), {}, "got 128x264x16; nearest legal: 64x256x16"),
    (
        ("sm90.mma", (64, 40, 32), ("s8", "s8", "s32")),
        {},
        f"a shape 64xNx32 for (s8, s8, s32), N {SIXTEENS}, got 64x40x32; nearest legal: 64x32x32",
    ),
    (
        ("sm90.mma", (64, 8, 16), TYPES),
        {"satfinite": True},
        "expected no satfinite for (f16, f16, f32), got satfinite (only sums of s8 and u8 "
        "saturate)",
    ),
    (
        ("sm90.mma", (64, 8, 8), ("tf32", "tf32", "f32")),
        {"majors": ("k", "mn")},
        "expected a K-major B, got mn (only f16 and bf16 lie MN-major; PTX ISA 9.7.15.5.2)",
    ),
    (
        ("sm90.mma", (64, 8, 16), TYPES),
        {"majors": ("mn", "k"), "frag_kind": "rs"},
        "expected ab_major = (k, k) for an A in registers, got mn (PTX ISA 9.7.15.5.2)",
    ),
]


@pytest.mark.parametrize(("words", "modifiers", "said"), ILLEGAL)
def test_what_there_is_not(words: tuple[Any, ...], modifiers: dict[str, Any], said: str):
    with pytest.raises(AtomError) as caught:
        find_wgmma(*words, **modifiers)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("mnemonic", "said"),
    [
        (
            HALF.replace(".aligned", ""),
            "expected wgmma.mma_async{.sp}.sync.aligned.m64nNkK.DTYPE.ATYPE.BTYPE{.satfinite}"
            "{.and.popc}, got 'wgmma.mma_async.sync.m64",
        ),
        (HALF.replace("f32.f16.f16", "satfinite.s32.s8.s8.satfinite"), "expected wgmma.mma_async"),
        (HALF.replace("f16.f16", "f16.f17"), "expected element types of f16, bf16,"),
        (
            "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc",
            "'sm90.mma' expected .and.popc for (b1, b1, s32), got 'wgmma.mma_async.sync.aligned."
            "m64n8k256.s32.b1.b1.xor.popc'; nearest legal: wgmma.mma_async.sync.aligned.m64n8k256."
            "s32.b1.b1.and.popc",
        ),
        (f"{HALF}.and.popc", f"expected no bit operation for (f16, f16, f32), got '{HALF}.and."),
    ],
)
def test_what_is_no_mnemonic(mnemonic: str, said: str):
    with pytest.raises(AtomError) as caught:
        parse_wgmma(mnemonic)
    assert said in str(caught.value)


def test_operands_that_registers_do_not_hold():
    atom = parse_wgmma(HALF)
    for operand, why in (("B", "got 'B' (B is always in shared memory)"), ("E", "got 'E'")):
        with pytest.raises(AtomError) as caught:
            atom.tv_layout(operand)
        assert str(caught.value) == f"{HALF} expected a register operand of A, C, D, {why}"


def test_selectors():
    sparse = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16"
    parse_wgmma(sparse).check_selectors((1,))
    for mnemonic, said in (
        (sparse, "expected a sparsity selector of 0, 1, got 2; nearest legal: 1"),
        (HALF, "expected a sparsity selector of none (it is dense), got 2"),
    ):
        with pytest.raises(AtomError) as caught:
            parse_wgmma(mnemonic).check_selectors((2,))
        assert str(caught.value) == f"{mnemonic} {said}"


def test_wgmma_runs_on_sm_90a_alone():
    for name in TARGETS:
        if name == "sm_90a":
            parse_wgmma(HALF).check(name)
            continue
        with pytest.raises(AtomError) as caught:
            parse_wgmma(HALF).check(name)
        assert str(caught.value) == f"{HALF} requires sm_90a, got {name} (PTX ISA 9.7.15.5.2)"


def test_a_row_whose_layouts_do_not_cover_its_matrices_cannot_be_built():
    [row] = [row for row in SM90_MMA if row.multiplicands == (("tf32", "tf32"),)]
    with pytest.raises(AssertionError):
        replace(row, k=6)
    assert isinstance(replace(row, k=16), WgmmaRow)


def test_parameters():
    atom = find_wgmma("sm90.mma", (64, 8, 32), ("s8", "u8", "s32"), frag_kind="rs", satfinite=True)
    assert atom.parameters == (
        "64x8x32, elem_type = (si8, ui8, i32), ab_major = (k, k), frag_kind = rs, satfinite"
    )
    assert str(atom) == "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8.satfinite"
    assert (atom.threads, atom.chunk, atom.ordered_metadata) == (128, 4, False)
