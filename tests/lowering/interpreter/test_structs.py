"""LLVM structs in a running kernel: fields by path, branches and loops, fields left undefined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw

THREADS = 8
S = "!llvm.struct<(i32, struct<(i64, i32)>)>"
WRITTEN = "!llvm.struct<(i32, !llvm.struct<(i64, i32)>)>"
HEAD = f"""
  %i = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %t = arith.index_cast %i : index to i32
  %w = arith.index_cast %i : index to i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %four = arith.constant 4 : i32
  %low = arith.cmpi slt, %t, %four : i32
  %p = ub.poison : {S}
"""


def stored(body: str, result: str = "%r") -> list[int]:
    """What each thread computes."""
    text = (
        f"func.func @k(%n: i32, %out: memref<?xi32>) attributes {{gpu.kernel}} {{{HEAD}{body}\n"
        f"  memref.store {result}, %out[%i] : memref<?xi32>\n  func.return\n}}"
    )
    args = [7, np.zeros(THREADS, np.int32)]
    (out,) = tw.interpret(text, grid=(1,), block=(THREADS,), args=args)
    return out.tolist()


def test_fields_are_kept_apart():
    body = f"""
  %a = llvm.insertvalue %n, %p[0] : {S}
  %b = llvm.insertvalue %w, %a[1, 0] : {S}
  %c = llvm.insertvalue %t, %b[1, 1] : {S}
  %d = llvm.insertvalue %four, %c[0] : {S}
  %inner = llvm.extractvalue %d[1] : {S}
  %x = llvm.extractvalue %inner[1] : !llvm.struct<(i64, i32)>
  %y = llvm.extractvalue %d[0] : {S}
  %z = llvm.extractvalue %c[0] : {S}
  %l = llvm.extractvalue %d[1, 0] : {S}
  %m = arith.trunci %l : i64 to i32
  %xy = arith.addi %x, %y : i32
  %xyz = arith.muli %xy, %z : i32
  %r = arith.addi %xyz, %m : i32"""
    assert stored(body) == [(i + 4) * 7 + i for i in range(THREADS)]


def test_a_struct_as_a_field():
    body = f"""
  %q = ub.poison : !llvm.struct<(i64, i32)>
  %a = llvm.insertvalue %t, %q[1] : !llvm.struct<(i64, i32)>
  %b = llvm.insertvalue %a, %p[1] : {S}
  %r = llvm.extractvalue %b[1, 1] : {S}"""
    assert stored(body) == list(range(THREADS))


def test_structs_of_both_sides_of_a_branch():
    body = f"""
  %a = llvm.insertvalue %n, %p[0] : {S}
  %b = llvm.insertvalue %t, %p[0] : {S}
  %s = scf.if %low -> ({S}) {{
    scf.yield %a : {S}
  }} else {{
    scf.yield %b : {S}
  }}
  %r = llvm.extractvalue %s[0] : {S}"""
    assert stored(body) == [7] * 4 + [4, 5, 6, 7]


def test_structs_carried_by_a_loop():
    body = f"""
  %a = llvm.insertvalue %n, %p[0] : {S}
  %s = scf.for %j = %c0 to %i step %c1 iter_args(%x = %a) -> ({S}) {{
    %old = llvm.extractvalue %x[0] : {S}
    %new = arith.addi %old, %four : i32
    %y = llvm.insertvalue %new, %x[0] : {S}
    scf.yield %y : {S}
  }}
  %r = llvm.extractvalue %s[0] : {S}"""
    assert stored(body) == [7 + 4 * i for i in range(THREADS)]


def test_a_cast_to_the_same_type():
    body = f"""
  %a = llvm.insertvalue %n, %p[0] : {S}
  %b = builtin.unrealized_conversion_cast %a : {S} to {S}
  %r = llvm.extractvalue %b[0] : {S}"""
    assert stored(body) == [7] * THREADS


# One side is poison altogether, and its threads must not look.
HALF = f"""
  %a = llvm.insertvalue %t, %p[0] : {S}
  %s = scf.if %low -> ({S}) {{
    scf.yield %a : {S}
  }} else {{
    scf.yield %p : {S}
  }}
