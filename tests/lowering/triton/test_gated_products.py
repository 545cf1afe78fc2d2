"""Products of few rows, by tf32, of operands that are gated element by element."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from triton_kernel import converted

import tilewright as tw

ROWS, STEP = 16, 32


def kernel(trips: int, warps: int) -> str:
    """The product of q 2^g and its own transpose, q of bf16 and g of f32, where the iteration's
    number is not negative."""
    depth = trips * STEP

    def tile(element: str) -> str:
        return f"tensor<{ROWS}x{STEP}x{element}>"

    def loaded(name: str, element: str) -> str:
        pointer = f"!tt.ptr<{element}>"
        return f"""
      %{name}s = tt.splat %{name}p : {pointer} -> {tile(pointer)}
      %{name}at = tt.addptr %{name}s, %at : {tile(pointer)}, {tile("i32")}
      %{name} = tt.load %{name}at : {tile(pointer)}"""

    sums = f"tensor<{ROWS}x{ROWS}xf32>"
    return f"""module attributes {{"ttg.num-warps" = {warps} : i32, tt.disjoint = true}} {{
  tt.func public @k(%qp: !tt.ptr<bf16> {{tt.divisibility = 16 : i32}},
      %gp: !tt.ptr<f32> {{tt.divisibility = 16 : i32}},
      %out: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
    %none = arith.constant dense<0.0> : {sums}
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %trips = arith.constant {trips} : i32
    %step = arith.constant {STEP} : i32
    %wide = arith.constant dense<{depth}> : tensor<{ROWS}x1xi32>
    %across = arith.constant dense<{ROWS}> : tensor<{ROWS}x1xi32>
    %i = tt.make_range {{end = {ROWS} : i32, start = 0 : i32}} : tensor<{ROWS}xi32>
    %j = tt.make_range {{end = {STEP} : i32, start = 0 : i32}} : tensor<{STEP}xi32>
    %i0 = tt.expand_dims %i {{axis = 1 : i32}} : tensor<{ROWS}xi32> -> tensor<{ROWS}x1xi32>
    %i1 = tt.expand_dims %i {{axis = 0 : i32}} : tensor<{ROWS}xi32> -> tensor<1x{ROWS}xi32>
    %row = arith.muli %i0, %wide : tensor<{ROWS}x1xi32>
    %rows = tt.broadcast %row : tensor<{ROWS}x1xi32> -> {tile("i32")}
    %sum = scf.for %k = %c0 to %trips step %c1 iter_args(%acc = %none) -> ({sums}) : i32 {{
      %first = arith.muli %k, %step : i32
      %firsts = tt.splat %first : i32 -> tensor<{STEP}xi32>
      %own = arith.addi %firsts, %j : tensor<{STEP}xi32>
      %j0 = tt.expand_dims %own {{axis = 0 : i32}} : tensor<{STEP}xi32> -> tensor<1x{STEP}xi32>
      %columns = tt.broadcast %j0 : tensor<1x{STEP}xi32> -> {tile("i32")}
      %at = arith.addi %rows, %columns : {tile("i32")}{loaded("q", "bf16")}{loaded("g", "f32")}
      %gate = math.exp2 %g : {tile("f32")}
      %qf = arith.extf %q : {tile("bf16")} to {tile("f32")}
      %a = arith.mulf %qf, %gate : {tile("f32")}
      %b = tt.trans %a {{order = array<i32: 1, 0>}} : {tile("f32")} -> tensor<{STEP}x{ROWS}xf32>
      %held = arith.cmpi sge, %k, %c0 : i32
      %next = scf.if %held -> ({sums}) {{
        %d = tt.dot %a, %b, %acc, inputPrecision = tf32
          : {tile("f32")} * tensor<{STEP}x{ROWS}xf32> -> {sums}
        scf.yield %d : {sums}
      }} else {{
        scf.yield %acc : {sums}
      }}
      scf.yield %next : {sums}
    }}
    %line = arith.muli %i0, %across : tensor<{ROWS}x1xi32>
    %lines = tt.broadcast %line : tensor<{ROWS}x1xi32> -> tensor<{ROWS}x{ROWS}xi32>
    %places = tt.broadcast %i1 : tensor<1x{ROWS}xi32> -> tensor<{ROWS}x{ROWS}xi32>
    %to = arith.addi %lines, %places : tensor<{ROWS}x{ROWS}xi32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<{ROWS}x{ROWS}x!tt.ptr<f32>>
    %at_out = tt.addptr %outs, %to : tensor<{ROWS}x{ROWS}x!tt.ptr<f32>>, tensor<{ROWS}x{ROWS}xi32>
    tt.store %at_out, %sum : tensor<{ROWS}x{ROWS}x!tt.ptr<f32>>
    tt.return
  }}
}}
"""


def test_bits_are_those_of_whole_tiles():
    """The MMAs leave out the bits that a conversion to tf32 would."""
    numbers, text = np.random.default_rng(1), kernel(2, 1)
    q = numbers.standard_normal((ROWS, 2 * STEP)).astype(ml_dtypes.bfloat16)
    g = numbers.standard_normal((ROWS, 2 * STEP)).astype(np.float32)
    out = np.zeros((ROWS, ROWS), np.float32)
    results = [
        tw.interpret(text, "k", grid=(1,), args=[q, g, out.copy()], level=level, arch="sm_90a")[2]
        for level in ("program", "ptx")
    ]
    assert_array_equal(*results)
    gated = q.astype(np.float32) * np.exp2(g)
    assert_allclose(results[0], gated @ gated.T, rtol=2e-3, atol=2e-2)
    assert "8192" not in tw.compile(text, arch="sm_90a").ptx, "the bits are masked"


def test_a_condition_that_holds_is_none():
    """The product is in the loop itself, so that what it multiplies is loaded ahead."""
    assert "cuda_tile.if" not in str(converted(kernel(2, 4)))


def test_few_warps_multiply_few_rows():
    """One warp is enough for two MMAs side by side; four are what a launch says by itself."""
    for warps, threads in ((1, 32), (2, 64), (8, 64)):
        assert f".reqntid {threads}," in tw.compile(kernel(2, warps), arch="sm_90a").ptx


def test_no_more_stages_than_iterations():
    short, long = (tw.compile(kernel(trips, 1), arch="sm_90a").shared_bytes for trips in (1, 16))
    assert short < long


def test_loads_that_meet_have_one_layout():
    """Elements of bf16 and of f32, the latter computed first, are in the same lanes."""
    tile, at = "tensor<16x128x", "tensor<16x128x!tt.ptr<"
    text = f"""tt.func public @k(%q: !tt.ptr<bf16> {{tt.divisibility = 16 : i32}},
      %g: !tt.ptr<f32> {{tt.divisibility = 16 : i32}},
      %o: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
    %wide = arith.constant dense<128> : tensor<16x1xi32>
    %row = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
    %column = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32>
    %row0 = tt.expand_dims %row {{axis = 1 : i32}} : tensor<16xi32> -> tensor<16x1xi32>
    %row1 = arith.muli %row0, %wide : tensor<16x1xi32>
    %rows = tt.broadcast %row1 : tensor<16x1xi32> -> {tile}i32>
    %column0 = tt.expand_dims %column {{axis = 0 : i32}} : tensor<128xi32> -> tensor<1x128xi32>
    %columns = tt.broadcast %column0 : tensor<1x128xi32> -> {tile}i32>
    %i = arith.addi %rows, %columns : {tile}i32>
    %qs = tt.splat %q : !tt.ptr<bf16> -> {at}bf16>>
    %qp = tt.addptr %qs, %i : {at}bf16>>, {tile}i32>
    %gs = tt.splat %g : !tt.ptr<f32> -> {at}f32>>
    %gp = tt.addptr %gs, %i : {at}f32>>, {tile}i32>
    %os = tt.splat %o : !tt.ptr<f32> -> {at}f32>>
    %op = tt.addptr %os, %i : {at}f32>>, {tile}i32>
    %x = tt.load %qp : {at}bf16>>
    %y = tt.load %gp : {at}f32>>
    %gate = math.exp2 %y : {tile}f32>
    %whole = arith.extf %x : {tile}bf16> to {tile}f32>
    %r = arith.mulf %whole, %gate : {tile}f32>
    tt.store %op, %r : {at}f32>>
    tt.return
  }}
"""
    ptx = tw.compile(text, arch="sm_90a").ptx
    assert "ld.global.v4" in ptx
    assert "shared" not in ptx
