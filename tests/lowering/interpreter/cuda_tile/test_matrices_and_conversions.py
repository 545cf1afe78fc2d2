"""Matrix products in each numerics, conversions against ml_dtypes, tiles taken apart."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from tile_ir import elementwise, row, run

import tilewright as tw

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


def product(
    element: str, result: str, extents: tuple[int, int, int], **options: Any
) -> tuple[np.ndarray, np.ndarray]:
    """A product of random matrices and an addend, and what float64 says."""
    m, n, k = extents
    rng = default_rng(m + k)
    arrays = [
        rng.standard_normal(size).astype(np.float32).astype(DTYPES[type_])
        for size, type_ in ((m * k, element), (k * n, element), (m * n, result))
    ]
    body = ""
    sizes = ((m, k, element), (k, n, element), (m, n, result))
    for name, (rows, columns, type_) in zip("abc", sizes, strict=True):
        size = rows * columns
        body += (
            row(f"{name}p", name, type_, size)
            + f"""
    %{name}f, %{name}t = load_ptr_tko weak %{name}p : tile<{size}xptr<{type_}>>
        -> tile<{size}x{type_}>, token
    %{name}m = reshape %{name}f : tile<{size}x{type_}> -> tile<{rows}x{columns}x{type_}>
"""
        )
    body += f"""
    %d = mmaf %am, %bm, %cm
        : tile<{m}x{k}x{element}>, tile<{k}x{n}x{element}>, tile<{m}x{n}x{result}>
    %r = reshape %d : tile<{m}x{n}x{result}> -> tile<{m * n}x{result}>
    %t = store_ptr_tko weak %cp, %r token=%ct
        : tile<{m * n}xptr<{result}>>, tile<{m * n}x{result}> -> token
"""
    parameters = ", ".join(
        f"%{name}: tile<ptr<{type_}>>" for name, (_, _, type_) in zip("abc", sizes, strict=True)
    )
    got = run(parameters, body, arrays, **options)[2]
    a, b, c = (
        array.astype(np.float64).reshape(rows, columns)
        for array, (rows, columns, _) in zip(arrays, sizes, strict=True)
    )
    return got.astype(np.float64).reshape(m, n), a @ b + c


@pytest.mark.parametrize("depth", [1, 2])
def test_products_of_less_than_an_instruction_multiplies(depth: int):
    """Of f8 by way of f16, whose halves of K are summed apart: one of them is empty."""
    got, wanted = product("f8E4M3FN", "f32", (16, 8, depth), arch="sm_100a", numerics="hardware")
    assert np.abs(got - wanted).max() <= 1e-6 * np.abs(wanted).max()


@pytest.mark.covered
@pytest.mark.parametrize("numerics", ["hardware", "exact", "fast"])
@pytest.mark.parametrize("extents", [(2, 8, 16), (16, 16, 32), (64, 32, 64)])
@pytest.mark.parametrize(
    ("element", "result", "error"),
    [
        ("f16", "f32", 1e-5),
        ("f16", "f16", 2e-2),
        ("bf16", "f32", 1e-5),
        ("f32", "f32", 1e-5),
        ("f64", "f64", 1e-13),
        ("f8E4M3FN", "f32", 2e-2),
        ("f8E5M2", "f16", 5e-2),
    ],
)
def test_products(
    element: str, result: str, error: float, extents: tuple[int, int, int], numerics: str
):
    got, want = product(element, result, extents, numerics=numerics)
    assert np.abs(got - want).max() <= error * np.abs(want).max()


@pytest.mark.parametrize("arch", ["sm_80", "sm_89", "sm_100a", "sm_120a"])
def test_products_as_other_chips_compute_them(arch: str):
    got, want = product("bf16", "f32", (64, 16, 64), arch=arch)
    assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()


def test_exact_products_are_rounded_once():
    got, _ = product("f16", "f32", (16, 16, 16), numerics="exact")
    # Sums of 16 exact products of f16 fit float64: one rounding is NumPy's.
    assert (got == product("f16", "f32", (16, 16, 16))[1].astype(np.float32)).all()


@pytest.mark.parametrize("signs", [("signed", "signed"), ("unsigned", "signed")])
def test_integer_products_wrap(signs: tuple[str, str]):
    body = ""
    for name, type_, size, shape in (
        ("a", "i8", 64, "4x16"),
        ("b", "i8", 128, "16x8"),
        ("c", "i32", 32, "4x8"),
    ):
        body += (
            row(f"{name}p", name, type_, size)
            + f"""
    %{name}f, %{name}t = load_ptr_tko weak %{name}p : tile<{size}xptr<{type_}>>
        -> tile<{size}x{type_}>, token
    %{name}m = reshape %{name}f : tile<{size}x{type_}> -> tile<{shape}x{type_}>