"""


def test_a_struct_that_some_threads_have():
    body = f"""{HALF}
  %b = llvm.insertvalue %w, %s[1, 0] : {S}
  %r = scf.if %low -> (i32) {{
    %x = llvm.extractvalue %b[0] : {S}
    scf.yield %x : i32
  }} else {{
    %y = llvm.extractvalue %b[1, 0] : {S}
    %z = arith.trunci %y : i64 to i32
    scf.yield %z : i32
  }}"""
    assert stored(body) == list(range(THREADS))


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (f"%r = llvm.extractvalue %p[0] : {S}", ""),
        (f"%a = llvm.insertvalue %w, %p[1, 0] : {S}\n  %r = llvm.extractvalue %a[1, 1] : {S}", ""),
        (f"{HALF}\n  %r = llvm.extractvalue %s[0] : {S}", " (block (0,0,0), thread (4,0,0))"),
        (f"{HALF}\n  %b = llvm.insertvalue %t, %s[1, 1] : {S}\n"
         f"  %r = llvm.extractvalue %b[0] : {S}", " (block (0,0,0), thread (4,0,0))"),
    ],
)  # fmt: skip
def test_fields_that_nothing_has_written(body: str, where: str):
    with pytest.raises(tw.ExecutionError) as caught:
        stored(f"\n  {body}")
    said = f"use of an undefined register ('ub.poison' at <string>:9){where}\n"
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%q = ub.poison : !llvm.array<2 x i32>\n"
            "  %r = llvm.extractvalue %q[0] : !llvm.array<2 x i32>",
            "'llvm.extractvalue' expected a struct to be interpreted, got !llvm.array<2 x i32>",
        ),
        (
            "%r = builtin.unrealized_conversion_cast %w : i64 to i32",
            "'builtin.unrealized_conversion_cast' expected a cast to its own type, got i64 to i32",
        ),
    ],
)
def test_what_has_no_semantics(body: str, message: str):
    with pytest.raises(tw.CompileError) as caught:
        stored(f"\n  {body}")
    assert caught.value.message == message


PASSED = f"""func.func @k(%s: {S}, %out: memref<?xi32>) attributes {{gpu.kernel}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = llvm.extractvalue %s[0] : {S}
  %b = llvm.extractvalue %s[1, 1] : {S}
  memref.store %a, %out[%c0] : memref<?xi32>
  memref.store %b, %out[%c1] : memref<?xi32>
  func.return
}}"""


def passed(struct: Any, level: str = "atom") -> list[int]:
    launch: dict[str, Any] = {"grid": (1,), "block": (1,), "level": level}
    (out,) = tw.interpret(PASSED, args=[struct, np.zeros(2, np.int32)], **launch)
    return out.tolist()


def test_structs_as_arguments():
    assert passed((7, (1 << 40, -3))) == [7, -3]


@pytest.mark.parametrize(
    ("struct", "message"),
    [
        (7, f"argument 's' expected a tuple of 2 for {WRITTEN}, got 7"),
        ((7, (1, 2), 3), f"argument 's' expected a tuple of 2 for {WRITTEN}, got (7, (1, 2), 3)"),
        ((7, 1), "argument 's[1]' expected a tuple of 2 for !llvm.struct<(i64, i32)>, got 1"),
        ((1 << 40, (1, 2)), f"argument 's[0]' expected 32 bits for i32, got {1 << 40}"),
        ((7, (1, None)), "argument 's[1][1]' expected a number for i32, got None"),
    ],
)
def test_structs_that_do_not_fit(struct: Any, message: str):
    with pytest.raises(tw.ExecutionError) as caught:
        passed(struct)
    assert str(caught.value) == message


def test_structs_are_passed_to_the_chip_field_by_field():
    assert passed((7, (1, 2)), level="ptx") == passed((7, (1, 2)))
