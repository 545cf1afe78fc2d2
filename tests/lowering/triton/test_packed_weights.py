"""Weights of four bits, two in a byte, with a scale for every 128 of them along K."""

from __future__ import annotations

import numpy as np
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

import tilewright as tw

PACKED = """tt.func public @k(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %s: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32},
    %h: i32 {tt.divisibility = 16 : i32}, %groups: i32) {
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %two = arith.constant dense<2> : tensor<64x1xi32>
    %four = arith.constant dense<4> : tensor<64x1xi32>
    %group = arith.constant dense<128> : tensor<64x1xi32>
    %low = arith.constant dense<15> : tensor<64x64xi32>
    %width = arith.constant dense<64> : tensor<64x1xi32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %i0 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %j = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
    %ns = tt.splat %n : i32 -> tensor<64x1xi32>
    %row = arith.muli %i0, %ns : tensor<64x1xi32>
    %row0 = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
    %at = arith.addi %row0, %j : tensor<64x64xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %ap = tt.addptr %as, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %byte = arith.divsi %i0, %two : tensor<64x1xi32>
    %byte0 = tt.broadcast %byte : tensor<64x1xi32> -> tensor<64x64xi32>
    %hs = tt.splat %h : i32 -> tensor<1x64xi32>
    %column = arith.muli %j0, %hs : tensor<1x64xi32>
    %column0 = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
    %bt = arith.addi %byte0, %column0 : tensor<64x64xi32>
    %bs = tt.splat %b : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
    %bp = tt.addptr %bs, %bt : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
    %odd = arith.remsi %i0, %two : tensor<64x1xi32>
    %by = arith.muli %odd, %four : tensor<64x1xi32>
    %by0 = tt.broadcast %by : tensor<64x1xi32> -> tensor<64x64xi32>
    %gs = tt.splat %groups : i32 -> tensor<1x64xi32>
    %sj = arith.muli %j0, %gs : tensor<1x64xi32>
    %ss = tt.splat %s : !tt.ptr<f16> -> tensor<1x64x!tt.ptr<f16>>
    %sp = tt.addptr %ss, %sj : tensor<1x64x!tt.ptr<f16>>, tensor<1x64xi32>
    %sp0 = tt.broadcast %sp : tensor<1x64x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
    %steps = arith.divsi %n, %c64 : i32
    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %none) -> (tensor<64x64xf32>) : i32 {
      %k64 = arith.muli %k, %c64 : i32
      %ka = tt.splat %k64 : i32 -> tensor<64x64xi32>
      %ak = tt.addptr %ap, %ka : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %x = tt.load %ak : tensor<64x64x!tt.ptr<f16>>
      %k32 = arith.muli %k, %c32 : i32
      %kb = tt.splat %k32 : i32 -> tensor<64x64xi32>
      %bk = tt.addptr %bp, %kb : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
      %y = tt.load %bk : tensor<64x64x!tt.ptr<i8>>
      %ks = tt.splat %k64 : i32 -> tensor<64x1xi32>
      %ki = arith.addi %i0, %ks : tensor<64x1xi32>
      %g = arith.divsi %ki, %group : tensor<64x1xi32>
      %g0 = tt.broadcast %g : tensor<64x1xi32> -> tensor<64x64xi32>
      %sk = tt.addptr %sp0, %g0 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %z = tt.load %sk : tensor<64x64x!tt.ptr<f16>>
      %word = arith.extui %y : tensor<64x64xi8> to tensor<64x64xi32>
      %moved = arith.shrui %word, %by0 : tensor<64x64xi32>
      %number = arith.andi %moved, %low : tensor<64x64xi32>
      %float = arith.sitofp %number : tensor<64x64xi32> to tensor<64x64xf16>
      %w = arith.mulf %float, %z : tensor<64x64xf16>
      %d = tt.dot %x, %w, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %o0 = arith.muli %i0, %width : tensor<64x1xi32>
    %o1 = tt.broadcast %o0 : tensor<64x1xi32> -> tensor<64x64xi32>
    %o = arith.addi %o1, %j : tensor<64x64xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %cp = tt.addptr %cs, %o : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %cp, %sum : tensor<64x64x!tt.ptr<f32>>
    tt.return
}"""  # noqa: E501


