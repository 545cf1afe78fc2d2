"""PTX on elements: registers, packed elements, several results, memory; the same at every level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from run_levels import at_levels
from triton_kernel import DTYPES, converted, numbers, on_tiles, run

import tilewright as tw
from tilewright.source.diagnostic import OpError


def inline(text: str, constraints: str, inputs: str, results: str, pack: int = 1) -> str:
    """The op on %a, %b and so on."""
    names = ", ".join(f"%{name}" for name, _ in zip("abcd", inputs.split(), strict=False))
    types = ", ".join(f"tensor<16x{type_}>" for type_ in inputs.split())
    kinds = ", ".join(f"tensor<16x{type_}>" for type_ in results.split())
    text = text.replace("\n", "\\0A")
    return (
        f'%r = tt.elementwise_inline_asm "{text}" {{constraints = "{constraints}", '
        f"packed_element = {pack} : i32, pure = true}} {names} : {types} -> {kinds}"
    )


HALVES = """{ // halves of a word are swapped
  .reg .b16 low, high;
  mov.b32 {low, high}, $1;
  mov.b32 $0, {high, low}; /* as they were */
}"""
CHOSEN = """{
  .reg .pred p<2>;
  setp.lt.s32 p1, $1, 0;
  mov.b32 $0, $1;
  @p1 neg.s32 $0, $1;
  @!p1 add.s32 $0, $0, 1;
}"""
SNIPPETS: list[tuple[str, str, str, str, int, Callable[..., Any]]] = [
    ("sub.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32", 1, np.subtract),
    ("and.b32 $0, $1, 0x1F1F1F1F; shl.b32 $0, $0, 3;", "=r,r", "i8", "i8", 4,
     lambda a: (a & 0x1F) << 3),
    ("fma.rn.f32 $0, $1, 0f40000000, 1.0;", "=f,f", "f32", "f32", 1, lambda a: a * 2 + 1),
    ("mul.rn.f64 $0, $1, $1;", "=d,d", "f64", "f64", 1, lambda a: a * a),
    ("shr.s64 $0, $0, 1;", "=l,0", "i64", "i64", 1, lambda a: a >> 1),
    ("shr.b32 $0, $1, 1;", "=r,r", "i32", "i32", 1, lambda a: (a.view("u4") >> 1).view("i4")),
    ("add.s16 $0, $1, -7;", "=h,h,~{memory}", "i16", "i16", 1, lambda a: a - 7),
    (HALVES, "=r,r", "i32", "i32", 1, lambda a: a << 16 | (a.view("u4") >> 16).view("i4")),
    (HALVES, "=r,r", "f16", "f16", 2, lambda a: a.reshape(-1, 2)[:, ::-1].reshape(-1)),
    (CHOSEN, "=&r,r", "i32", "i32", 1, lambda a: np.where(a < 0, -a, a + 1)),
    ("lop3.b32 $0, $1, $2, $3, 0xca;", "=r,r,r,r", "i32 i32 i32", "i32", 1,
     lambda a, b, c: a & b | ~a & c),
    ("lop3.b32 $0, $1, $1, $2, 97;", "=r,r,r", "i32 i32", "i32", 1, lambda a, b: ~b),
    ("cvt.rn.f32.s32 $0, $1;", "=r,r", "i32", "f32", 1, lambda a: a.astype(np.float32)),
]  # fmt: skip


@at_levels("program", "ptx")
@pytest.mark.parametrize(
    ("text", "constraints", "inputs", "result", "pack", "law"),
    SNIPPETS, ids=[row[0].split(";")[0].split("\n")[0] + row[2] for row in SNIPPETS],
)  # fmt: skip
def test_snippets(
    text: str, constraints: str, inputs: str, result: str, pack: int, law: Any, level: Any
):
    arrays = [numbers(element, (16,), seed) for seed, element in enumerate(inputs.split())]
    kernel = on_tiles(inline(text, constraints, inputs, result, pack), inputs, result)
    out = np.zeros(16, DTYPES[result])
    [*_, got] = tw.interpret(converted(kernel), "k", grid=(1,), args=[*arrays, out], level=level)
    assert_array_equal(got, law(*arrays))


def test_several_results_of_packed_elements():
    text = "add.s32 $0, $2, $2; sub.s32 $1, 0, $2;"
    body = inline(text, "=r,=r,r", "i32", "i32 i32").replace("%r =", "%x, %y =")
    kernel = on_tiles(f"{body}\n%r = arith.muli %x, %y : tensor<16xi32>", "i32", "i32")
    a = numbers("i32", (16,))
    [_, got] = run(kernel, a, np.zeros(16, np.int32))
    assert_array_equal(got, 2 * a * -a)


COPY = """module {
  tt.func public @k(%p: !tt.ptr<i8>, %q: !tt.ptr<i8>) {
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %ps = tt.splat %p : !tt.ptr<i8> -> tensor<16x!tt.ptr<i8>>
    %qs = tt.splat %q : !tt.ptr<i8> -> tensor<16x!tt.ptr<i8>>
    %a = tt.addptr %ps, %i : tensor<16x!tt.ptr<i8>>, tensor<16xi32>
    %b = tt.addptr %qs, %i : tensor<16x!tt.ptr<i8>>, tensor<16xi32>
    %r = tt.elementwise_inline_asm
      "ld.global.b8 $0, [$1]; shl.b32 $0, $0, 3; st.global.b8 [$2], $0;"
      {constraints = "=r,l,l", packed_element = 1 : i32, pure = false}
      %a, %b : tensor<16x!tt.ptr<i8>>, tensor<16x!tt.ptr<i8>> -> tensor<16xi8>
    tt.return
  }
}
"""


def test_memory_is_accessed_in_the_order_of_the_program():
    a = numbers("i8", (16,))
    [_, got] = run(COPY, a, np.zeros(16, np.int8))
    assert_array_equal(got, a << 3)


def test_waits_for_other_grids():
    """As Triton's `gdc_wait` has them: a result that nothing writes."""
    text = """module {
  tt.func public @k(%p: !tt.ptr<i32>) {
    %r = tt.elementwise_inline_asm "griddepcontrol.wait; // dummy $0"
      {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
    tt.store %p, %r : !tt.ptr<i32>
    %s = tt.elementwise_inline_asm "griddepcontrol.launch_dependents;"
      {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
    tt.return
  }
}
"""
    assert run(text, np.ones(1, np.int32))[0][0] == 0
    ptx = tw.compile(text, "sm_90a").ptx
    assert ptx.index("griddepcontrol.wait") < ptx.index("griddepcontrol.launch_dependents")


