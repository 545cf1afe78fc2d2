"""Integers of every width against Python's."""

from __future__ import annotations

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
    "divi %x0, %x1 unsigned": (False, lambda x, y: x // y if y else -1),
    "divi %x0, %x1 unsigned rounding<positive_inf>": (False, lambda x, y: -(-x // y) if y else -1),
    "divi %x0, %x1 signed": (True, lambda x, y: _quotient(x, y) if y else -1),
    "divi %x0, %x1 signed rounding<negative_inf>": (True, lambda x, y: x // y if y else -1),
    "divi %x0, %x1 signed rounding<positive_inf>": (True, lambda x, y: -(-x // y) if y else -1),
    "remi %x0, %x1 unsigned": (False, lambda x, y: x % y if y else x),
    "remi %x0, %x1 signed": (True, lambda x, y: x - _quotient(x, y) * y if y else x),
}


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("text", CASES)
def test_binary(text: str, bits: int) -> None:
    is_signed, want = CASES[text]
    values = samples(bits)
    size = 1 << (len(values) ** 2 - 1).bit_length()
    pairs = [(x, y) for x in values for y in values]
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
def test_shifts(text: str, bits: int) -> None:
    pairs = [(x, y) for x in samples(bits) for y in (0, 1, bits - 1) if y < 1 << bits]
    size = 1 << (len(pairs) - 1).bit_length()
    pairs += [(0, 0)] * (size - len(pairs))
    parameters, body = elementwise(
        f"    %r = {text} : tile<{size}xi{bits}>\n", [f"i{bits}"] * 2, f"i{bits}", size
    )
    args = [held([pair[i] for pair in pairs], bits) for i in range(2)]
    *_, got = run(parameters, body, [*args, np.zeros_like(args[0])])
    for (x, y), result in zip(pairs, got.tolist(), strict=True):
        if y >= bits:
            want = -1 if "signed" in text and "un" not in text and signed(x, bits) < 0 else 0
        elif "shli" in text:
            want = x << y
        else:
            want = (x if "unsigned" in text else signed(x, bits)) >> y
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
def test_unary(text: str, want: Callable[[int], int] | None, bits: int) -> None:
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
def test_comparisons(predicate: str, sign: str, bits: int) -> None:
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


def test_an_overflow_that_is_ruled_out_is_an_error() -> None:
    parameters, body = elementwise(
        "    %r = addi %x0, %x1 overflow<no_signed_wrap> : tile<2xi32>\n", ["i32", "i32"], "i32", 2
    )
    arrays = [np.array([1, 2**31 - 1], np.int32), np.array([5, 1], np.int32), np.zeros(2, np.int32)]
    with pytest.raises(tw.ExecutionError, match=r"expected no overflow .* from 2147483647, 1"):
        run(parameters, body, arrays)
    arrays[1][1] = 0
    assert run(parameters, body, arrays)[2].tolist() == [6, 2**31 - 1]
