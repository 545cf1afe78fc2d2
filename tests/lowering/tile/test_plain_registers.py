"""Registers of every element type that threads compute on or move, element by element: loops and
branches carry them, and copies under bounds fill them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numpy.random import default_rng
from tile_levels import kernel, memref, run

import tilewright as tw
from tilewright.launch.ptxas import assemble

DTYPES: dict[str, np.dtype] = {
    name: np.dtype(dtype)
    for name, dtype in {
        "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
        "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
        "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    }.items()
}  # fmt: skip
WHOLE = ("i8", "i16", "i32", "i64")
COUNT = 5
"""Elements a thread: no whole number of registers."""
SWAPPED = """
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %from = cute.slice(%x, %at)
  %to = cute.slice(%y, %at)
  %held = cute.make_fragment_like(%from)
  cute.copy(%from, %held)
  %n = arith.remui %t, %c3 : i32
  %odd = arith.andi %t, %c1 : i32
  %is_odd = arith.cmpi eq, %odd, %c1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %p0 = cute.make_coord(%c0) : (i32) -> !cute.coord<"?">
    %p3 = cute.make_coord(%c3) : (i32) -> !cute.coord<"?">
    %a = cute.memref.load(%held, %p0)
    %b = cute.memref.load(%held, %p3)
    cute.memref.store(%a, %held, %p3)
    cute.memref.store(%b, %held, %p0)
    scf.if %is_odd {
      cute.memref.store(%b, %held, %p3)
    }
  }
  cute.copy(%held, %to)"""


def gmem(element: str, count: int = COUNT) -> str:
    return memref(element, "gmem", f"(32,{count}):({count},1)")


def bits(element: str, shape: tuple[int, ...]) -> np.ndarray:
    dtype = DTYPES[element]
    return default_rng(3).integers(0, 100, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]


def taken(text: str) -> None:
    kernel = tw.compile(text, "sm_90a")
    report = assemble(kernel.ptx, "sm_90a")
    assert report.ok, report.errors


@pytest.mark.parametrize("element", DTYPES)
def test_elements_that_are_swapped(element: str):
    text = kernel(f"%x: {gmem(element)}, %y: {gmem(element)}", SWAPPED)
    x = bits(element, (32, COUNT))
    wanted = x.copy()
    for lane in range(32):
        for _ in range(lane % 3):
            a, b = wanted[lane, 0].copy(), wanted[lane, 3].copy()
            wanted[lane, 0], wanted[lane, 3] = b, b if lane % 2 else a
    found = run(text, x, np.zeros_like(x))[1]
    assert found.tobytes() == wanted.tobytes()
    taken(text)


@pytest.mark.parametrize("element", WHOLE)
def test_vectors_and_sums(element: str):
    """Elementwise integers, filled registers, and what `reduce` makes of them."""
    held = memref(element, "rmem", "(1,8):(0,1)")
    vector = f"vector<8x{element}>"
    text = kernel(
        f"%x: {gmem(element, 8)}, %y: {gmem(element, 8)}",
        f"""
  %threads = cute.static : !cute.layout<"(32,1):(1,1)">
  %px = cute.local_partition(%x, %threads, %t)
  %py = cute.local_partition(%y, %threads, %t)
  %r = cute.make_fragment_like(%px)
  %five = arith.constant 5 : {element}
  cute.fill(%r, %five)
  %fives = cute.memref.load_vec(%r)
  cute.copy(%px, %r)
  %v = cute.memref.load_vec(%r) : ({held}) -> {vector}
  %p = arith.cmpi slt, %v, %fives : {vector}
  %s = arith.addi %v, %fives : {vector}
  %w = arith.select %p, %s, %v : vector<8xi1>, {vector}
  cute.memref.store_vec(%w, %r)
  %sum = cute.memref.alloca() : {memref(element, "rmem", "(1,8):(0,0)")}
  cute.reduce<add> (%r, %sum)
  %total = cute.memref.load_vec(%sum)
  %out = arith.subi %total, %w : {vector}
  cute.memref.store_vec(%out, %r)
  cute.copy(%r, %py)""",
    )
    x = default_rng(1).integers(-9, 15, (32, 8)).astype(DTYPES[element])
    chosen = np.where(x < 5, x + 5, x)
    wanted = (chosen.sum(1, keepdims=True) - chosen).astype(DTYPES[element])
    np.testing.assert_array_equal(run(text, x, np.zeros_like(x))[1], wanted)
    taken(text)