"""
        )
    body += f"""
    %d = mmai %am, %bm, %cm {signs[0]} {signs[1]} : tile<4x16xi8>, tile<16x8xi8>, tile<4x8xi32>
    %r = reshape %d : tile<4x8xi32> -> tile<32xi32>
    %t = store_ptr_tko weak %cp, %r token=%ct : tile<32xptr<i32>>, tile<32xi32> -> token
"""
    rng = default_rng(0)
    a, b = rng.integers(-128, 128, 64).astype(np.int8), rng.integers(-128, 128, 128).astype(np.int8)
    c = rng.integers(2**31 - 100, 2**31, 32).astype(np.int32)
    parameters = "%a: tile<ptr<i8>>, %b: tile<ptr<i8>>, %c: tile<ptr<i32>>"
    got = run(parameters, body, [a, b, c])[2].reshape(4, 8)
    left = a if signs[0] == "signed" else a.view(np.uint8)
    exact = left.reshape(4, 16).astype(np.int64) @ b.reshape(16, 8).astype(np.int64)
    assert (got == (exact + c.reshape(4, 8)).astype(np.int32)).all()


@pytest.mark.parametrize("numerics", ["hardware", "exact", "fast"])
@pytest.mark.parametrize("arch", ["sm_100a", "sm_90a"])
@pytest.mark.parametrize(
    ("element", "scale", "vector"),
    [("f8E4M3FN", "f8E8M0FNU", 32), ("f4E2M1FN", "f8E8M0FNU", 32), ("f4E2M1FN", "f8E4M3FN", 16)],
)
def test_scaled_products(element: str, scale: str, vector: int, arch: str, numerics: str):
    m, n, k = 16, 8, 128
    s = k // vector
    rng = default_rng(vector)
    narrow = ml_dtypes.float4_e2m1fn if "f4" in element else ml_dtypes.float8_e4m3fn
    values = [
        rng.integers(-3, 4, size).astype(np.float32).astype(narrow) for size in (m * k, k * n)
    ]
    scale_type = ml_dtypes.float8_e8m0fnu if "E8" in scale else ml_dtypes.float8_e4m3fn
    scales = [(2.0 ** rng.integers(-2, 3, size)).astype(scale_type) for size in (m * s, s * n)]
    octets = [
        (each.view(np.uint8)[0::2] & 15 | each.view(np.uint8)[1::2] << 4)
        if "f4" in element
        else each.view(np.uint8)
        for each in values
    ]
    body = ""
    for name, size in (("a", len(octets[0])), ("b", len(octets[1])), ("u", m * s), ("v", s * n)):
        body += (
            row(f"{name}p", name, "i8", size)
            + f"""
    %{name}f, %{name}t = load_ptr_tko weak %{name}p : tile<{size}xptr<i8>> -> tile<{size}xi8>, token
"""
        )
    for name, shape, size in (("a", (m, k), m * k), ("b", (k, n), k * n)):
        cast = "unpack" if "f4" in element else "bitcast"
        body += f"""
    %{name}g = {cast} %{name}f : tile<{len(octets["ab".index(name)])}xi8> -> tile<{size}x{element}>
    %{name}m = reshape %{name}g : tile<{size}x{element}> -> tile<{shape[0]}x{shape[1]}x{element}>
"""
    for name, shape in (("u", (m, s)), ("v", (s, n))):
        size = shape[0] * shape[1]
        body += f"""
    %{name}g = bitcast %{name}f : tile<{size}xi8> -> tile<{size}x{scale}>
    %{name}m = reshape %{name}g : tile<{size}x{scale}> -> tile<{shape[0]}x{shape[1]}x{scale}>
