"""The polynomials of dialects/math_functions/coefficients.py, and how they were made:

    python tests/dialects/math_functions/fit.py > dialects/math_functions/coefficients.py

Chebyshev fits in 60 digits, of functions of f64 alone in 36, each coefficient rounded to its type.
Needs mpmath (the `test` extra).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from textwrap import fill
from typing import Any

from mpmath import (  # pyright: ignore[reportMissingTypeStubs]
    asin,
    atan,
    besseli,
    besselj,
    bessely,
    chebyfit,
    cos,
    erf,
    erfc,
    exp,
    findroot,
    ln,
    log,
    mp,
    mpf,
    pi,
    sin,
    sqrt,
    tan,
)  # fmt: skip

mp.dps = 60
TINY = mpf(10) ** -18


def near(limit: Any, law: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A law whose formula is 0/0 at 0, where it is `limit`."""
    return lambda u: law(u) if abs(u) > TINY else mpf(limit)


def odd(function: Callable[[Any], Any], limit: Any) -> Callable[[Any], Any]:
    """P in function(x) = x + x^3 P(x^2)."""
    return near(limit, lambda u: (function(sqrt(u)) - sqrt(u)) / (u * sqrt(u)))


def erfc_scaled(low: int, high: int) -> Callable[[Any], Any]:
    """erfc(x) exp(x^2) on [low, high], of u in [-1, 1]."""

    def law(u: Any) -> Any:
        x = mpf(low + high) / 2 + u * mpf(high - low) / 2
        return erfc(x) * exp(x * x)

    return law


def erfcx(t: Any) -> Any:
    """erfc(x) exp(x^2) (1 + 2x) of t = (x - 4) / (x + 4)."""
    if t > 1 - TINY:
        return 2 / sqrt(pi)
    x = 4 * (1 + t) / (1 - t)
    if x < 100:
        return erfc(x) * exp(x * x) * (1 + 2 * x)
    terms, term = mpf(0), mpf(1)
    for k in range(1, 20):
        terms, term = terms + term, -term * (2 * k - 1) / (2 * x * x)
    return terms * (1 / x + 2) / sqrt(pi)


FIRST = mpf(10) ** -12
_NEAR_ROOTS = {"j0": (2.4, 5.5), "j1": (3.8, 7.0), "y0": (0.9, 3.96, 7.09), "y1": (2.2, 5.43)}
KINDS = {"j": besselj, "y": bessely}
ROOTS = {name: [findroot(partial(KINDS[name[0]], int(name[1])), near) for near in places]
         for name, places in _NEAR_ROOTS.items()}  # fmt: skip
"""The places below 8 where Bessel functions are 0."""
MIDDLE = {0: (0.6, 2.5), 1: (1.6, 3.6)}
"""From where on those of the second kind are products with the distances from their roots, and of
what place m the others are functions of (x - m) / (x + m)."""


def bessel_near(kind: Any, order: int) -> Callable[[Any], Any]:
    """Of u = x^2 what is multiplied by x^order: of the first kind the quotient by all x^2 - root^2,
    of the second what is added to 2/pi ln(x) times the first, less 2/pi / x of order 1."""

    def law(u: Any) -> Any:
        x = sqrt(max(u, FIRST))
        value = kind(order, x)
        if kind is bessely:
            value -= 2 / pi * (ln(x) * besselj(order, x) - order / x)
        for root in ROOTS[f"j{order}"] if kind is besselj else ():
            value /= (x - root) * (x + root)
        return value / x**order

    return law


def bessel_middle(order: int) -> Callable[[Any], Any]:
    """Y divided by all x - root."""

    def law(z: Any) -> Any:
        x = MIDDLE[order][1] * (1 + z) / (1 - z)
        return bessely(order, x) / mp.fprod(x - root for root in ROOTS[f"y{order}"])

    return law


def middle(order: int) -> tuple[Any, Any]:
    """Its interval."""
    low, place = MIDDLE[order]
    return (low - mpf(place)) / (low + mpf(place)), (8 - mpf(place)) / (8 + mpf(place))


