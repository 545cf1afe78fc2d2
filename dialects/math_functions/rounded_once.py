"""Single ops of `arith` and `math` that chips do in several instructions: conversions to bf16
and fp8 that round once, extremes of f64 that keep NaN, arithmetic of one bit.

A number that is rounded to odd (truncated, its last bit set where that lost something) may be
rounded again to two bits fewer: the result is that of one rounding. Boldo and Melquiond, "When
double rounding is odd".
"""

from collections.abc import Callable
from math import nan

from tilewright.dialects.math_functions.code import Value, choice


def odd_single(x: Value) -> Value:
    """An f64 as f32, rounded to odd."""
    near = x.do("cvt", "rn.f32.f64", type_="f32")
    back = near.converted("f64")
    word = choice(abs(back) > abs(x), near.word - 1, near.word)
    return choice(back.compare("ne", x), word | 1, word).float


def odd_double(x: Value) -> Value:
    """An integer of 32 or 64 bits as f64, rounded to odd where it has more than 53 bits."""
    near = x.do("cvt", f"rn.f64.{x.type_}", type_="f64")
    if x.type_[1:] == "32":
        return near
    lost = choice((x & 2047).compare("ne", 0), 1, x.number(0))
    upper = (x >> 11 | lost).do("cvt", f"rn.f64.{x.type_}", type_="f64")
    return choice(abs(near) < 2.0**53, near, upper * 2048.0)


def odd_whole(x: Value) -> Value:
    """An integer of 32 or 64 bits as f32, rounded to odd."""
    return odd_single(odd_double(x))


def half_quotient(x: Value, y: Value) -> Value:
    """x / y of f16s, near enough to be rounded to f16: to a subnormal number there may be as far
    from two of them, and then is exact. Where an operand is no number but 0, nothing is left of x
    that is one."""
    inverse = y.do("rcp", "approx.ftz.f32")
    near = x * inverse
    left = (-near).fma(y, x)
    return choice(left.compare("ne", 0.0), left.fma(inverse, near), near)


def maximum(x: Value, y: Value) -> Value:
    """The greater one, NaN where one is NaN."""
    return choice(x.compare("nan", y), nan, x.do("max", "f64", y))


def minimum(x: Value, y: Value) -> Value:
    """The lesser one, NaN where one is NaN."""
    return choice(x.compare("nan", y), nan, x.do("min", "f64", y))


EXTREMES = {"arith.maximumf": maximum, "arith.minimumf": minimum}
"""Those on f64, by the op's name."""

ON_BITS: dict[str, Callable[[Value, Value], Value]] = {
    **dict.fromkeys(
        ("arith.addi", "arith.subi", "arith.xori"), lambda x, y: x.do("xor", "pred", y)
    ),
    **dict.fromkeys(("arith.muli", "arith.andi"), lambda x, y: x & y),
    "arith.ori": lambda x, y: x.do("or", "pred", y),
    **dict.fromkeys(("arith.minui", "arith.maxsi"), lambda x, y: x & y),
    **dict.fromkeys(("arith.maxui", "arith.minsi"), lambda x, y: x.do("or", "pred", y)),
    **dict.fromkeys(("arith.shli", "arith.shrui"), lambda x, y: x & y.do("not", "pred")),
    **dict.fromkeys(("arith.remsi", "arith.remui"), lambda x, _: x.do("xor", "pred", x)),
    **dict.fromkeys(
        ("arith.divsi", "arith.divui", "arith.shrsi"), lambda x, _: x
    ),
}  # fmt: skip
"""Ops on i1, by name: a quotient is the dividend, since the divisor is not 0."""