"""
    body += f"""
    %c = constant <f32: 1.0> : tile<{m}x{n}xf32>
    %d = mmaf_scaled %am, %bm, %c, %um, %vm : tile<{m}x{k}x{element}>, tile<{k}x{n}x{element}>,
        tile<{m}x{n}xf32>, tile<{m}x{s}x{scale}>, tile<{s}x{n}x{scale}>
    %r = reshape %d : tile<{m}x{n}xf32> -> tile<{m * n}xf32>
"""
    body += row("dp", "d0", "f32", m * n)
    body += f"""
    %t = store_ptr_tko weak %dp, %r : tile<{m * n}xptr<f32>>, tile<{m * n}xf32> -> token
"""
    parameters = ", ".join(f"%{name}: tile<ptr<i8>>" for name in "abuv") + ", %d0: tile<ptr<f32>>"
    args = [*octets, *(each.view(np.uint8) for each in scales), np.zeros(m * n, np.float32)]
    got = run(parameters, body, args, arch=arch, numerics=numerics)[4].reshape(m, n)
    a, b = (each.astype(np.float64) for each in values)
    u, v = (each.astype(np.float64) for each in scales)
    left = a.reshape(m, k) * np.repeat(u.reshape(m, s), vector, axis=1)
    right = b.reshape(k, n) * np.repeat(v.reshape(s, n), vector, axis=0)
    # Small numbers: every sum is exact in every arithmetic.
    assert (got == left @ right + 1).all()


FLOATS = ["f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"]


@pytest.mark.parametrize(
    ("source", "to"), [(source, to) for source in FLOATS for to in FLOATS if source != to]
)
def test_floats_to_floats(source: str, to: str):
    rng = default_rng(1)
    with np.errstate(all="ignore"):
        values = (rng.standard_normal(256) * 2.0 ** rng.integers(-20, 6, 256)).astype(np.float32)
        array = values.astype(DTYPES[source])
    parameters, body = elementwise(
        f"    %r = ftof %x0 : tile<256x{source}> -> tile<256x{to}>\n", [source], to, 256
    )
    *_, got = run(parameters, body, [array, np.zeros(256, DTYPES[to])])
    with np.errstate(all="ignore"):
        wide = array.astype(np.float32) if source != "f64" else array
        want = wide.astype(np.float32).astype(DTYPES[to])
    assert (got.astype(np.float64) == want.astype(np.float64)).all()


def test_narrow_floats_saturate():
    array = np.array([1e9, -1e9, np.inf, 449.0, 464.0, 1e-9, np.nan, 448.0], np.float32)
    parameters, body = elementwise(
        "    %r = ftof %x0 : tile<8xf32> -> tile<8xf8E4M3FN>\n", ["f32"], "f8E4M3FN", 8
    )
    *_, got = run(parameters, body, [array, np.zeros(8, ml_dtypes.float8_e4m3fn)])
    want = [448, -448, 448, 448, 448, 0, np.nan, 448]
    assert_array_equal(got.astype(np.float64), want)


@pytest.mark.parametrize("sign", ["signed", "unsigned"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_and_floats(bits: int, sign: str):
    low = -(2 ** (bits - 1)) if sign == "signed" else 0
    high = 2 ** (bits - (sign == "signed")) - 1
    numbers = [low, high, 0, 1, low + 1, high - 1, (low + high) // 3, high // 5 * 2]
    array = np.array(numbers, f"{'' if sign == 'signed' else 'u'}int{bits}")
    for to in ("f16", "bf16", "f32", "f64"):
        parameters, body = elementwise(
            f"    %r = itof %x0 {sign} : tile<8xi{bits}> -> tile<8x{to}>\n", [f"i{bits}"], to, 8
        )
        *_, got = run(parameters, body, [array, np.zeros(8, DTYPES[to])])
        for number, result in zip(numbers, got.astype(np.float64).tolist(), strict=True):
            info = ml_dtypes.finfo(DTYPES[to])
            if abs(number) > float(info.max):
                assert np.isinf(result)
                continue
            quantum = 2 ** max(0, abs(number).bit_length() - 1 - info.nmant)
            steps, rest = divmod(number, quantum)
            up = 2 * rest > quantum or (2 * rest == quantum and steps % 2)
            assert int(result) == (steps + up) * quantum
    values = np.array([0.9, -0.9, 3.5, 100.25, 2.0**70, -(2.0**70), np.nan, 7.0])
    for word in (" saturating", ""):
        back = f"    %r = ftoi %x0 {sign}{word} : tile<8xf64> -> tile<8xi{bits}>\n"
        parameters, body = elementwise(back, ["f64"], f"i{bits}", 8)
        if word:
            *_, got = run(parameters, body, [values, np.zeros(8, array.dtype)])
            assert got.tolist() == [0, 0, 3, 100, high, low, 0, 7]
            continue
        # float64 has no neighbour of 2^64 below it nearer than 2048.
        most, least = float(high - (2047 if bits == 64 else 0)), float(low)
        for number in (0.9, -0.9, 100.25, most, least, least - 0.5 if bits < 64 else least):
            *_, got = run(parameters, body, [np.full(8, number), np.zeros(8, array.dtype)])
            assert got.tolist() == [int(number)] * 8
        for number in (np.nan, np.inf, -np.inf, float(high + 1), low - 2.0**12):
            values[1] = number
            said = f"expected a number that i{bits} holds, got one that it does not"
            with pytest.raises(tw.ExecutionError, match=said):
                run(parameters, body, [values, np.zeros(8, array.dtype)])


def test_tiles_taken_apart_and_put_together():
    text = """
    %m = reshape %x0 : tile<64xi32> -> tile<8x8xi32>
    %p = permute %m [1, 0] : tile<8x8xi32> -> tile<8x8xi32>
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %sub = extract %p[%one, %zero] : tile<8x8xi32> -> tile<4x2xi32>
    %two = cat %sub, %sub dim = 1 : tile<4x2xi32>, tile<4x2xi32> -> tile<4x4xi32>
    %in = insert %two, %m[%zero, %one] : tile<4x4xi32>, tile<8x8xi32>
    %r = reshape %in : tile<8x8xi32> -> tile<64xi32>
