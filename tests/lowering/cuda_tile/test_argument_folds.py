"""The number of the greatest or the least element: two folds instead of one of pairs, where the
region of that one chooses as they do. PTX leaves what the program level does."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import default_rng
from tile_ir import entry, equal_as_ptx

import tilewright as tw

ROWS, COLUMNS = 8, 64
VIEW = f"partition_view<tile=({ROWS}x{COLUMNS}), tensor_view<{ROWS}x{COLUMNS}xf32, strides=[64,1]>>"
OUT = f"partition_view<tile=({ROWS}), tensor_view<{ROWS}xi32, strides=[1]>>"
PAIRS = f"""
    %o = constant <i32: 0> : tile<i32>
    %t = make_tensor_view %p, shape = [{ROWS}, {COLUMNS}], strides = [{COLUMNS}, 1]
        : tensor_view<{ROWS}x{COLUMNS}xf32, strides=[{COLUMNS},1]>
    %x_v = make_partition_view %t : {VIEW}
    %u = make_tensor_view %q, shape = [{ROWS}], strides = [1] : tensor_view<{ROWS}xi32, strides=[1]>
    %y_v = make_partition_view %u : {OUT}
    %x, %r = load_view_tko weak %x_v[%o, %o] : {VIEW}, tile<i32>
        -> tile<{ROWS}x{COLUMNS}xf32>, token
    %n0 = iota : tile<{COLUMNS}xi32>
    %n1 = reshape %n0 : tile<{COLUMNS}xi32> -> tile<1x{COLUMNS}xi32>
    %n = broadcast %n1 : tile<1x{COLUMNS}xi32> -> tile<{ROWS}x{COLUMNS}xi32>
    %v, %i = reduce %x, %n dim=1 identities=[0.0 : f32, 0 : i32]
        : tile<{ROWS}x{COLUMNS}xf32>, tile<{ROWS}x{COLUMNS}xi32>
        -> tile<{ROWS}xf32>, tile<{ROWS}xi32>
        (%a: tile<f32>, %b: tile<f32>, %c: tile<i32>, %d: tile<i32>) {{
      %wins = cmpf BETTER ordered %a, %b : tile<f32> -> tile<i1>
      %is = cmpf equal ordered %a, %a : tile<f32> -> tile<i1>
      %a_nan = cmpf not_equal unordered %a, %a : tile<f32> -> tile<i1>
      %b_nan = cmpf not_equal unordered %b, %b : tile<f32> -> tile<i1>
      %alone = andi %is, %b_nan : tile<i1>
      %first = ori %wins, %alone : tile<i1>
      %same = cmpf equal ordered %a, %b : tile<f32> -> tile<i1>
      %nans = andi %a_nan, %b_nan : tile<i1>
      %tie = ori %same, %nans : tile<i1>
      %before = cmpi EARLIER %c, %d, signed : tile<i32> -> tile<i1>
      %least = andi %tie, %before : tile<i1>
      %left = ori %first, %least : tile<i1>
      %e = select %left, %a, %b : tile<i1>, tile<f32>
      %f = select %left, %c, %d : tile<i1>, tile<i32>
      yield %e, %f : tile<f32>, tile<i32>
    }}
    %s = store_view_tko weak %i, %y_v[%o] : tile<{ROWS}xi32>, {OUT}, tile<i32> -> token
"""


def folds(better: str, earlier: str = "less_than") -> str:
    body = PAIRS.replace("BETTER", better).replace("EARLIER", earlier)
    return entry("%p: tile<ptr<f32>>, %q: tile<ptr<i32>>", body)


def is_two_folds(text: str) -> bool:
    """A fold of pairs moves both values from lane to lane, and chooses by each."""
    return "setp.eq.and.f32" not in (ptx := tw.compile(text, "sm_90a").ptx) and "min.s32" in ptx


@pytest.mark.parametrize("better", ["greater_than", "less_than"])
def test_numbers_of_the_best(better: str) -> None:
    """The first of several, zeros of both signs being one; of nothing but NaN the first of all."""
    x = default_rng(0).integers(-3, 4, (ROWS, COLUMNS)).astype(np.float32)
    x[0], x[1, ::2], x[2, :63] = np.nan, np.nan, np.nan
    x[3], x[4], x[5] = -0.0, -np.inf, np.inf
    x[3, 7:] = 0.0
    text = folds(better)
    got = equal_as_ptx(text, grid=(1,), args=[x, np.zeros(ROWS, np.int32)], arch="sm_90a")
    best = np.nanargmax if better == "greater_than" else np.nanargmin
    assert got.tolist() == [0, *(best(row) for row in x[1:])]
    assert is_two_folds(text)


def test_a_fold_that_prefers_the_last_is_of_pairs() -> None:
    text = folds("greater_than", "greater_than")
    x = default_rng(0).integers(-3, 4, (ROWS, COLUMNS)).astype(np.float32)
    got = equal_as_ptx(text, grid=(1,), args=[x, np.zeros(ROWS, np.int32)], arch="sm_90a")
    assert got.tolist() == [COLUMNS - 1 - np.argmax(row[::-1]) for row in x]
    assert not is_two_folds(text)
