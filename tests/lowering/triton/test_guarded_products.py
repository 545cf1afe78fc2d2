"""Products of blocks of rows, of which a branch guards those that may lie outside of the tensor."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw

ROWS, STEP, DEPTH = 16, 64, 128
TILE, SUMS = f"{ROWS}x{STEP}x", f"tensor<{ROWS}x{ROWS}xf32>"


def loaded(block: int) -> str:
    """The rows of a block, zero beyond the last."""
    n = block
    return f"""
      %r{n} = tt.expand_dims %m{n} {{axis = 1 : i32}} : tensor<{ROWS}xi1> -> tensor<{ROWS}x1xi1>
      %w{n} = tt.broadcast %r{n} : tensor<{ROWS}x1xi1> -> tensor<{TILE}i1>
      %i{n} = tt.expand_dims %rows{n} {{axis = 1 : i32}}
        : tensor<{ROWS}xi32> -> tensor<{ROWS}x1xi32>
      %l{n} = arith.muli %i{n}, %wide : tensor<{ROWS}x1xi32>
      %s{n} = tt.broadcast %l{n} : tensor<{ROWS}x1xi32> -> tensor<{TILE}i32>
      %o{n} = arith.addi %s{n}, %columns : tensor<{TILE}i32>
      %p{n} = tt.addptr %ks, %o{n} : tensor<{TILE}!tt.ptr<bf16>>, tensor<{TILE}i32>
      %k{n} = tt.load %p{n}, %w{n}, %zero : tensor<{TILE}!tt.ptr<bf16>>
      %t{n} = tt.trans %k{n} {{order = array<i32: 1, 0>}}
        : tensor<{TILE}bf16> -> tensor<{STEP}x{ROWS}xbf16>"""


def dot(result: str, a: int, b: int, added: str) -> str:
    types = f"tensor<{TILE}bf16> * tensor<{STEP}x{ROWS}xbf16> -> {SUMS}"
    return f"\n      %{result} = tt.dot %k{a}, %t{b}, {added}, inputPrecision = tf32 : {types}"


SECOND = f"{loaded(1)}{dot('c', 1, 1, '%a')}{dot('d', 1, 0, '%b')}"
TEXT = f"""module attributes {{"ttg.num-warps" = 1 : i32, tt.disjoint = true}} {{
  tt.func public @k(%kp: !tt.ptr<bf16> {{tt.divisibility = 16 : i32}},
      %out: !tt.ptr<bf16> {{tt.divisibility = 16 : i32}}, %n: i32) {{
    %none = arith.constant dense<0.0> : {SUMS}
    %zero = arith.constant dense<0.0> : tensor<{TILE}bf16>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %trips = arith.constant {DEPTH // STEP} : i32
    %step = arith.constant {STEP} : i32
    %second = arith.constant {ROWS} : i32
    %wide = arith.constant dense<{DEPTH}> : tensor<{ROWS}x1xi32>
    %across = arith.constant dense<{ROWS}> : tensor<{ROWS}x1xi32>
    %rows0 = tt.make_range {{end = {ROWS} : i32, start = 0 : i32}} : tensor<{ROWS}xi32>
    %j = tt.make_range {{end = {STEP} : i32, start = 0 : i32}} : tensor<{STEP}xi32>
    %seconds = tt.splat %second : i32 -> tensor<{ROWS}xi32>
    %rows1 = arith.addi %seconds, %rows0 : tensor<{ROWS}xi32>
    %ns = tt.splat %n : i32 -> tensor<{ROWS}xi32>
    %m0 = arith.cmpi slt, %rows0, %ns : tensor<{ROWS}xi32>
    %m1 = arith.cmpi slt, %rows1, %ns : tensor<{ROWS}xi32>
    %ks = tt.splat %kp : !tt.ptr<bf16> -> tensor<{TILE}!tt.ptr<bf16>>
    %sums:2 = scf.for %k = %c0 to %trips step %c1 iter_args(%a = %none, %b = %none)
        -> ({SUMS}, {SUMS}) : i32 {{
      %first = arith.muli %k, %step : i32
      %firsts = tt.splat %first : i32 -> tensor<{STEP}xi32>
      %own = arith.addi %firsts, %j : tensor<{STEP}xi32>
      %j0 = tt.expand_dims %own {{axis = 0 : i32}} : tensor<{STEP}xi32> -> tensor<1x{STEP}xi32>
      %columns = tt.broadcast %j0 : tensor<1x{STEP}xi32> -> tensor<{TILE}i32>{loaded(0)}
      %more = arith.cmpi slt, %second, %n : i32
      %next:2 = scf.if %more -> ({SUMS}, {SUMS}) {{{SECOND}
        scf.yield %c, %d : {SUMS}, {SUMS}
      }} else {{
        scf.yield %a, %b : {SUMS}, {SUMS}
      }}
      scf.yield %next#0, %next#1 : {SUMS}, {SUMS}
    }}
    %q0 = tt.expand_dims %m0 {{axis = 0 : i32}} : tensor<{ROWS}xi1> -> tensor<1x{ROWS}xi1>
    %q1 = tt.expand_dims %m1 {{axis = 1 : i32}} : tensor<{ROWS}xi1> -> tensor<{ROWS}x1xi1>
    %x0 = tt.broadcast %q0 : tensor<1x{ROWS}xi1> -> tensor<{ROWS}x{ROWS}xi1>
    %x1 = tt.broadcast %q1 : tensor<{ROWS}x1xi1> -> tensor<{ROWS}x{ROWS}xi1>
    %both = arith.andi %x1, %x0 : tensor<{ROWS}x{ROWS}xi1>
    %exp = math.exp2 %sums#1 : {SUMS}
    %gate = arith.select %both, %exp, %none : tensor<{ROWS}x{ROWS}xi1>, {SUMS}
    %result = arith.addf %sums#0, %gate : {SUMS}
    %y = arith.truncf %result : {SUMS} to tensor<{ROWS}x{ROWS}xbf16>
    %i = tt.expand_dims %rows0 {{axis = 1 : i32}} : tensor<{ROWS}xi32> -> tensor<{ROWS}x1xi32>
    %e = tt.expand_dims %rows0 {{axis = 0 : i32}} : tensor<{ROWS}xi32> -> tensor<1x{ROWS}xi32>
    %line = arith.muli %i, %across : tensor<{ROWS}x1xi32>
    %lines = tt.broadcast %line : tensor<{ROWS}x1xi32> -> tensor<{ROWS}x{ROWS}xi32>
    %places = tt.broadcast %e : tensor<1x{ROWS}xi32> -> tensor<{ROWS}x{ROWS}xi32>
    %to = arith.addi %lines, %places : tensor<{ROWS}x{ROWS}xi32>
    %outs = tt.splat %out : !tt.ptr<bf16> -> tensor<{ROWS}x{ROWS}x!tt.ptr<bf16>>
    %at = tt.addptr %outs, %to : tensor<{ROWS}x{ROWS}x!tt.ptr<bf16>>, tensor<{ROWS}x{ROWS}xi32>
    tt.store %at, %y : tensor<{ROWS}x{ROWS}x!tt.ptr<bf16>>
    tt.return
  }}
}}
"""


def test_rows_come_ahead_and_are_read_once():
    """Both blocks are copied ahead of the branch, whose products have fragments of that in front of
    it; the sums go to rows by four shuffles, and a mask of rows and columns is no predicate an
    element."""
    ptx = tw.compile(TEXT, "sm_90a").ptx
    assert "ld.global" not in ptx and "st.shared" not in ptx
    assert ptx.count("ldmatrix.sync") == 3 * STEP // 16 and ptx.count("mma.sync") == 4 * STEP // 16
    assert ptx.count("shfl.sync.bfly") == 4 and ptx.count("st.global.v4") == 1
    assert ptx.count("selp.f32") == 2 * ROWS * ROWS // 32


@pytest.mark.parametrize("rows", [9, 16, 21, 32])
def test_results_are_those_of_whole_tiles(rows: int):
    """What lies beyond the last row is not there."""
    numbers = np.random.default_rng(1).standard_normal((rows, DEPTH)) / 8
    k = numbers.astype(ml_dtypes.bfloat16)
    out = np.zeros((ROWS, ROWS), ml_dtypes.bfloat16)
    options: Any = {"grid": (1,), "arch": "sm_90a"}
    _, want = tw.interpret(TEXT, "k", args=[k, out.copy(), rows], level="program", **options)
    _, got = tw.interpret(TEXT, "k", args=[k, out.copy(), rows], level="ptx", **options)
    assert want.any() == (rows > ROWS) and np.array_equal(want, got)
