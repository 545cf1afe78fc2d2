"""Special functions of libdevice, as f64: those of the normal distribution and Bessel functions.

Of f32 they are computed in f64 and rounded once more.
"""

from collections.abc import Callable
from functools import partial
from math import inf, nan, pi, sqrt

from tilewright.dialects.math_functions.circular import cos, sin
from tilewright.dialects.math_functions.code import (
    Value,
    choice,
    clamped,
    polynomial,
    product,
    table,
)
from tilewright.dialects.math_functions.functions import erf, exp, log, log1p

_HALF_ROOT = (0.7071067811865476, -4.833646656726457e-17)
"""1 / sqrt(2), in two parts."""


def _scaled_erfc(x: Value) -> Value:
    """erfc(x) exp(x^2) of 0 on."""
    x = clamped(x, 0.0, 2.0**1000)
    return polynomial((x - 4.0) / (x + 4.0), table("erfcx", x)) / x.fma(2.0, 1.0)


def erfcx(x: Value) -> Value:
    """erfc(x) exp(x^2)."""
    below = clamped(x, -27.0, 0.0)
    square, rest = product(below, below)
    grown = exp(square) * (rest + 1.0) * 2.0
    scaled = _scaled_erfc(abs(x))
    return choice(x < 0.0, grown - scaled, scaled)


def erfc(x: Value, low: Value | float = 0.0) -> Value:
    """1 - erf(x + low)."""
    x = clamped(x, -28.0, 28.0)
    square, rest = product(x, x)
    rest = (x * 2.0).fma(low, rest)
    decay = exp(-square)
    tail = (decay - decay * rest) * _scaled_erfc(abs(x))
    return choice(x < 0.0, x.number(2.0) - tail, tail)


def normcdf(x: Value) -> Value:
    """The share of a normal distribution below x."""
    high, low = _HALF_ROOT
    x = clamped(x, -40.0, 40.0)
    top, rest = product(x, x.number(-high))
    return erfc(top, x.fma(-low, rest)) * 0.5


def _root_of_erfc(level: Value, share: Value) -> Value:
    """The number whose erfc has this logarithm, of 0 at most, by Newton's method from above, which
    takes five steps; its erf is the magnitude of `share`, whose sign it has."""
    a = abs(share)
    y = (-level).sqrt()
    for _ in range(5):
        scaled = _scaled_erfc(y)
        y = (log(scaled) - y.fma(y, level)).fma(scaled * (sqrt(pi) / 2), y)
    y = choice(a < 2.0**-20, a * (sqrt(pi) / 2), y)
    slope = exp(y * y) * (sqrt(pi) / 2)
    y = choice(a < 0.5, (erf(y) - a).fma(-slope, y), y)
    return choice(level.compare("eq", -inf), inf, y).signed_as(share)


def erfinv(x: Value) -> Value:
    """The number whose erf is x."""
    return _root_of_erfc(log1p(-abs(x)), x)


def erfcinv(x: Value) -> Value:
    """The number whose erfc is x."""
    share = x.number(1.0) - x
    return _root_of_erfc(choice(x < 0.5, log(x), log1p(-abs(share))), share)


def normcdfinv(x: Value) -> Value:
    """The number below which a share x of a normal distribution is."""
    return erfcinv(x * 2.0) * -sqrt(2.0)


def _from_roots(x: Value, name: str) -> list[Value]:
    """The distances of x from the roots of a Bessel function."""
    parts = table(f"roots_{name}", x)
    return [x - root - rest for root, rest in zip(parts[::2], parts[1::2], strict=True)]


_MIDDLE = ((0.6, 2.5), (1.6, 3.6))
"""By order: where Y is a product with the distances from its roots on, a function of (x - m) / (x +
m), and m."""


def _bessel(order: int, second: bool, x: Value) -> Value:
    """J, or the second kind, Y, of order 0 or 1."""
    a = abs(x)
    square, power = a * a, a if order else a.number(1.0)
    near = polynomial(square.fma(1 / 32, -1.0), table(f"bessel_j{order}", a)) * power
    for here, there in zip(*(_from_roots(y, f"j{order}") for y in (a, -a)), strict=True):
        near = near * (here * -there)
    if second:
        near = near * log(x) - (a.number(1.0) / a if order else 0.0)
        near = near.fma(2 / pi, polynomial(square, table(f"bessel_y{order}", a)) * power)
        low, place = _MIDDLE[order]
        middle = polynomial((a - place) / (a + place), table(f"bessel_y{order}_middle", a))
        for here in _from_roots(a, f"y{order}"):
            middle = middle * here
        near = choice(a < low, near, middle)
    inverse = x.number(8.0) / a
    along = polynomial(inverse * inverse, table(f"bessel_p{order}", a))
    beside = polynomial(inverse * inverse, table(f"bessel_q{order}", a)) * inverse
    sine, cosine = sin(a), cos(a)
    both, between = cosine + sine, sine - cosine
    if order + second == 1:
        far = along * between + beside * both
    else:
        far = along * both - beside * between
    far = far * (sqrt(1 / pi) * (-1 if order + second == 2 else 1)) / (x if second else a).sqrt()
    value = choice(a < 8.0, near, choice(a.compare("eq", inf), 0.0, far))
    if second:
        return choice(x.compare("eq", 0.0), -inf, choice(x < 0.0, nan, value))
    return choice(x < 0.0, -value, value) if order else value


def _modified_bessel(order: int, x: Value) -> Value:
    """I, of order 0 or 1."""
    a = clamped(abs(x), 0.0, 800.0)
    near = polynomial(a * a, table(f"bessel_i{order}", a))
    half = exp(a * 0.5)
    scaled = polynomial(x.number(16.0) / a - 1.0, table(f"bessel_i{order}_far", a))
    value = choice(a < 8.0, near * a if order else near, half * (scaled / a.sqrt()) * half)
    return value.signed_as(x) if order else value


SPECIAL: dict[str, tuple[Callable[[Value], Value], float]] = {
    "erfc": (erfc, 5), "erfcx": (erfcx, 5), "erfinv": (erfinv, 5),
    "erfcinv": (erfcinv, 5), "normcdf": (normcdf, 5), "normcdfinv": (normcdfinv, 5),
    **{f"{letter}{order}": (partial(_bessel, order, letter == "y"), 6)
       for letter in "jy" for order in range(2)},
    **{f"cyl_bessel_i{order}": (partial(_modified_bessel, order), 5) for order in range(2)},
}  # fmt: skip
"""Programs and errors of f64, of J and Y in units of the last place of 1 where they are less."""