def centred(law: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A law of u in [0, 64] as one of u / 32 - 1."""
    return lambda t: law(32 * t + 32)


def bessel_far(order: int, beside: bool) -> Callable[[Any], Any]:
    """Of v = (8 / x)^2 what sqrt(pi x / 2) (J + iY) is, divided by e^i(x - (2 order + 1) pi / 4):
    the real part, or x / 8 times the other."""

    def law(v: Any) -> Any:
        x = 8 / sqrt(max(v, FIRST))
        angle, first, second = x - (2 * order + 1) * pi / 4, besselj(order, x), bessely(order, x)
        there = second * cos(angle) - first * sin(angle)
        along = first * cos(angle) + second * sin(angle)
        return sqrt(pi * x / 2) * (there * x / 8 if beside else along)

    return law


def modified_far(order: int) -> Callable[[Any], Any]:
    """I(x) e^-x sqrt(x) of t = 16 / x - 1."""

    def law(t: Any) -> Any:
        x = 16 / (1 + max(t, FIRST - 1))
        return besseli(order, x) * exp(-x) * sqrt(x)

    return law


HALF_LN2 = ln(2) / 2 * mpf("1.001")
OCTANT = (pi / 4) ** 2 * mpf("1.001")
LOG = near(mpf(1) / 3, lambda f: (log(1 + f) - f + f * f / 2) / f**3)
LOG_TAIL = near(
    mpf(2) / 5,
    lambda u: (
        (log((1 + sqrt(u)) / (1 - sqrt(u))) - 2 * sqrt(u) - 2 * u * sqrt(u) / 3) / (u * u * sqrt(u))
    ),
)

# name: law, interval, how many coefficients for f32 and f64
FITS: dict[str, tuple[Any, Any, Any, int, int]] = {
    "exp": (near(0.5, lambda r: (exp(r) - 1 - r) / r**2), -HALF_LN2, HALF_LN2, 5, 11),
    "log": (LOG, sqrt(mpf(0.5)) - 1, sqrt(mpf(2)) - 1, 9, 23),
    "log_tail": (LOG_TAIL, mpf(0), mpf("0.02945"), 3, 9),
    "sin": (odd(sin, -mpf(1) / 6), mpf(0), OCTANT, 4, 7),
    "cos": (near(mpf(1) / 24, lambda u: (cos(sqrt(u)) - 1 + u / 2) / u**2), mpf(0), OCTANT, 3, 7),
    "tan": (odd(tan, mpf(1) / 3), mpf(0), OCTANT, 7, 17),
    "atan": (odd(atan, -mpf(1) / 3), mpf(0), mpf(1), 10, 24),
    "asin": (odd(asin, mpf(1) / 6), mpf(0), mpf("0.2501"), 5, 13),
    "erf": (near(2 / sqrt(pi) - 1, lambda u: erf(sqrt(u)) / sqrt(u) - 1), mpf(0), mpf(1), 7, 14),
}
TAILS = {"erfc_scaled": {"f32": (erfc_scaled(1, 4), 12), "f64": (erfc_scaled(1, 6), 28)}}
# Of f64 alone: law, interval, how many coefficients.
OF_DOUBLES: dict[str, tuple[Any, Any, Any, int]] = {
    "erfcx": (erfcx, mpf(-1), mpf(1), 26),
    **{f"bessel_j{order}": (centred(bessel_near(besselj, order)), mpf(-1), mpf(1), 14)
       for order in range(2)},
    **{f"bessel_y{order}": (bessel_near(bessely, order), mpf(0), mpf(MIDDLE[order][0]) ** 2, count)
       for order, count in enumerate((7, 9))},
    **{f"bessel_y{order}_middle": (bessel_middle(order), *middle(order), count)
       for order, count in enumerate((42, 32))},
    **{f"bessel_i{order}": (bessel_near(besseli, order), mpf(0), mpf(64), 18)
       for order in range(2)},
    **{f"bessel_{'pq'[beside]}{order}": (bessel_far(order, bool(beside)), mpf(0), mpf(1), 11)
       for beside in range(2) for order in range(2)},
    **{f"bessel_i{order}_far": (modified_far(order), mpf(-1), mpf(1), 22) for order in range(2)},
}  # fmt: skip
# Constants as sums of numbers of a type, the first ones short where their products must be exact.
CONSTANTS = {
    "ln2": ln(2),
    "ln2_full": ln(2),
    "log2e": 1 / ln(2),
    "log10e": 1 / ln(10),
    "log10_2": ln(2) / ln(10),
    "half_pi": pi / 2,
    "two_thirds": mpf(2) / 3,
}
SHORT = {"ln2": {"f32": 9, "f64": 32}, "log10_2": {"f32": 9, "f64": 32}}
PARTS = 3
TWO_OVER_PI_WORDS = 20


def rounded(value: Any, type_: str, bits: int | None = None) -> float:
    """The nearest number of a type, or of fewer bits."""
    if bits is not None:
        mantissa, exponent = mp.frexp(value)
        return float(mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits))
    number = float(value)
    return struct.unpack("<f", struct.pack("<f", number))[0] if type_ == "f32" else number


def fitted(name: str, type_: str) -> tuple[float, ...]:
    """The coefficients of a polynomial, the constant first."""
    if name in OF_DOUBLES:
        law, low, high, count = OF_DOUBLES[name]
    elif name in TAILS:
        law, count = TAILS[name][type_]
        low, high = mpf(-1), mpf(1)
    else:
        law, low, high, *counts = FITS[name]
        count = counts[type_ == "f64"]
    with mp.workdps(36 if name in OF_DOUBLES else mp.dps):
        found: list[Any] = chebyfit(law, [low, high], count)
    return tuple(rounded(value, type_) for value in reversed(found))


def parts(name: str, type_: str) -> tuple[float, ...]:
    """A constant as a sum of numbers of a type, the greatest first."""
    left, numbers = mpf(CONSTANTS[name]), list[float]()
    for _ in range(PARTS):
        short = SHORT.get(name, {}).get(type_) if not numbers else None
        numbers.append(rounded(left, type_, short))
        left -= mpf(numbers[-1])
    return tuple(numbers)


def two_over_pi() -> tuple[int, ...]:
    """The first bits of 2/pi / 4 behind the point, 64 a word."""
    with mp.workdps(500):
        bits = int(mp.floor(mp.ldexp(1 / (2 * mp.pi), 64 * TWO_OVER_PI_WORDS)))
    return tuple(bits >> 64 * k & (1 << 64) - 1 for k in reversed(range(TWO_OVER_PI_WORDS)))


def tables(every: int = 1) -> dict[tuple[str, str], tuple[float, ...]]:
    """All polynomials and constants, or one of so many and all roots, by name and type."""
    names = [(name, fitted) for name in (*FITS, *TAILS)] + [(name, parts) for name in CONSTANTS]
    both = [(name, type_, make) for name, make in names for type_ in ("f32", "f64")]
    every_table = [*both, *((name, "f64", fitted) for name in OF_DOUBLES)]
    return {
        **{(name, type_): make(name, type_) for name, type_, make in every_table[::every]},
        **{(f"roots_{name}", "f64"): tuple(
            part for root in roots for part in (float(root), float(root - mpf(float(root))))
        ) for name, roots in ROOTS.items()},
    }  # fmt: skip


def main() -> None:
    print('"""Polynomials and constants of the functions of `math`, by name and type.')
    print()
    print("Made by tests/dialects/math_functions/fit.py, which says of what; do not edit.")
    print('"""')
    print()
    print('_TABLES = """')
    for (name, type_), numbers in tables().items():
        print(fill(f"{name} {type_} {' '.join(map(repr, numbers))}", 100, subsequent_indent="  "))
        print()
    print('"""')
    print("TABLES = {")
    print("    (name, type_): tuple(map(float, numbers))")
    print('    for name, type_, *numbers in map(str.split, _TABLES.strip().split("\\n\\n"))')
    print("}")
    print()
    print('_TWO_OVER_PI = """')
    print(fill(" ".join(f"{word:016X}" for word in two_over_pi()), 72))
    print('"""')
    print("TWO_OVER_PI = tuple(int(word, 16) for word in _TWO_OVER_PI.split())")
    print('"""The bits of 2/pi / 4 behind the point, 64 a word."""')


if __name__ == "__main__":
    main()