"""
    parameters, body = elementwise(text, ["i32"], "i32", 64)
    array = np.arange(64, dtype=np.int32)
    *_, got = run(parameters, body, [array, np.zeros(64, np.int32)])
    want = array.reshape(8, 8).copy()
    part = array.reshape(8, 8).T[4:8, 0:2]
    want[0:4, 4:8] = np.concatenate([part, part], axis=1)
    assert_array_equal(got.reshape(8, 8), want)


def test_a_part_that_is_not_there():
    text = """
    %two = constant <i32: 2> : tile<i32>
    %sub = extract %x0[%two] : tile<64xi32> -> tile<32xi32>
    %r = cat %sub, %sub dim = 0 : tile<32xi32>, tile<32xi32> -> tile<64xi32>
"""
    parameters, body = elementwise(text, ["i32"], "i32", 64)
    with pytest.raises(
        tw.ExecutionError, match=r"'cuda_tile.extract' expected index 0 below 2, got 2"
    ):
        run(parameters, body, [np.arange(64, dtype=np.int32), np.zeros(64, np.int32)])


def test_parts_that_differ_between_blocks():
    text = """
    %q = extract %x0[%a0_x] : tile<64xi32> -> tile<16xi32>
    %i = insert %q, %x0[%a0_x] : tile<16xi32>, tile<64xi32>
    %c = cat %q, %q dim = 0 : tile<16xi32>, tile<16xi32> -> tile<32xi32>
    %d = cat %c, %c dim = 0 : tile<32xi32>, tile<32xi32> -> tile<64xi32>
    %r = subi %i, %d : tile<64xi32>
"""
    parameters, body = elementwise(text, ["i32"], "i32", 64)
    array = default_rng(0).integers(0, 99, 256).astype(np.int32)
    *_, got = run(parameters, body, [array, np.zeros(256, np.int32)], (4,))
    for x, (tile, result) in enumerate(zip(array.reshape(4, 64), got.reshape(4, 64), strict=True)):
        assert_array_equal(result, tile - np.tile(tile[16 * x : 16 * x + 16], 4))
