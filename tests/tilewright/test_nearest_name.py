"""Slips of the pen in IR text: the diagnostic names what was probably meant."""

from __future__ import annotations

import pytest
from campaign import in_time

import tilewright as tw
from tilewright.source.parsing import parse_module

SLIPS = [
    ("%y = arith.adf %x, %x : f32", "arith.addf"),
    ('%y = "arith.adf"(%x, %x) : (f32, f32) -> f32', "arith.addf"),
    ("%y = cute.make_layot(%x)", "cute.make_layout"),
    ("cuet.gemm(%x, %x, %x, %x, %x)", "cute.gemm"),
    ("%d = cute_nvgpu.sm80.mna %x, %x, %x", "cute_nvgpu.sm80.mma"),
    ("%i = gpu.thred_id x", "gpu.thread_id"),
    ('%y = cute.static : !cute.layot<"4:1">', "cute.layout"),
    ('%y = cute.static : !cuet.layout<"4:1">', "cute.layout"),
    ('"test.op"() {a = #cute_nvgpu.cpoy<universal, f32, 128>} : () -> ()', "cute_nvgpu.copy"),
    ('"test.op"() {a = #cute_nvgpu.copy<univresal, f32, 128>} : () -> ()', "universal"),
    ('"test.op"() {a = #cute_nvgpu.tma<laod>} : () -> ()', "<load>"),
    ("%y = arith.constant 1.0 : f23", "f32"),
    ('%a = cute.memref.alloca() : !cute.memref<f32, remm, "4:1">', "rmem"),
    ("%y = arith.cmpf olq, %x, %x : f32", "olt"),
    ("%y = arith.addf %x, %x fastmth<fast> : f32", "fastmath"),
    ("%y = arith.addf %x, %x fastmath<fst> : f32", "fast"),
    ("%y = arith.addf %x, %x fastmath<nnaan> : f32", "nnan"),
    ("%y = arith.addi %n, %n overfow<nsw> : i32", "overflow"),
    ("scf.for %j = %n too %n step %n : i32 {}", "to"),
    ("scf.for %j = %n to %n stp %n : i32 {}", "step"),
    ("%r = scf.for %j = %i to %i step %i iter_arg(%a = %x) -> (f32) {}", "iter_args"),
    ("scf.if %c {} esle {}", "else"),
    ('%t = "gpu.thread_id"() <{dimension = #gpu<dim xx>}> : () -> index', "x"),
    (
        "cute_nvgpu.cp.async %m[%n] to %m[%n] siz 16 cache cg : memref<4xf32> to memref<4xf32>",
        "size",
    ),
    (
        "cute_nvgpu.cp.async %m[%n] to %m[%n] size 16 cache cgg : memref<4xf32> to memref<4xf32>",
        "cg",
    ),
    ("cute.copy(%m, %m) bonds(%m, %m)", "bounds"),
    ("%b = arith.constant tru", "true"),
    ("%b = arith.addi %n, %n : s8", "si8"),
]


ARGUMENTS = "%x: f32, %n: i32, %i: index, %c: i1, %m: memref<4xf32>"


def message_of(line: str) -> str:
    with pytest.raises(tw.CompileError) as caught:
        parse_module(f"func.func @k({ARGUMENTS}) {{\n  {line}\n  func.return\n}}")
    assert caught.value.line == 2
    return caught.value.message


@pytest.mark.parametrize("line, meant", SLIPS)
def test_slips(line: str, meant: str):
    assert message_of(line).endswith(f"; nearest legal: {meant}")


def test_a_value_that_nothing_defines():
    text = """func.func @k(%first : f32, %x : f32) {
  %sum, %more = "test.op"() : () -> (f32, f32)
  %y = arith.addf %WRONG, %x : f32
  func.return
}"""
    for wrong, meant in (("frist", "first"), ("summ", "sum"), ("moree", "more"), ("xx", "x")):
        with pytest.raises(tw.CompileError, match=rf"not defined: .*; nearest legal: %{meant}\n"):
            parse_module(text.replace("WRONG", wrong))


def test_what_is_like_nothing_gets_no_name():
    assert message_of("%y = zzz.bar %x") == "Operation zzz.bar is not registered"
    assert message_of("hello") == "Operation hello is not registered"


@pytest.mark.parametrize("location", ["", ' loc("other.py":900:7)'])
def test_a_use_is_no_definition(location: str):
    """Wherever its op is said to come from."""
    text = f"func.func @k() {{\n  %a = arith.addi %gone, %gone : i32{location}\n  func.return\n}}"
    with pytest.raises(tw.CompileError, match=r":2:19: .* not defined: \[%gone\]\n"):
        tw.compile(text, "sm_80")


def test_a_property():
    text = """func.func @k(%x: f32) {
  %y = "arith.addf"(%x, %x) <{fastmth = #arith.fastmath<none>}> : (f32, f32) -> f32
  func.return
}"""
    with pytest.raises(
        tw.CompileError, match=r"'fastmth' is not defined.*; nearest legal: fastmath"
    ):
        tw.compile(text, "sm_80")


def test_a_pass():
    words = "expected the name of a pass, got 'cute-nvgpu-check-hazrds'; nearest legal: "
    with pytest.raises(ValueError, match=f"{words}cute-nvgpu-check-hazards"):
        tw.compile("builtin.module {}", "sm_80", passes="cute-nvgpu-check-hazrds")


def test_a_long_word_is_looked_at_once():
    """What is said of 40,000 letters does not take their square of steps."""
    with in_time(5):
        assert "registered" not in message_of(f'%y = cute.static : !cute.layout<"{"a" * 40_000}">')
