"""Reductions and scans by any region, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from triton_kernel import DTYPES, numbers, on_tiles, run


def fold(kind: str, region: str, element: str, shape: str, out: str, more: str = "") -> str:
    """A fold along the last axis."""
    axis = shape.count("x")
    types = f"({tensor(shape, element)}) -> {tensor(out, element)}"
    return f"""%r = "tt.{kind}"(%a) <{{axis = {axis} : i32{more}}}> ({{
    ^bb0(%x: {element}, %y: {element}):
      {region}
      tt.{kind}.return %z : {element}
    }}) : {types}"""


def tensor(shape: str, element: str) -> str:
    return f"tensor<{shape}x{element}>" if shape else element


REDUCTIONS = [
    ("%z = arith.addi %x, %y : i32", "i32", lambda a: a.sum(-1, dtype=np.int32)),
    ("%z = arith.xori %y, %x : i32", "i32", lambda a: np.bitwise_xor.reduce(a, -1)),
    ("%z = arith.minsi %x, %y : i8", "i8", lambda a: a.min(-1)),
    ("%z = arith.maxnumf %x, %y : f32", "f32", lambda a: a.max(-1)),
    ("%s = arith.addi %x, %y : i32\n%z = arith.addi %s, %s : i32", "i32",
     lambda a: (16 * a.astype(np.int64).sum(-1)).astype(np.int32)),
]  # fmt: skip


@pytest.mark.parametrize(("region", "element", "function"), REDUCTIONS)
def test_reductions_of_rows(region: str, element: str, function: Any):
    """The last region has no identity: each of four levels doubles."""
    a = numbers(element, (4, 16))
    text = on_tiles(fold("reduce", region, element, "4x16", "4"), element, element, "4x16", "4")
    [_, got] = run(text, a, np.zeros(4, DTYPES[element]))
    assert_array_equal(got, function(a))


ARGMAX = """
    %k = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %v, %r = "tt.reduce"(%a, %k) <{axis = 0 : i32}> ({
    ^bb0(%x: i32, %i: i32, %y: i32, %j: i32):
      %more = arith.cmpi sgt, %x, %y : i32
      %equal = arith.cmpi eq, %x, %y : i32
      %left = arith.cmpi slt, %i, %j : i32
      %tie = arith.andi %equal, %left : i1
      %take = arith.ori %more, %tie : i1
      %m = arith.select %take, %x, %y : i32
      %n = arith.select %take, %i, %j : i32
      tt.reduce.return %m, %n : i32, i32
    }) : (tensor<16xi32>, tensor<16xi32>) -> (i32, i32)"""


def test_argmax_takes_the_first_of_equal_elements():
    a = np.array([1, 5, 3, 5] * 4, np.int32)
    [_, got] = run(on_tiles(ARGMAX, "i32", "i32", "16", ""), a, np.zeros(1, np.int32))
    assert got[0] == 1


SCANS = [
    ("%z = arith.addi %x, %y : i32", "false", lambda a: np.cumsum(a, -1, dtype=np.int32)),
    ("%z = arith.addi %x, %y : i32", "true",
     lambda a: np.cumsum(a[:, ::-1], -1, dtype=np.int32)[:, ::-1]),
    ("%z = arith.addi %y, %c0 : i32", "false", lambda a: a),
    ("%z = arith.addi %x, %c0 : i32", "false", lambda a: np.repeat(a[:, :1], 16, 1)),
    ("%z = arith.addi %x, %c0 : i32", "true", lambda a: np.repeat(a[:, -1:], 16, 1)),
    ("%f = arith.constant 5 : i32\n%s = arith.addi %x, %f : i32\n%z = arith.subi %s, %f : i32",
     "false", lambda a: np.repeat(a[:, :1], 16, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("region", "reverse", "function"), SCANS)
def test_scans_of_rows(region: str, reverse: str, function: Any):
    """Of regions with an identity, of those that keep the last, or the first, and of constants."""
    a = numbers("i32", (4, 16))
    body = "%c0 = arith.constant 0 : i32\n    " + fold(
        "scan", region, "i32", "4x16", "4x16", f", reverse = {reverse}"
    )
    [_, got] = run(on_tiles(body, "i32", "i32", "4x16"), a, np.zeros((4, 16), np.int32))
    assert_array_equal(got, function(a))


def test_a_scan_of_maxima_keeps_a_nan_that_stands_first():
    a = numbers("f32", (1, 16))
    a[0, :1] = np.nan
    region = "%z = arith.maxnumf %x, %y : f32"
    body = fold("scan", region, "f32", "1x16", "1x16", ", reverse = false")
    [_, got] = run(on_tiles(body, "f32", "f32", "1x16"), a, np.zeros((1, 16), np.float32))
    assert_array_equal(got, np.fmax.accumulate(a, 1))


BRANCHES = """
    %c1 = arith.constant 1 : i32
    %m1 = arith.constant -1 : i32
    %r = "tt.map_elementwise"(%a, %b) <{pack = 1 : i32}> ({
    ^bb0(%x: i32, %y: i32):
      %less = arith.cmpi slt, %x, %y : i32
      cf.cond_br %less, ^bb2(%m1 : i32), ^bb1
    ^bb1:
      cf.br ^bb2(%c1 : i32)
    ^bb2(%z: i32):
      tt.map_elementwise.return %z : i32
    }) : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi32>"""


def test_branches_of_elements_choose():
    a, b = numbers("i32", (16,)), numbers("i32", (16,), 1)
    [*_, got] = run(on_tiles(BRANCHES, "i32 i32", "i32"), a, b, np.zeros(16, np.int32))
    assert_array_equal(got, np.where(a < b, -1, 1))
