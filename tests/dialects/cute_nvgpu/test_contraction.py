"""Contractions: what is said of one that no atom computes."""

from __future__ import annotations

import pytest
from covering import THOROUGH

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, TargetError, target
from tilewright.dialects.cute_nvgpu.select.contraction import (
    Contraction,
    ContractionForm,
    ScaleBlock,
    form_of,
)
from tilewright.dialects.cute_nvgpu.select.select_atom import select_atoms

TILE = (128, 128, 256)
MX = ScaleBlock(32, "ue8m0")
CASES = sorted(
    {(form_of(row), types) for row in MMA_ROWS for types in row.element_types()}, key=str
)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            (*TILE, ("bf16", "bf16", "f32"), "sm_75"),
            {},
            "expected element types (a, b, c, d) of a dense MMA on sm_75, got "
            "(bf16, bf16, f32, f32) (they require sm_80 or later); "
            "nearest legal: (f16, f16, f32, f32)",
        ),
        (
            (*TILE, ("f32", "f32", "f32"), "sm_90a"),
            {},
            "expected element types (a, b, c, d) of a dense MMA on sm_90a, got "
            "(f32, f32, f32, f32) (no target has them); nearest legal: (tf32, tf32, f32, f32)",
        ),
        (
            (*TILE, ("s8", "s8", "f32"), "sm_80"),
            {},
            "got (s8, s8, f32, f32) (no target has them); nearest legal: (s8, s8, s32, s32)",
        ),
        (
            (*TILE, ("f64", "f64", "f64"), "sm_90a"),
            {"sparse": True},
            "expected element types (a, b, c, d) of a sparse MMA on sm_90a, got "
            "(f64, f64, f64, f64) (no target has them); nearest legal: dense (f64, f64, f64, f64)",
        ),
        (
            (*TILE, ("e2m1", "e2m1", "f32"), "sm_120a"),
            {"scale": ScaleBlock(32, "ue4m3")},
            "of a dense MMA scaled by 32 x ue4m3 on sm_120a, got (e2m1, e2m1, f32, f32) (no target "
            "has them); nearest legal: dense (e2m1, e2m1, f32, f32) scaled by 32 x ue8m0",
        ),
        (
            (*TILE, ("e4m3", "e4m3", "f32"), "sm_120"),
            {"scale": MX},
            "(they require sm_120f or later of the same family); "
            "nearest legal: dense (e4m3, e4m3, f32, f32)",
        ),
        (
            (0, 8, -3, ("f16", "f16", "f32"), "sm_80"),
            {},
            "expected a tile of one element or more, got 0x8x-3; nearest legal: 1x8x1",
        ),
        (
            (*TILE, ("f16", "f61", "f32"), "sm_80"),
            {},
            "expected an element type of f16, bf16, tf32, f32, f64, e4m3, e5m2, e3m2, e2m3, e2m1, "
            "s8, u8, s4, u4, b1, s32, got f61; nearest legal: f64",
        ),
        (
            (*TILE, ("f16", "f32"), "sm_80"),
            {},
            "expected element types (a, b, accumulators) or (a, b, c, d), got (f16, f32)",
        ),
        (
            (*TILE, ("e2m1", "e2m1", "f32"), "sm_120a"),
            {"scale": ScaleBlock(16, "e4m3")},
            "expected a type of scale factors of ue8m0, ue4m3, got e4m3; nearest legal: ue4m3",
        ),
        (
            (*TILE, ("b1", "b1", "s32"), "sm_75"),
            {"bit_op": "and"},
            "expected bit operation xor on sm_75, got and (requires sm_80 or later); "
            "nearest legal: xor",
        ),
        (
            (*TILE, ("b1", "b1", "s32"), "sm_80"),
            {"bit_op": "or"},
            "expected a bit operation of xor, and, got or; nearest legal: xor",
        ),
    ],
)
def test_no_legal_atom(arguments: tuple, options: dict, message: str):
    with pytest.raises(AtomError) as error:
        select_atoms(*arguments, **options)
    assert message in str(error.value)


@pytest.mark.parametrize("number, arch", list(enumerate(TARGETS)))
def test_the_nearest_is_legal(number: int, arch: str):
    """Whatever is asked for in vain, what is offered instead has atoms: other types each target."""
    for form, types in CASES if THOROUGH else CASES[number % 4 :: 4]:
        near, names = Contraction(TILE, types, form).nearest(target(arch))
        assert select_atoms(*TILE, names, arch, sparse=near.sparse, scale=near.scale)


def test_forms_in_words():
    assert ContractionForm().named("MMA") == "dense MMA"
    assert ContractionForm(True, MX).named("MMA") == "sparse MMA scaled by 32 x ue8m0"


def test_unknown_arch():
    with pytest.raises(TargetError, match="unknown target 'sm_81'"):
        select_atoms(*TILE, ("f16", "f16", "f32"), "sm_81")
