"""Loops over 64-bit numbers that are small."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw

TEXT = """module attributes {"ttg.num-warps" = 1 : i32} {
  tt.func public @k(%out: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i64) {
    %c2 = arith.constant 2 : i64
    %c1 = arith.constant 1 : i64
    %c16 = arith.constant 16 : i64
    %zero = arith.constant dense<0> : tensor<32xi32>
    %one = arith.constant dense<1> : tensor<32xi32>
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %wide = arith.extsi %i : tensor<32xi32> to tensor<32xi64>
    %least = arith.minsi %n, %c16 : i64
    %sum = scf.for %k = %c2 to %least step %c1 iter_args(%s = %zero) -> (tensor<32xi32>) : i64 {
      %ks = tt.splat %k : i64 -> tensor<32xi64>
      %below = arith.cmpi slt, %wide, %ks : tensor<32xi64>
      %more = arith.addi %s, %one : tensor<32xi32>
      %next = arith.select %below, %more, %s : tensor<32xi1>, tensor<32xi32>
      scf.yield %next : tensor<32xi32>
    }
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %at = tt.addptr %outs, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    tt.store %at, %sum : tensor<32x!tt.ptr<i32>>
    tt.return
  }
}
"""


@pytest.mark.parametrize("n", [-(1 << 40) + 9, 0, 2, 7, 16, 1 << 40])
def test_numbers_are_compared_in_32_bits(n: int):
    assert "setp.lt.s64" not in tw.compile(TEXT, "sm_90a").ptx
    args = [np.zeros(32, np.int32), n]
    (got, *_) = tw.interpret(TEXT, "k", grid=(1,), args=args, level="ptx", arch="sm_90a")
    want = [sum(i < k for k in range(2, min(n, 16))) for i in range(32)]
    assert got.tolist() == want
