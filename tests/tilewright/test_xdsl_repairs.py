"""What xDSL reads wrongly, and what reads it right once tilewright is there; plain xdsl-opt too."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from example_files import EXAMPLES
from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

import tilewright as tw
from tilewright.source.parsing import default_context, parse_module
from tilewright.source.printing import ShortPrinter

MMA = (EXAMPLES / "mma.mlir").read_text()


def read(text: str) -> Attribute:
    return Parser(default_context(), text).parse_attribute()


# Strings

UNCLOSED = MMA.replace('"gpu.thread_id"', '"gpu.thread_id')


def test_a_forgotten_quote():
    started = perf_counter()
    with pytest.raises(tw.CompileError, match="before closing string literal") as caught:
        tw.compile(UNCLOSED, "sm_90a")
    assert (caught.value.line, caught.value.column) == (5, 11)
    with pytest.raises(ParseError):
        read('"' + "\\n a" * 100_000)
    assert perf_counter() - started < 60


def test_a_forgotten_quote_in_plain_xdsl_opt(tmp_path: Path):
    path = tmp_path / "mma.mlir"
    path.write_text(UNCLOSED)
    code = "from xdsl.xdsl_opt_main import xDSLOptMain; xDSLOptMain().run()"
    run = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 1 and "before closing string literal" in run.stderr


@pytest.mark.parametrize("text, printed", [
    ('""', '""'), ('"a"', '"a"'), (r'"\n\t\\\""', r'"\0A\09\\\22"'), (r'"\41\ff"', r'"A\FF"'),
    ('"é"', r'"\C3\A9"'),
])  # fmt: skip
def test_strings_that_end(text: str, printed: str):
    assert str(read(text)) == printed


@pytest.mark.parametrize("type_", ["vector<16777217xf32>", "tensor<4294967296x4294967296xi8>"])
def test_a_splat_of_more_than_memory_holds(type_: str):
    with pytest.raises(ParseError, match=f"expected at most 16777216 elements, got {type_}"):
        read(f"dense<1> : {type_}")


def test_lone_surrogates():
    for text in ("\ud800", 'func.func @k() attributes {a = "\udfff"} { func.return }'):
        with pytest.raises(tw.CompileError, match="expected text that UTF-8 can hold, got"):
            tw.compile(text, "sm_90a")


# Floats

BITS = {
    "f32": ("float32", [0xFF800000, 0x7F800000, 0x7FC00000, 0x4B7FFFFF, 1, 0x80000000]),
    "f64": ("float64", [0xFFF0000000000000, 0x7FF8000000000000, 1, 1 << 63, 0x4330000000000001]),
    "f16": ("float16", [0x7C00, 0xFC00, 0x7E00, 1, 0x8000, 0x3C01]),
    "bf16": ("uint16", [0x7F80, 0xFF80, 0x7FC0, 1, 0x8000, 0x3F81, 0x5000]),
}


@pytest.mark.parametrize("element", BITS)
def test_hexadecimal_floats_are_bits(element: str):
    dtype, bits = BITS[element]
    width = np.dtype(dtype).itemsize
    expected = b"".join(number.to_bytes(width, "little") for number in bits)
    listed = ", ".join(f"{number:#x}" for number in bits)
    for text in (
        f"dense<[{listed}]> : vector<{len(bits)}x{element}>",
        f"array<{element}: {listed}>",
    ):
        attribute = read(text)
        assert isinstance(attribute, DenseIntOrFPElementsAttr | DenseArrayBase)
        assert attribute.data.data == expected
        # What the printer makes of them, hexadecimal or not, is read back to the same bits.
        assert read(str(attribute)) == attribute
    splat = read(f"dense<{bits[0]:#x}> : tensor<3x{element}>")
    assert isinstance(splat, DenseIntOrFPElementsAttr) and splat.data.data == 3 * expected[:width]


def test_hexadecimal_parts_of_complex_numbers():
    """A part in hexadecimal is bits, whatever the other one is."""
    text = "dense<[(0x7F800000, 0xFF800000), (1.0, 0x4B7FFFFF)]> : tensor<2xcomplex<f32>>"
    attribute = read(text)
    assert isinstance(attribute, DenseIntOrFPElementsAttr)
    found = np.frombuffer(attribute.data.data, np.float32)
    assert found.tolist() == [np.inf, -np.inf, 1.0, 16777215.0]
    assert read(str(attribute)) == attribute
    whole = read("dense<(0x10, -2)> : tensor<3xcomplex<i32>>")
    assert isinstance(whole, DenseIntOrFPElementsAttr)
    assert np.frombuffer(whole.data.data, np.int32).tolist() == 3 * [16, -2]


@pytest.mark.parametrize(
    "text, words",
    [
        ("dense<1.0> : tensor<2xcomplex<f32>>", "expected two parts of complex<f32>"),
        ("dense<(1.0, 2.0)> : tensor<2xf32>", "[Cc]omplex"),
        ("dense<(1.0, 2.0)> : tensor<2xcomplex<i32>>", "[Ii]nteger"),
        ("dense<(0x1FFFFFFFF, 2.0)> : tensor<2xcomplex<f32>>", "expected 32 bits of f32"),
    ],
)
def test_complex_numbers_of_another_kind(text: str, words: str):
    with pytest.raises(ParseError, match=words):
        read(text)


def test_what_the_printer_writes_in_hexadecimal():
    attribute = read("dense<16777215.0> : vector<2xf32>")
    assert (
        str(attribute) == "dense<0x4B7FFFFF> : vector<2xf32>" and read(str(attribute)) == attribute
    )
    assert list(read("dense<[0x10, 2]> : tensor<2xi32>").get_values()) == [16, 2]  # type: ignore[attr-defined]


def test_an_infinity_reaches_the_kernel():
    text = """func.func @k(%out: memref<?xf32>) attributes {gpu.kernel} {
  %v = arith.constant dense<0xff800000> : vector<2xf32>
  %c = arith.constant 0 : index
  %e = vector.extract %v[1] : f32 from vector<2xf32>
  memref.store %e, %out[%c] : memref<?xf32>
  func.return
}"""
    for module in (text, str(parse_module(text))):
        out = np.zeros(1, np.float32)
        (out,) = tw.interpret(module, grid=(1,), block=(1,), args=[out])
        assert out[0] == -np.inf


# Numbers


@pytest.mark.parametrize("number, words", [
    ("²", "expected a digit of 0 to 9"),
    ("9" * 5000, "expected an integer, got 5000 digits"),
    ("0x" + "f" * 20, "out of range"),
    ("9" * 20, "out of range"),
    ("-" + "9" * 20, "out of range"),
])  # fmt: skip
def test_numbers_that_are_none(number: str, words: str):
    for text in (
        f"%c = arith.constant {number} : i64",
        f"func.func private @f() attributes {{x = {number} : i64}}",
        f"%c = arith.constant dense<{number}> : vector<2xi64>",
        f"%c = arith.constant dense<[1, {number}]> : vector<2xi64>",
        f"func.func private @f() attributes {{x = array<i64: {number}>}}",
    ):
        with pytest.raises(tw.CompileError) as caught:
            parse_module(text)
        message = caught.value.message
        assert words in message and caught.value.line == 1 and "internal" not in message


@pytest.mark.parametrize("text, words", [
    ("dense<0x1ff800000> : vector<2xf32>", "expected 32 bits of f32, got 0x1ff800000"),
    ("dense<-0x1> : vector<2xf32>", "expected 32 bits of f32, got -0x1"),
    ("array<f16: 0x10000>", "expected 16 bits of f16, got 0x10000"),
    ("array<index: 1>", "expected elements of integers or floats, got index"),
])  # fmt: skip
def test_bits_that_do_not_fit(text: str, words: str):
    with pytest.raises(ParseError, match=words):
        read(text)


@pytest.mark.parametrize("number", ["0x1ff800000 : f32", "1.0e40 : f32", "65536.0 : f16"])
def test_floats_that_do_not_fit_are_one_diagnostic(number: str):
    with pytest.raises(tw.CompileError, match=r"too (big|large)") as caught:
        parse_module(f"%c = arith.constant {number}")
    assert caught.value.line == 1


# Indices


GENERIC = {
    "gpu.thread_id x": '"gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index',
    "gpu.block_id  y": '"gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index',
    "gpu.block_dim z {a = 1 : i32}":
        '"gpu.block_dim"() <{dimension = #gpu<dim z>}> {a = 1 : i32} : () -> index',
    "gpu.grid_dim x": '"gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index',
    "gpu.lane_id": '"gpu.lane_id"() : () -> index',
    "gpu.subgroup_id : index": '"gpu.subgroup_id"() : () -> index',
}  # fmt: skip


@pytest.mark.parametrize("text", GENERIC)
def test_indices_as_mlir_writes_them(text: str):
    function = "func.func @k() {{\n  %i = {}\n  gpu.barrier\n  func.return\n}}"
    generic = function.format(GENERIC[text]).replace("gpu.barrier", '"gpu.barrier"() : () -> ()')
    assert str(parse_module(function.format(text))) == str(parse_module(generic))


def test_an_axis_that_is_none():
    with pytest.raises(tw.CompileError, match=r"2:20: error: expected x, y, z, got w"):
        parse_module("func.func @k() {\n%i = gpu.thread_id w\nfunc.return\n}")


@pytest.mark.parametrize("first", ["  cf.br ^a\n^a:\n  cf.br ^a\n", "^a:\n  cf.br ^a\n"])
def test_a_block_named_once_more(first: str):
    """A branch has named it before, or none has."""
    with pytest.raises(tw.CompileError) as refused:
        parse_module(f"func.func @k() {{\n{first}^a:\n  func.return\n}}")
    assert refused.value.message == "expected a name of its own for the block, got ^a once more"
    assert refused.value.line == 2 + first.count("\n")


@pytest.mark.parametrize("text", ["1.500000e+00 : f80", "2.000000e+00 : f128", "0.1 : f128"])
def test_floats_of_more_than_64_bits_are_printed(text):
    stream = io.StringIO()
    ShortPrinter(stream).print_op(parse_module(f'"test.op"() {{x = {text}}} : () -> ()'))
    again = parse_module(stream.getvalue())
    assert again.is_structurally_equivalent(parse_module(f'"test.op"() {{x = {text}}} : () -> ()'))
