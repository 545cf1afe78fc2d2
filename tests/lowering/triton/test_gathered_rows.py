"""Rows that a kernel chooses by numbers in memory, and multiplies."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

import tilewright as tw

GATHERED = """tt.func public @k(%rows: !tt.ptr<i32> {tt.divisibility = 16 : i32},
    %a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf16>
    %none = arith.constant dense<0.0> : tensor<32x32xf32>
    %step = arith.constant dense<32> : tensor<32x32xi32>
    %many = arith.constant dense<30> : tensor<32xi32>
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %r = tt.splat %rows : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %rp = tt.addptr %r, %i : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %row = tt.load %rp : tensor<32x!tt.ptr<i32>>
    %inside = arith.cmpi slt, %row, %many : tensor<32xi32>
    %s = tt.splat %n : i32 -> tensor<32xi32>
    %far = arith.muli %row, %s : tensor<32xi32>
    %far0 = tt.expand_dims %far {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %far1 = tt.broadcast %far0 : tensor<32x1xi32> -> tensor<32x32xi32>
    %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %j = tt.broadcast %j0 : tensor<1x32xi32> -> tensor<32x32xi32>
    %at = arith.addi %far1, %j : tensor<32x32xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %ap = tt.addptr %as, %at : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %e = arith.muli %i, %s : tensor<32xi32>
    %e0 = tt.expand_dims %e {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %e1 = tt.broadcast %e0 : tensor<32x1xi32> -> tensor<32x32xi32>
    %bt = arith.addi %e1, %j : tensor<32x32xi32>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %bp = tt.addptr %bs, %bt : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %sum:3 = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %none, %x = %ap, %y = %bp)
        -> (tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>) : i32 {
      %m0 = tt.expand_dims %inside {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
      %m1 = tt.broadcast %m0 : tensor<32x1xi1> -> tensor<32x32xi1>
      %u = tt.load %x, %m1, %zero : tensor<32x32x!tt.ptr<f16>>
      %v = tt.load %y : tensor<32x32x!tt.ptr<f16>>
      %w = tt.trans %v {order = array<i32: 1, 0>} : tensor<32x32xf16> -> tensor<32x32xf16>
      %d = tt.dot %u, %w, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      %x1 = tt.addptr %x, %step : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      %y1 = tt.addptr %y, %step : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      scf.yield %d, %x1, %y1 : tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>
    }
    %o0 = arith.constant dense<32> : tensor<32x1xi32>
    %o1 = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %o2 = arith.muli %o1, %o0 : tensor<32x1xi32>
    %o3 = tt.broadcast %o2 : tensor<32x1xi32> -> tensor<32x32xi32>
    %o4 = arith.addi %o3, %j : tensor<32x32xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %o4 : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    tt.store %cp, %sum#0 : tensor<32x32x!tt.ptr<f32>>
    tt.return
}"""  # noqa: E501


def test_rows_that_are_gathered_are_loaded_ahead():
    """Though the loop shapes their mask: which rows there are is known before it, and what it
    advances by is a multiple of its step."""
    ptx = tw.compile(GATHERED, "sm_80").ptx
    assert "div." not in ptx and "ld.global.v4" not in ptx and "ld.global.b16" not in ptx
    generator = default_rng(0)
    a, b = (generator.standard_normal((32, 64)).astype(np.float16) for _ in "ab")
    rows = generator.permutation(32).astype(np.int32)
    args = [rows, a, b, np.zeros((32, 32), np.float32), 64]
    program, ptx = (tw.interpret(GATHERED, "k", grid=(1,), args=args, level=level, arch="sm_80")[3]
                    for level in ("program", "ptx"))  # fmt: skip
    assert_array_equal(program, ptx)
    want = np.where(rows[:, None] < 30, a[rows].astype(np.float32) @ b.T, 0)
    assert_allclose(ptx, want, atol=1e-2)


PAGED = """tt.func public @k(%pages: !tt.ptr<i32> {tt.divisibility = 16 : i32},
    %a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %none = arith.constant dense<0.0> : tensor<32x32xf32>
    %row = arith.constant dense<32> : tensor<32x1xi32>
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %i0 = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %j = tt.broadcast %j0 : tensor<1x32xi32> -> tensor<32x32xi32>
    %i1 = arith.muli %i0, %row : tensor<32x1xi32>
    %i2 = tt.broadcast %i1 : tensor<32x1xi32> -> tensor<32x32xi32>
    %at = arith.addi %i2, %j : tensor<32x32xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %ap = tt.addptr %as, %at : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %u = tt.load %ap : tensor<32x32x!tt.ptr<f16>>
    %ps = tt.splat %pages : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %none) -> (tensor<32x32xf32>) : i32 {
      %ks = tt.splat %k : i32 -> tensor<32xi32>
      %ki = arith.addi %ks, %i : tensor<32xi32>
      %pp = tt.addptr %ps, %ki : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
      %page = tt.load %pp : tensor<32x!tt.ptr<i32>>
      %p0 = tt.expand_dims %page {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %p1 = arith.muli %p0, %row : tensor<32x1xi32>
      %p2 = tt.broadcast %p1 : tensor<32x1xi32> -> tensor<32x32xi32>
      %bt = arith.addi %p2, %j : tensor<32x32xi32>
      %bp = tt.addptr %bs, %bt : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      %v = tt.load %bp : tensor<32x32x!tt.ptr<f16>>
      %d = tt.dot %u, %v, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      scf.yield %d : tensor<32x32xf32>
    }
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %at : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    tt.store %cp, %sum : tensor<32x32x!tt.ptr<f32>>
    tt.return
}"""


@pytest.mark.covered
@pytest.mark.parametrize("length", [0, 32, 224])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_rows_by_numbers_of_the_loop_are_loaded_ahead(arch: str, length: int):
    """The numbers, too, and none beyond the last one."""
    ptx = tw.compile(PAGED, arch).ptx
    body = ptx[ptx.index("_body:") :]
    assert body.count("cp.async.cg.shared.global") == body.count("ld.global.b32") == 1
    assert "ld.global.v4" not in body
    generator = default_rng(0)
    a, b = (generator.standard_normal((x, 32)).astype(np.float16) for x in (32, 224))
    pages = generator.permutation(224).astype(np.int32)[:length]
    args = [pages, a, b, np.zeros((32, 32), np.float32), length]
    program, ptx = (tw.interpret(PAGED, "k", grid=(1,), args=args, level=level, arch=arch)[3]
                    for level in ("program", "ptx"))  # fmt: skip
    assert_array_equal(program, ptx)
    steps = range(0, length, 32)
    want = sum((a.astype(np.float32) @ b[pages[k : k + 32]] for k in steps), np.zeros((32, 32)))
    assert_allclose(ptx, want, atol=1e-1)


COLUMNS = """tt.func public @k(%rows: !tt.ptr<i32>, %a: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %c: !tt.ptr<f16>, %n: i32, %s: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<-1.0> : tensor<64x32xf16>
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %j = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %r = tt.splat %rows : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %rp = tt.addptr %r, %j : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %row = tt.load %rp : tensor<32x!tt.ptr<i32>>
    %row0 = tt.expand_dims %row {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %s0 = tt.splat %s : i32 -> tensor<1x32xi32>
    %far = arith.muli %row0, %s0 : tensor<1x32xi32>
    %far0 = tt.broadcast %far : tensor<1x32xi32> -> tensor<64x32xi32>
    %i0 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %i1 = tt.broadcast %i0 : tensor<64x1xi32> -> tensor<64x32xi32>
    %at = arith.addi %far0, %i1 : tensor<64x32xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %ap = tt.addptr %as, %at : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %ns = tt.splat %n : i32 -> tensor<1x32xi32>
    %m = arith.cmpi slt, %row0, %ns : tensor<1x32xi32>
    %m0 = tt.broadcast %m : tensor<1x32xi1> -> tensor<64x32xi1>
    %x = tt.load %ap, %m0, %zero : tensor<64x32x!tt.ptr<f16>>
    %c32 = arith.constant dense<32> : tensor<64x32xi32>
    %o0 = arith.muli %i1, %c32 : tensor<64x32xi32>
    %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %j1 = tt.broadcast %j0 : tensor<1x32xi32> -> tensor<64x32xi32>
    %o = arith.addi %o0, %j1 : tensor<64x32xi32>
    %cs = tt.splat %c : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %cp = tt.addptr %cs, %o : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    tt.store %cp, %x : tensor<64x32x!tt.ptr<f16>>
    tt.return
}"""


def test_gathered_columns_are_loaded_along_their_neighbours():
    """Of a matrix that is loaded transposed, eight elements at a time."""
    assert "ld.global.v4.b32" in tw.compile(COLUMNS, "sm_90a").ptx
    a = default_rng(0).standard_normal((40, 64)).astype(np.float16)
    rows = default_rng(1).permutation(40)[:32].astype(np.int32)
    args = [rows, a, np.zeros((64, 32), np.float16), 30, 64]
    for level in ("program", "ptx"):
        left = tw.interpret(COLUMNS, "k", grid=(1,), args=args, level=level, arch="sm_90a")[2]
        assert_array_equal(left, np.where(rows < 30, a[rows].T, np.float16(-1)))
