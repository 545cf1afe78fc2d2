"""Arguments, launches and kernels that cannot run."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from faults import SMEM, P, kernel, line_of, run
from run_levels import LEVELS, at_levels

import tilewright as tw

# Arguments and launches

AXPY = """func.func @axpy(%x: memref<4x8xf32>, %y: memref<?xbf16>, %n: i8, %a: f32, %b: i1)
    attributes {gpu.kernel} {
  func.return
}"""
X, Y = np.zeros((4, 8), np.float32), np.zeros(3, ml_dtypes.bfloat16)
BAD_ARGUMENTS = [
    ([X, Y, 1, 2.0], "expected 5 arguments (x: memref<4x8xf32>, y: memref<?xbf16>, n: i8, a: f32, "
                     "b: i1), got 4"),
    ([X.astype(np.float64), Y, 1, 2.0, 0], "argument 'x' expected dtype float32 (or uint32, raw "
                                           "bits) for memref<4x8xf32>, got float64"),
    ([X.astype(np.int32), Y, 1, 2.0, 0], "argument 'x' expected dtype float32"),
    ([X, Y.astype(np.float16), 1, 2.0, 0], "argument 'y' expected dtype bfloat16 (or uint16"),
    ([X.T, Y, 1, 2.0, 0], "argument 'x' expected shape (4, 8) for memref<4x8xf32>, got (8, 4)"),
    ([X.ravel(), Y, 1, 2.0, 0], "argument 'x' expected shape (4, 8)"),
    ([1.0, Y, 1, 2.0, 0], "argument 'x' expected an array for memref<4x8xf32>, got float"),
    ([X, Y, X, 2.0, 0], "argument 'n' expected a number for i8, got an array"),
    ([X, Y, 256, 2.0, 0], "argument 'n' expected 8 bits for i8, got 256"),
    ([X, Y, -129, 2.0, 0], "argument 'n' expected 8 bits for i8, got -129"),
    ([X, Y, 1.5, 2.0, 0], "argument 'n' expected a number for i8, got 1.5"),
    ([X, Y, float("inf"), 2.0, 0], "argument 'n' expected a number for i8, got inf"),
    ([X, Y, "one", 2.0, 0], "argument 'n' expected a number for i8, got 'one'"),
    ([X, Y, 1, None, 0], "argument 'a' expected a number for f32, got None"),
    ([X, Y, 1, 2.0, 2], "argument 'b' expected 1 bits for i1, got 2"),
]  # fmt: skip


@pytest.mark.parametrize("args, words", BAD_ARGUMENTS)
@at_levels()
def test_wrong_arguments(args: list[Any], words: str, level: str):
    with pytest.raises(tw.ExecutionError, match=re.escape(words)):
        tw.interpret(AXPY, grid=(1,), block=(1,), args=args, level=level)  # type: ignore[arg-type]


@pytest.mark.parametrize("launch, words", [
    ({"block": (33, 32)}, "expected a block of at most 1024 threads, got 1056"),
    ({"block": (0,)}, "expected block as up to three positive integers, got (0,)"),
    ({"grid": (1, 1, 1, 1)}, "expected grid as up to three positive integers, got (1, 1, 1, 1)"),
    ({"grid": ()}, "expected grid as up to three positive integers, got ()"),
    ({"grid": (1.5,)}, "expected grid as up to three positive integers, got (1.5,)"),
    ({"numerics": "fast"}, "expected Tile IR for numerics 'fast', got none"),
    ({"level": "sass"}, 'expected level as one of "program", "tile", "atom", "ptx"'),
])  # fmt: skip
def test_wrong_launches(launch: dict[str, Any], words: str):
    settings: dict[str, Any] = {"grid": (1,), "block": (1,), **launch}
    with pytest.raises(tw.ExecutionError, match=re.escape(words)):
        tw.interpret(AXPY, args=[X, Y, 1, 2.0, 0], **settings)


def test_block_that_is_not_the_one_the_kernel_asks_for():
    text = kernel("", attributes=', "gpu.known_block_size" = array<i32: 64, 1, 1>')
    for level in LEVELS:
        run(text, level, [P])
        with pytest.raises(tw.ExecutionError, match=re.escape(
            "'k' expected block (64, 1, 1), got (32, 1, 1)")):  # fmt: skip
            run(text, level, [P], block=(32,))


def test_unknown_kernel():
    two = kernel("") + "\n" + kernel("").replace("@k", "@other")
    with pytest.raises(tw.CompileError, match="expected a kernel 'x', got k, other"):
        run(two, "atom", [P], kernel="x")
    with pytest.raises(tw.CompileError, match="expected one kernel, got k, other"):
        run(two, "ptx", [P])
    run(two, "ptx", [P], kernel="other")
    with pytest.raises(tw.CompileError, match="expected one kernel, got none"):
        run("func.func @f() {\n  func.return\n}", "atom", [])


@pytest.mark.parametrize("body, op", [
    ('  %v = "test.op"(%f) : (f32) -> f32 // HERE', "test.op"),
    ("  %v = arith.maximumf %w, %w : f80 // HERE", "arith.maximumf"),
    ("  %v = arith.select %first, %p, %p : memref<?xi32> // HERE", "arith.select"),
    ("  %v = memref.alloc() : memref<4xi32> // HERE", "memref.alloc"),
])  # fmt: skip
def test_kernel_that_cannot_be_interpreted(body: str, op: str):
    values = "\n".join(f"  %{name} = ub.poison : {type_}" for name, type_ in (
        ("f", "f32"), ("d", "f64"), ("b", "bf16"), ("w", "f80")))  # fmt: skip
    values = values.replace("  %w = ub.poison : f80", "") if "f80" not in body else values
    text = kernel(f"{values}\n{body}")
    for level in LEVELS:
        with pytest.raises(tw.CompileError) as caught:
            run(text, level, [P])
        assert caught.value.message.startswith(f"'{op}'") or "f80" in caught.value.message
        assert str(caught.value).endswith("^"), caught.value
        if "f80" not in body:
            assert caught.value.line == line_of(text, "// HERE")


@pytest.mark.parametrize("type_, words", [
    ("memref<?x?xf32>", "has strides that its address does not carry; nearest legal: pass "
                        "memref<?xf32>"),
    (f"memref<4x8xf32, {SMEM}>", "expected global memory"),
    ('memref<4x8xf32, !cute.layout<"(8,4):(4,1)">>', "expected a layout of shape 4x8"),
    ('memref<4x8xf32, !cute.composed_layout<"(8,4):(4,1) o 0 o (4,8):(8,1)">>',
     "expected a swizzle before its layout"),
])  # fmt: skip
def test_memref_that_is_no_argument(type_: str, words: str):
    text = f"func.func @k(%x: {type_}) attributes {{gpu.kernel}} {{\n  func.return\n}}"
    for level in LEVELS:
        with pytest.raises(tw.CompileError, match=re.escape(words)) as caught:
            run(text, level, [X])
        assert caught.value.line == 1 and str(caught.value).endswith("^")
