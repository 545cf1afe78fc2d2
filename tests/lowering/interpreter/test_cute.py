# ruff: noqa: E501
"""`cute` values in kernels: indices into memory, control flow, arguments, printing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.dialects.cute import Layout, ScaledBasis, Swizzle

THREAD = """
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %i = arith.index_cast %t : index to i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"?">
"""
NUMBER = '!cute.int_tuple<"?">'
STORE = f"""
  %number = cute.get_scalars(%r) : {NUMBER}
  memref.store %number, %out[%t] : memref<?xi32>
"""


def run(body: str, threads: int = 32, parameters: str = "", args: tuple[Any, ...] = ()) -> Any:
    """What the threads stored in %out, an array of zeros before."""
    text = (
        f"func.func @k({parameters}%out: memref<?xi32>) attributes {{gpu.kernel}} {{"
        f"{THREAD}{body}\n  func.return\n}}"
    )
    arrays = [*args, np.zeros(threads, np.int32)]
    return tw.interpret(text, "k", grid=(1,), block=(threads,), args=arrays)[-1]


SWIZZLED = "S<2,0,2> o 0 o (4,?):(?,1)"


def test_a_layout_gives_indices_into_memory():
    """A tile is written through a swizzled layout that the launch sizes."""
    body = """
  %flat = cute.composed_get_outer(%l) : <"S<2,0,2> o 0 o (4,?):(?,1)"> -> <"(4,?):(?,1)">
  %shape = cute.get_shape(%flat) : !cute.layout<"(4,?):(?,1)"> -> !cute.shape<"(4,?)">
  %c = cute.idx2crd(%n, %shape) : (!cute.int_tuple<"?">, !cute.shape<"(4,?)">) -> !cute.coord<"(?,?)">
  %o = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<2,0,2> o 0 o (4,?):(?,1)">) -> !cute.int_tuple<"?">
  %s = cute.get_scalars(%o) : !cute.int_tuple<"?">
  %at = arith.index_cast %s : i32 to index
  memref.store %i, %out[%at] : memref<?xi32>
