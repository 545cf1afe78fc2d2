"""What tiles are lowered to computes what they do: copies, bounds, vectors, reductions, and
registers that loops and branches carry."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from tile_levels import BARRIER, BOXES_LOADED, kernel, memref, numbers, run

ROWS = memref("f32", "gmem", "(32,8):(8,1)", align=16)
REGISTERS = memref("f32", "rmem", "(8):(1)")
LINE = memref("f32", "gmem", "32:1")
OWN = """
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %from = cute.slice(%x, %at)
  %held = cute.make_fragment_like(%from)
  cute.copy(%from, %held)
"""
"""Each thread's row of x, in registers."""


def test_vectors_compute_on_every_element():
    text = kernel(
        f"%x: {ROWS}, %y: {memref('f16', 'gmem', '(32,8):(8,1)', align=16)}",
        f"""{OWN}
  %v = cute.memref.load_vec(%held) : ({memref("f32", "rmem", "(8):(1)")}) -> vector<8xf32>
  %two = arith.constant dense<2.0> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8xf32>
  %w = arith.mulf %v, %two : vector<8xf32>
  %relu = arith.maximumf %w, %zeros : vector<8xf32>
  %e = math.exp2 %relu : vector<8xf32>
  %q = arith.divf %relu, %e fastmath<arcp> : vector<8xf32>
  %one = vector.extract %q[1] : f32 from vector<8xf32>
  %same = vector.broadcast %one : f32 to vector<8xf32>
  %s = arith.subf %q, %same : vector<8xf32>
  %h = arith.truncf %s : vector<8xf32> to vector<8xf16>
  %to = cute.slice(%y, %at)
  %out = cute.make_fragment_like(%to)
  cute.memref.store_vec(%h, %out)
  cute.copy(%out, %to)""",
    )
    x = numbers((32, 8))
    found = run(text, x, np.zeros((32, 8), np.float16))[1]
    relu = np.maximum(2 * x, 0)
    quotient = relu / np.exp2(relu)
    assert_allclose(found, quotient - quotient[:, 1:2], rtol=2e-3, atol=1e-6)


def test_loops_and_branches_carry_registers():
    """Half of the threads doubles its registers as many times as its number says."""
    line = memref("f32", "rmem", "(8):(1)")
    text = kernel(
        f"%x: {ROWS}, %y: {ROWS}",
        f"""{OWN}
  %n = arith.remui %t, %c3 : i32
  %odd = arith.andi %t, %c1 : i32
  %is_odd = arith.cmpi eq, %odd, %c1 : i32
  scf.if %is_odd {{
    scf.for %i = %c0 to %n step %c1 : i32 {{
      %v = cute.memref.load_vec(%held) : ({line}) -> vector<8xf32>
      %w = arith.addf %v, %v : vector<8xf32>
      cute.memref.store_vec(%w, %held)
    }}
  }}
  %left = scf.while (%k = %n) : (i32) -> i32 {{
    %more = arith.cmpi sgt, %k, %c0 : i32
    scf.condition(%more) %k : i32
  }} do {{
  ^bb0(%k: i32):
    %first = cute.make_coord(%c0) : (i32) -> !cute.coord<"?">
    %e = cute.memref.load(%held, %first) : ({line}, !cute.coord<"?">) -> f32
    %f = arith.negf %e : f32
    cute.memref.store(%f, %held, %first)
    %less = arith.subi %k, %c1 : i32
    scf.yield %less : i32
  }}
  %to = cute.slice(%y, %at)
  cute.copy(%held, %to)""",
    )
    x = numbers((32, 8))
    found = run(text, x, np.zeros_like(x))[1]
    n = np.arange(32) % 3
    expected = x * np.where(np.arange(32) % 2, 2.0**n, 1)[:, None]
    expected[:, 0] *= (-1.0) ** n
    assert_array_equal(found, expected.astype(np.float32))


def test_what_a_loop_alone_needs_it_does_not_carry():
    """A fragment that every iteration writes first is no value of the loop."""
    text = kernel(
        f"%x: {ROWS}, %y: {LINE}",
        f"""
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %from = cute.slice(%x, %at)
  %held = cute.make_fragment_like(%from)
  %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %zero) -> (f32) : i32 {{
    cute.copy(%from, %held)
    %where = cute.static : !cute.coord<"5">
    %e = cute.memref.load(%held, %where) : ({REGISTERS}, !cute.coord<"5">) -> f32
    %more = arith.addf %s, %e : f32
    scf.yield %more : f32
  }}
  %place = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  cute.memref.store(%sum, %y, %place)""",
    )
    x = numbers((32, 8))
    assert_array_equal(run(text, x, np.zeros(32, np.float32))[1], 2 * x[:, 5])


def test_boxes_of_a_tile_there_and_back():
    """A tile of two boxes by a TMA load, its elements doubled by threads, and a TMA store."""
    tile = '!cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (16,(64,2)):(64,(1,1024))">'
    gmem = memref("f16", "gmem", "(?,?):(?{i64 div=8},1)", align=16)
    layout = "S<3,3,3> o 0 o (16,(64,2)):(64,(1,1024))"
    held = memref("f16", "rmem", "(1,(32,2)):(0,(1,32))")
    text = kernel(
        f"%x: {gmem}, %y: {gmem}",
        f"""
  %in, %mx = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[16;128]", smem = "{layout}"> (%x)
  %out, %my = cute.make_tma_copy<#cute_nvgpu.tma<store>, tile = "[16;128]", smem = "{layout}"> (%y)
  %tiler = cute.static : !cute.shape<"(16,128)">
  %c = cute.make_coord(%block, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
  %gx = cute.local_tile(%mx, %tiler, %c)
  %gy = cute.local_tile(%my, %tiler, %c)
  %s = cute.memref.alloc() : {tile}
  %pipe = cute.pipeline.create() : !cute.pipeline<tma, stages = 1, producers = 1, consumers = 1, \
bytes = 4096>
{BOXES_LOADED}  %threads = cute.static : !cute.layout<"(16,2):(1,16)">
  %own = cute.local_partition(%s, %threads, %t)
  %r = cute.make_fragment_like(%own)
  cute.copy(%own, %r)
  %v = cute.memref.load_vec(%r) : ({held}) -> vector<64xf16>
  %w = arith.addf %v, %v : vector<64xf16>
  cute.memref.store_vec(%w, %r)
  cute.copy(%r, %own)
  cute_nvgpu.fence.proxy.async
  {BARRIER}
  scf.if %first {{
    cute.copy(%out, %s, %gy)
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }}""",
    )
    x = numbers((40, 136), np.float16)
    found = run(text, x, np.zeros_like(x), grid=(3,))[1]
    expected = 2 * x
    expected[:, 128:] = 0
    assert_array_equal(found, expected)
