"""Integers of every width against Python's."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from tile_ir import elementwise, run

import tilewright as tw

WIDTHS = (1, 8, 16, 32, 64)


def samples(bits: int) -> list[int]:
    """Patterns of a width: the ends, the sign, some between."""
    ends = {0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1}
    rng = np.random.default_rng(bits)
    return sorted(ends | {int.from_bytes(rng.bytes(8), "little") % (1 << bits) for _ in range(11)})


def signed(value: int, bits: int) -> int:
    """A pattern as a signed number."""
    return value - (1 << bits) if value >> (bits - 1) else value


def held(patterns: list[int], bits: int) -> np.ndarray:
    """Patterns in memory."""
    if bits == 1:
        return np.array(patterns, bool)
    return np.array(patterns, np.uint64).astype(f"uint{bits}")


def _quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


CASES: dict[str, tuple[bool, Callable[[int, int], int]]] = {
    "addi %x0, %x1": (False, lambda x, y: x + y),
    "subi %x0, %x1": (False, lambda x, y: x - y),
    "muli %x0, %x1": (False, lambda x, y: x * y),
    "andi %x0, %x1": (False, lambda x, y: x & y),
    "ori %x0, %x1": (False, lambda x, y: x | y),
    "xori %x0, %x1": (False, lambda x, y: x ^ y),
    "maxi %x0, %x1 unsigned": (False, max),
    "mini %x0, %x1 unsigned": (False, min),
    "maxi %x0, %x1 signed": (True, max),
    "mini %x0, %x1 signed": (True, min),
    "divi %x0, %x1 unsigned": (False, lambda x, y: x // y),
    "divi %x0, %x1 unsigned rounding<positive_inf>": (False, lambda x, y: -(-x // y)),
    "divi %x0, %x1 signed": (True, _quotient),
    "divi %x0, %x1 signed rounding<negative_inf>": (True, lambda x, y: x // y),
    "divi %x0, %x1 signed rounding<positive_inf>": (True, lambda x, y: -(-x // y)),
    "remi %x0, %x1 unsigned": (False, lambda x, y: x % y),
    "remi %x0, %x1 signed": (True, lambda x, y: x - _quotient(x, y) * y),
}


def is_defined(text: str, x: int, y: int, bits: int) -> bool:
    """True where Tile IR says what a division of two patterns gives."""
    least, minus_one = 1 << (bits - 1), (1 << bits) - 1
    overflows = " signed" in text and (x, y) == (least, minus_one)
    return text[:4] not in ("divi", "remi") or (y != 0 and not overflows)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("text", CASES)
def test_binary(text: str, bits: int):
    is_signed, want = CASES[text]
    values = samples(bits)
    size = 1 << (len(values) ** 2 - 1).bit_length()
    pairs = [(x, y) for x in values for y in values if is_defined(text, x, y, bits)]
    pairs += [(0, 1)] * (size - len(pairs))
    parameters, body = elementwise(
        f"    %r = {text} : tile<{size}xi{bits}>\n", [f"i{bits}"] * 2, f"i{bits}", size
    )
    args = [held([pair[i] for pair in pairs], bits) for i in range(2)]
    *_, got = run(parameters, body, [*args, np.zeros_like(args[0])])
    for (x, y), result in zip(pairs, got.tolist(), strict=True):
        a, b = (signed(x, bits), signed(y, bits)) if is_signed else (x, y)
        assert int(result) == want(a, b) % (1 << bits), (text, bits, a, b)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize(
    "text", ["shli %x0, %x1", "shri %x0, %x1 signed", "shri %x0, %x1 unsigned"]
)
def test_shifts(text: str, bits: int):
    pairs = [(x, y) for x in samples(bits) for y in (0, 1, bits - 1) if y < bits]
    size = 1 << (len(pairs) - 1).bit_length()
    pairs += [(0, 0)] * (size - len(pairs))
    parameters, body = elementwise(
        f"    %r = {text} : tile<{size}xi{bits}>\n", [f"i{bits}"] * 2, f"i{bits}", size
    )
    args = [held([pair[i] for pair in pairs], bits) for i in range(2)]
    *_, got = run(parameters, body, [*args, np.zeros_like(args[0])])
    for (x, y), result in zip(pairs, got.tolist(), strict=True):
        right = (x if "unsigned" in text else signed(x, bits)) >> y
        want = x << y if "shli" in text else right
        assert int(result) == want % (1 << bits), (text, bits, x, y)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("negi %x0", lambda x: -x),
        ("absi %x0", abs),
        ("mulhii %x0, %x0", None),
    ],
)
def test_unary(text: str, want: Callable[[int], int] | None, bits: int):
    values = samples(bits)
    values += [0] * (16 - len(values))
    parameters, body = elementwise(
        f"    %r = {text} : tile<16xi{bits}>\n", [f"i{bits}"], f"i{bits}", 16
    )
    argument = held(values, bits)
    *_, got = run(parameters, body, [argument, np.zeros_like(argument)])
    for x, result in zip(values, got.tolist(), strict=True):
        number = (x * x) >> bits if want is None else want(signed(x, bits))
        assert int(result) == number % (1 << bits)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("sign", ["signed", "unsigned"])
@pytest.mark.parametrize("predicate", ["less_than", "greater_than_or_equal", "equal"])
def test_comparisons(predicate: str, sign: str, bits: int):
    values = samples(bits)
    pairs = [(x, y) for x in values for y in values]
    pairs += [(0, 0)] * (256 - len(pairs))
    text = f"    %r = cmpi {predicate} %x0, %x1, {sign} : tile<256xi{bits}> -> tile<256xi1>\n"
    parameters, body = elementwise(text, [f"i{bits}"] * 2, "i1", 256)
    args = [held([pair[i] for pair in pairs], bits) for i in range(2)]
    *_, got = run(parameters, body, [*args, np.zeros(256, bool)])
    for (x, y), result in zip(pairs, got.tolist(), strict=True):
        a, b = (signed(x, bits), signed(y, bits)) if sign == "signed" else (x, y)
        assert result == {"less_than": a < b, "equal": a == b}.get(predicate, a >= b)


LEAST, MOST = -(2**31), 2**31 - 1
UNDEFINED: dict[str, tuple[str, list[tuple[int, int]], list[tuple[int, int]]]] = {
    "divi %x0, %x1 signed": (
        "expected a divisor other than 0, got 0", [(5, 0), (0, 0)], [(0, 5)]),
    "divi %x0, %x1 unsigned": (
        "expected a divisor other than 0, got 0", [(5, 0)], [(LEAST, -1)]),
    "divi %x0, %x1 signed rounding<negative_inf>": (
        "expected a quotient that i32 holds, got that of -2147483648 by -1", [(LEAST, -1)],
        [(LEAST + 1, -1), (LEAST, 1)]),
    "remi %x0, %x1 signed": ("expected a quotient that i32 holds", [(LEAST, -1)], [(5, -1)]),
    "remi %x0, %x1 unsigned": ("expected a divisor other than 0", [(5, 0)], [(LEAST, -1)]),
    "shli %x0, %x1": ("expected a shift below 32, got 32 or more", [(1, 32), (0, -1)], [(1, 31)]),
    "shri %x0, %x1 signed": ("expected a shift below 32", [(1, 32), (0, LEAST)], [(1, 31)]),
    "shri %x0, %x1 unsigned": ("expected a shift below 32", [(1, 33)], [(1, 0)]),
    "addi %x0, %x1 overflow<no_signed_wrap>": (
        "expected no overflow (overflow<no_signed_wrap>), got a result that no signed i32 holds",
        [(MOST, 1), (LEAST, -1)], [(MOST, 0), (-1, 1)]),
    "addi %x0, %x1 overflow<no_unsigned_wrap>": (
        "got a result that no unsigned i32 holds", [(-1, 1)], [(MOST, 1)]),
    "subi %x0, %x1 overflow<no_wrap>": (
        "got a result that no", [(LEAST, 1), (0, 1)], [(MOST, 5), (0, 0)]),
    "muli %x0, %x1 overflow<no_signed_wrap>": (
        "got a result that no signed", [(1 << 16, 1 << 15), (LEAST, -1)], [(1 << 16, -(1 << 15))]),
    "shli %x0, %x1 overflow<no_signed_wrap>": (
        "got a result that no signed", [(1, 31), (-3, 31)], [(1, 30), (-1, 31)]),
}  # fmt: skip


@pytest.mark.parametrize("text", UNDEFINED)
def test_what_is_undefined_is_an_error_where_it_is_stored(text: str):
    said, wrong, right = UNDEFINED[text]
    parameters, body = elementwise(f"    %r = {text} : tile<2xi32>\n", ["i32"] * 2, "i32", 2)

    def tried(x: int, y: int) -> None:
        arrays = [np.array([8, x], np.int32), np.array([2, y], np.int32)]
        run(parameters, body, [*arrays, np.zeros(2, np.int32)])

    for x, y in wrong:
        with pytest.raises(tw.ExecutionError, match=re.escape(said)) as raised:
            tried(x, y)
        assert " (it reaches values to store of" in str(raised.value)
        assert "at index (1))" in str(raised.value)
    for x, y in right:
        tried(x, y)


def test_a_loss_that_is_ruled_out_is_an_error():
    for word, wrong, right in (
        ("no_signed_wrap", 128, -128), ("no_unsigned_wrap", -1, 255), ("no_wrap", 200, 127)
    ):  # fmt: skip
        text = f"    %r = trunci %x0 overflow<{word}> : tile<1xi32> -> tile<1xi8>\n"
        parameters, body = elementwise(text, ["i32"], "i8", 1)
        got = run(parameters, body, [np.array([right], np.int32), np.zeros(1, np.int8)])[1]
        assert got.tolist() == [np.array(right).astype(np.int8)]
        with pytest.raises(tw.ExecutionError, match="expected no loss"):
            run(parameters, body, [np.array([wrong], np.int32), np.zeros(1, np.int8)])


def test_what_is_undefined_matters_where_it_is_used_alone():
    """A select that leaves the quotient out, and a constant divisor, need no more."""
    text = """
    %zero = constant <i32: 0> : tile<2xi32>
    %wrong = cmpi equal %x1, %zero, signed : tile<2xi32> -> tile<2xi1>
    %q = divi %x0, %x1 signed : tile<2xi32>
    %s = addi %q, %q : tile<2xi32>
    %r = select %wrong, %zero, %s : tile<2xi1>, tile<2xi32>
"""
    parameters, body = elementwise(text, ["i32", "i32"], "i32", 2)
    arrays = [np.array([7, 8], np.int32), np.array([0, 2], np.int32), np.zeros(2, np.int32)]
    assert run(parameters, body, arrays)[2].tolist() == [0, 8]
