"""Selecting atoms: the order an expert expects, its reasons, and that nothing is left out."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.lookup import mnemonics
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, target
from tilewright.dialects.cute_nvgpu.select.contraction import (
    FAMILIES,
    ScaleBlock,
    form_of,
    types_of,
)
from tilewright.dialects.cute_nvgpu.select.select_atom import (
    CRITERIA,
    AtomChoice,
    label,
    select_atoms,
)

TILE = (128, 128, 256)
of_warps = partial(select_atoms, families=("mma",))
"""Among `mma.sync` and `mma.sp` alone."""

MX, NVFP4 = ScaleBlock(32, "ue8m0"), ScaleBlock(16, "ue4m3")

DENSE = [
    # f16: m8n8k4 has a tensor core up to sm_75 only.
    ("sm_70", "f16 f16 f32", ["8x8x4"]),
    ("sm_75", "f16 f16 f32", ["16x8x8", "8x8x4"]),
    ("sm_80", "f16 f16 f32", ["16x8x16", "16x8x8", "8x8x4"]),
    ("sm_89", "f16 f16 f16", ["16x8x16", "16x8x8", "8x8x4"]),
    ("sm_90a", "f16 f16 f32", ["16x8x16", "16x8x8", "8x8x4"]),
    ("sm_120a", "f16 f16 f32", ["16x8x16", "16x8x8", "8x8x4"]),
    ("sm_80", "f16 f16 f16 f32", ["8x8x4"]),
    ("sm_80", "bf16 bf16 f32", ["16x8x16", "16x8x8"]),
    ("sm_80", "tf32 tf32 f32", ["16x8x8", "16x8x4"]),
    ("sm_80", "f64 f64 f64", ["8x8x4"]),
    ("sm_90a", "f64 f64 f64", ["16x8x16", "16x8x8", "16x8x4", "8x8x4"]),
    ("sm_120a", "f64 f64 f64", ["16x8x16", "16x8x8", "16x8x4", "8x8x4"]),
    ("sm_75", "s8 u8 s32", ["8x8x16"]),
    ("sm_80", "s8 s8 s32", ["16x8x32", "16x8x16", "8x8x16"]),
    ("sm_100a", "u8 s8 s32", ["16x8x32", "16x8x16", "8x8x16"]),
    ("sm_75", "s4 u4 s32", ["8x8x32"]),
    ("sm_80", "s4 s4 s32", ["16x8x64", "16x8x32", "8x8x32"]),
    ("sm_90a", "u4 u4 s32", ["16x8x64", "16x8x32", "8x8x32"]),
    ("sm_75", "b1 b1 s32", ["8x8x128 xor"]),
    # Hopper has no .xor, Blackwell neither.
    (
        "sm_90a",
        "b1 b1 s32",
        [
            "16x8x256 and",
            "16x8x128 and",
            "8x8x128 and",
            "16x8x256 xor",
            "16x8x128 xor",
            "8x8x128 xor",
        ],
    ),
    ("sm_89", "e4m3 e5m2 f32", ["16x8x32", "16x8x16"]),
    ("sm_90a", "e4m3 e4m3 f16", ["16x8x32", "16x8x16"]),
    ("sm_120a", "e4m3 e5m2 f32", ["16x8x32", "16x8x32 f8f6f4", "16x8x16"]),
    ("sm_120a", "e3m2 e2m1 f32", ["16x8x32 f8f6f4"]),
]


def labels(choices: list[AtomChoice]) -> list[str]:
    return [label(choice.atom) for choice in choices]


@pytest.mark.parametrize(("arch", "types", "expected"), DENSE)
def test_dense_order(arch: str, types: str, expected: list[str]):
    assert labels(of_warps(*TILE, types.split(), arch)) == expected


@pytest.mark.parametrize(
    ("arch", "types", "expected"),
    [
        # Up to Hopper both kinds of metadata are the same machine code.
        ("sm_80", "f16 f16 f32", ["16x8x32 ordered", "16x8x32", "16x8x16 ordered", "16x8x16"]),
        ("sm_90a", "s8 s8 s32", ["16x8x64 ordered", "16x8x64", "16x8x32 ordered", "16x8x32"]),
        # Blackwell reorders plain metadata of f16 and s8 in a subroutine, not those of bf16.
        ("sm_100a", "f16 f16 f32", ["16x8x32 ordered", "16x8x16 ordered", "16x8x32", "16x8x16"]),
        ("sm_120a", "s8 u8 s32", ["16x8x64 ordered", "16x8x32 ordered", "16x8x64", "16x8x32"]),
        ("sm_120a", "bf16 bf16 f32", ["16x8x32 ordered", "16x8x32", "16x8x16 ordered", "16x8x16"]),
        ("sm_80", "tf32 tf32 f32", ["16x8x16 ordered", "16x8x16", "16x8x8 ordered", "16x8x8"]),
        ("sm_80", "s4 s4 s32", ["16x8x128 ordered", "16x8x128", "16x8x64 ordered", "16x8x64"]),
        ("sm_89", "e4m3 e4m3 f32", ["16x8x64 ordered", "16x8x64"]),
        ("sm_120a", "e4m3 e4m3 f16", ["16x8x64 f8f6f4 ordered", "16x8x64 ordered"]),
        ("sm_120a", "e2m3 e4m3 f16", ["16x8x64 f8f6f4 ordered"]),
    ],
)
def test_sparse_order(arch: str, types: str, expected: list[str]):
    found = labels(of_warps(*TILE, types.split(), arch, sparse=True))
    short = [each.replace("sp::ordered_metadata", "ordered").removesuffix(" sp") for each in found]
    assert short == expected


@pytest.mark.parametrize(
    ("types", "scale", "sparse", "expected"),
    [
        ("e4m3 e5m2 f32", MX, False, ["16x8x32 mxf8f6f4"]),
        # Packed e2m1 has twice the K of one that takes a byte.
        ("e2m1 e2m1 f32", MX, False, ["16x8x64 mxf4", "16x8x64 mxf4nvf4", "16x8x32 mxf8f6f4"]),
        ("e2m1 e2m1 f32", NVFP4, False, ["16x8x64 mxf4nvf4"]),
        ("e2m1 e2m1 f32", ScaleBlock(16, "ue8m0"), False, ["16x8x64 mxf4nvf4"]),
        ("e3m2 e2m1 f32", ScaleBlock(64, "ue8m0"), True, ["16x8x64 mxf8f6f4 ordered"]),
        ("e2m1 e2m1 f32", ScaleBlock(32, "ue4m3"), True, ["16x8x128 mxf4nvf4 ordered"]),
    ],
)
def test_scaled_order(types: str, scale: ScaleBlock, sparse: bool, expected: list[str]):
    found = labels(of_warps(*TILE, types.split(), "sm_120a", scale=scale, sparse=sparse))
    assert [each.replace("sp::ordered_metadata", "ordered") for each in found] == expected


@pytest.mark.parametrize(
    ("tile", "types", "arch", "best"),
    [
        ((16, 8, 8), "f16 f16 f32", "sm_80", "16x8x8"),
        ((16, 8, 24), "f16 f16 f32", "sm_80", "16x8x8"),
        ((16, 8, 32), "f16 f16 f32", "sm_80", "16x8x16"),
        ((8, 8, 4), "f16 f16 f32", "sm_80", "16x8x8"),
        ((8, 8, 16), "s8 s8 s32", "sm_80", "8x8x16"),
        ((8, 8, 64), "s4 s4 s32", "sm_80", "8x8x32"),
        ((1, 1, 1), "f64 f64 f64", "sm_90a", "8x8x4"),
        # From sm_100 on an 8x8x16 runs as a 16x8x16: the work is the same, the registers fewer.
        ((8, 8, 16), "s8 s8 s32", "sm_100a", "8x8x16"),
        ((16, 8, 16), "s8 s8 s32", "sm_100a", "16x8x16"),
    ],
)
def test_small_tiles_waste_nothing(tile: tuple[int, int, int], types: str, arch: str, best: str):
    assert labels(of_warps(*tile, types.split(), arch))[0] == best


@pytest.mark.parametrize(
    ("types", "arch", "options", "reasons"),
    [
        (
            "f16 f16 f32",
            "sm_90a",
            {},
            [
                "fewer instructions than 16x8x8: 2048, not 4096",
                "more instructions than 16x8x16: 4096, not 2048",
                "more emulated than 16x8x8: a subroutine of shuffles and scalar f32 arithmetic, "
                "not one machine instruction",
            ],
        ),
        (
            "f16 f16 f32",
            "sm_75",
            {},
            [
                "fewer machine instructions than 8x8x4: 4096, not 16384",
                "more machine instructions than 16x8x8: 16384, not 4096",
            ],
        ),
        ("f64 f64 f64", "sm_80", {}, ["the only legal atom"]),
        (
            "e4m3 e4m3 f32",
            "sm_89",
            {"sparse": True},
            [
                "metadata faster on some targets than 16x8x64 sp: ordered, not plain",
                "metadata slower on some targets than 16x8x64 sp::ordered_metadata: plain, "
                "not ordered",
            ],
        ),
        (
            "e4m3 e4m3 f32",
            "sm_120a",
            {},
            [
                "runs on more targets than 16x8x32 f8f6f4: 18, not 4",
                "runs on fewer targets than 16x8x32: 4, not 18",
                "more instructions than 16x8x32 f8f6f4: 2048, not 1024",
            ],
        ),
        (
            "e2m1 e2m1 f32",
            "sm_120a",
            {"scale": MX},
            [
                "equal to 16x8x64 mxf4nvf4 in every criterion",
                "equal to 16x8x64 mxf4 in every criterion",
                "more instructions than 16x8x64 mxf4nvf4: 1024, not 512",
            ],
        ),
        (
            "f16 f16 f16 f16",
            "sm_75",
            {"any_accumulator": True},
            [
                "fewer machine instructions than 8x8x4: 4096, not 8192",
                "more machine instructions than 16x8x8: 8192, not 4096",
                "farther from the accumulators asked for than 8x8x4: f32, not f16",
                "more machine instructions than 16x8x8: 16384, not 4096",
                "more registers a thread than 8x8x4: 12, not 8",
            ],
        ),
    ],
)
def test_reasons(types: str, arch: str, options: dict, reasons: list[str]):
    found = [choice.reason for choice in of_warps(*TILE, types.split(), arch, **options)]
    assert found == reasons


def test_padding_is_a_reason():
    first, second, last = of_warps(16, 8, 24, ("f16", "f16", "f32"), "sm_80")
    assert first.reason == "fewer multiply-adds, padding included, than 16x8x16: 3072, not 4096"
    assert (first.padding, second.padding, last.padding) == (0, 0.25, 0.5)


def test_bit_op_narrows():
    for bit_op in ("xor", "and"):
        choices = of_warps(*TILE, ("b1", "b1", "s32"), "sm_90a", bit_op=bit_op)
        assert {choice.atom.row.bit_op for choice in choices} == {bit_op}
        assert len(choices) == 3


def test_single_bits_by_version():
    """On sm_80 both operations are native; the one that is older comes first."""
    first, second = of_warps(*TILE, ("b1", "b1", "s32"), "sm_80")[:2]
    assert first.reason == "an older PTX ISA than 16x8x256 and: 7.0, not 7.1"
    assert second.reason == "a newer PTX ISA than 16x8x256 xor: 7.1, not 7.0"


CASES = sorted(
    {(form_of(row), types) for row in MMA_ROWS for types in row.element_types()}, key=str
)


@pytest.mark.parametrize("arch", ["sm_70", "sm_75", "sm_80", "sm_89", "sm_90a", "sm_100f",
                                  "sm_120", "sm_120a", "sm_120f"])  # fmt: skip
def test_the_list_is_legal_complete_and_ordered(arch: str):
    """For every form and element types of `mma`, against the mnemonics that the chip runs."""
    runs = [
        atom
        for atom in mnemonics().values()
        if atom.row in MMA_ROWS
        and target(arch).supports(atom.row.target)
        and atom.majors == ("row", "col")
        and not atom.satfinite
        and atom.rounding is None
    ]
    for form, types in CASES:
        legal = {
            atom.mnemonic
            for atom in runs
            if atom.types == types
            and ("E" in atom.inputs) == form.sparse
            and _scale(atom) == form.scale
        }
        if not legal:
            with pytest.raises(AtomError, match="nearest legal: "):
                of_warps(*TILE, types, arch, sparse=form.sparse, scale=form.scale)
            continue
        choices = of_warps(*TILE, types, arch, sparse=form.sparse, scale=form.scale)
        assert {choice.atom.mnemonic for choice in choices} == legal
        assert len(choices) == len(legal)
        ranks = [[criterion.key(choice) for criterion in CRITERIA] for choice in choices]
        assert ranks == sorted(ranks)
        for choice in choices:
            choice.atom.check(arch)
            assert choice.reason


def _scale(atom):
    vector = atom.row.scale_vector
    return None if vector is None else ScaleBlock(atom.shape[2] // vector, atom.row.scale_type)


@pytest.mark.parametrize("tile", list(product((1, 8, 24, 64), (7, 8, 128), (3, 16, 40))))
@pytest.mark.parametrize("types", ["f16 f16 f32", "s8 s8 s32", "f64 f64 f64"])
def test_choices_cover_the_tile(tile: tuple[int, int, int], types: str):
    for choice in of_warps(*tile, types.split(), "sm_90a"):
        spans = [own * count for own, count in zip(choice.atom.shape, choice.tiles, strict=True)]
        assert all(
            have - own < want <= have
            for have, own, want in zip(spans, choice.atom.shape, tile, strict=True)
        )
        m, n, k = choice.tiles
        matrices = 4 if choice.atom.op == "sm70.mma" else 1
        assert choice.instructions % k == 0
        assert (choice.instructions // k - 1) * matrices < m * n
        assert choice.instructions // k * matrices >= m * n
        a, b, c = choice.atom.shape
        issued = choice.instructions * matrices * a * b * c
        assert choice.padding == pytest.approx(1 - tile[0] * tile[1] * tile[2] / issued)
        assert 0 <= choice.padding < 1


@pytest.mark.parametrize(
    ("tile", "types", "arch", "options", "best"),
    [
        ((128, 256, 64), "f16 f16 f32", "sm_90a", {}, ["wgmma 64x256x16", "16x8x16"]),
        # N of 136 wastes less than 256 would.
        ((64, 136, 64), "bf16 bf16 f32", "sm_90a", {}, ["wgmma 64x136x16"]),
        ((16, 8, 16), "f16 f16 f32", "sm_90a", {}, ["16x8x16", "16x8x8", "wgmma 64x8x16", "wmma"]),
        # What the tensor core has is before what it emulates, padding or not.
        ((16, 8, 32), "e4m3 e4m3 f32", "sm_90a", {}, ["wgmma 64x8x32", "16x8x32"]),
        ((16, 16, 16), "f16 f16 f32", "sm_80", {}, ["16x8x16", "16x8x8", "wmma 16x16x16"]),
        ((128, 128, 64), "f16 f16 f32", "sm_90a", {"sparse": True}, ["wgmma 64x128x32"]),
        ((256, 256, 64), "f16 f16 f32", "sm_100a", {}, ["tcgen05 256x256x16 f16 pair",
                                                      "tcgen05 128x256x16 f16"]),
        ((128, 128, 256), "e2m1 e2m1 f32", "sm_100a", {"scale": NVFP4},
         ["tcgen05 128x128x64 mxf4nvf4"]),
    ],
)  # fmt: skip
def test_instructions_of_warps_warpgroups_and_threads(
    tile: tuple[int, int, int], types: str, arch: str, options: dict, best: list[str]
):
    found = labels(select_atoms(*tile, types.split(), arch, **options))
    assert [name[: len(wanted)] for name, wanted in zip(found, best, strict=False)] == best


@pytest.mark.parametrize("family", FAMILIES)
def test_every_row_is_a_choice(family: str):
    """For its own form and types, on a chip that has it; and each choice is a legal atom."""
    for row in FAMILIES[family]:
        arch = next(name for name, chip in TARGETS.items() if chip.supports(row.target))
        form, types = form_of(row), types_of(row)[-1]
        choices = select_atoms(
            *TILE, types, arch, sparse=form.sparse, scale=form.scale, families=(family,)
        )
        assert any(choice.atom.row == row for choice in choices)
        for choice in choices:
            choice.atom.check(arch)
            assert choice.reason


def test_one_sum_stays_in_one_quad_pair():
    """The four MMAs of m8n8k4 share the tile's rows and columns, never one element's K."""
    one, four = (
        of_warps(m, n, 16, ("f16", "f16", "f32"), "sm_70")[0] for m, n in ((8, 8), (16, 16))
    )
    assert one.tiles == (1, 1, 4) and one.instructions == 4 and one.padding == 0.75
    assert four.tiles == (2, 2, 4) and four.instructions == 4 and four.padding == 0


def test_registers():
    """A, B and the accumulators; metadata and scale factors a register each; f64 counts twice."""
    found = {
        arch: of_warps(*TILE, types.split(), arch, **options)[0].registers
        for arch, types, options in (
            ("sm_80", "f16 f16 f32", {}),
            ("sm_89", "e4m3 e4m3 f32", {"sparse": True}),
            ("sm_90", "f64 f64 f64", {}),
            ("sm_120a", "e2m1 e2m1 f32", {"scale": MX}),
        )
    }
    assert found == {"sm_80": 10, "sm_89": 13, "sm_90": 32, "sm_120a": 12}
