"""`math` and what is rare of `arith`: the same bits at every level, and code that ptxas takes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright.dialects.math_functions.functions import APPROXIMATIONS, FUNCTIONS, ON_INTEGERS
from tilewright.ptxas import assemble

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}
REALS, INTEGERS = ("f32", "f64", "f16", "bf16"), ("i8", "i16", "i32", "i64")
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
    zeros = [np.zeros(64, DTYPES[type_]) for _ in range(results)]
    args = [x, y, *zeros]
    block = (64, 1, 1)
    arrays = tw.interpret(text, grid=(1, 1, 1), block=block, args=args, arch="sm_90a", level=level)  # type: ignore[arg-type]
    return arrays[2:]


def operands(type_: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    if type_ in REALS:
        x, y = rng.uniform(-4, 4, (2, 64))
        x[:6] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30]
        return x.astype(DTYPES[type_]), y.astype(DTYPES[type_])
    info = np.iinfo(DTYPES[type_])
    x = rng.integers(info.min, info.max, 64, DTYPES[type_], endpoint=True)
    x[:6] = [0, 1, -1, 2, info.min, info.max]
    return x, rng.integers(-3, 9, 64, DTYPES[type_])


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
def test_levels_agree(name: str, type_: str, flags: str) -> None:
    text, (x, y) = text_of(name, type_, flags), operands(type_)
    (tile,), (ptx,) = (outputs(text, type_, level, x, y) for level in ("tile", "ptx"))
    assert tile.tobytes() == ptx.tobytes()


@pytest.mark.parametrize("type_", (*REALS, *INTEGERS))
def test_ptxas_takes_them(type_: str) -> None:
    """All functions of a type in one kernel."""
    cases = [case for case in CASES if case[1] == type_]
    module = "\n".join(
        text_of(*case).replace("@k(", f"@k{number}(") for number, case in enumerate(cases)
    )
    assert assemble(tw.compile(module, "sm_90a").ptx, "sm_90a").ok


@pytest.mark.parametrize("type_", INTEGERS)
def test_integers_are_pythons(type_: str) -> None:
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
def test_both_halves(op: str, type_: str) -> None:
    width, (x, y) = int(type_[1:]), operands(type_)
    y = np.roll(x, 5)
    if op == "arith.addui_extended":
        line = f"%r, %c = {op} %a, %b : {type_}, i1\n  %s = arith.extui %c : i1 to {type_}"
    else:
        line = f"%r, %s = {op} %a, %b : {type_}"
    text = kernel(type_, line, ("r", "s"))
    levels = [outputs(text, type_, level, x, y, 2) for level in ("tile", "ptx")]
    for tile, ptx in zip(*levels, strict=True):
        assert tile.tobytes() == ptx.tobytes()
    modulus = 1 << width
    for a, b, low, high in zip(x, y, *levels[0], strict=True):
        a, b = int(a), int(b)
        if "ui" in op:
            a, b = a % modulus, b % modulus
        whole = a + b if op == "arith.addui_extended" else a * b
        assert (int(low) % modulus, int(high) % modulus) == (
            whole % modulus,
            (whole >> width) % modulus,
        )
