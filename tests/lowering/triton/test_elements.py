"""Ops on each element and on shapes, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal, assert_array_max_ulp
from triton_kernel import DTYPES, converted, numbers, on_tiles, run

import tilewright as tw
from tilewright.source.diagnostic import OpError

BINARY: list[tuple[str, str, Callable[[Any, Any], Any]]] = [
    ("arith.addi", "i32", np.add),
    ("arith.subi", "i8", np.subtract),
    ("arith.muli", "i16", np.multiply),
    ("arith.andi", "i64", np.bitwise_and),
    ("arith.xori", "i1", np.logical_xor),
    ("arith.maxsi", "i32", np.maximum),
    ("arith.minui", "i8", lambda a, b: np.minimum(a.view("u1"), b.view("u1")).view("i1")),
    ("arith.divsi", "i32", lambda a, b: np.trunc(a / b).astype(np.int32)),
    ("arith.remsi", "i32", np.fmod),
    ("arith.remf", "f16", np.fmod),
    ("arith.remf", "f64", np.fmod),
    ("arith.addf", "f16", np.add),
    ("arith.mulf", "f64", np.multiply),
    ("tt.precise_divf", "f32", np.divide),
    ("arith.maximumf", "f32", np.maximum),
    ("arith.minnumf", "f32", np.fmin),
    ("tt.mulhiui", "i32",
     lambda a, b: ((a.view("u4").astype("u8") * b.view("u4")) >> 32).astype("u4").view("i4")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "element", "function"), BINARY, ids=[f"{row[0]}-{row[1]}" for row in BINARY]
)
def test_two_tiles(name: str, element: str, function: Callable[[Any, Any], Any]):
    body = f"%r = {name} %a, %b : tensor<16x{element}>"
    a, b = numbers(element, (16,)), numbers(element, (16,), 1)
    if "div" in name or "rem" in name:
        b[b == 0] = 7
    if name == "arith.remf":
        a[2] = 5
    text = on_tiles(body, f"{element} {element}", element)
    [*_, got] = run(text, a, b, np.zeros(16, DTYPES[element]))
    with np.errstate(all="ignore"):
        assert_array_equal(got, function(a, b))


@pytest.mark.parametrize("element", ["i8", "i16"])
def test_a_narrow_remainder_of_the_least_number_by_minus_one_is_zero(element: str):
    text = on_tiles(
        f"%r = arith.remsi %a, %b : tensor<16x{element}>", f"{element} {element}", element
    )
    a, b = numbers(element, (16,)), np.full(16, -1, DTYPES[element])
    a[3:6], b[4] = np.iinfo(a.dtype).min, 7
    for level in ("program", "ptx"):
        [*_, got] = tw.interpret(text, grid=(1, 1, 1), args=[a, b, a], level=level)
        assert_array_equal(got, np.fmod(a.astype(np.int32), b))


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("name", ["shli", "shrsi", "shrui"])
def test_a_shift_by_the_width_or_more_leaves_nothing_or_the_sign(name: str, element: str):
    width = int(element[1:])
    text = on_tiles(
        f"%r = arith.{name} %a, %b : tensor<16x{element}>", f"{element} {element}", element
    )
    a = numbers(element, (16,))
    b = np.array([width, width + 1, 126, 3] * 4, a.dtype)
    inside = {
        "shli": np.left_shift(a, 3), "shrsi": np.right_shift(a, 3),
        "shrui": np.right_shift(a.view(f"u{a.itemsize}"), 3).view(a.dtype),
    }[name]  # fmt: skip
    rest = np.where(a < 0, -1, 0) if name == "shrsi" else 0
    for level in ("program", "ptx"):
        [*_, got] = tw.interpret(text, grid=(1, 1, 1), args=[a, b, a], level=level)
        assert_array_equal(got, np.where(b == 3, inside, rest))


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_fp8_towards_zero(element: str):
    body = f"""%n = tt.fp_to_fp %a, rounding = rtz : tensor<16x{element}> -> tensor<16xf8E5M2>
    %r = tt.bitcast %n : tensor<16xf8E5M2> -> tensor<16xi8>"""
    a = (numbers(element, (16,)) * 1.3).astype(DTYPES[element])
    a[:4] = 60000, -0.0, 1e-6, np.inf
    [_, got] = run(on_tiles(body, element, "i8"), a, np.zeros(16, np.int8))
    finite = np.arange(0x7C, dtype=np.uint8).view(ml_dtypes.float8_e5m2).astype(np.float64)
    below = [finite[finite <= abs(x)].max() if np.isfinite(x) else x for x in a.astype(np.float64)]
    results = got.view(ml_dtypes.float8_e5m2).astype(np.float64)
    assert_array_equal(results, np.copysign(below, a))


CASTS = [
    ("arith.extsi", "i8", "i32", lambda a: a.astype(np.int32)),
    ("arith.extui", "i8", "i32", lambda a: a.view("u1").astype(np.int32)),
    ("arith.trunci", "i32", "i8", lambda a: a.astype(np.int8)),
    ("arith.sitofp", "i32", "f32", lambda a: a.astype(np.float32)),
    ("arith.uitofp", "i1", "f32", lambda a: a.astype(np.float32)),
    ("arith.extf", "f16", "f32", lambda a: a.astype(np.float32)),
    ("arith.truncf", "f32", "f16", lambda a: a.astype(np.float16)),
]


@pytest.mark.parametrize(("name", "from_", "to", "function"), CASTS, ids=[x[0] for x in CASTS])
def test_casts(name: str, from_: str, to: str, function: Callable[[Any], Any]):
    body = f"%r = {name} %a : tensor<16x{from_}> to tensor<16x{to}>"
    a = numbers(from_, (16,))
    [_, got] = run(on_tiles(body, from_, to), a, np.zeros(16, DTYPES[to]))
    assert_array_equal(got, function(a))


ORDERS = {
    "oeq": np.equal, "ogt": np.greater, "ole": np.less_equal,
    "one": lambda a, b: (a < b) | (a > b), "ord": lambda a, b: (a == a) & (b == b),
    "ueq": lambda a, b: ~((a < b) | (a > b)), "ult": lambda a, b: ~(a >= b),
    "une": np.not_equal, "uno": lambda a, b: (a != a) | (b != b),
}  # fmt: skip


@pytest.mark.parametrize("predicate", ORDERS)
def test_comparisons_of_floats(predicate: str):
    """Of numbers and of NaN on either side."""
    body = f"""%r = arith.cmpf {predicate}, %a, %b : tensor<16xf32>"""
    a, b = numbers("f32", (16,)), numbers("f32", (16,), 1)
    a[4:8], b[6:10], b[10:12] = np.nan, np.nan, a[10:12]
    [*_, got] = run(on_tiles(body, "f32 f32", "i1"), a, b, np.zeros(16, np.bool_))
    assert_array_equal(got, ORDERS[predicate](a, b))


SHAPES = [
    ("%r = tt.trans %a {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>",
     "f32", "4x8", "8x4", lambda a: a.T),
    ("%s = tt.expand_dims %a {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>\n"
     "%r = tt.broadcast %s : tensor<8x1xf32> -> tensor<8x4xf32>",
     "f32", "8", "8x4", lambda a: np.repeat(a[:, None], 4, 1)),
    ("%r = tt.join %a, %a : tensor<8xf32> -> tensor<8x2xf32>",
     "f32", "8", "8x2", lambda a: np.stack([a, a], -1)),
    ("%x, %r = tt.split %a : tensor<8x2xf32> -> tensor<8xf32>",
     "f32", "8x2", "8", lambda a: a[:, 1]),
    ("%r = tt.cat %a, %a : tensor<8xf32> -> tensor<16xf32>",
     "f32", "8", "16", lambda a: np.concatenate([a, a])),
    ("%r = tt.histogram %a : tensor<16xi32> -> tensor<128xi32>",
     "i32", "16", "128", lambda a: np.bincount(a[a >= 0], minlength=128)),
]  # fmt: skip


@pytest.mark.parametrize(("body", "element", "from_", "to", "function"), SHAPES)
def test_shapes(body: str, element: str, from_: str, to: str, function: Any):
    a = numbers(element, tuple(map(int, from_.split("x"))))
    out = np.zeros(tuple(map(int, to.split("x"))), DTYPES[element])
    [_, got] = run(on_tiles(body, element, element, from_, to), a, out)
    assert_array_equal(got, function(a))


def test_gather_takes_rows_by_their_numbers():
    body = (
        "%r = tt.gather %a[%b] {axis = 0 : i32} : (tensor<16xf32>, tensor<16xi32>) -> "
        "tensor<16xf32>"
    )
    a, b = numbers("f32", (16,)), np.random.default_rng(2).integers(0, 16, 16, np.int32)
    [*_, got] = run(on_tiles(body, "f32 i32", "f32"), a, b, np.zeros(16, np.float32))
    assert_array_equal(got.view(np.uint32), a[b].view(np.uint32))


def test_gather_takes_pointers():
    text = """module {
  tt.func public @k(%p: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %c15 = arith.constant dense<15> : tensor<16xi32>
    %j = arith.subi %c15, %i : tensor<16xi32>
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %at = tt.addptr %ps, %i : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %back = tt.gather %at[%j] {axis = 0 : i32} :
      (tensor<16x!tt.ptr<i32>>, tensor<16xi32>) -> tensor<16x!tt.ptr<i32>>
    %x = tt.load %back : tensor<16x!tt.ptr<i32>>
    %os = tt.splat %out : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %to = tt.addptr %os, %i : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    tt.store %to, %x : tensor<16x!tt.ptr<i32>>
    tt.return
  }
}
"""
    a = numbers("i32", (16,))
    [_, got] = run(text, a, np.zeros(16, np.int32))
    assert_array_equal(got, a[::-1])


def test_products_and_sums_are_one_rounding_unless_told_otherwise():
    body = "%m = arith.mulf %a, %b : tensor<16xf32>\n%r = arith.addf %m, %c : tensor<16xf32>"
    a, b = (np.float32(1 + 2.0**-12) * np.ones(16, np.float32) for _ in range(2))
    c = -np.ones(16, np.float32)
    text = on_tiles(body, "f32 f32 f32", "f32")
    [*_, fused] = run(text, a, b, c, np.zeros(16, np.float32))
    [*_, apart] = run(text, a, b, c, np.zeros(16, np.float32), fp_fusion=False)
    assert_array_equal(fused, (a.astype(np.float64) * b + c).astype(np.float32))
    assert_array_equal(apart, a * b + c)


def test_approximate_quotients():
    a, b = numbers("f32", (16,)), np.abs(numbers("f32", (16,), 1)) + 1
    text = on_tiles("%r = tt.approx_divf %a, %b : tensor<16xf32>", "f32 f32", "f32")
    [*_, got] = run(text, a, b, np.zeros(16, np.float32))
    with np.errstate(all="ignore"):
        assert_allclose(got, a / b, rtol=3e-7)


EXTERNAL = """%r = tt.extern_elementwise %a {{libname = "", libpath = "", pure = true,
      symbol = "{}"}} : (tensor<16x{}>) -> tensor<16x{}>"""
FUNCTIONS = [
    ("__nv_sqrtf", "f32", "f32", np.sqrt),
    ("__nv_trunc", "f64", "f64", np.trunc),
    ("__nv_popc", "i32", "i32", np.bitwise_count),
    ("__nv_float_as_int", "f32", "i32", lambda a: a.view(np.int32)),
    ("__nv_signbitf", "f32", "i32", np.signbit),
]


@pytest.mark.parametrize(("name", "from_", "to", "law"), FUNCTIONS, ids=[x[0] for x in FUNCTIONS])
def test_functions_of_libdevice_by_name(name: str, from_: str, to: str, law: Any):
    a = np.abs(numbers(from_, (16,)))
    text = on_tiles(EXTERNAL.format(name, from_, to), from_, to)
    [_, got] = run(text, a, np.zeros(16, DTYPES[to]))
    assert_array_equal(got, law(a))


@pytest.mark.parametrize(
    ("element", "message"),
    [("f32", "a function of libdevice that is known, got __nv_lgammaf; nearest legal: __nv_"),
     ("f64", r"\(f32\) -> f32, or f16 or bf16 alone for __nv_expf, got \(f64\) -> f64")],
)  # fmt: skip
def test_what_libdevice_has_not(element: str, message: str):
    name = "__nv_lgammaf" if element == "f32" else "__nv_expf"
    with pytest.raises(OpError, match=message):
        converted(on_tiles(EXTERNAL.format(name, element, element), element, element))


def test_the_error_function():
    a = numbers("f32", (16,))
    text = on_tiles("%r = math.erf %a : tensor<16xf32>", "f32", "f32")
    [_, got] = run(text, a, np.zeros(16, np.float32))
    assert_allclose(got, [math.erf(x) for x in a], rtol=3e-7)


def test_exp2_flushes_to_zero():
    """As `ex2.approx.ftz` of Triton's compiler does: 2^-127 is subnormal."""
    x = np.array([-126, -126.5, -127, 3] * 4, np.float32)
    text = on_tiles("%r = math.exp2 %a : tensor<16xf32>", "f32", "f32")
    *_, got = run(text, x, np.ones(16, np.float32))
    assert_array_equal(got[:4], np.array([2.0**-126, 0, 0, 8], np.float32))


def test_division_is_within_two_ulp_at_every_level():
    text = on_tiles("%r = arith.divf %a, %b : tensor<16xf32>", "f32 f32", "f32")
    assert tw.compile(text, "sm_90a").ptx.count("div.full.f32") == 1
    a, b = numbers("f32", (16,)) / np.float32(3), numbers("f32", (16,), 1) + np.float32(0.7)
    left = [
        tw.interpret(text, "k", grid=(1,), args=[a, b, np.zeros(16, np.float32)], level=level)
        for level in ("program", "ptx")
    ]
    program, ptx = (arrays[-1] for arrays in left)
    assert_array_equal(program, ptx)
    assert_array_max_ulp(program, a / b, maxulp=2)
    assert (program != a / b).any()