def test_bytes_and_scales_are_loaded_once():
    """A byte for its two numbers, iterations ahead, and a scale for all of an iteration's along K,
    where threads lay down what they have of it 16 bytes at a time."""
    ptx = tw.compile(PACKED, "sm_90a").ptx
    body = ptx[ptx.index("_body:") :]
    assert "ld.global.b8" not in ptx and body.count("ld.global") == 1
    assert "st.shared.v4" in body and "st.shared.b16" not in body[body.index("st.shared.v4") :]
    generator, depth = default_rng(0), 256
    a = generator.standard_normal((64, depth)).astype(np.float16)
    packed = generator.integers(0, 256, (64, depth // 2)).astype(np.uint8)
    scales = generator.standard_normal((64, depth // 128)).astype(np.float16)
    args = [a, packed.view(np.int8), scales, np.zeros((64, 64), np.float32)]
    args += [depth, depth // 2, depth // 128]
    program, ptx = (tw.interpret(PACKED, "k", grid=(1,), args=args, level=level, arch="sm_90a")[3]
                    for level in ("program", "ptx"))  # fmt: skip
    numbers = np.stack([packed & 15, packed >> 4], -1).reshape(64, depth)
    weights = numbers.astype(np.float16) * scales.repeat(128, 1)
    for left in (program, ptx):
        assert_allclose(left, a.astype(np.float32) @ weights.T, rtol=1e-2, atol=1)


UNPACKED = """tt.func public @k(%a: !tt.ptr<i32> {tt.divisibility = 16 : i32},
    %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %width = arith.constant dense<256> : tensor<32x1xi32>
    %few = arith.constant dense<32> : tensor<32x1xi32>
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %i0 = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %j = tt.broadcast %j0 : tensor<1x32xi32> -> tensor<32x32xi32>
    %r = arith.muli %i0, %few : tensor<32x1xi32>
    %r0 = tt.broadcast %r : tensor<32x1xi32> -> tensor<32x32xi32>
    %at = arith.addi %r0, %j : tensor<32x32xi32>
    %as = tt.splat %a : !tt.ptr<i32> -> tensor<32x32x!tt.ptr<i32>>
    %ap = tt.addptr %as, %at : tensor<32x32x!tt.ptr<i32>>, tensor<32x32xi32>
    %x = tt.load %ap : tensor<32x32x!tt.ptr<i32>>
    %x0 = tt.join %x, %x : tensor<32x32xi32> -> tensor<32x32x2xi32>
    %x1 = tt.reshape %x0 : tensor<32x32x2xi32> -> tensor<32x64xi32>
    %x2 = tt.join %x1, %x1 : tensor<32x64xi32> -> tensor<32x64x2xi32>
    %x3 = tt.reshape %x2 : tensor<32x64x2xi32> -> tensor<32x128xi32>
    %x4 = tt.join %x3, %x3 : tensor<32x128xi32> -> tensor<32x128x2xi32>
    %x5 = tt.reshape %x4 : tensor<32x128x2xi32> -> tensor<32x256xi32>
    %y = arith.sitofp %x5 : tensor<32x256xi32> to tensor<32x256xf16>
    %p = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %p0 = tt.expand_dims %p {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
    %p1 = tt.broadcast %p0 : tensor<1x256xi32> -> tensor<32x256xi32>
    %q = arith.muli %i0, %width : tensor<32x1xi32>
    %q0 = tt.broadcast %q : tensor<32x1xi32> -> tensor<32x256xi32>
    %o = arith.addi %q0, %p1 : tensor<32x256xi32>
    %cs = tt.splat %c : !tt.ptr<f16> -> tensor<32x256x!tt.ptr<f16>>
    %cp = tt.addptr %cs, %o : tensor<32x256x!tt.ptr<f16>>, tensor<32x256xi32>
    tt.store %cp, %y : tensor<32x256x!tt.ptr<f16>>
    tt.return
}"""


def test_lanes_store_side_by_side_what_words_become():
    """16 bytes of each word: lanes that loaded four words each would store 64 bytes apart."""
    ptx = tw.compile(UNPACKED, "sm_90a").ptx
    assert "ld.global.b32" in ptx and "ld.global.v4" not in ptx and "st.global.v4" in ptx
    words = default_rng(0).integers(0, 99, (32, 32)).astype(np.int32)
    args = [words, np.zeros((32, 256), np.float16)]
    left = tw.interpret(UNPACKED, "k", grid=(1,), args=args, level="ptx", arch="sm_90a")[1]
    assert_array_equal(left, words.repeat(8, 1))
