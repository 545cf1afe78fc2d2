"""Rows that are loaded again behind a fold, against NumPy."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilewright as tw

ROW = 1 << 16
TEXT = f"""module attributes {{tt.disjoint = true, "ttg.num-warps" = 32 : i32}} {{
tt.func public @k(%a: !tt.ptr<f16> {{tt.divisibility = 16 : i32}},
    %b: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %n: i32 {{tt.divisibility = 16 : i32}}) {{
  %low = arith.constant dense<0xFC00> : tensor<{ROW}xf16>
  %i = tt.make_range {{end = {ROW} : i32, start = 0 : i32}} : tensor<{ROW}xi32>
  %size = tt.splat %n : i32 -> tensor<{ROW}xi32>
  %mask = arith.cmpi slt, %i, %size : tensor<{ROW}xi32>
  %p = tt.splat %a : !tt.ptr<f16> -> tensor<{ROW}x!tt.ptr<f16>>
  %from = tt.addptr %p, %i : tensor<{ROW}x!tt.ptr<f16>>, tensor<{ROW}xi32>
  %h = tt.load %from, %mask, %low : tensor<{ROW}x!tt.ptr<f16>>
  %x = arith.extf %h : tensor<{ROW}xf16> to tensor<{ROW}xf32>
  %m = "tt.reduce"(%x) <{{axis = 0 : i32}}> ({{
  ^bb0(%l: f32, %r: f32):
    %larger = arith.maxnumf %l, %r : f32
    tt.reduce.return %larger : f32
  }}) : (tensor<{ROW}xf32>) -> f32
  %ms = tt.splat %m : f32 -> tensor<{ROW}xf32>
  %y = arith.subf %x, %ms : tensor<{ROW}xf32>
  %z = arith.truncf %y : tensor<{ROW}xf32> to tensor<{ROW}xf16>
  %q = tt.splat %b : !tt.ptr<f16> -> tensor<{ROW}x!tt.ptr<f16>>
  %to = tt.addptr %q, %i : tensor<{ROW}x!tt.ptr<f16>>, tensor<{ROW}xi32>
  tt.store %to, %z, %mask : tensor<{ROW}x!tt.ptr<f16>>
  tt.return }} }}"""


@pytest.mark.parametrize(
    "text, again",
    [
        (TEXT, True),
        (TEXT.replace("disjoint = true", "disjoint = false"), False),
        (TEXT.replace("tt.splat %b", "tt.splat %a"), False),
        (TEXT.replace(str(ROW), str(ROW // 2)), False),
    ],
    ids=["disjoint", "unknown", "in place", "small"],
)
def test_rows_are_loaded_again(text: str, *, again: bool):
    """Where nothing that the kernel writes is there, and they fill half of the registers."""
    kernel = tw.compile(text, "sm_90a")
    accesses = re.findall("(ld|st)\\.global", kernel.ptx)
    assert ("st ld" in " ".join(accesses)) == again
    # by which a launch knows that other memory is to be elsewhere
    assert any(remark.kind == "order" for remark in kernel.remarks) == again
    n = 20000
    a, b = np.random.default_rng(0).standard_normal(n).astype(np.float16), np.zeros(n, np.float16)
    got = tw.interpret(text, "k", grid=(1,), args=[a, b, n], level="ptx", arch="sm_90a")
    want = (a.astype(np.float32) - a.max()).astype(np.float16)
    np.testing.assert_array_equal(got["splat %b" in text], want)
