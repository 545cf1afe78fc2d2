"""`reduce` and `scan` with regions of all kinds, and atomics on elements that repeat."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import default_rng
from tile_ir import elementwise, row, run

F = "tile<ptr<f32>>"


def folded(fold: str, shape: str, result: str, array: np.ndarray, count: int) -> np.ndarray:
    """%r of a fold of %a, a tile of `shape` f32 that %p holds, stored as `count` f32."""
    elements = int(np.prod([int(each) for each in shape.split("x")]))
    body = (
        row("src", "p", "f32", elements)
        + f"""
    %flat, %t0 = load_ptr_tko weak %src : tile<{elements}xptr<f32>> -> tile<{elements}xf32>, token
    %a = reshape %flat : tile<{elements}xf32> -> tile<{shape}xf32>
{fold}
    %v = reshape %r : tile<{result}> -> tile<{count}xf32>
"""
    )
    body += row("d", "q", "f32", count)
    body += f"""
    %t1 = store_ptr_tko weak %d, %v : tile<{count}xptr<f32>>, tile<{count}xf32> -> token
"""
    blocks = array.size // elements
    out = np.zeros(count * blocks, np.float32)
    return run(f"%p: {F}, %q: {F}", body, [array, out], (blocks,))[1]


def reduce(dim: int, shape: str, result: str, body: str, identity: str = "0.0") -> str:
    return f"""
    %r = reduce %a dim={dim} identities=[{identity} : f32] : tile<{shape}xf32> -> tile<{result}>
    (%acc: tile<f32>, %e: tile<f32>) {{
{body}
      yield %s : tile<f32>
    }}"""


SUM = "      %s = addf %e, %acc rounding<nearest_even> : tile<f32>"


def halves(values: np.ndarray) -> np.ndarray:
    """The order that is stated: the upper half onto the lower one, along the first axis."""
    while len(values) > 1:
        values = values[len(values) // 2 :] + values[: len(values) // 2]
    return values[0]


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_sums_have_the_order_that_is_stated(dim: int):
    shape = (8, 64, 4)
    array = default_rng(dim).standard_normal(3 * 2048).astype(np.float32)
    kept = [size for i, size in enumerate(shape) if i != dim]
    result = "x".join(map(str, kept)) + "xf32"
    text = reduce(dim, "8x64x4", result, SUM)
    got = folded(text, "8x64x4", result, array, int(np.prod(kept)))
    tiles = array.reshape(3, *shape)
    want = np.stack([halves(np.moveaxis(tile, dim, 0)) for tile in tiles]).ravel()
    assert (got == want).all()


def test_a_region_may_use_what_is_outside_and_decide():
    """The largest element below a limit of the block's own: captured values, and an `if`."""
    body = """
      %c = cmpf less_than ordered %e, %limit : tile<f32> -> tile<i1>
      %s = if %c -> (tile<f32>) {
        %m = maxf %e, %acc : tile<f32>
        yield %m : tile<f32>
      } else {
        yield %acc : tile<f32>
      }"""
    head = """
    %limit = itof %src_x signed : tile<i32> -> tile<f32>
"""
    array = np.concatenate([np.linspace(-1, 3, 32, dtype=np.float32) + x for x in range(-2, 3)])
    array = array.astype(np.float32)
    array.reshape(5, 32)[:, :16] = -10
    got = folded(head + reduce(0, "32", "f32", body, "-10.0"), "32", "f32", array, 1)
    for x, tile in enumerate(array.reshape(5, 32)):
        below = tile[tile < x]
        assert got[x] == (below.max() if len(below) else -10)


def test_several_tiles_fold_together():
    """argmax: values and indices, the first of equals."""
    fold = """
    %i0 = iota : tile<16xi32>
    %i = itof %i0 signed : tile<16xi32> -> tile<16xf32>
    %m, %r = reduce %a, %i dim=0 identities=[0xFF800000 : f32, 0.0 : f32]
        : tile<16xf32>, tile<16xf32> -> tile<f32>, tile<f32>
    (%va: tile<f32>, %v: tile<f32>, %ja: tile<f32>, %j: tile<f32>) {
      %gt = cmpf greater_than ordered %v, %va : tile<f32> -> tile<i1>
      %eq = cmpf equal ordered %v, %va : tile<f32> -> tile<i1>
      %lt = cmpf less_than ordered %j, %ja : tile<f32> -> tile<i1>
      %tie = andi %eq, %lt : tile<i1>
      %take = ori %gt, %tie : tile<i1>
      %w = select %take, %v, %va : tile<i1>, tile<f32>
      %k = select %take, %j, %ja : tile<i1>, tile<f32>
      yield %w, %k : tile<f32>, tile<f32>
    }"""
    array = default_rng(0).integers(0, 5, 64).astype(np.float32)
    got = folded(fold, "16", "f32", array, 1)
    assert got.tolist() == array.reshape(4, 16).argmax(axis=1).tolist()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_scans_go_index_by_index(dim: int, reverse: bool):
    fold = f"""
    %r = scan %a dim={dim} reverse={str(reverse).lower()} identities=[0.0 : f32]
        : tile<8x16xf32> -> tile<8x16xf32>
    (%acc: tile<f32>, %e: tile<f32>) {{
{SUM}
      yield %s : tile<f32>
    }}"""
    array = default_rng(4).standard_normal(256).astype(np.float32)
    got = folded(fold, "8x16", "8x16xf32", array, 128).reshape(2, 8, 16)
    for tile, result in zip(array.reshape(2, 8, 16), got, strict=True):
        ordered = np.flip(tile, dim) if reverse else tile
        want = np.cumsum(ordered, axis=dim, dtype=np.float32)
        assert (result == (np.flip(want, dim) if reverse else want)).all()


