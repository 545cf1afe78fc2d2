"""Vectors that control flow carries, and TMA boxes at the edges of sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tile_levels import BOXES_LOADED, BOXES_STORED, kernel, memref, numbers, run

import tilewright as tw

V = "vector<4xf32>"


def on_vectors(body: str, element: str = "f32") -> str:
    """Each thread has a row %v of x, and %w becomes that of y."""
    gmem = memref(element, "gmem", "(32,4):(4,1)")
    return kernel(
        f"%x: {gmem}, %y: {gmem}",
        f"""
  %threads = cute.static : !cute.layout<"(32,1):(1,1)">
  %px = cute.local_partition(%x, %threads, %t)
  %py = cute.local_partition(%y, %threads, %t)
  %r = cute.make_fragment_like(%px)
  cute.copy(%px, %r)
  %v = cute.memref.load_vec(%r) : ({memref(element, "rmem", "(1,4):(0,1)")}) -> vector<4x{element}>
  {body}
  cute.memref.store_vec(%w, %r)
  cute.copy(%r, %py)""",
    )


CARRIED = {
    "for": f"""%i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %w, %k = scf.for %i = %i0 to %n step %i1 iter_args(%a = %v, %j = %c0) -> ({V}, i32) {{
    %b = arith.addf %a, %v : {V}
    scf.yield %b, %c1 : {V}, i32
  }}""",
    "if": f"""%p = arith.cmpi slt, %t, %c3 : i32
  %w = scf.if %p -> ({V}) {{
    %b = arith.addf %v, %v : {V}
    scf.yield %b : {V}
  }} else {{
    scf.yield %v : {V}
  }}""",
    "while": f"""%w, %q = scf.while (%a = %v, %k = %c0) : ({V}, i32) -> ({V}, i32) {{
    %p = arith.cmpi slt, %k, %c3 : i32
    scf.condition(%p) %a, %k : {V}, i32
  }} do {{
  ^bb0(%a: {V}, %k: i32):
    %b = arith.addf %a, %v : {V}
    %l = arith.addi %k, %c1 : i32
    scf.yield %b, %l : {V}, i32
  }}""",
}
TIMES = {"for": 6, "if": np.where(np.arange(32) < 3, 2, 1)[:, None], "while": 4}


@pytest.mark.parametrize("op", CARRIED)
def test_vectors_that_scf_carries(op: str, ptxas: Any):
    text, x = on_vectors(CARRIED[op]), numbers((32, 4)).round(1)
    found = run(text, x, np.zeros_like(x))[1]
    assert_allclose(found, x * TIMES[op], rtol=1e-6)
    ptxas(tw.compile(text, "sm_90a").ptx, "sm_90a")


@pytest.mark.parametrize("op, element", [("cmpf olt", "f32"), ("cmpi slt", "i32")])
def test_comparisons_of_vectors(op: str, element: str, ptxas: Any):
    whole, one = f"vector<4x{element}>", "1.0" if element == "f32" else "1"
    text = on_vectors(
        f"""%one = arith.constant dense<{one}> : {whole}
  %p = arith.{op}, %v, %one : {whole}
  %w = arith.select %p, %v, %one : vector<4xi1>, {whole}""",
        element,
    )
    x = (numbers((32, 4)) * 4).astype(np.float32 if element == "f32" else np.int32)
    assert_array_equal(run(text, x, np.zeros_like(x))[1], np.minimum(x, 1))
    ptxas(tw.compile(text, "sm_90a").ptx, "sm_90a")


def test_sums_with_carries(ptxas: Any):
    whole = "vector<4xi16>"
    text = on_vectors(
        f"""%s, %c = arith.addui_extended %v, %v : {whole}, vector<4xi1>
  %low, %high = arith.mulsi_extended %v, %s : {whole}
  %one = arith.constant dense<1> : {whole}
  %zero16 = arith.constant dense<0> : {whole}
  %n = arith.select %c, %one, %zero16 : vector<4xi1>, {whole}
  %m = arith.xori %high, %low : {whole}
  %w = arith.addi %n, %m : {whole}""",
        "i16",
    )
    x = np.random.default_rng(0).integers(-(1 << 15), 1 << 15, (32, 4)).astype(np.int16)
    total = x + x
    product = x.astype(np.int64) * total
    expected = (x < 0) + ((product >> 16) ^ (product & 0xFFFF))
    found = run(text, x, np.zeros_like(x))[1]
    assert_array_equal(found, expected.astype(np.int16))
    ptxas(tw.compile(text, "sm_90a").ptx, "sm_90a")


def test_vectors_of_a_kernel_without_tiles(ptxas: Any):
    """No op of `cute`, and a loop that is not unrolled carries the vector."""
    text = f"""func.func @k(%x: memref<?xf32>, %n: index) attributes {{gpu.kernel}} {{
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %e = memref.load %x[%t] : memref<?xf32>
  %v = vector.broadcast %e : f32 to {V}
  %w = scf.for %i = %i0 to %n step %i1 iter_args(%a = %v) -> ({V}) {{
    %b = arith.addf %a, %v : {V}
    scf.yield %b : {V}
  }}
  %f = vector.extract %w[3] : f32 from {V}
  memref.store %f, %x[%t] : memref<?xf32>
  func.return
}}"""
    x = numbers((32,)).round(1)
    assert_allclose(run(text, x, 4)[0], 5 * x, rtol=1e-6)
    ptxas(tw.compile(text, "sm_90a").ptx, "sm_90a")


def test_a_loop_that_is_unrolled_carries_vectors(ptxas: Any):
    text = on_vectors(
        f"""%c4 = arith.constant 4 : i32
  %w = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %v) -> ({V}) : i32 {{
    %at = cute.make_coord(%c0, %i) : (i32, i32) -> !cute.coord<"(?,?)">
    %e = cute.memref.load(%r, %at)
    %s = vector.broadcast %e : f32 to {V}
    %b = arith.addf %a, %s : {V}
    scf.yield %b : {V}
  }}"""
    )
    x = (numbers((32, 4)) * 8).round()
    found = run(text, x, np.zeros_like(x))[1]
    assert_array_equal(found, x + x.sum(1, keepdims=True))
    ptxas(tw.compile(text, "sm_90a").ptx, "sm_90a")


BOXES = {
    "one row": ((1, 64), "(1,64):(64,1)"),
    "one row without a stride": ((1, 64), "(1,64):(0,1)"),
    "one row of 64 bytes, swizzled": ((1, 32), "S<2,3,3> o 0 o (1,32):(32,1)"),
    "64 bytes, swizzled": ((8, 32), "S<2,3,3> o 0 o (8,32):(32,1)"),
    "two boxes of 64 bytes": ((8, 64), "S<2,3,3> o 0 o (8,(32,2)):(32,(1,256))"),
    "16 bytes": ((4, 8), "(4,8):(8,1)"),
}


@pytest.mark.parametrize("case", BOXES)
def test_boxes(case: str, ptxas: Any):
    (rows, columns), layout = BOXES[case]
    gmem = memref("f16", "gmem", "(?,?):(?{i64 div=16},1)", align=16)
    tile = f'tile = "[{rows};{columns}]", smem = "{layout}"'
    pipe = f"tma, stages = 1, producers = 1, consumers = 1, bytes = {2 * rows * columns}"
    text = kernel(
        f"%x: {gmem}, %y: {gmem}",
        f"""
  %in, %mx = cute.make_tma_copy<#cute_nvgpu.tma<load>, {tile}> (%x)
  %out, %my = cute.make_tma_copy<#cute_nvgpu.tma<store>, {tile}> (%y)
  %tiler = cute.static : !cute.shape<"({rows},{columns})">
  %c = cute.make_coord(%block, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
  %gx = cute.local_tile(%mx, %tiler, %c)
  %gy = cute.local_tile(%my, %tiler, %c)
  %s = cute.memref.alloc() : !cute.memref<f16, smem, align<1024>, "{layout}">
  %pipe = cute.pipeline.create() : !cute.pipeline<{pipe}>
{BOXES_LOADED}{BOXES_STORED}""",
    )
    x = numbers((3 * rows, 64), np.float16)
    expected = np.zeros_like(x)
    expected[:, :columns] = x[:, :columns]
    assert_array_equal(run(text, x, np.zeros_like(x), grid=(3,))[1], expected)
    ptxas(tw.compile(text, "sm_90a").ptx, "sm_90a")


SELECT = """func.func @k(%y: memref<32xf16>, %b: memref<32xi32>) attributes {gpu.kernel} {
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %c = memref.load %b[%t] : memref<32xi32>
  %z = arith.constant 0 : i32
  %p = arith.cmpi slt, %c, %z : i32
  %one = arith.constant 1.0 : f16
  %two = arith.constant 2.0 : f16
  %f = cute_nvgpu.fragment.from_elements %one, %two : f16, f16 -> !cute_nvgpu.fragment<2xf16>
  %g = cute_nvgpu.fragment.from_elements %two, %one : f16, f16 -> !cute_nvgpu.fragment<2xf16>
  %h = arith.select %p, %f, %g : !cute_nvgpu.fragment<2xf16>
  %e = cute_nvgpu.fragment.extract %h[1] : !cute_nvgpu.fragment<2xf16> -> f16
  memref.store %e, %y[%t] : memref<32xf16>
  func.return
}"""


def test_a_select_of_fragments_of_one_register():
    numbers_, out = np.arange(32, dtype=np.int32) - 10, np.zeros(32, np.float16)
    for level in ("atom", "ptx"):
        found = tw.interpret(SELECT, grid=(1,), block=(32,), args=[out, numbers_], level=level)[0]
        assert_array_equal(found, np.where(numbers_ < 0, 2, 1))
