"""`gpu.printf` and `llvm.call @printf`: what C prints, a thread after the other."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_levels import at_levels

import tilewright as tw
from tilewright.dialects.printf_format import printed as printed_alone

ARGUMENTS = {"b": "i1", "c": "i8", "h": "i16", "n": "i32", "m": "i64", "x": "f32", "d": "f64"}
NUMBERS = [1, 65, -3, -7, (1 << 63) - 1, 0.5, -2.25]


def printed(capsys: pytest.CaptureFixture[str], body: str, threads: int = 1) -> str:
    """What a kernel prints."""
    parameters = ", ".join(f"%{name}: {type_}" for name, type_ in ARGUMENTS.items())
    text = f"""
llvm.mlir.global internal constant @hello("hello %d\\0A\\00and more")
llvm.mlir.global internal constant @number() : i32
llvm.func @printf(!llvm.ptr, ...) -> i32
llvm.func @puts(!llvm.ptr) -> i32
func.func @k({parameters}, %out: memref<?xi32>) attributes {{gpu.kernel}} {{
  %i = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %t = arith.index_cast %i : index to i32
  {body}
  func.return
}}"""
    args = [*NUMBERS, np.zeros(threads, np.int32)]
    (out,) = tw.interpret(text, grid=(1,), block=(threads,), args=args)
    return f"{capsys.readouterr().out}{out.tolist() if out.any() else ''}"


@pytest.mark.parametrize(
    ("format_", "values", "expected"),
    [
        ("%d %i|%5d|%-5d|%05d|%+d", "%n, %n, %n, %n, %n, %n", "-7 -7|   -7|-7   |-0007|-7"),
        ("%u %x %X %o", "%n, %n, %n, %n", "4294967289 fffffff9 FFFFFFF9 37777777771"),
        ("%lld %ld %llu %llx", "%m, %m, %m, %m", f"{(1 << 63) - 1} {(1 << 63) - 1} "
         f"{(1 << 63) - 1} 7fffffffffffffff"),
        ("%d %hd %hhd %c", "%b, %h, %c, %c", "1 -3 65 A"),
        ("%f %.2f %e %g %8.3f", "%x, %x, %d, %d, %d", "0.500000 0.50 -2.250000e+00 -2.25   -2.250"),
        ("%lf %e", "%d, %x", "-2.250000 5.000000e-01"),
        ("%a %A|%12a", "%x, %d, %x", "0x1p-1 -0X1.2P+1|      0x1p-1"),
        ("100%% of %lld", "%i", "100% of 0"),
        ("(%d,4):(%lld,1)", "%n, %m", f"(-7,4):({(1 << 63) - 1},1)"),
    ],
)  # fmt: skip
def test_conversions(capsys: pytest.CaptureFixture[str], format_: str, values: str, expected: str):
    types = ", ".join({"%i": "index"}.get(v) or ARGUMENTS[v[1:]] for v in values.split(", "))
    body = f'gpu.printf "{format_}", {values} : {types}'
    assert printed(capsys, body) == expected


def by_c(shape: str, letter: str, value: Any) -> str:
    """What the C library of this machine prints, as it does what a GPU hands over."""
    text = ctypes.create_string_buffer(1024)
    ctypes.CDLL(None).snprintf(text, len(text), f"%{shape}{letter}".encode(), value)
    return text.value.decode()


FLAGS = st.lists(st.sampled_from("-+ #0"), unique=True).map("".join)
WIDTHS, DIGITS = st.sampled_from(["", "1", "5", "20"]), st.sampled_from(["", ".", ".0", ".3"])


@given(flags=FLAGS, width=WIDTHS, digits=DIGITS, letter=st.sampled_from("diuxXo"),
       number=st.sampled_from([0, 1]) | st.integers(0, (1 << 32) - 1))  # fmt: skip
def test_integers_are_those_of_c(flags: str, width: str, digits: str, letter: str, number: int):
    signed = number - (number >> 31 << 32) if letter in "di" else number
    shape = flags + width + digits
    assert printed_alone(signed, shape, letter) == by_c(shape, letter, ctypes.c_uint32(number))


@given(flags=FLAGS, width=WIDTHS, digits=DIGITS, letter=st.sampled_from("fFeEgGaA"),
       number=st.floats() | st.sampled_from([0.0, -0.0, float("nan"), -float("nan")]))  # fmt: skip
def test_floats_are_those_of_c(flags: str, width: str, digits: str, letter: str, number: float):
    if letter in "aA":
        flags, digits = flags.replace("#", ""), ""
    shape = flags + width + digits
    assert printed_alone(number, shape, letter) == by_c(shape, letter, ctypes.c_double(number))


def test_every_thread_prints(capsys: pytest.CaptureFixture[str]):
    body = 'gpu.printf "%d of %d\\0A", %t, %n : i32, i32\n  gpu.printf "all\\0A"'
    assert printed(capsys, body, 3) == "0 of -7\n1 of -7\n2 of -7\nall\nall\nall\n"


def test_only_threads_that_get_there_print(capsys: pytest.CaptureFixture[str]):
    body = """%one = arith.constant 1 : i32
  %here = arith.cmpi sgt, %t, %one : i32
  scf.if %here {
    gpu.printf "%d\\0A", %t : i32
  }"""
    assert printed(capsys, body, 4) == "2\n3\n"


BEFORE_IT_FAILS = """func.func @k(%x: memref<?xi32>) attributes {gpu.kernel} {
  %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %i : index to i32
  gpu.printf "%d\\0A", %t : i32
  %far = arith.constant 1000 : index
  %none = memref.load %x[%far] : memref<?xi32>
  gpu.printf "%d\\0A", %none : i32
  func.return
}"""


@at_levels("tile", "atom", "ptx")
def test_what_is_printed_survives_an_error(capsys: pytest.CaptureFixture[str], level: Any):
    args = [np.zeros(2, np.int32)]
    with pytest.raises(tw.ExecutionError, match="out of bounds"):
        tw.interpret(BEFORE_IT_FAILS, grid=(1,), block=(2,), args=args, level=level)
    assert capsys.readouterr().out == "0\n1\n"


CALL = """%a = llvm.mlir.addressof @hello : !llvm.ptr
  %p = llvm.getelementptr %a[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<18 x i8>
  %r = llvm.call @printf(%p, %n) vararg(!llvm.func<i32 (!llvm.ptr, ...)>) : (!llvm.ptr, i32) -> i32
  memref.store %r, %out[%i] : memref<?xi32>"""


def test_a_call_prints_up_to_the_nul_and_counts(capsys: pytest.CaptureFixture[str]):
    assert printed(capsys, CALL, 2) == "hello -7\nhello -7\n[9, 9]"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('gpu.printf "%d"', "'gpu.printf' expected 1 values for its format, got 0"),
        ('gpu.printf "%%", %n : i32', "'gpu.printf' expected 0 values for its format, got 1"),
        (
            'gpu.printf "%d", %m : i64',
            "'gpu.printf' expected a conversion for i64, got %d; nearest legal: %lld",
        ),
        (
            'gpu.printf "%lld", %n : i32',
            "'gpu.printf' expected a conversion for i32, got %lld; nearest legal: %d",
        ),
        (
            'gpu.printf "%d", %x : f32',
            "'gpu.printf' expected a conversion for f32, got %d; nearest legal: %f",
        ),
        (
            'gpu.printf "%s", %n : i32',
            "'gpu.printf' expected a conversion for i32, got %s; nearest legal: %d",
        ),
        (
            'gpu.printf "%c", %n : i32',
            "'gpu.printf' expected a conversion for i32, got %c; nearest legal: %d",
        ),
        (
            'gpu.printf "%*d", %n : i32',
            "'gpu.printf' expected a conversion for i32, got %; nearest legal: %d",
        ),
        (
            CALL.replace("@hello", "@number"),
            "'llvm.call' expected a format that is a constant, got !llvm.ptr",
        ),
        (
            CALL.replace("[0, 0]", "[0, 1]"),
            "'llvm.call' expected a format that is a constant, got !llvm.ptr",
        ),
        (
            "%a = llvm.mlir.addressof @hello : !llvm.ptr\n"
            "  %r = llvm.call @puts(%a) : (!llvm.ptr) -> i32",
            "'llvm.call' expected a call of printf to be interpreted, got puts",
        ),
    ],
)
def test_what_does_not_fit(capsys: pytest.CaptureFixture[str], body: str, message: str):
    with pytest.raises(tw.CompileError) as caught:
        printed(capsys, body)
    assert caught.value.message == message


def test_undefined_values_are_not_printed(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(tw.ExecutionError, match="use of an undefined register"):
        printed(capsys, '%u = ub.poison : i32\n  gpu.printf "%d", %u : i32')
