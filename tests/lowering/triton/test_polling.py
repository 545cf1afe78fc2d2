"""Waiting for what another program writes."""

from __future__ import annotations

import numpy as np
import pytest
from triton_kernel import converted, run

from tilewright.source.diagnostic import OpError

HANDED_OVER = """module {
  tt.func public @k(%flag: !tt.ptr<i32>, %data: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    %me = tt.get_program_id x : i32
    %first = arith.cmpi eq, %me, %c0 : i32
    scf.if %first {
      %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
      %flags = tt.splat %flag : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
      %at = tt.addptr %flags, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
      %one = arith.constant dense<1> : tensor<4xi32>
      %there = tt.atomic_poll acquire, gpu, %at, %one
        : tensor<4x!tt.ptr<i32>>, tensor<4xi32> -> tensor<4xi1>
      %x = tt.load %data : !tt.ptr<i32>
      tt.store %out, %x : !tt.ptr<i32>
    } else {
      %word = arith.subi %me, %c1 : i32
      %last = arith.cmpi eq, %word, %c0 : i32
      scf.if %last {
        tt.store %data, %c7 : !tt.ptr<i32>
      }
      %mine = tt.addptr %flag, %word : !tt.ptr<i32>, i32
      %old = tt.atomic_rmw exch, release, gpu, %mine, %c1 : (!tt.ptr<i32>, i32) -> i32
    }
    tt.return
  }
}
"""


def test_a_program_waits_for_others():
    arrays = [np.zeros(4, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)]
    assert run(HANDED_OVER, *arrays, grid=(5,))[2][0] == 7


def test_no_clock():
    text = HANDED_OVER.replace("%one\n", "%one timeout %ns\n")
    text = text.replace("%c0 =", "%ns = arith.constant 5 : i64\n    %c0 =", 1)
    with pytest.raises(OpError, match="expected no timeout"):
        converted(text)