@pytest.mark.parametrize("mode", ["add", "max", "umax", "min", "umin", "and", "or", "xor", "xchg"])
def test_atomics_take_turns(mode: str):
    """Sixteen elements onto four words: each sees what the one before has left."""
    body = (
        row("s", "q", "i32", 16)
        + f"""
    %v, %t0 = load_ptr_tko weak %s : tile<16xptr<i32>> -> tile<16xi32>, token
    %i = iota : tile<16xi32>
    %three = constant <i32: 3> : tile<16xi32>
    %at = andi %i, %three : tile<16xi32>
    %r = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %b = broadcast %r : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %w = offset %b, %at : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %old, %t1 = atomic_rmw_tko relaxed device %w, {mode}, %v
        : tile<16xptr<i32>>, tile<16xi32> -> tile<16xi32>, token
"""
    )
    body += row("d", "o", "i32", 16)
    body += "    %t2 = store_ptr_tko weak %d, %old : tile<16xptr<i32>>, tile<16xi32> -> token\n"
    p = "tile<ptr<i32>>"
    rng = default_rng(1)
    words = rng.integers(-(2**31), 2**31, 4).astype(np.int32)
    values = rng.integers(-(2**31), 2**31, 48).astype(np.int32)
    got, _, olds = run(
        f"%p: {p}, %q: {p}, %o: {p}", body, [words, values, np.zeros(48, np.int32)], (3,)
    )
    state = [int(word) for word in words]
    for i, value in enumerate(values.tolist()):
        old = state[i % 4]
        assert olds[i] == old
        unsigned = sorted((old, value), key=lambda each: each % 2**32)
        state[i % 4] = {
            "add": (old + value + 2**31) % 2**32 - 2**31,
            "max": max(old, value),
            "min": min(old, value),
            "umax": unsigned[1],
            "umin": unsigned[0],
            "and": old & value,
            "or": old | value,
            "xor": old ^ value,
            "xchg": value,
        }[mode]
    assert got.tolist() == state


def test_compare_and_swap_compares_bits():
    text = """
    %m = constant <i1: [true, true, true, false]> : tile<4xi1>
    %one = constant <f32: 1.0> : tile<4xf32>
    %r, %t9 = atomic_cas_tko relaxed device %a0, %x1, %one, %m
        : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> tile<4xf32>, token
"""
    parameters, body = elementwise(text, ["f32", "f32"], "f32", 4)
    body = body.replace("load_ptr_tko weak %a0", "load_ptr_tko relaxed device %a0")
    memory = np.array([0.0, np.nan, 2.0, 5.0], np.float32)
    expected = np.array([-0.0, np.nan, 2.0, 5.0], np.float32)
    left, _, old = run(parameters, body, [memory, expected, np.zeros(4, np.float32)])
    assert repr(left.tolist()) == "[0.0, 1.0, 1.0, 5.0]"
    assert repr(old.tolist()) == "[0.0, nan, 2.0, 5.0]"


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_atomic_sums_of_floats_round_every_time(element: str):
    import ml_dtypes

    dtype = {"bf16": ml_dtypes.bfloat16}.get(element) or np.dtype(f"float{element[1:]}")
    p = f"tile<ptr<{element}>>"
    body = (
        row("s", "q", element, 8)
        + f"""
    %v, %t0 = load_ptr_tko weak %s : tile<8xptr<{element}>> -> tile<8x{element}>, token
    %r = reshape %p : {p} -> tile<1xptr<{element}>>
    %b = broadcast %r : tile<1xptr<{element}>> -> tile<8xptr<{element}>>
    %old, %t1 = atomic_rmw_tko relaxed device %b, addf, %v
        : tile<8xptr<{element}>>, tile<8x{element}> -> tile<8x{element}>, token
"""
    )
    values = default_rng(2).standard_normal(24).astype(dtype)
    got, _ = run(f"%p: {p}, %q: {p}", body, [np.zeros(1, dtype), values], (3,))
    total = np.zeros((), dtype)
    for value in values:
        total = (total + value).astype(dtype)
    assert got[0] == total