"""
    layout = "S<2,0,2> o 0 o (4,4):(4,1)"
    found = run(body, 16, f'%l: !cute.composed_layout<"{SWIZZLED}">, ', (layout,))
    swizzle, plain = Swizzle(2, 0, 2), Layout((4, 4), (4, 1))
    expected = np.zeros(16, np.int32)
    for i in range(16):
        expected[swizzle(plain(i))] = i
    assert (found == expected).all() and len(set(found)) == 16


def test_threads_part_and_meet():
    body = f"""
  %three = arith.constant 3 : i32
  %low = arith.cmpi slt, %i, %three : i32
  %r = scf.if %low -> ({NUMBER}) {{
    %sum = cute.tuple_add(%n, %n) : ({NUMBER}, {NUMBER}) -> {NUMBER}
    scf.yield %sum : {NUMBER}
  }} else {{
    scf.yield %n : {NUMBER}
  }}
{STORE}"""
    assert run(body, 8).tolist() == [0, 2, 4, 3, 4, 5, 6, 7]


def test_loops_carry_values():
    """Every thread as many rounds as its number: the sum of 1 to n, and static parts on the way."""
    pair = '!cute.shape<"(?,4)">'
    body = f"""
  %one = cute.static : !cute.int_tuple<"1">
  %start = cute.make_shape(%i) : (i32) -> {pair}
  %end = scf.for %k = %c0 to %t step %c1 iter_args(%s = %start) -> ({pair}) {{
    %j = arith.index_cast %k : index to i32
    %more = cute.make_shape(%j) : (i32) -> !cute.shape<"(?,0)">
    %next = cute.tuple_add(%s, %more) : ({pair}, !cute.shape<"(?,0)">) -> {pair}
    scf.yield %next : {pair}
  }}
  %first = cute.get<[0]> (%end) : {pair} -> !cute.shape<"?">
  %r = cute.to_int_tuple(%first) : !cute.shape<"?"> -> {NUMBER}
{STORE}"""
    assert run(body, 6).tolist() == [n + n * (n - 1) // 2 for n in range(6)]


def test_while_loops_and_select():
    body = f"""
  %five = arith.constant 5 : i32
  %top = cute.make_int_tuple(%five) : (i32) -> {NUMBER}
  %end = scf.while (%x = %n) : ({NUMBER}) -> {NUMBER} {{
    %less = cute.elem_less(%x, %top) : ({NUMBER}, {NUMBER}) -> i1
    scf.condition(%less) %x : {NUMBER}
  }} do {{
  ^bb0(%y: {NUMBER}):
    %two = cute.static : !cute.int_tuple<"2">
    %z = cute.tuple_add(%y, %two) : ({NUMBER}, !cute.int_tuple<"2">) -> {NUMBER}
    scf.yield %z : {NUMBER}
  }}
  %odd = arith.trunci %i : i32 to i1
  %r = arith.select %odd, %end, %top : {NUMBER}
{STORE}"""
    assert run(body, 8).tolist() == [5, 5, 5, 5, 5, 5, 5, 7]


@pytest.mark.parametrize(
    ("type_", "value", "shown"),
    [
        ('!cute.shape<"(4,?)">', (4, 8), "(4,8)"),
        ('!cute.shape<"(4,?{i64})">', "(4,8589934592)", "(4,8589934592)"),
        ('!cute.int_tuple<"?">', -5, "-5"),
        ('!cute.int_tuple<"?{i8}">', -5, "-5"),
        ('!cute.coord<"(_,?)">', (None, 3), "(_,3)"),
        ('!cute.stride<"(?@1,1@0)">', (ScaledBasis(6, (1,)), ScaledBasis(1, (0,))), "(6@1,1@0)"),
        ('!cute.layout<"(?,4):(1,?)">', Layout((2, 4), (1, 8)), "(2,4):(1,8)"),
        ('!cute.tile<"[?:1;_]">', "[4:1;_]", "[4:1;_]"),
        ('!cute.swizzle<"S<2,0,2>">', Swizzle(2, 0, 2), "S<2,0,2>"),
        (f'!cute.composed_layout<"{SWIZZLED}">', "S<2,0,2> o 0 o (4,3):(8,1)",
         "S<2,0,2> o 0 o (4,3):(8,1)"),
    ],
)  # fmt: skip
def test_arguments(type_: str, value: Any, shown: str, capsys: pytest.CaptureFixture[str]):
    run(f"  cute.print(%x) : {type_}", 2, f"%x: {type_}, ", (value,))
    assert capsys.readouterr().out == f"{shown}\n" * 2


@pytest.mark.parametrize(
    ("type_", "value", "got"),
    [
        ('!cute.shape<"(4,?)">', (5, 8), r"got \(5,8\)"),
        ('!cute.shape<"(4,?)">', (4, (8, 1)), r"got \(4, \(8, 1\)\)"),
        ('!cute.shape<"(4,?)">', "(4,", "expected an integer, got the end"),
        ('!cute.shape<"(4,?)">', "(4,?)", r"got \? for a leaf of 32 bits"),
        ('!cute.shape<"?">', 1 << 31, "got 2147483648 for a leaf of 32 bits"),
        ('!cute.shape<"?">', 1.5, "got 1.5 for a leaf of 32 bits"),
        ('!cute.layout<"?:1">', (4, 1), r"got \(4, 1\)"),
    ],
)
def test_arguments_that_are_none_of_their_type(type_: str, value: Any, got: str):
    with pytest.raises(tw.ExecutionError, match=rf"argument 'x' expected a value of .*, .*{got}"):
        run(f"  cute.print(%x) : {type_}", 1, f"%x: {type_}, ", (value,))


def test_every_active_thread_prints(capsys: pytest.CaptureFixture[str]):
    body = """
  %two = arith.constant 2 : i32
  %low = arith.cmpi slt, %i, %two : i32
  scf.if %low {
    %s = cute.make_stride(%i) : (i32) -> !cute.stride<"(1,?)">
    %d = cute.static : !cute.shape<"(8,4)">
    %l = cute.make_layout(%d, %s) : (!cute.shape<"(8,4)">, !cute.stride<"(1,?)">) -> !cute.layout<"(8,4):(1,?)">
    cute.print(%l) : !cute.layout<"(8,4):(1,?)">
  }
  %known = cute.static : !cute.tile<"[4:1;_]">
  cute.print(%known) : !cute.tile<"[4:1;_]">