@at_levels("program", "ptx")
def test_times_and_the_multiprocessor_of_a_block(level: Any):
    """All threads go one way by a time, as the barrier in the branch needs it."""
    text = """module {
  tt.func public @k(%p: !tt.ptr<i64>, %q: !tt.ptr<i32>) {
    %i = tt.get_program_id x : i32
    %then = tt.elementwise_inline_asm "mov.u64 $0, %globaltimer;"
      {constraints = "=l", packed_element = 1 : i32, pure = false} -> i64
    %sm = tt.elementwise_inline_asm "mov.u32 $0, %smid;"
      {constraints = "=r", packed_element = 1 : i32, pure = true} -> i32
    %now = tt.elementwise_inline_asm "mov.u64 $0, %globaltimer;"
      {constraints = "=l", packed_element = 1 : i32, pure = false} -> i64
    %took = arith.subi %now, %then : i64
    %one = arith.constant 1 : i64
    %odd = arith.andi %now, %one : i64
    %is_odd = arith.cmpi eq, %odd, %one : i64
    scf.if %is_odd {
      %lanes = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %all = "tt.reduce"(%lanes) <{axis = 0 : i32}> ({
      ^0(%x: i32, %y: i32):
        %z = arith.addi %x, %y : i32
        tt.reduce.return %z : i32
      }) : (tensor<64xi32>) -> i32
      tt.store %q, %all : !tt.ptr<i32>
    }
    %to = tt.addptr %p, %i : !tt.ptr<i64>, i32
    tt.store %to, %took : !tt.ptr<i64>
    %c1 = arith.constant 1 : i32
    %at = arith.addi %i, %c1 : i32
    %there = tt.addptr %q, %at : !tt.ptr<i32>, i32
    tt.store %there, %sm : !tt.ptr<i32>
    tt.return
  }
}
"""
    arrays = [np.zeros(4, np.int64), np.zeros(5, np.int32)]
    took, (folded, *multiprocessors) = tw.interpret(
        text, grid=(4,), args=arrays, level=level, races="ignore"
    )
    assert (took > 0).all()
    assert folded in (0, 2016)
    assert sorted(multiprocessors) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "constraints", "message"),
    [("mov.u32 $0, %tid.x;", "=r,r", "expected a register or a number, got %tid.x"),
     ("vadd.u32 $0, $1, 1;", "=r,r", "registers that are known, got vadd.u32 \\$0, \\$1, 1"),
     ("add.s32 $0, t, 1;", "=r,r", "expected a register or a number, got t"),
     ("{ .reg .b32 t; add.s32 $0, t, 1; }", "=r,r", "expected a register that was written, got t"),
     ("add.s32 t, $1, 1;", "=r,r", "expected a register that is declared, got t"),
     ("add.s32 $0 $1", "=r,r", "expected a PTX statement, got 'add.s32 \\$0 \\$1'"),
     ("ret;", "=r,r", "registers that are known, got ret"),
     ("mov.b32 $0;", "=r,r", "registers that are known, got mov.b32 \\$0"),
     ("mov.v4 $0, $1;", "=r,r", "expected registers of 8 to 64 bits, got .v4"),
     (".reg .b128 x;", "=r,r", "expected registers of 8 to 64 bits, got .b128"),
     (".reg;", "=r,r", "expected registers of 8 to 64 bits, got ."),
     ("mov.b32 {$0}, $1;", "=r,r", "expected 2 or 4 registers of a whole of 32 bits, got {\\$0}"),
     ("mov.b32 $0, $1;", "=r,7", "expected constraints r, l, h, f or d, got 7; nearest legal: r"),
     ("mov.b32 $0, $1;", "=r", "expected constraints of 1 registers of results and 1 of operands"),
     ("mov.b32 $0, $1;", "=q,r", "expected constraints r, l, h, f or d, got q; nearest legal: r")],
)  # fmt: skip
def test_what_is_refused(text: str, constraints: str, message: str):
    kernel = on_tiles(inline(text, constraints, "i32", "i32"), "i32", "i32")
    with pytest.raises(OpError, match=message):
        converted(kernel)
