"""The table of chips: what it knows, and what it says it does not know."""

from __future__ import annotations

import pytest

from tilewright.lowering.interpreter.numerics import (
    ConvertedDotAdd,
    ExactInteger,
    Float32DotAdd,
    FmaChain,
    FusedDotAdd,
    NumericsError,
    ScaledBlockDotAdd,
    ScaledDotAdd,
    family_of,
    model_for,
)


@pytest.mark.parametrize(
    ("arch", "types", "unit", "expected"),
    [
        ("sm_70", "f16 f16 f32", "mma.m8n8k4", (23, 4, 23)),
        ("sm_70", "f16 f16 f16", "wmma", (23, 4, 23)),
        ("sm_75", "f16 f16 f16", "mma.sync", (24, 8, 23)),
        ("sm_75", "f16 f16 f16", "mma.m8n8k4", (24, 8, 23)),
        ("sm_75", "f16 f16 f32", "wmma", (24, 8, 23)),
        ("sm_80", "bf16 bf16 f32", "mma.sync", (24, 8, 23)),
        ("sm_86", "tf32 tf32 f32", "mma.sync", (24, 4, 23)),
        ("sm_89", "e4m3 e5m2 f32", "mma.sync", (13, 16, 13)),
        ("sm_90a", "f16 f16 f32", "mma.sync", (25, None, 23)),
        ("sm_80", "bf16 bf16 f32", "wmma", (24, 8, 23)),
        ("sm_89", "tf32 tf32 f32", "wmma", (24, 4, 23)),
        ("sm_90a", "f16 f16 f16", "wmma", (25, None, 23)),
        ("sm_90a", "tf32 tf32 f32", "mma.sync", (25, None, 23)),
        ("sm_90a", "tf32 tf32 f32", "wmma", (25, 4, 23)),
        ("sm_90a", "e5m2 e4m3 f16", "wgmma", (13, None, 13)),
        ("sm_110a", "tf32 tf32 f32", "wmma", (25, 4, 23)),
        ("sm_121a", "f16 f16 f32", "wmma", (25, None, 23)),
        ("sm_120a", "e5m2 e4m3 f16", "mma.sync", (25, None, 23)),
        ("sm_120a", "e3m2 e2m1 f32", "mma.sync", (25, None, 23)),
        ("sm_100a", "e2m1 e4m3 f32", "tcgen05", (25, None, 23)),
        ("sm_120a", "bf16 bf16 f32", "mma.sync", (25, None, 23)),
    ],
)
def test_rows(arch: str, types: str, unit, expected):
    model = model_for(arch, *types.split(), unit)
    assert isinstance(model, FusedDotAdd)
    assert (model.fraction_bits, model.chunk, model.f32_fraction_bits) == expected
    assert model.source


def test_types_that_are_the_same_everywhere():
    assert isinstance(model_for("sm_80", "f64", "f64", "f64"), FmaChain)
    assert isinstance(model_for("sm_90a", "s8", "u8", "s32", "wgmma"), ExactInteger)
    assert isinstance(model_for("sm_75", "b1", "b1", "s32"), ExactInteger)


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100a", "sm_110"])
@pytest.mark.parametrize("result", ["f16", "f32"])
def test_m8n8k4_is_f32_arithmetic_from_sm_80_on(arch: str, result: str):
    assert isinstance(model_for(arch, "f16", "f16", result, "mma.m8n8k4"), Float32DotAdd)


def test_fp8_mma_sync_is_converted_where_there_is_no_tensor_core_for_it():
    for arch in ("sm_90", "sm_100a", "sm_103", "sm_110f"):
        model = model_for(arch, "e4m3", "e5m2", "f16")
        assert isinstance(model, ConvertedDotAdd)
        assert model.halves == model_for(arch, "f16", "f16", "f16")
    for arch in ("sm_89", "sm_120"):
        assert isinstance(model_for(arch, "e4m3", "e5m2", "f16"), FusedDotAdd)


