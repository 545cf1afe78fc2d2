"""`math` and what is rare of `arith`: the same bits at every level, and code that ptxas takes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from covering import THOROUGH
from numpy.random import default_rng
from numpy.testing import assert_array_equal

import tilewright as tw
from tilewright.arguments.dtypes import dtype_of_element
from tilewright.dialects.math_functions.functions import APPROXIMATIONS, FUNCTIONS, ON_INTEGERS
from tilewright.dialects.math_functions.rounded_once import half_quotient
from tilewright.launch.ptxas import assemble
from tilewright.lowering.interpreter.arithmetic.programs import function_of

REALS, INTEGERS = ("f32", "f64", "f16", "bf16"), ("i1", "i8", "i16", "i32", "i64")
BINARY = ("math.powf", "math.atan2", "math.copysign", "math.ipowi")


def kernel(type_: str, line: str, results: tuple[str, ...] = ("r",)) -> str:
    """A kernel of 64 threads that computes `line` on elements %a and %b."""
    stores = "\n".join(
        f"  memref.store %{result}, %o{number}[%i] : memref<64x{type_}>"
        for number, result in enumerate(results)
    )
    outs = ", ".join(f"%o{number} : memref<64x{type_}>" for number in range(len(results)))
    return f"""func.func @k(%x : memref<64x{type_}>, %y : memref<64x{type_}>, {outs})
    attributes {{gpu.kernel}} {{
  %i = "gpu.thread_id"() {{dimension = #gpu<dim x>}} : () -> index
  %a = memref.load %x[%i] : memref<64x{type_}>
  %b = memref.load %y[%i] : memref<64x{type_}>
  {line}
{stores}
  func.return
}}"""


def outputs(text: str, type_: str, level: str, x: Any, y: Any, results: int = 1) -> list[Any]:
    zeros = [np.zeros(64, dtype_of_element(type_)) for _ in range(results)]
    args = [x, y, *zeros]
    block = (64, 1, 1)
    arrays = tw.interpret(text, grid=(1, 1, 1), block=block, args=args, arch="sm_90a", level=level)  # type: ignore[arg-type]
    return arrays[2:]


def operands(type_: str) -> tuple[Any, Any]:
    rng = default_rng(7)
    if type_ in REALS:
        x, y = rng.uniform(-4, 4, (2, 64))
        x[:6] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30]
        return x.astype(dtype_of_element(type_)), y.astype(dtype_of_element(type_))
    if type_ == "i1":
        return rng.integers(0, 2, (2, 64)).astype(bool)
    info = np.iinfo(dtype_of_element(type_))
    x = rng.integers(info.min, info.max, 64, dtype_of_element(type_), endpoint=True)
    x[:6] = [0, 1, -1, 2, info.min, info.max]
    return x, rng.integers(-3, 9, 64, dtype_of_element(type_))


EXTENDED = ("arith.addui_extended", "arith.mului_extended", "arith.mulsi_extended")
CASES = [
    *((name, type_, "") for name in FUNCTIONS for type_ in REALS),
    *((name, type_, "fastmath<afn> ") for name in APPROXIMATIONS for type_ in ("f32", "f16")),
    *((name, type_, "") for name in ON_INTEGERS for type_ in INTEGERS),
    *(("math.fpowi", type_, "") for type_ in REALS),
]


def text_of(name: str, type_: str, flags: str) -> str:
    if name == "math.fpowi":
        none = "<{fastmath = #arith.fastmath<none>}>"
        return kernel(
            type_,
            "%n = arith.constant -3 : i32\n"
            f'  %r = "math.fpowi"(%a, %n) {none} : ({type_}, i32) -> {type_}',
        )
    return kernel(type_, f"%r = {name} %a{', %b' if name in BINARY else ''} {flags}: {type_}")


@pytest.mark.parametrize("name, type_, flags", CASES)
def test_levels_agree(name: str, type_: str, flags: str):
    text, (x, y) = text_of(name, type_, flags), operands(type_)
    (tile,), (ptx,) = (outputs(text, type_, level, x, y) for level in ("tile", "ptx"))
    assert tile.tobytes() == ptx.tobytes()


@pytest.mark.parametrize("type_", (*REALS, *INTEGERS))
def test_ptxas_takes_them(type_: str):
    """All functions of a type in one kernel."""
    cases = [case for case in CASES if case[1] == type_]
    module = "\n".join(
        text_of(*case).replace("@k(", f"@k{number}(") for number, case in enumerate(cases)
    )
    assert assemble(tw.compile(module, "sm_90a").ptx, "sm_90a").ok


@pytest.mark.parametrize("type_", INTEGERS)
def test_integers_are_pythons(type_: str):
    width, (x, y) = int(type_[1:]), operands(type_)
    laws = {
        "math.ctpop": lambda a, b: a.bit_count(),
        "math.ctlz": lambda a, b: width - a.bit_length(),
        "math.cttz": lambda a, b: (a & -a).bit_length() - 1 if a else width,
    }
    for name, law in laws.items():
        (found,) = outputs(text_of(name, type_, ""), type_, "tile", x, y)
        unsigned = [int(value) % (1 << width) for value in x]
        assert found.tolist() == [law(a, b) for a, b in zip(unsigned, y.tolist(), strict=True)]
    (power,) = outputs(text_of("math.ipowi", type_, ""), type_, "tile", x, np.abs(y))
    wanted = [pow(int(a), int(b)) % (1 << width) for a, b in zip(x, np.abs(y), strict=True)]
    assert [int(value) % (1 << width) for value in power] == wanted


@pytest.mark.parametrize("type_", INTEGERS)
@pytest.mark.parametrize("op", EXTENDED)
def test_both_halves(op: str, type_: str):
    width, (x, y) = int(type_[1:]), operands(type_)
    y = np.roll(x, 5)
    if op == "arith.addui_extended" and type_ != "i1":
        line = f"%r, %c = {op} %a, %b : {type_}, i1\n  %s = arith.extui %c : i1 to {type_}"
    else:
        line = f"%r, %s = {op} %a, %b : {type_}{', i1' if 'add' in op else ''}"
    text = kernel(type_, line, ("r", "s"))
    levels = [outputs(text, type_, level, x, y, 2) for level in ("tile", "ptx")]
    for tile, ptx in zip(*levels, strict=True):
        assert tile.tobytes() == ptx.tobytes()
    modulus = 1 << width
    for a, b, low, high in zip(x, y, *levels[0], strict=True):
        a, b = (-int(x) if type_ == "i1" else int(x) for x in (a, b))
        if "ui" in op:
            a, b = a % modulus, b % modulus
        whole = a + b if op == "arith.addui_extended" else a * b
        assert (int(low) % modulus, int(high) % modulus) == (
            whole % modulus,
            (whole >> width) % modulus,
        )


# What is rounded once


def nearest(value: Fraction, digits: int, least: int) -> Fraction:
    """To `digits` bits, ties to even, above 2^least."""
    if value == 0:
        return value
    size = abs(value)
    exponent = (size.numerator.bit_length() - size.denominator.bit_length()) - 1
    exponent += size >= Fraction(2) ** (exponent + 1)
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    return round(value / unit) * unit


def near_ties(rng: np.random.Generator, digits: int) -> Any:
    """Midpoints of two numbers of so many bits, and what is next to them."""
    midpoints = (2 * rng.integers(1 << digits - 1, 1 << digits, 48) + 1) * 2.0 ** (-digits)
    moved = midpoints * (1 + rng.choice([-1, 0, 1], 48) * 2.0 ** rng.choice([-30, -52], 48))
    sizes = 2.0 ** rng.integers(-8, 8, 48)
    return np.concatenate([moved * sizes, rng.standard_normal(15), [0.0]])


@pytest.mark.parametrize("result", ["bf16", "f8E4M3FN", "f8E5M2"])
def test_doubles_are_rounded_once(result: str):
    digits, least = {"bf16": (8, -133), "f8E4M3FN": (4, -9), "f8E5M2": (3, -16)}[result]
    text = kernel(
        "f64",
        f"%n = arith.truncf %a : f64 to {result}\n  %w = arith.extf %n : {result} to f32\n"
        "  %r = arith.extf %w : f32 to f64",
    )
    x = near_ties(default_rng(1), digits)
    for level in ("tile", "ptx"):
        (found,) = outputs(text, "f64", level, x, x)
        wanted = [float(nearest(Fraction(float(value)), digits, least)) for value in x]
        assert found.tolist() == wanted
    assert assemble(tw.compile(text, "sm_90a").ptx, "sm_90a").ok


@pytest.mark.parametrize("type_", ["i32", "i64"])
@pytest.mark.parametrize("op", ["sitofp", "uitofp"])
def test_integers_are_rounded_once(op: str, type_: str):
    width, rng = int(type_[1:]), default_rng(2)
    text = kernel(
        type_,
        f"%n = arith.{op} %a : {type_} to bf16\n  %w = arith.extf %n : bf16 to f64\n"
        f"  %r = arith.fpto{op[0]}i %w : f64 to {type_}",
    )
    top = (2 * rng.integers(128, 256, 64) + 1) << rng.integers(0, width - 11, 64)
    x = (top + rng.integers(-1, 2, 64)) * (rng.choice([-1, 1], 64) if op == "sitofp" else 1)
    x = x.astype(dtype_of_element(type_))
    for level in ("tile", "ptx"):
        (found,) = outputs(text, type_, level, x, x)
        assert found.tolist() == [int(nearest(Fraction(int(value)), 8, -133)) for value in x]
    assert assemble(tw.compile(text, "sm_90a").ptx, "sm_90a").ok


def test_fma_of_bf16_is_rounded_once():
    """c is far below the product's last bit, and decides ties."""
    rng, bf16 = default_rng(3), ml_dtypes.bfloat16
    text = kernel("bf16", "%c = arith.constant 0x3380 : bf16\n  %r = math.fma %a, %b, %c : bf16")
    x, y = (rng.integers(128, 256, 64).astype(bf16) for _ in range(2))
    x = x * rng.choice([-1, 1], 64).astype(bf16)
    for level in ("tile", "ptx"):
        (found,) = outputs(text, "bf16", level, x, y)
        exact = [Fraction(float(a)) * Fraction(float(b)) + Fraction(1, 1 << 24)
                 for a, b in zip(x, y, strict=True)]  # fmt: skip
        assert found.astype(float).tolist() == [float(nearest(each, 8, -133)) for each in exact]
    products = x.astype(np.float32) * y.astype(np.float32)
    assert (products.view(np.uint32) & 0xFFFF == 0x8000).any(), "no ties"
    assert assemble(tw.compile(text, "sm_90a").ptx, "sm_90a").ok


def test_quotients_of_halves_are_rounded_once():
    """Of all dividends, by divisors some of which leave ties between subnormal numbers."""
    divide = function_of(half_quotient, ("f32", "f32"), (np.dtype(np.uint32),))
    words = np.arange(1 << 16, dtype=np.uint16)
    x, step = words.view(np.float16), 1 if THOROUGH else 1543
    wide = x.astype(np.float32).view(np.uint32)
    for word in (*range(0, 1 << 16, step), 0x8000, 0x7C00, 0xFFFF):
        y = np.array([word], np.uint16).view(np.float16)
        given = y.astype(np.float32).view(np.uint32)
        with np.errstate(all="ignore"):
            [quotients] = divide(wide, given)
            rounded = quotients.view(np.float32).astype(np.float16)
            law = (x.astype(float) / y.astype(float)).astype(np.float16)
        assert_array_equal(rounded, law)
        assert ((np.signbit(rounded) == np.signbit(law)) | np.isnan(law)).all()


@pytest.mark.parametrize("op", ["maximumf", "minimumf"])
def test_extremes_of_doubles(op: str):
    x, y = operands("f64")
    y = np.roll(x, 9)
    y[:2], x[1] = (-0.0, np.nan), 0.0
    law = np.maximum if op == "maximumf" else np.minimum
    for level in ("tile", "ptx"):
        (found,) = outputs(kernel("f64", f"%r = arith.{op} %a, %b : f64"), "f64", level, x, y)
        assert_array_equal(found, law(x, y))
        assert np.signbit(found[0]) == (op == "minimumf")
