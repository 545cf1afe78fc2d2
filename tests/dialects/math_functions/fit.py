"""The polynomials of dialects/math_functions/coefficients.py, and how they were made:

    python tests/dialects/math_functions/fit.py > dialects/math_functions/coefficients.py

Chebyshev fits in 60 digits, each coefficient rounded to its type. Needs mpmath (the `test` extra).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from mpmath import (  # pyright: ignore[reportMissingTypeStubs]
    asin,
    atan,
    chebyfit,
    cos,
    erf,
    erfc,
    exp,
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
    if name in TAILS:
        law, count = TAILS[name][type_]
        low, high = mpf(-1), mpf(1)
    else:
        law, low, high, *counts = FITS[name]
        count = counts[type_ == "f64"]
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


def tables() -> dict[tuple[str, str], tuple[float, ...]]:
    """All polynomials and constants, by name and type."""
    names = [(name, fitted) for name in (*FITS, *TAILS)] + [(name, parts) for name in CONSTANTS]
    return {(name, type_): make(name, type_) for name, make in names for type_ in ("f32", "f64")}


def main() -> None:
    print('"""Polynomials and constants of the functions of `math`, by name and type.')
    print()
    print("Made by tests/dialects/math_functions/fit.py, which says of what; do not edit.")
    print('"""')
    print()
    print("from __future__ import annotations")
    print()
    print("TABLES: dict[tuple[str, str], tuple[float, ...]] = {")
    for (name, type_), numbers in tables().items():
        print(f'    ("{name}", "{type_}"): (')
        for number in numbers:
            print(f"        {number!r},")
        print("    ),")
    print("}")
    print()
    print("TWO_OVER_PI: tuple[int, ...] = (")
    for word in two_over_pi():
        print(f"    0x{word:016X},")
    print(")")
    print('"""The bits of 2/pi / 4 behind the point, 64 a word."""')


if __name__ == "__main__":
    main()
