"""A run says nothing but what the kernel prints: what NumPy warns of are numbers like others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from run_levels import at_levels

import tilewright as tw

THREADS = """
func.func @k(%x: memref<32xf32>, %out: memref<32xf32>, %whole: memref<32xi32>)
    attributes {gpu.kernel} {
  %t = gpu.thread_id x
  %value = memref.load %x[%t] : memref<32xf32>
  %square = arith.mulf %value, %value : f32
  %zero = arith.subf %value, %value : f32
  %quotient = arith.divf %square, %zero : f32
  %root = math.sqrt %quotient : f32
  %half = arith.truncf %square : f32 to f16
  %wide = arith.extf %half : f16 to f32
  %sum = arith.addf %root, %wide : f32
  %number = arith.fptosi %sum : f32 to i32
  memref.store %sum, %out[%t] : memref<32xf32>
  memref.store %number, %whole[%t] : memref<32xi32>
  func.return
}
"""
TILES = """
cuda_tile.module @m {
  entry @k(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %i = iota : tile<32xi32>
    %xs = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %all = broadcast %xs : tile<1xptr<f32>> -> tile<32xptr<f32>>
    %from = offset %all, %i : tile<32xptr<f32>>, tile<32xi32> -> tile<32xptr<f32>>
    %value, %t0 = load_ptr_tko weak %from : tile<32xptr<f32>> -> tile<32xf32>, token
    %square = mulf %value, %value : tile<32xf32>
    %zero = subf %value, %value : tile<32xf32>
    %quotient = divf %square, %zero : tile<32xf32>
    %root = sqrt %quotient : tile<32xf32>
    %half = ftof %square : tile<32xf32> -> tile<32xf16>
    %wide = ftof %half : tile<32xf16> -> tile<32xf32>
    %sum = addf %root, %wide : tile<32xf32>
    %power = exp %sum : tile<32xf32>
    %outs = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %every = broadcast %outs : tile<1xptr<f32>> -> tile<32xptr<f32>>
    %to = offset %every, %i : tile<32xptr<f32>>, tile<32xi32> -> tile<32xptr<f32>>
    %t1 = store_ptr_tko weak %to, %power : tile<32xptr<f32>>, tile<32xf32> -> token
    return
  }
}
"""
STRANGE = np.resize(np.array([1e30, -1e30, 0, 1e-30, 300, np.inf, -np.inf, np.nan], np.float32), 32)


@pytest.fixture
def quiet(capfd: pytest.CaptureFixture[str]) -> Any:
    """What Python warns of is an error, and nothing may be printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("quiet")
@at_levels("tile", "atom", "ptx", "text")
def test_overflow_and_nan_in_threads_are_no_warnings(level: Any):
    args = STRANGE, np.zeros(32, np.float32), np.zeros(32, np.int32)
    given: Any = {"grid": (1,), "block": (32,), "args": args}
    if level == "text":
        text = tw.compile(THREADS, arch="sm_90a").ptx
        _, out, _ = tw.interpret(text, "k", **given)
    else:
        _, out, _ = tw.interpret(THREADS, "k", level=level, **given)
    assert np.isnan(out).any() and np.isinf(out).any()


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("numerics", ["hardware", "exact", "fast"])
def test_overflow_and_nan_in_tiles_are_no_warnings(numerics: Any):
    args = STRANGE, np.zeros(32, np.float32)
    _, out = tw.interpret(TILES, grid=(4,), args=args, numerics=numerics, races="ignore")
    assert np.isnan(out).any() and np.isinf(out).any()
