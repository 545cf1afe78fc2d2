"""The table of chips: what it knows, and what it says it does not know."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.lowering.interpreter.numerics import (
    ExactInteger,
    FmaChain,
    FusedDotAdd,
    NumericsError,
    dot_add,
    family_of,
    model_for,
)


@pytest.mark.parametrize(
    ("arch", "types", "unit", "expected"),
    [
        ("sm_70", "f16 f16 f32", "mma.sync", (23, 4, 23)),
        ("sm_75", "f16 f16 f16", "mma.sync", (24, 8, 23)),
        ("sm_80", "bf16 bf16 f32", "mma.sync", (24, 8, 23)),
        ("sm_86", "tf32 tf32 f32", "mma.sync", (24, 4, 23)),
        ("sm_89", "e4m3 e5m2 f32", "mma.sync", (13, 16, 13)),
        ("sm_90a", "f16 f16 f32", "mma.sync", (25, None, 23)),
        ("sm_90a", "e5m2 e4m3 f16", "wgmma", (13, None, 13)),
        ("sm_100a", "e2m1 e4m3 f32", "tcgen05", (25, None, 23)),
        ("sm_120a", "bf16 bf16 f32", "mma.sync", (25, None, 23)),
    ],
)
def test_rows(arch: str, types: str, unit, expected) -> None:
    model = model_for(arch, *types.split(), unit)
    assert isinstance(model, FusedDotAdd)
    assert (model.fraction_bits, model.chunk, model.f32_fraction_bits) == expected
    assert model.source


def test_types_that_are_the_same_everywhere() -> None:
    assert isinstance(model_for("sm_80", "f64", "f64", "f64"), FmaChain)
    assert isinstance(model_for("sm_90a", "s8", "u8", "s32", "wgmma"), ExactInteger)
    assert isinstance(model_for("sm_75", "b1", "b1", "s32"), ExactInteger)


@pytest.mark.parametrize(
    ("arch", "types", "unit", "message"),
    [
        ("sm_90a", "e3m2 e4m3 f32", "mma.sync", "no known arithmetic"),
        ("sm_90", "e5m2 e2m1 f16", "mma.sync", "e5m2 x e2m1 into f16 on sm_90 .Hopper"),
        ("sm_80", "e4m3 e4m3 f32", "mma.sync", "no known arithmetic"),
        ("sm_80", "bf16 bf16 f16", "mma.sync", "no known arithmetic"),
        ("sm_90a", "f16 bf16 f32", "mma.sync", "no known arithmetic"),
        ("sm_80", "f16 f16 f32", "wgmma", "no known arithmetic"),
        ("sm_61", "f16 f16 f32", "mma.sync", "expected a target from sm_70"),
        ("compute_90", "f16 f16 f32", "mma.sync", "expected a target"),
    ],
)
def test_unknown_combinations_say_so(arch: str, types: str, unit, message: str) -> None:
    with pytest.raises(NumericsError, match=message):
        model_for(arch, *types.split(), unit)


def test_families() -> None:
    assert [family_of(f"sm_{n}") for n in (86, 89, 90, 103, 121)] == [
        "Ampere",
        "Ada",
        "Hopper",
        "Blackwell",
        "RTX Blackwell",
    ]
    assert family_of("sm_100f") == "Blackwell"


def test_a_model_for_other_types_is_refused() -> None:
    a, c = np.zeros((8, 4), np.uint64), np.zeros((8, 8), np.uint64)
    fused = FusedDotAdd(25, "test")
    types = {"a_type": "f64", "b_type": "f64", "c_type": "f64", "d_type": "f64"}
    with pytest.raises(NumericsError, match="does not compute f64"):
        dot_add(a, a.T, c, model=fused, **types)
    a, c = a.astype(np.uint16), c.astype(np.uint32)
    types = {"a_type": "f16", "b_type": "f16", "c_type": "f32", "d_type": "f32"}
    for model in (FmaChain("test"), ExactInteger("test")):
        with pytest.raises(NumericsError, match="does not compute f16"):
            dot_add(a, a.T, c, model=model, **types)
    with pytest.raises(NumericsError, match="satfinite is for integers"):
        dot_add(a, a.T, c, model=fused, satfinite=True, **types)
    with pytest.raises(NumericsError, match="rounding mode is for f64"):
        dot_add(a, a.T, c, model=fused, rounding="rz", **types)


def test_rows_check_themselves() -> None:
    for row in ({"fraction_bits": 41}, {"chunk": 0}, {"f32_fraction_bits": 24}):
        with pytest.raises(NumericsError, match="fused dot-add"):
            FusedDotAdd(**{"fraction_bits": 25, "source": "test", **row})
