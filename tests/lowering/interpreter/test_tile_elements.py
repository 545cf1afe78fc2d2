"""Elements of tensors as values: loads and stores, vectors, reductions; and tile schedulers."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tile_kernels import kernel, run
from tile_levels import BARRIER, memref, numbers

import tilewright as tw

ROWS = memref("f32", "gmem", "(32,8):(8,1)")
VECTOR = "vector<8xf32>"
MINE = """
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %from = cute.slice(%x, %at)
  %to = cute.slice(%y, %at)
  %held = cute.make_fragment_like(%from)
  cute.copy(%from, %held)
"""
X = numbers((32, 8))


def mapped(body: str, x: np.ndarray = X) -> np.ndarray:
    """What each thread makes of its row: of %v, the vector, and %held, the registers."""
    text = kernel(f"%x: {ROWS}, %y: {ROWS}", MINE + body)
    return run(text, x, np.zeros_like(x), arch="sm_90", lowered=True)[1]


def test_vectors_are_the_elements_in_order():
    found = mapped(f"""
  %v = cute.memref.load_vec(%held)
  %w = arith.addf %v, %v : {VECTOR}
  cute.memref.store_vec(%w, %held)
  cute.copy(%held, %to)""")
    assert_array_equal(found, X + X)


def test_a_vector_is_a_value_of_its_own():
    """What is written into the registers later does not change it."""
    found = mapped("""
  %v = cute.memref.load_vec(%held)
  cute.fill(%held, %zero)
  cute.memref.store_vec(%v, %to)""")
    assert_array_equal(found, X)


def test_elements_at_coordinates_of_each_thread():
    found = mapped("""
  %place = arith.remui %t, %c8 : i32
  %mine = cute.make_coord(%t, %place) : (i32, i32) -> !cute.coord<"(?,?)">
  %v = cute.memref.load(%x, %mine)
  cute.memref.store(%v, %y, %mine)""")
    expected = np.zeros_like(X)
    expected[np.arange(32), np.arange(32) % 8] = X[np.arange(32), np.arange(32) % 8]
    assert_array_equal(found, expected)


def test_elements_of_registers():
    found = mapped("""
  %two = cute.make_coord(%c2) : (i32) -> !cute.coord<"?">
  %static = cute.static : !cute.coord<"5">
  %v = cute.memref.load(%held, %static)
  cute.memref.store(%v, %held, %two)
  cute.copy(%held, %to)""")
    expected = X.copy()
    expected[:, 2] = X[:, 5]
    assert_array_equal(found, expected)


def test_swizzled_elements_are_where_copies_put_them():
    tile = memref("f32", "smem", "S<2,1,2> o 0 o (32,8):(8,1)", 128)
    found = mapped(f"""
  %s = cute.memref.alloc() : {tile}
  %mine = cute.slice(%s, %at)
  cute.copy(%held, %mine)
  {BARRIER}
  %next = arith.xori %t, %c1 : i32
  scf.for %i = %c0 to %c8 step %c1 : i32 {{
    %there = cute.make_coord(%next, %i) : (i32, i32) -> !cute.coord<"(?,?)">
    %here = cute.make_coord(%t, %i) : (i32, i32) -> !cute.coord<"(?,?)">
    %v = cute.memref.load(%s, %there)
    cute.memref.store(%v, %y, %here)
  }}""")
    assert_array_equal(found, X[np.arange(32) ^ 1])


def test_an_argument_that_reaches_outside():
    with pytest.raises(
        tw.ExecutionError, match=r"'cute.memref.load' read out of bounds.*\(31,0,0\)"
    ):
        mapped("""
  %next = arith.addi %t, %c1 : i32
  %there = cute.make_coord(%next, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
  %v = cute.memref.load(%x, %there)""")


# Reductions

COMBINE: dict[str, Any] = {"add": np.add, "max": np.maximum, "min": np.minimum}


def reduced(kind: str, layout: str, masks: list[int], x: np.ndarray = X) -> np.ndarray:
    given = f", [{', '.join(map(str, masks))}]" if masks else ""
    return mapped(
        f"""
  %r = cute.memref.alloca() : {memref("f32", "rmem", layout)}
  cute.reduce<{kind}{given}> (%held, %r)
  %v = cute.memref.load_vec(%r)
  cute.memref.store_vec(%v, %to)""",
        x,
    )


def butterfly(kind: str, values: np.ndarray, masks: list[int]) -> np.ndarray:
    for mask in masks:
        values = COMBINE[kind](values, values[np.arange(32) ^ mask])
    return values


@pytest.mark.covered
@pytest.mark.parametrize("masks", [[], [1], [1, 2], [16, 8, 4, 2, 1]])
@pytest.mark.parametrize("kind", COMBINE)
def test_reductions_combine_in_order(kind: str, masks: list[int]):
    whole = reduce(COMBINE[kind], X.T)[:, None]
    expected = np.broadcast_to(butterfly(kind, whole, masks), X.shape)
    assert_array_equal(reduced(kind, "8:0", masks), expected)
    every = butterfly(kind, X, masks)
    assert_array_equal(reduced(kind, "8:1", masks), every)
    pairs = np.stack([reduce(COMBINE[kind], X.T[place::2]) for place in (0, 1)], axis=1)
    expected = np.tile(butterfly(kind, pairs, masks), 4)
    assert_array_equal(reduced(kind, "((2,4)):((1,0))", masks), expected)


def test_nan_wins():
    x = X.copy()
    x[3, 4] = np.nan
    for kind in ("max", "min", "add"):
        found = reduced(kind, "8:0", [1], x)
        assert np.isnan(found[2:4]).all()
        assert not np.isnan(np.delete(found, [2, 3], axis=0)).any()


def test_part_of_a_warp_has_no_lanes_to_reduce_over():
    with pytest.raises(tw.ExecutionError, match=r"cute\.reduce needs all 32 threads"):
        mapped(f"""
  %r = cute.memref.alloca() : {memref("f32", "rmem", "8:0")}
  %low = arith.cmpi ult, %t, %c8 : i32
  scf.if %low {{
    cute.reduce<add, [1]> (%held, %r)
  }}""")


# Schedulers

COUNTS = memref("i32", "gmem", "(?,?):(?,1)")


def visits(kind: str, swizzle: int, tiles: tuple[int, int], ctas: int) -> np.ndarray:
    """How often each tile is computed, and by which CTA it was last: [m, n, 2]."""
    text = kernel(
        f"%n: {COUNTS}, %who: {COUNTS}",
        f"""
  %shape = cute.get_shape(%n)
  %leader = arith.cmpi eq, %t, %c0 : i32
  scf.if %leader {{
    %first, %end, %step = cute.tile_scheduler.bounds<{kind}> (%shape)
    scf.for %i = %first to %end step %step : i32 {{
      %at = cute.tile_scheduler.coord<{swizzle}> (%i, %shape)
      %old = cute.memref.load(%n, %at)
      %new = arith.addi %old, %c1 : i32
      cute.memref.store(%new, %n, %at)
      cute.memref.store(%i, %who, %at)
    }}
  }}""",
    )
    counts, who = np.zeros((2, *tiles), np.int32)
    return np.stack(run(text, counts, who, grid=(ctas,), lowered=True), axis=-1)


@pytest.mark.covered
@pytest.mark.parametrize("tiles", [(1, 1), (3, 5), (8, 2), (9, 7), (16, 4)])
@pytest.mark.parametrize("swizzle", [1, 2, 8])
@pytest.mark.parametrize("kind", ["static", "persistent"])
def test_every_tile_is_computed_once(kind: str, swizzle: int, tiles: tuple[int, int]):
    total = tiles[0] * tiles[1]
    ctas = total + 3 if kind == "static" else 4
    found = visits(kind, swizzle, tiles, ctas)
    assert (found[..., 0] == 1).all()
    assert sorted(found[..., 1].ravel()) == list(range(total))


def test_bands_go_along_m_first():
    """Four tiles along M and two along N are neighbours: tiles 0 to 7."""
    order = visits("persistent", 4, (8, 4), 3)[..., 1]
    assert_array_equal(order[:4, :2].T.ravel(), np.arange(8))
    assert order[4, 0] == 16