@pytest.mark.parametrize(("arch", "unit"), [("sm_120a", "mma.sync"), ("sm_100a", "tcgen05")])
def test_block_scaling(arch: str, unit):
    for types in (("e4m3", "e5m2"), ("e2m1", "e2m1"), ("e3m2", "e4m3")):
        model = model_for(arch, *types, "f32", unit, "mxf8f6f4")
        assert isinstance(model, ScaledDotAdd) and model.fraction_bits == 25
    for kind in ("mxf4", "mxf4nvf4"):
        model = model_for(arch, "e2m1", "e2m1", "f32", unit, kind)
        assert isinstance(model, ScaledBlockDotAdd)
        assert (model.fraction_bits, model.block) == (35, 16)


def test_a_source_says_whether_a_row_was_measured():
    for types in (("e4m3", "e4m3"), ("e3m2", "e4m3"), ("e2m1", "e2m1")):
        assert "not measured" in model_for("sm_120a", *types, "f32").source
        scaled = model_for("sm_120a", *types, "f32", scale_kind="mxf8f6f4")
        assert "not measured" in scaled.source
    assert "no e3m2" in model_for("sm_120a", "e3m2", "e4m3", "f32").source
    assert "sm_100" in model_for("sm_100a", "e4m3", "e4m3", "f32").source
    assert "not measured" not in model_for("sm_90a", "tf32", "tf32", "f32", "wmma").source


@pytest.mark.parametrize(
    ("arch", "types", "scale_kind", "message"),
    [
        (
            "sm_90a",
            "e4m3 e4m3 f32",
            "mxf8f6f4",
            "e4m3 x e4m3 scaled as mxf8f6f4 into f32 on",
        ),
        ("sm_100a", "e4m3 e4m3 f32", "mxf8f6f4", "mma.sync with e4m3"),
        ("sm_120a", "e4m3 e4m3 f16", "mxf8f6f4", "into f16"),
        ("sm_120a", "e4m3 e4m3 f32", "mxf4", "no known arithmetic"),
        ("sm_120a", "f16 f16 f32", "mxf8f6f4", "no known arithmetic"),
        ("sm_120a", "s8 s8 s32", "mxf8f6f4", "no known arithmetic"),
    ],
)
def test_unknown_scalings_say_so(arch: str, types: str, scale_kind, message: str):
    with pytest.raises(NumericsError, match=message):
        model_for(arch, *types.split(), "mma.sync", scale_kind)


@pytest.mark.parametrize(
    ("arch", "types", "unit", "message"),
    [
        ("sm_90a", "e3m2 e4m3 f32", "mma.sync", "no known arithmetic"),
        ("sm_90", "e5m2 e2m1 f16", "mma.sync", "e5m2 x e2m1 into f16 on sm_90 .Hopper"),
        ("sm_80", "e4m3 e4m3 f32", "mma.sync", "no known arithmetic"),
        ("sm_80", "bf16 bf16 f16", "mma.sync", "no known arithmetic"),
        ("sm_90a", "f16 bf16 f32", "mma.sync", "no known arithmetic"),
        ("sm_80", "f16 f16 f32", "wgmma", "no known arithmetic"),
        ("sm_70", "f16 f16 f32", "mma.sync", "no known arithmetic"),
        ("sm_90", "bf16 bf16 f32", "mma.m8n8k4", "no known arithmetic"),
        ("sm_90", "e4m3 e4m3 f32", "wmma", "no known arithmetic"),
        ("sm_61", "f16 f16 f32", "mma.sync", "expected a target from sm_70"),
        ("compute_90", "f16 f16 f32", "mma.sync", "expected a target"),
    ],
)
def test_unknown_combinations_say_so(arch: str, types: str, unit, message: str):
    with pytest.raises(NumericsError, match=message):
        model_for(arch, *types.split(), unit)


def test_families():
    assert [family_of(f"sm_{n}") for n in (86, 89, 90, 103, 121)] == [
        "Ampere",
        "Ada",
        "Hopper",
        "Blackwell",
        "RTX Blackwell",
    ]
    assert family_of("sm_100f") == "Blackwell"
