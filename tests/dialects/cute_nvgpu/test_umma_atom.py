"""`tcgen05.mma` atoms: rows, mnemonics, shapes, and where their operands are in tensor memory."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest
from covering import covering

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma_lookup import (
    find_umma,
    umma_of,
    ummas_of,
)
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import mnemonics_of, parse_mnemonic
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.lattice import UMMA_ROWS, UmmaRow

OPS = dict.fromkeys((row.op, row.kind) for row in UMMA_ROWS)
F16 = ("f16", "f16", "f32")


def name(row: UmmaRow) -> str:
    scale = "" if row.scale is None else f"-{row.scale.vector}x{row.scale.type}"
    return f"{row.op}-{row.kind}-{row.multiplicands[0][0]}-k{row.k}{scale}"


def values(atom: UmmaAtom) -> tuple[Hashable, ...]:
    return atom.m, atom.n, atom.types, atom.cta_group, atom.majors, atom.frag_kind


@pytest.mark.parametrize("row", UMMA_ROWS, ids=name)
def test_mnemonic_and_descriptor_name_every_atom(row: UmmaRow):
    for atom in covering(ummas_of(row), values, times=8):
        assert umma_of(atom.mnemonic, atom.descriptor().encode()) == atom
        assert find_umma(
            atom.op, atom.shape, atom.types, cta_group=atom.cta_group, kind=row.kind,
            scale_vector=row.scale and row.scale.vector, scale_type=row.scale and row.scale.type,
        ) == atom  # fmt: skip


@pytest.mark.parametrize(("op", "kind"), OPS)
def test_every_mnemonic_parses_to_itself(op: str, kind: Any):
    found = list(mnemonics_of(op, kind))
    assert [parse_mnemonic(each.text) for each in found] == found
    assert len({each.text for each in found}) == len(found)


def test_k_of_every_kind():
    ks = {(row.kind, row.sparse): set[int]() for row in UMMA_ROWS}
    for row in UMMA_ROWS:
        ks[row.kind, row.sparse].add(row.k)
    assert ks == {
        ("f16", False): {16}, ("f16", True): {32},
        ("tf32", False): {8}, ("tf32", True): {16},
        ("f8f6f4", False): {32}, ("f8f6f4", True): {64},
        ("i8", False): {32}, ("i8", True): {64},
        ("mxf8f6f4", False): {32}, ("mxf8f6f4", True): {64},
        ("mxf4", False): {64, 96}, ("mxf4", True): {128},
        ("mxf4nvf4", False): {64, 96}, ("mxf4nvf4", True): {128},
    }  # fmt: skip


LOOKUPS: list[tuple[str, tuple[int, int, int], tuple[str, str, str], dict[str, Any], str]] = [
    ("sm100.mma", (96, 40, 16), F16, {}, "M of 64 or 128 and N of 8 to 256 in steps of 8"),
    ("sm100.mma", (64, 260, 16), F16, {}, "got 64x260x16; nearest legal: 64x256x16"),
    ("sm100.mma", (128, 40, 32), F16, {}, r"expected K of 16 for \(f16, f16, f32\), got 32"),
    ("sm100.mma", (128, 40, 16), ("f16", "bf16", "f32"), {}, r"nearest legal: \(f16, f16, f32\)"),
    ("sm100.mma", (128, 24, 32), ("s8", "u8", "s32"), {}, "8, then 16 to 256 in steps of 16"),
    ("sm100.mma", (128, 24, 16), F16, {"frag_kind": "ts"}, "A in tensor memory.*128x16x16"),
    ("sm100.mma", (256, 48, 16), F16, {"cta_group": 2, "frag_kind": "ts"}, "256x32x16"),
    ("sm100.mma", (256, 24, 16), F16, {"cta_group": 2}, "nearest legal: 256x16x16"),
    ("sm100.mma", (64, 64, 16), F16, {"cta_group": 4}, "cta_group 1 or 2, got 4; nearest legal: 2"),
    ("sm100.mma", (128, 64, 16), F16, {"satfinite": True}, "expected no satfinite"),
    ("sm100.mma", (128, 24, 32), ("e4m3", "e4m3", "f32"), {"majors": ("k", "mn")}, "B N-major"),
    ("sm100.mma", (128, 32, 32), ("e4m3", "e2m1", "f32"), {"majors": ("k", "mn")}, "K-major B"),
    ("sm100.mma", (128, 32, 16), F16, {"majors": ("mn", "k"), "frag_kind": "ts"}, r"\(k, k\)"),
    ("sm100.mma_sp", (128, 24, 64), ("e4m3", "e4m3", "f32"), {}, "nearest legal: 128x16x64"),
    ("sm100.mma_bs", (64, 64, 32), ("e4m3", "e4m3", "f32"), {}, "nearest legal: 128x64x32"),
    ("sm100.mma_bs", (128, 64, 32), ("e4m3", "e4m3", "f32"), {"cta_group": 2}, "M of 256"),
    ("sm100.mma_bs", (128, 64, 32), ("e4m3", "e4m3", "f16"), {}, "expects c type to be Float32"),
    ("sm100.mma_bs", (128, 64, 64), ("e2m1", "e2m1", "f32"), {"kind": "mxf4", "scale_vector": 4},
     "got mxf4, 4, any; nearest legal: mxf4, 2, ue8m0"),
    ("sm100.mma_bs", (128, 64, 96), ("e2m1", "e2m1", "f32"), {"kind": "mxf4"},
     "expected cta_group 2, got 1"),
    ("sm100.mma_ws", (64, 96, 16), F16, {}, "N of 64, 128, 256 for M = 64"),
    ("sm100.mma_ws_sp", (64, 256, 32), F16, {}, "N of 64, 128 for M = 64"),
    ("sm100.mma_ws", (64, 64, 16), F16, {"frag_kind": "ts"}, "expected M of 128"),
    ("sm100.mma_ws", (64, 64, 16), F16, {"cta_group": 2}, "expected cta_group 1, got 2"),
    ("sm100.mmma", (64, 64, 16), F16, {}, "expected an op of sm100.mma, sm100.mma_sp"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "shape", "types", "more", "message"), LOOKUPS)
def test_what_is_no_atom(
    op: str,
    shape: tuple[int, int, int],
    types: tuple[str, str, str],
    more: dict[str, Any],
    message: str,
):
    with pytest.raises(AtomError, match=message):
        find_umma(op, shape, types, **more)


@pytest.mark.parametrize(
    "mnemonic, message",
    [
        ("tcgen05.mma.kind::f16", "expected tcgen05.mma{.ws}{.sp}.cta_group::1|2"),
        ("tcgen05.mma.cta_group::1.kind::bf16", "expected a kind of f16, tf32"),
        ("tcgen05.mma.cta_group::4.kind::f16", "expected cta_group::1 or 2, got 4"),
        ("tcgen05.mma.ws.cta_group::2.kind::f16", "expected cta_group::1, got 2"),
        ("tcgen05.mma.ws.cta_group::1.kind::mxf4.block_scale", "no kind::mxf4 for tcgen05.mma.ws"),
        ("tcgen05.mma.cta_group::1.kind::mxf4", "expected .block_scale.block32 or .block_scale"),
        ("tcgen05.mma.cta_group::1.kind::f16.block_scale", "expected no block scaling for"),
        ("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale", "expected .block_scale.block32"),
        ("tcgen05.mma.cta_group::1.kind::mxf4.block_scale.ashift", "expected no .ashift"),
        ("tcgen05.mma.ws.cta_group::1.kind::f16.ashift", "expected no .ashift"),
        ("tcgen05.mma.cta_group::1.kind::f16.collector::b0::fill", "of a::fill|use|lastuse"),
        ("tcgen05.mma.ws.cta_group::1.kind::f16.collector::a::use", "of b0|b1|b2|b3::fill"),
        ("tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::use", "of a::lastuse|discard"),
    ],
)  # fmt: skip
def test_what_is_no_mnemonic(mnemonic: str, message: str):
    with pytest.raises(AtomError, match=message.replace("{", r"\{").replace("|", r"\|")):
        parse_mnemonic(mnemonic)


DENSE = "tcgen05.mma.cta_group::1.kind::f16"


@pytest.mark.parametrize(
    "mnemonic, idesc, message",
    [
        (DENSE, 0x08200014, r"expected 0 in bit 2 \(sparsity\)"),
        (DENSE.replace("mma.", "mma.sp."), 0x08200010, r"expected 1 in bit 2 \(sparsity\)"),
        (DENSE, 0x48200010, "the maximum shift is of tcgen05.mma.ws"),
        (DENSE, 0x08200410, "expected an instruction descriptor of types"),
        (DENSE, 0x09200010, "expected M of 64 or 128"),
        (DENSE, 0x08200011, r"expected a sparsity selector of none \(it is dense\), got 1"),
        (DENSE.replace("mma.", "mma.sp."), 0x08200016, "selector of 0, 1, got 2; nearest legal: 1"),
        ("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16", 0x28200480,
         "expected sfa_id of 0, got 1; nearest legal: 0"),
        ("tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32", 0x08A00490,
         "expected sfb_id of 0, 2, got 1; nearest legal: 0"),
        ("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block32", 0x08200480,
         "scale factors ue4m3"),
    ],
)  # fmt: skip
def test_descriptors_that_say_something_else(mnemonic: str, idesc: int, message: str):
    with pytest.raises(AtomError, match=message):
        umma_of(mnemonic, idesc)


def test_a_word_that_is_no_descriptor_of_the_kind():
    with pytest.raises(DescriptorError, match="bits 6 set"):
        umma_of(DENSE, 0x08200050)


def test_d_has_a_cell_for_each_element():
    """Of the 13,000 atoms, one of each layout of D: rows differ in what they multiply."""
    layouts = {
        (atom.m, atom.n, atom.tmem_layout("D")): atom for row in UMMA_ROWS for atom in ummas_of(row)
    }
    assert len(layouts) > 200
    for atom in layouts.values():
        coords = atom.cells("D").reshape(-1, 3)
        assert not coords[:, 2].any()
        cells = (coords[:, 0] << 16) + coords[:, 1]
        assert len(np.unique(cells)) == atom.m * atom.n
        assert (coords[:, 0] & 0xFFFF).max() < 128
        assert coords[:, 1].max() < atom.n


def test_coords_are_lane_column_and_bit():
    half = find_umma("sm100.mma", (64, 32, 16), ("f16", "f16", "f16"), frag_kind="ts")
    assert half.cells("D")[17, 5].tolist() == [33, 5, 0]
    assert half.cells("A")[17, 5].tolist() == [33, 2, 16]
    pair = find_umma("sm100.mma", (128, 64, 16), F16, cta_group=2)
    assert pair.cells("D")[70, 40].tolist() == [65536 + 6 + 64, 8, 0]
    scaled = find_umma("sm100.mma_bs", (128, 64, 64), ("e2m1", "e2m1", "f32"), kind="mxf4nvf4",
                       scale_vector=4)  # fmt: skip
    assert scaled.cells("SFB")[33, 2].tolist() == [1, 1, 16]
    sparse = find_umma("sm100.mma_sp", (128, 64, 32), F16)
    assert sparse.cells("E")[9, 3].tolist() == [1, 0, 16 + 6]


def test_only_tensor_memory_has_a_layout():
    dense = find_umma("sm100.mma", (128, 64, 16), F16)
    with pytest.raises(AtomError, match="expected an operand in tensor memory, D, got B"):
        dense.tmem_layout("B")


def test_availability():
    dense, integer = (
        find_umma("sm100.mma", (128, 64, k), types)
        for k, types in ((16, F16), (32, ("s8", "s8", "s32")))
    )
    long = find_umma(
        "sm100.mma_bs", (256, 64, 96), ("e2m1", "e2m1", "f32"), kind="mxf4", cta_group=2
    )
    dense.check("sm_103f")
    integer.check("sm_110a")
    long.check("sm_103a")
    for atom, arch in ((dense, "sm_120a"), (dense, "sm_100"), (integer, "sm_103a"),
                       (integer, "sm_100f"), (long, "sm_100a")):  # fmt: skip
        with pytest.raises(AtomError, match=f"requires .*, got {arch}"):
            atom.check(arch)
