"""Structs and values of the algebra as arguments: passed field by field, alike at every level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tilewright as tw
from tilewright.arguments.binding import Binding
from tilewright.launch.ptxas import assemble

STRUCT = "!llvm.struct<(i32, struct<(i64, f32, i1)>)>"
INNER = "!llvm.struct<(i64, f32, i1)>"
FIELDS = f"""
func.func @k(%x: f32, %s: {STRUCT}, %out: memref<?xf32>) attributes {{gpu.kernel}} {{
  %i = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %zero = arith.constant 0.0 : f32
  %p = ub.poison : {STRUCT}
  %n = llvm.extractvalue %s[0] : {STRUCT}
  %in = llvm.extractvalue %s[1] : {STRUCT}
  %t = llvm.insertvalue %in, %p[1] : {STRUCT}
  %u = llvm.insertvalue %n, %t[0] : {STRUCT}
  %v = llvm.insertvalue %x, %u[1, 1] : {STRUCT}
  %w = llvm.extractvalue %v[1, 0] : {STRUCT}
  %f = llvm.extractvalue %v[1, 1] : {STRUCT}
  %old = llvm.extractvalue %in[1] : {INNER}
  %flag = llvm.extractvalue %v[1, 2] : {STRUCT}
  %m = llvm.extractvalue %v[0] : {STRUCT}
  %a = arith.sitofp %m : i32 to f32
  %b = arith.sitofp %w : i64 to f32
  %c = arith.addf %a, %b : f32
  %d = arith.addf %c, %f : f32
  %e = arith.addf %d, %old : f32
  %g = arith.select %flag, %e, %zero : f32
  memref.store %g, %out[%i] : memref<?xf32>
  func.return
}}"""
ALGEBRA = f"""
func.func @k(%n: !cute.shape<"(4,?)">, %l: !cute.layout<"(4,8):(?,?)">, %s: {STRUCT},
    %x: !cute.memref<i32, gmem, "32:1">) attributes {{gpu.kernel}} {{
  %i = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %t = arith.index_cast %i : index to i32
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %e = cute.layout_eval(%at, %l)
  %z = cute.get_scalars(%e)
  %c, %k = cute.get_scalars(%n)
  %m = llvm.extractvalue %s[0] : {STRUCT}
  %w = arith.addi %z, %k : i32
  %v = arith.addi %w, %m : i32
  cute.memref.store(%v, %x, %at)
  func.return
}}"""


def run(text: str, args: list[Any], block: int) -> np.ndarray:
    tile, *rest = (
        tw.interpret(text, grid=(1,), block=(block,), args=args, level=level)[-1]
        for level in ("tile", "atom", "ptx")
    )
    for found in rest:
        assert found.tobytes() == tile.tobytes()
    return tile


@pytest.mark.parametrize("flag", [True, False])
def test_fields_of_a_struct(flag: bool):
    found = run(FIELDS, [2.25, (3, (1 << 20, 0.5, flag)), np.zeros(4, np.float32)], 4)
    assert_array_equal(found, 3 + (1 << 20) + 2.25 + 0.5 if flag else 0)
    kernel = tw.compile(FIELDS, "sm_80")
    assert kernel.entries[0].parameters == (
        ("x", "f32"), ("s_0", "u32"), ("s_1_0", "u64"), ("s_1_1", "f32"), ("s_1_2", "u8"),
        ("out", "u64"),
    )  # fmt: skip
    assert assemble(kernel.ptx, "sm_80").clean


ALGEBRA_ARGS: list[Any] = [(4, 100), "(4,8):(8,3)", (7, (0, 0.0, False)), np.zeros(32, np.int32)]


def test_values_of_the_algebra():
    place = np.arange(32)
    expected = place % 4 * 8 + place // 4 * 3 + 100 + 7
    assert_array_equal(run(ALGEBRA, ALGEBRA_ARGS, 32), expected)
    assert assemble(tw.compile(ALGEBRA, "sm_80").ptx, "sm_80").clean


class Memory:
    """Of a GPU, where the one array lies."""

    def place(self, name: str, content: Any) -> int:
        return 4096

    def add_tensor_map(self, *_: Any) -> int:
        raise AssertionError


def test_what_a_launch_hands_to_the_driver():
    entry = tw.compile(ALGEBRA, "sm_80").entries[0]
    values = entry.values(Binding(entry.arguments, ALGEBRA_ARGS, Memory()))
    assert values == [100, 8, 3, 7, 0, 0, 0, 4096]
    assert [type_ for _, type_ in entry.parameters] == [
        "u32", "u32", "u32", "u32", "u64", "f32", "u8", "u64",
    ]  # fmt: skip


@pytest.mark.parametrize("struct, words", [
    ((3, 5), "argument 's[1]' expected a tuple of 3"),
    ((1 << 40, (1, 0.5, True)), "argument 's[0]' expected 32 bits for i32"),
])  # fmt: skip
def test_structs_that_do_not_fit(struct: Any, words: str):
    for level in ("tile", "ptx"):
        with pytest.raises(tw.ExecutionError) as caught:
            args = [1.0, struct, np.zeros(4, np.float32)]
            tw.interpret(FIELDS, grid=(1,), block=(4,), args=args, level=level)
        assert words in str(caught.value)


MEMORY = "!llvm.struct<(i32, memref<?xf32>, struct<(memref<4x2xi16>, f32)>)>"
STATE = "!llvm.struct<(f32, struct<(i32, i1)>)>"
CARRIED = f"""
func.func @k(%s: {MEMORY}, %out: memref<?xf32>) attributes {{gpu.kernel}} {{
  %i = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %true = arith.constant true
  %n = llvm.extractvalue %s[0] : {MEMORY}
  %m = llvm.extractvalue %s[1] : {MEMORY}
  %q = llvm.extractvalue %s[2, 0] : {MEMORY}
  %f = llvm.extractvalue %s[2, 1] : {MEMORY}
  %e = memref.load %m[%i] : memref<?xf32>
  %h = memref.load %q[%i, %c1] : memref<4x2xi16>
  %hf = arith.sitofp %h : i16 to f32
  %p = ub.poison : {STATE}
  %p1 = llvm.insertvalue %e, %p[0] : {STATE}
  %p2 = llvm.insertvalue %n, %p1[1, 0] : {STATE}
  %p3 = llvm.insertvalue %true, %p2[1, 1] : {STATE}
  %r = scf.for %k = %c0 to %c5 step %c1 iter_args(%a = %p3) -> ({STATE}) {{
    %x = llvm.extractvalue %a[0] : {STATE}
    %b = llvm.extractvalue %a[1, 1] : {STATE}
    %y = arith.addf %x, %hf : f32
    %z = llvm.insertvalue %y, %a[0] : {STATE}
    %w = scf.if %b -> ({STATE}) {{
      %no = arith.constant false
      %z2 = llvm.insertvalue %no, %z[1, 1] : {STATE}
      scf.yield %z2 : {STATE}
    }} else {{
      scf.yield %a : {STATE}
    }}
    scf.yield %w : {STATE}
  }}
  cf.br ^b(%r : {STATE})
^b(%u: {STATE}):
  %v = llvm.extractvalue %u[0] : {STATE}
  %g = arith.addf %v, %f : f32
  memref.store %g, %out[%i] : memref<?xf32>
  func.return
}}"""


def test_memory_in_structs_and_structs_in_loops():
    """`scf.for`, `scf.if` and `cf.br` carry a state; its flag lets the first iteration count."""
    x, h = np.arange(4, dtype=np.float32), np.arange(8, dtype=np.int16).reshape(4, 2)
    found = run(CARRIED, [(3, x, (h, 0.5)), np.zeros(4, np.float32)], 4)
    assert_array_equal(found, x + h[:, 1] + 0.5)
    kernel = tw.compile(CARRIED, "sm_80")
    assert [name for name, _ in kernel.entries[0].parameters] == [
        "s_0", "s_1", "s_2_0", "s_2_1", "out",
    ]  # fmt: skip
    assert assemble(kernel.ptx, "sm_80").clean


def test_a_loop_around_tiles_carries_a_struct():
    text = f"""func.func @k(%x: !cute.memref<f32, gmem, "32:1">) attributes {{gpu.kernel}} {{
  %i = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %t = arith.index_cast %i : index to i32
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %e = cute.memref.load(%x, %at)
  %p = ub.poison : {STATE}
  %s = llvm.insertvalue %e, %p[0] : {STATE}
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %s) -> ({STATE}) : i32 {{
    %v = llvm.extractvalue %a[0] : {STATE}
    %w = arith.addf %v, %v : f32
    %n = llvm.insertvalue %w, %a[0] : {STATE}
    scf.yield %n : {STATE}
  }}
  %f = llvm.extractvalue %r[0] : {STATE}
  cute.memref.store(%f, %x, %at)
  func.return
}}"""
    x = np.arange(32, dtype=np.float32)
    assert_array_equal(run(text, [x], 32), 8 * x)


def test_memory_that_a_struct_lacks():
    with pytest.raises(tw.ExecutionError, match=r"'s\[1\]' expected an array for memref<\?xf32>"):
        tw.interpret(CARRIED, grid=(1,), block=(4,), args=[(3, 4, (None, 0.5)), np.zeros(4)])
