"""Slow and exact: float64 results from Python's whole numbers, for lanes at the range's ends."""

import math
from collections.abc import Iterable

from tilewright.lowering.interpreter.numerics.rounding import Rounding


def parts(x: float) -> tuple[int, int]:
    """x = mantissa * 2**exponent for a finite float."""
    mantissa, exponent = math.frexp(x)
    return int(math.ldexp(mantissa, 53)), exponent - 53


def round_whole(mantissa: int, exponent: int, rounding: Rounding = "rn") -> float:
    """mantissa * 2**exponent rounded once to float64; zero gives +0. Overflow as in IEEE 754."""
    magnitude, negative = abs(mantissa), mantissa < 0
    if magnitude == 0:
        return 0.0
    quantum = max(magnitude.bit_length() + exponent - 1, -1022) - 52
    shift = quantum - exponent
    outward = rounding == ("rm" if negative else "rp")
    if shift <= 0:
        steps = magnitude << -shift
    else:
        steps, lost = magnitude >> shift, magnitude & ((1 << shift) - 1)
        half = 1 << (shift - 1)
        if rounding == "rn":
            steps += lost > half or (lost == half and steps & 1 == 1)
        else:
            steps += outward and lost != 0
    try:
        value = math.ldexp(float(steps), quantum)
    except OverflowError:
        largest = math.ldexp(2.0**53 - 1, 971)
        value = math.inf if rounding == "rn" or outward else largest
    return -value if negative else value


def fma_as_integers(a: float, b: float, c: float, rounding: Rounding) -> float:
    """a * b + c of finite floats, rounded once, with IEEE 754's zero signs."""
    mantissa, exponent = sum_of_products([(a, b), (c, 1.0)])
    if mantissa != 0:
        return round_whole(mantissa, exponent, rounding)
    product_sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    if (a == 0 or b == 0) and c == 0 and product_sign == math.copysign(1.0, c):
        return math.copysign(0.0, c)
    return -0.0 if rounding == "rm" else 0.0


def sum_of_products(pairs: Iterable[tuple[float, float]]) -> tuple[int, int]:
    """The exact sum of x * y over finite pairs as mantissa * 2**exponent."""
    terms: list[tuple[int, int]] = []
    for x, y in pairs:
        (x_mantissa, x_exponent), (y_mantissa, y_exponent) = parts(x), parts(y)
        if x_mantissa and y_mantissa:
            terms.append((x_mantissa * y_mantissa, x_exponent + y_exponent))
    low = min((exponent for _, exponent in terms), default=0)
    return sum(mantissa << (exponent - low) for mantissa, exponent in terms), low
