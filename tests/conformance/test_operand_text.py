"""Operand text: vectors as long as fragments are."""

from __future__ import annotations

import pytest

from tilewright.tools.conformance.operand_text import product_operands, shape_of, vector


@pytest.mark.parametrize(
    "text, shape",
    [("m16n8k32", (16, 8, 32)), ("m8n16", (8, 16, 1)), ("m8n8k4", (8, 8, 4))],
)
def test_shape(text: str, shape: tuple[int, int, int]) -> None:
    assert shape_of(text) == shape


@pytest.mark.parametrize(
    "element, elements, registers",
    [
        ("f16", 256, "{%r0,%r1,%r2,%r3}"),
        ("f32", 64, "{%f0,%f1}"),
        ("f64", 64, "{%fd0,%fd1}"),
        ("b1", 1024, "{%r0}"),
        ("s4", 32, "{%r0}"),
        ("e2m1", 512, "{%r0,%r1,%r2,%r3}"),
    ],
)
def test_vector(element: str, elements: int, registers: str) -> None:
    assert vector(element, elements) == registers


def test_e2m1_is_packed_where_a_kind_says_so() -> None:
    assert vector("e2m1", 512, packed=True) == "{%r0,%r1}"


def test_products() -> None:
    types = ("f32", "f16", "f16", "f32")
    assert product_operands("m16n8k16", types) == (
        "{%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%f0,%f1,%f2,%f3}",
    )
    four, one = product_operands("m8n8k4", types)
    assert four.count("%f") == 16 and one.count("%f") == 4


def test_a_sparse_a_is_half_as_long() -> None:
    types = ("f16", "f16", "f16", "f16")
    assert product_operands("m16n8k16", types, sparse=True) == (
        "{%r0,%r1}, {%r0,%r1}, {%r0,%r1}, {%r0,%r1}",
    )
