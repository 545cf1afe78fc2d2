"""Pointers to blocks: made, advanced through a loop, checked where an access says so."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from triton_kernel import run

import tilewright as tw
from tilewright import ExecutionError

KERNEL = """module {
  tt.func public @k(%a: !tt.ptr<f32>, %out: !tt.ptr<f32>, %m: i64, %n: i64) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %one = arith.constant 1 : i64
    %four = arith.constant 4 : i64
    %zero = arith.constant dense<0.0> : tensor<4x4xf32>
    %p = tt.make_tensor_ptr %a, [%m, %n], [%n, %one], [%c0, %c0] {order = array<i32: 1, 0>}
      : <tensor<4x4xf32>>
    %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%q = %p, %s = %zero)
      -> (!tt.ptr<tensor<4x4xf32>>, tensor<4x4xf32>) : i32 {
      %x = tt.load %q LOAD : !tt.ptr<tensor<4x4xf32>>
      %t = arith.addf %s, %x : tensor<4x4xf32>
      %next = tt.advance %q, [%c0, %c4] : <tensor<4x4xf32>>
      scf.yield %next, %t : !tt.ptr<tensor<4x4xf32>>, tensor<4x4xf32>
    }
    %o = tt.make_tensor_ptr %out, [%m, %four], [%four, %one], [%c0, %c0]
      {order = array<i32: 1, 0>} : <tensor<4x4xf32>>
    tt.store %o, %r#1 {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<4x4xf32>>
    tt.return
  }
}
"""
CHECKED = "{boundaryCheck = array<i32: 0, 1>, padding = PADDING : i32}"


def test_blocks_along_a_row():
    a = np.arange(3 * 14, dtype=np.float32).reshape(3, 14)
    [_, got, *_] = run(
        KERNEL.replace("LOAD", CHECKED).replace("PADDING", "1"),
        a,
        np.zeros((4, 4), np.float32),
        3,
        14,
    )
    whole = np.pad(a, ((0, 0), (0, 2))).reshape(3, 4, 4).sum(1)
    assert_array_equal(got, [*whole, [0] * 4])


def test_padding_may_be_nan():
    a = np.ones((4, 14), np.float32)
    [_, got, *_] = run(
        KERNEL.replace("LOAD", CHECKED).replace("PADDING", "2"),
        a,
        np.zeros((4, 4), np.float32),
        4,
        14,
    )
    assert_array_equal(got, [[4, 4, np.nan, np.nan]] * 4)


def test_what_is_not_checked_is_accessed():
    text = KERNEL.replace("LOAD", "{boundaryCheck = array<i32: 1>, padding = 1 : i32}")
    with pytest.raises(ExecutionError, match="expected an element of argument 0"):
        run(text, np.ones((3, 16), np.float32), np.zeros((4, 4), np.float32), 3, 16)


HALF = """module {
  tt.func public @k(%a: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32, %whole: i32) {
    %c64 = arith.constant 64 : i32
    %nan = arith.constant dense<0x7FC00000> : tensor<64xf32>
    %pid = tt.get_program_id x : i32
    %offset = arith.muli %pid, %c64 : i32
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %o = tt.splat %offset : i32 -> tensor<64xi32>
    %i = arith.addi %o, %r : tensor<64xi32>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %at = tt.addptr %as, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %ns = tt.splat %n : i32 -> tensor<64xi32>
    %inside = arith.cmpi slt, %i, %ns : tensor<64xi32>
    %x = tt.load %at, %inside, %nan : tensor<64x!tt.ptr<f32>>
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %to = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %ws = tt.splat %whole : i32 -> tensor<64xi32>
    %there = arith.cmpi slt, %i, %ws : tensor<64xi32>
    tt.store %to, %x, %there : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
"""


def test_a_block_that_is_outside_of_its_tensor_is_padding():
    """Of two programs, of which the other's block is all in it."""
    a, out = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    [_, got, *_] = tw.interpret(HALF, "k", grid=(2,), args=[a, out, 64, 128])
    assert_array_equal(got, [*a[:64], *[np.nan] * 64])
