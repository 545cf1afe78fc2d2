"""Elements of constants: MLIR's bytes, as NVIDIA's disassembler reads them."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import AnyFloat
from xdsl.parser import Parser

from tilewright.dialects.cuda_tile.bytecode.attributes import bits_of_float, float_of_bits
from tilewright.dialects.cuda_tile.bytecode.constants import packed
from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode
from tilewright.dialects.cuda_tile.bytecode.write_module import write_bytecode
from tilewright.dialects.cuda_tile.element_types import ELEMENTS
from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.source.diagnostic import CompileError
from tilewright.source.parsing import default_context, parse_module

ENTRY = "cuda_tile.module @kernels {{ entry @k() {{ %c = constant <{}> : tile<{}> return }} }}"

RAW = [
    ("i1: true", "4xi1", "ff"),
    ("i1: false", "4xi1", "00"),
    ("i1: [true, false, true, true]", "4xi1", "0d"),
    ("i1: [true, false, true, true, false, false, false, true, false, true, false, false, false, "
     "false, false, false]", "16xi1", "8d02"),
    ("i8: [1, -1]", "2xi8", "01ff"),
    ("i32: -2", "8xi32", "feffffff"),
    ("i64: 1", "i64", "0100000000000000"),
    ("f16: [1.0, -2.0]", "2xf16", "003c00c0"),
    ("bf16: 1.0", "bf16", "803f"),
    ("tf32: [1.0, -2.0]", "2xtf32", "00fc01000006"),
    ("f32: 0.5", "f32", "0000003f"),
    ("f64: -1.0", "f64", "000000000000f0bf"),
    ("f8E4M3FN: [1.0, -2.0]", "2xf8E4M3FN", "38c0"),
    ("f8E5M2: 1.0", "f8E5M2", "3c"),
]  # fmt: skip
"""Text, type, and the bytes of the raw elements."""


@pytest.mark.parametrize(("elements", "type_", "raw"), RAW)
def test_raw_elements(elements: str, type_: str, raw: str):
    module = parse_module(ENTRY.format(elements, type_))
    found = [op.properties["value"] for op in module.walk() if op.name == "cuda_tile.constant"]
    (value,) = found
    assert isinstance(value, ElementsAttr)
    if raw == "00fc01000006":
        # sign, 8 bits of exponent, 10 of fraction
        one, minus_two = 0x7F << 10, 1 << 18 | 0x80 << 10
        raw = (one.to_bytes(3, "little") + minus_two.to_bytes(3, "little")).hex()
    assert packed(value).hex() == raw
    again = read_bytecode(write_bytecode(module))
    assert module.is_structurally_equivalent(again)


# Attributes are of MLIR's types of floats alone.
FLOATS = [row.type for row in ELEMENTS if isinstance(row.type, AnyFloat)]


@pytest.mark.parametrize("type_", FLOATS, ids=str)
def test_bits_of_floats(type_: AnyFloat):
    for value in (1.0, 2.0, 0.5):
        assert float_of_bits(bits_of_float(value, type_), type_) == value


@pytest.mark.parametrize("value", ["-0x1.8p+3", "inf", "-inf"])
def test_identities_keep_their_sign(value: str):
    number = float.fromhex(value) if "x" in value else float(value)
    bits = bits_of_float(number, Parser(default_context(), "f64").parse_type())
    text = (
        "cuda_tile.module @kernels { entry @k() { %c = constant <f64: 0.0> : tile<4xf64> "
        f"%r = reduce %c dim=0 identities=[{bits:#x} : f64] : tile<4xf64> -> tile<f64> "
        "(%a: tile<f64>, %b: tile<f64>) { yield %a : tile<f64> } return } }"
    )
    module = parse_module(text)
    assert module.is_structurally_equivalent(read_bytecode(write_bytecode(module)))


def test_wrong_sizes():
    data = write_bytecode(parse_module(ENTRY.format("i32: [1, 2, 3, 4]", "4xi32")))
    raw = b"".join(n.to_bytes(4, "little") for n in (1, 2, 3, 4))
    at = data.index(b"\x10" + raw)
    wrong = data[:at] + b"\x0c" + data[at + 1 :]
    rule = rf"expected the end of the constant, got 4 more bytes \(at byte {at + 13}\)"
    with pytest.raises(CompileError, match=rule):
        read_bytecode(wrong)
    # The same constant of a type of eight elements.
    types = data.index(b"\x01" + (4).to_bytes(8, "little"))
    wrong = data[: types + 1] + b"\x08" + data[types + 2 :]
    with pytest.raises(CompileError, match=rf"expected 4 bytes, or 32 .*, got 16 \(at byte {at}\)"):
        read_bytecode(wrong)


def test_equal_elements_are_one():
    """Whether or not the file repeats them: what is read prints as what reads as the same."""
    for elements, type_, raw, equal in (
        ("i1: [true, false, true, true]", "4xi1", b"\x01\x0d", b"\x01\x0f"),
        ("i8: [5, 6]", "2xi8", b"\x02\x05\x06", b"\x02\x06\x06"),
    ):
        data = write_bytecode(parse_module(ENTRY.format(elements, type_)))
        assert data.count(raw) == 1
        module = read_bytecode(data.replace(raw, equal))
        assert module.is_structurally_equivalent(parse_module(str(module)))
