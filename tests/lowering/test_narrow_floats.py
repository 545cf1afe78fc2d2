"""`arith.extf` and `truncf` from and to 8-bit floats, by ml_dtypes at both levels and by ptxas."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from run_levels import at_levels
from tile_ir import entry

import tilewright as tw
from tilewright.arguments.dtypes import dtype_of_element
from tilewright.launch.ptxas import assemble

NARROW = ("f8E4M3FN", "f8E5M2")
KERNEL = """
func.func @k(%x: memref<?x{source}>, %y: memref<?x{to}>) attributes {{gpu.kernel}} {{
  %i = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %a = memref.load %x[%i] : memref<?x{source}>
  %b = arith.{op} {operands} : {types}
  memref.store %b, %y[%i] : memref<?x{to}>
  func.return
}}
"""


def cast(op: str, source: str, to: str) -> str:
    return KERNEL.format(op=op, source=source, to=to, operands="%a", types=f"{source} to {to}")


def run(text: str, x: Any, to: str, level: Any) -> Any:
    y = np.zeros(x.size, dtype_of_element(to))
    return tw.interpret(text, grid=(1,), block=(x.size,), args=[x, y], level=level)[1]


@at_levels()
@pytest.mark.parametrize("to", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("source", NARROW)
def test_every_narrow_float_is_extended_exactly(source: str, to: str, level: str):
    x = np.arange(256, dtype=np.uint8).view(dtype_of_element(source))
    wide = run(cast("extf", source, to), x, to, level)
    assert_array_equal(wide.astype(np.float64), x.astype(np.float64))


@at_levels()
@pytest.mark.parametrize("source", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("to", NARROW)
def test_truncation_is_to_nearest_and_saturates(to: str, source: str, level: str):
    largest = float(ml_dtypes.finfo(dtype_of_element(to)).max)
    values = np.arange(128, dtype=np.uint8).view(dtype_of_element(to)).astype(np.float64)
    values = values[np.isfinite(values)]
    beside = [(values[1:] + values[:-1]) / 2, values * 1.03, -values, values * 1e4]
    x = np.concatenate([values, *beside, [np.inf, -np.inf, np.nan]]).astype(
        dtype_of_element(source)
    )
    narrow = run(cast("truncf", source, to), x[:1024], to, level)
    exact = x[:1024].astype(np.float64)
    expected = np.clip(exact, -largest, largest).astype(dtype_of_element(to))
    nan = np.isnan(exact)
    assert (narrow.view(np.uint8)[nan] == 0x7F).all()
    assert_array_equal(narrow[~nan].view(np.uint8), expected[~nan].view(np.uint8))


@pytest.mark.parametrize("narrow", NARROW)
@pytest.mark.parametrize("wide", ["f16", "bf16", "f32"])
def test_casts_assemble(wide: str, narrow: str):
    for text in (cast("extf", narrow, wide), cast("truncf", wide, narrow)):
        kernel = tw.compile(text, "sm_89")
        assert kernel.ptx.splitlines()[1:3] == [".version 8.1", ".target sm_89"]
        report = assemble(kernel.ptx, "sm_89")
        assert report.ok, report.output


def test_what_narrow_floats_cannot():
    add = KERNEL.format(op="addf", source="f8E5M2", to="f8E5M2", operands="%a, %a", types="f8E5M2")
    with pytest.raises(tw.CompileError, match=r"'arith.addf' on f8E5M2 has no lowering to ptx"):
        tw.compile(add, "sm_90a")
    with pytest.raises(tw.CompileError, match=r"'arith.addf' on f8E5M2 cannot be interpreted"):
        run(add, np.zeros(8, dtype_of_element("f8E5M2")), "f8E5M2", "atom")
    with pytest.raises(tw.CompileError, match="requires sm_89"):
        tw.compile(cast("extf", "f8E5M2", "f32"), "sm_80")


@pytest.mark.parametrize("to", NARROW)
def test_neighbours_are_converted_together(to: str):
    """Two by one instruction, in the order in which they are stored."""
    body = "%o = constant <i32: 0> : tile<i32>"
    for i, element in enumerate(("f32", to)):
        tensor = f"tensor_view<256x{element}, strides=[1]>"
        body += f"""
    %q{i} = assume div_by<16>, %p{i} : tile<ptr<{element}>>
    %t{i} = make_tensor_view %q{i}, shape = [256], strides = [1] : {tensor}
    %v{i} = make_partition_view %t{i} : partition_view<tile=(256), {tensor}>"""
    views = [f"partition_view<tile=(256), tensor_view<256x{x}, strides=[1]>>" for x in ("f32", to)]
    body += f"""
    %x, %a = load_view_tko weak %v0[%o] : {views[0]}, tile<i32> -> tile<256xf32>, token
    %y = ftof %x : tile<256xf32> -> tile<256x{to}>
    %b = store_view_tko weak %y, %v1[%o] : tile<256x{to}>, {views[1]}, tile<i32> -> token
"""
    text = entry(f"%p0: tile<ptr<f32>>, %p1: tile<ptr<{to}>>", body)
    x = np.random.default_rng(0).standard_normal(256, np.float32)
    args = [x, np.zeros(256, dtype_of_element(to))]
    got = tw.interpret(text, "k", grid=(1,), args=args, level="ptx", arch="sm_90a")[1]
    assert (got == x.astype(got.dtype)).all()
    assert tw.compile(text, "sm_90a").ptx.count("x2.f32 ") == 256 // 32 // 2
