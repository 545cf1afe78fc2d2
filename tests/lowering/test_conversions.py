"""`cute.convert` between all pairs of types that `cvt` has: what ml_dtypes has at three levels, and
text that assembles. What each form computes, `interpreter/test_float_conversions.py` asks of every
bit pattern."""

from __future__ import annotations

import os
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tilewright as tw
from tilewright.dialects.cute_nvgpu.atoms.conversion import CONVERSIONS, TypeConversion
from tilewright.lowering.interpreter.arithmetic.scalar import scalar

DTYPES: dict[str, Any] = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn, "ue8m0": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip
HELD = {"e2m3": "i8", "e3m2": "i8", "s8": "i8", "u8": "i8", "tf32": "f32"}
THREADS, COUNT = 32, 8


def sample() -> list[str]:
    """A form of each pair of types, the last one that has it; all of them on demand."""
    if os.environ.get("TILEWRIGHT_THOROUGH"):
        return list(CONVERSIONS)
    pairs = {(c.source.name, c.result.name, c.count): name for name, c in CONVERSIONS.items()}
    return list(pairs.values())


def kernel(conversion: TypeConversion) -> str:
    form = conversion.form.suffix
    source, result = (
        HELD.get(row.name, row.mlir) for row in (conversion.source, conversion.result)
    )
    words = COUNT // conversion.count
    random = (
        """
  %w = cute.local_partition(%W, %threads, %t)
  %bits = cute.make_fragment_like(%w)
  cute.copy(%w, %bits)""",
        ", %bits",
    )
    load, given = random if conversion.is_stochastic else ("", "")
    tensor = f'"({THREADS},{COUNT}):({COUNT},1)"'
    return f"""
func.func @k(%X: !cute.memref<{source}, gmem, align<16>, {tensor}>,
             %W: !cute.memref<i32, gmem, align<16>, "({THREADS},{words}):({words},1)">,
             %Y: !cute.memref<{result}, gmem, align<16>, {tensor}>) attributes {{gpu.kernel}} {{
  %i = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %t = arith.index_cast %i : index to i32
  %threads = cute.static : !cute.layout<"({THREADS},1):(1,0)">
  %x = cute.local_partition(%X, %threads, %t)
  %y = cute.local_partition(%Y, %threads, %t)
  %held = cute.make_fragment_like(%x)
  %converted = cute.make_fragment_like(%y)
  cute.copy(%x, %held){load}
  cute.convert<#cute_nvgpu.convert<"{form}">> (%held, %converted{given})
  cute.copy(%converted, %y)
  func.return
}}"""


def stored(row: Any, count: int) -> np.ndarray:
    """Memory for elements: bytes for what takes less."""
    return np.zeros(count * row.bits // 8, np.uint8)


@pytest.mark.parametrize("form", sample())
def test_every_level_converts_alike(form: str, ptxas: Any):
    conversion, rng = CONVERSIONS[form], np.random.default_rng(0)
    x = stored(conversion.source, THREADS * COUNT)
    x[:] = rng.integers(0, 256, x.size)
    if conversion.source.name == "f32":
        values = rng.standard_normal(THREADS * COUNT) * 8
        x = values.astype(np.float32).view(np.uint8)
    words = rng.integers(0, 1 << 32, THREADS * COUNT // conversion.count, np.uint32)
    text = kernel(conversion)
    results: list[np.ndarray] = []
    for level in ("tile", "atom", "ptx"):
        y = stored(conversion.result, THREADS * COUNT)
        bits = words.view(np.int32).reshape(THREADS, -1)
        args = [given(x, conversion.source), bits, given(y, conversion.result)]
        results.append(tw.interpret(text, grid=(1,), block=(THREADS,), args=args, level=level)[2])
    for result in results[1:]:
        assert_array_equal(result.view(np.uint8), results[0].view(np.uint8))
    assert_array_equal(results[0].view(np.uint8).ravel(), wanted(conversion, x, words))
    arch = form_arch(conversion)
    report = ptxas(tw.compile(text, arch).ptx, arch)
    assert report.clean, report.output


def given(memory: np.ndarray, row: Any) -> np.ndarray:
    """An argument: an array of the dtype of a tensor's elements, bytes of what has none."""
    name = HELD.get(row.name, row.name)
    dtype = {"i8": np.int8, "s32": np.int32, **DTYPES}.get(name, np.uint8)
    memory = memory if row.bits < 8 else memory.view(dtype)
    return memory.reshape(THREADS, -1)


def wanted(conversion: TypeConversion, x: np.ndarray, words: np.ndarray) -> np.ndarray:
    """By ml_dtypes where the rounding is to nearest; else by the function of the instruction."""
    modifiers = conversion.form.suffix.split(".")[:-2]
    source, result = conversion.source, conversion.result
    plain = "rn" in modifiers and {source.name, result.name} <= set(DTYPES)
    if plain and source.bits >= 8 and result.bits >= 8:
        with np.errstate(all="ignore"):
            kept = x & 63 if source.padded else x
            values = kept.view(DTYPES[source.name]).astype(np.float64)
            values = np.maximum(values, 0.0) + 0.0 if "relu" in modifiers else values
            if "satfinite" in modifiers:
                largest = float(ml_dtypes.finfo(DTYPES[result.name]).max)
                values = np.clip(values, -largest, largest)
            exact = values.astype(DTYPES[result.name])
        if not np.isnan(values).any():
            return exact.view(np.uint8)
    run, count = scalar("cvt", conversion.form.suffix), conversion.count
    if conversion.packed:
        results = run(x.view(f"uint{source.bits * count}"))
    else:
        elements = x.view(f"uint{source.bits}").reshape(-1, count)
        random = [words] if conversion.is_stochastic else []
        results = run(*(elements[:, i] for i in reversed(range(count))), *random)
    if count == 1:
        results = results.astype(f"uint{result.bits}")
    return np.ascontiguousarray(results).view(np.uint8).ravel()


def form_arch(conversion: TypeConversion) -> str:
    """A target that has it and that ptxas knows."""
    from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS

    required = conversion.form.requirement.target
    return next(
        name for name, arch in TARGETS.items() if arch.number >= 80 and arch.supports(required)
    )


def test_what_is_no_conversion():
    text = kernel(CONVERSIONS["rn.satfinite.e4m3x2.f32"])
    for old, new, why in (
        ("rn.satfinite", "rz.satfinite", "got rz.satfinite.e4m3x2.f32; nearest legal: rn.sat"),
        ("e4m3x2", "e5m2x2", "expected a result of f8E5M2 for .*e5m2x2.f32, got f8E4M3FN"),
        ("rn.satfinite.e4m3x2", "rs.satfinite.e4m3x4", "expected 2 words of i32 for .*, got none"),
        ("%converted)", "%converted, %held)", "expected no random bits"),
    ):  # fmt: skip
        with pytest.raises(tw.CompileError, match=why):
            tw.compile(text.replace(old, new), "sm_100a")
    with pytest.raises(tw.CompileError, match="requires sm_89"):
        tw.compile(text, "sm_80")
