"""A thread's coordinates: read, compared and selected by at every level, and loops over registers
that the lowering unrolls."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tile_levels import kernel, memref, numbers, run

import tilewright as tw

GMEM = memref("f32", "gmem", "(?,?):(?{i64},1)")
TILE = """
  %mma = cute.make_tiled_mma() : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, \
elem_type = (bf16, bf16, f32)>>
  %shape = cute.get_shape(%x)
  %identity = cute.make_identity_tensor(%shape)
  %tiler = cute.static : !cute.tile<"[16;16]">
  %cta = cute.make_coord(%block, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
  %tile = cute.local_tile(%identity, %tiler, %cta)
  %tx = cute.local_tile(%x, %tiler, %cta)
  %ty = cute.local_tile(%y, %tiler, %cta)
  %at = cute.tiled.mma.partition C (%mma, %tile, %t)
  %from = cute.tiled.mma.partition C (%mma, %tx, %t)
  %to = cute.tiled.mma.partition C (%mma, %ty, %t)
  %held = cute.make_fragment_like(%from)
  cute.copy(%from, %held) bounds(%at, %shape)
"""
"""A thread's accumulators of 16 x 16, and the coordinates of their elements."""
X = numbers((20, 13))
CAUSAL = np.where(np.arange(20)[:, None] >= np.arange(13), X, -1)


def masked(body: str) -> np.ndarray:
    text = kernel(
        f"%x: {GMEM}, %y: {GMEM}",
        f"{TILE}{body}\n  cute.copy(%held, %to) bounds(%at, %shape)",
    )
    return run(text, X, np.zeros_like(X), grid=(2,))[1]


def test_a_causal_mask_by_vectors():
    found = masked("""
  %row = cute.coords<[0]> (%at)
  %column = cute.coords<[1]> (%at)
  %v = cute.memref.load_vec(%held)
  %keep = arith.cmpi sle, %column, %row : vector<8xi32>
  %low = arith.constant dense<-1.0> : vector<8xf32>
  %m = arith.select %keep, %v, %low : vector<8xi1>, vector<8xf32>
  cute.memref.store_vec(%m, %held)""")
    assert_array_equal(found, CAUSAL)


READS = {
    "load": "%here = cute.memref.load(%at, %place)",
    "slice": "%here = cute.slice(%at, %place)",
    "layout_eval": "%here = cute.layout_eval(%place, %at)",
}


@pytest.mark.parametrize("read", READS)
def test_a_causal_mask_element_by_element(read: str):
    """The loops' variables say which register: they are unrolled."""
    found = masked(f"""
  %low = arith.constant -1.0 : f32
  scf.for %n = %c0 to %c2 step %c1 : i32 {{
    scf.for %m = %c0 to %c2 step %c1 : i32 {{
      scf.for %v = %c0 to %c2 step %c1 : i32 {{
        %place = cute.make_coord(%v, %m, %n) : (i32, i32, i32) -> !cute.coord<"((?,?),0,?)">
        {READS[read]}
        %row, %column = cute.get_scalars(%here)
        %keep = arith.cmpi sle, %column, %row : i32
        %e = cute.memref.load(%held, %place)
        %kept = arith.select %keep, %e, %low : f32
        cute.memref.store(%kept, %held, %place)
      }}
    }}
  }}""")
    assert_array_equal(found, CAUSAL)


def test_a_predicate_of_a_coordinate():
    """CuTe's predication: what is outside of the shape is not stored."""
    text = kernel(
        f"%x: {GMEM}, %y: {GMEM}",
        f"""{TILE}
  scf.for %i = %c0 to %c8 step %c1 : i32 {{
    %place = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
    %here = cute.memref.load(%at, %i)
    %inside = cute.elem_less(%here, %shape)
    %e = cute.memref.load(%held, %place)
    %twice = arith.addf %e, %e : f32
    scf.if %inside {{
      cute.memref.store(%twice, %to, %place)
    }}
  }}""",
    ).replace("%c3 =", "%c8 = arith.constant 8 : i32\n  %c3 =")
    found = run(text, X, np.zeros_like(X), grid=(2,))[1]
    assert_array_equal(found, X + X)


def test_a_mode_of_coordinates_and_what_is_carried():
    """`get` of a coordinate; an index that the loop carries says which register as well."""
    found = masked("""
  %one = arith.constant 1.0 : f32
  %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%j = %c1) -> (i32) : i32 {
    %twice = arith.muli %j, %c2 : i32
    %next = arith.addi %twice, %c0 : i32
    %place = cute.make_coord(%j) : (i32) -> !cute.coord<"?">
    cute.memref.store(%one, %held, %place)
    scf.yield %next : i32
  }
  %first = cute.static : !cute.coord<"0">
  %here = cute.memref.load(%at, %first)
  %row = cute.get<[0]> (%here)
  %number = cute.get_scalars(%row)
  %float = arith.sitofp %number : i32 to f32
  cute.memref.store(%float, %held, %first)""")
    thread, value = np.meshgrid(np.arange(32), np.arange(8), indexing="ij")
    row, column = thread // 4 + value // 2 % 2 * 8, thread % 4 * 2 + value % 2 + value // 4 * 8
    expected = np.zeros((32, 16), np.float32)
    expected[:20, :13] = X
    for first in (0, 16):
        expected[first + row[:, [1, 2, 4]], column[:, [1, 2, 4]]] = 1
        expected[first + row[:, 0], column[:, 0]] = first + row[:, 0]
    assert_array_equal(found, expected[:20, :13])


@pytest.mark.parametrize(
    "bounds, body, why",
    [
        ("%c0 to %t step %c1", "", "expected constant bounds and step, got others"),
        ("%c0 to %many step %c1", "", "expected at most 1024 iterations, got 5000"),
        (
            "%c0 to %c2 step %c1",
            f"%s = cute.memref.alloc() : {memref('f32', 'smem', '8:1')}",
            "expected no loop around it whose variable indexes registers",
        ),
    ],
)
def test_loops_that_cannot_be_unrolled(bounds: str, body: str, why: str):
    text = kernel(
        "",
        f"""
  %many = arith.constant 5000 : i32
  %held = cute.memref.alloca() : {memref("f32", "rmem", "8:1")}
  scf.for %i = {bounds} : i32 {{
    {body}
    %place = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
    cute.memref.store(%zero, %held, %place)
  }}""",
    )
    with pytest.raises(tw.CompileError, match=why):
        tw.compile(text, "sm_80")
