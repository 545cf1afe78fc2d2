"""What a run of threads is asked: NaNs and infinities, unwritten outputs, shifts; at each level."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from run_levels import at_levels
from tile_gemm_kernels import register_kernel, warpgroup_kernel

import tilewright as tw

KERNEL = """
func.func @k(%x: memref<64xf32>, %out: memref<64xf16>, %amount: i32) attributes {gpu.kernel} {
  %t = gpu.thread_id x
  %at = arith.index_cast %t : index to i32
  %value = memref.load %x[%t] : memref<64xf32>
  %power = arith.mulf %value, %value : f32
  %half = arith.truncf %power : f32 to f16
  %one = arith.constant 1 : i32
  %end = arith.shli %one, %amount : i32
  %some = arith.cmpi ult, %at, %end : i32
  scf.if %some {
    memref.store %half, %out[%t] : memref<64xf16>
  }
  func.return
}
"""


@cache
def ptx_of(text: str) -> str:
    return tw.compile(text, arch="sm_90a").ptx


def run(
    level: Any, check: str, value: float = 1, amount: int = 6, text: str = KERNEL, **more: Any
) -> None:
    x = np.ones(64, np.float32)
    x[7] = value
    given: Any = {"grid": (1,), "block": (64,), "args": [x, np.zeros(64, np.float16), amount]}
    if level == "text":
        tw.interpret(ptx_of(text), "k", check=check, **given, **more)
    else:
        tw.interpret(text, "k", check=check, level=level, **given, **more)


@at_levels("tile", "atom", "ptx", "text")
@pytest.mark.parametrize("value, op", [(1e30, "mul"), (300.0, "truncf")])
def test_the_first_infinity_is_shown_where_it_is_made(level: Any, value: float, op: str):
    names = {"tile": f"arith.{op}", "atom": f"arith.{op}", "ptx": "ptx.", "text": "ptx."}
    with pytest.raises(tw.ExecutionError) as error:
        run(level, "nan", value)
    first, line, *_ = str(error.value).splitlines()
    assert names[level] in first and "thread (7,0,0)" in first
    assert "expected finite numbers, got an infinity" in first
    said = {"mul": ("%power", "mul."), "truncf": ("%half", "cvt.rn.f16.f32")}[op]
    assert said[level == "text"] in line


@at_levels("tile", "atom", "ptx", "text")
def test_what_follows_from_an_operand_is_not_the_first(level: Any):
    for value in (np.inf, np.nan):
        run(level, "nan,padding", value)
    run(level, "", 1e30)


@at_levels("tile", "atom", "ptx", "text")
@pytest.mark.parametrize("races", ["error", "ignore"])
def test_elements_that_no_thread_wrote(level: Any, races: Any):
    run(level, "unwritten", races=races)
    words = r"'out' to be written, got 32 of 64 that no block wrote, the first at \(32,\)"
    with pytest.raises(tw.ExecutionError, match=words):
        run(level, "unwritten", amount=5, races=races)


def test_an_output_that_nothing_is_written_to():
    never = KERNEL.replace("arith.cmpi ult, %at, %end", "arith.cmpi ult, %end, %end")
    with pytest.raises(tw.ExecutionError, match="'out' to be written, got 64 of 64"):
        run("tile", "unwritten", text=never)


@at_levels("tile", "atom")
def test_shifts_past_the_width(level: Any):
    run(level, "integers", amount=31)
    with pytest.raises(tw.ExecutionError, match=r"'arith\.shli' expected a shift below 32, got 32"):
        run(level, "integers", amount=32)
    run(level, "", amount=32)


@at_levels("ptx", "text")
def test_wide_shifts_of_instructions_are_defined(level: Any):
    """They give zeros: PTX ISA 9.7.8.7."""
    run(level, "integers", amount=32)


COUNT = """
func.func @k(%out: memref<4xi32>, %by: i32) attributes {gpu.kernel} {
  %t = gpu.thread_id x
  %old = "memref.atomic_rmw"(%by, %out, %t) <{kind = 1 : i64}> : (i32, memref<4xi32>, index) -> i32
  func.return
}
"""


@pytest.mark.parametrize("by", [0, 1])
def test_what_is_combined_is_written(by: int):
    options: Any = {"grid": (1,), "args": [np.zeros(4, np.int32), by], "check": "unwritten"}
    tw.interpret(COUNT, block=(4,), **options)
    with pytest.raises(tw.ExecutionError, match="got 1 of 4 that no block wrote"):
        tw.interpret(COUNT, block=(3,), **options)


HALF = ("sm80", (16, 8, 16), "f16", "f16", "f16")
PRODUCTS = {
    "registers": (register_kernel(HALF, "", 16, 8, 16), 32, (16, 16), (8, 16), (16, 8)),
    "warpgroup": (
        warpgroup_kernel(("f16", "f16", "f16", 16), "ss", ("k", "k"), 64, 64), 128, (64, 64),
        (64, 64), (64, 64),
    ),
}  # fmt: skip


@at_levels("tile", "atom", "ptx")
@pytest.mark.parametrize("kind", PRODUCTS)
def test_products_that_overflow(kind: str, level: Any):
    text, threads, *shapes = PRODUCTS[kind]
    a, b, c = (np.ones(shape, np.float16) for shape in shapes)
    options: Any = {"grid": (1,), "block": (threads,), "level": level, "check": "nan,unwritten"}
    if kind == "registers":
        b = np.ones((16, 8), np.float16).T
    tw.interpret(text, args=[a, b, c], **options)
    a[3], b[5] = 300, 300
    with pytest.raises(tw.ExecutionError, match=r"got an infinity at index \(3, 5\)") as e:
        tw.interpret(text, args=[a, b, c], **options)
    assert "cute.gemm" in str(e.value)
    a[:] = np.inf
    tw.interpret(text, args=[a, b, c], **options)


def test_padding_is_asked_of_tile_ir_alone_where_it_is_zeros_below():
    """Threads use nothing that is undefined: it is an error, asked for or not."""
    text = KERNEL.replace("memref.load %x[%t] : memref<64xf32>", "ub.poison : f32")
    for check in ("padding", ""):
        with pytest.raises(tw.ExecutionError, match="use of an undefined register"):
            run("tile", check, text=text)