"""
    run(body, 3)
    lines = ["(8,4):(1,0)", "(8,4):(1,1)", *["[4:1;_]"] * 3]
    assert capsys.readouterr().out.splitlines() == lines


def test_a_division_by_zero_names_the_thread():
    body = f"""
  %six = cute.static : !cute.int_tuple<"6">
  %r = cute.ceil_div(%six, %n) : (!cute.int_tuple<"6">, {NUMBER}) -> {NUMBER}
{STORE}"""
    message = r"(?s)'cute.ceil_div' division by zero \(block \(0,0,0\), thread \(0,0,0\)\)"
    with pytest.raises(tw.ExecutionError, match=message):
        run(body)


def test_an_undefined_leaf_may_not_be_used():
    body = f"""
  %p = ub.poison : i32
  %r = cute.make_int_tuple(%p) : (i32) -> {NUMBER}
"""
    with pytest.raises(tw.ExecutionError, match=r"'cute.make_int_tuple' use of an undefined"):
        run(body)


def test_an_undefined_value_may_not_be_used():
    body = f"""
  %p = ub.poison : {NUMBER}
  %r = cute.tuple_add(%p, %n) : ({NUMBER}, {NUMBER}) -> {NUMBER}
"""
    with pytest.raises(tw.ExecutionError, match=r"'cute.tuple_add' use of an undefined register"):
        run(body)


def test_functions_take_and_give_values():
    text = f"""
func.func @half(%x: {NUMBER}) -> {NUMBER} {{
  %two = cute.static : !cute.int_tuple<"2">
  %h = cute.ceil_div(%x, %two) : ({NUMBER}, !cute.int_tuple<"2">) -> {NUMBER}
  func.return %h : {NUMBER}
}}
func.func @either(%x: {NUMBER}, %first: i1) -> {NUMBER} {{
  cf.cond_br %first, ^bb1, ^bb2(%x : {NUMBER})
^bb1:
  %h = func.call @half(%x) : ({NUMBER}) -> {NUMBER}
  cf.br ^bb2(%h : {NUMBER})
^bb2(%y: {NUMBER}):
  func.return %y : {NUMBER}
}}
func.func @k(%out: memref<?xi32>) attributes {{gpu.kernel}} {{{THREAD}
  %odd = arith.trunci %i : i32 to i1
  %a = func.call @either(%n, %odd) : ({NUMBER}, i1) -> {NUMBER}
  %b = func.call @half(%a) : ({NUMBER}) -> {NUMBER}
  %r = cute.tuple_add(%a, %b) : ({NUMBER}, {NUMBER}) -> {NUMBER}
{STORE}  func.return
}}"""
    (out,) = tw.interpret(text, "k", grid=(1,), block=(8,), args=[np.zeros(8, np.int32)])
    expected = []
    for n in range(8):
        a = (n + 1) // 2 if n % 2 else n
        expected.append(a + (a + 1) // 2)
    assert out.tolist() == expected


@pytest.mark.parametrize(
    ("callee", "message"),
    [
        ("func.func private @f(i32)", r"'func.call' expected a function with a body, got @f"),
        (
            "func.func @f(%x: i32) {\n  func.call @f(%x) : (i32) -> ()\n  func.return\n}",
            "'func.call' expected a callee that does not call itself",
        ),
    ],
)
def test_calls_that_cannot_run(callee: str, message: str):
    text = (
        f"{callee}\nfunc.func @k(%i: i32) attributes {{gpu.kernel}} {{\n"
        "  func.call @f(%i) : (i32) -> ()\n  func.return\n}"
    )
    with pytest.raises(tw.CompileError, match=message):
        tw.interpret(text, "k", grid=(1,), block=(1,), args=[1])
