"""Functions of f32 as CUDA's libdevice computes them, bit for bit: its constants and the order of
its operations, without fast math (subnormal numbers are kept, quotients and roots are rounded).

`libdevice.py` has their names; docs/math.md their errors. The steps whose only effect is a NaN or
an infinity of its own are what libdevice's branches give.
"""

from collections.abc import Callable
from math import inf, pi
from typing import TypeAlias

from tilewright.dialects.math_functions.approximations import fast
from tilewright.dialects.math_functions.circular import quarters, turns
from tilewright.dialects.math_functions.code import (
    Value,
    Values,
    choice,
    numbers,
    polynomial,
    quick_sum,
    rarely,
)

One: TypeAlias = Callable[[Value], Value]

_LOG2_E, _LN2 = 1.4426950216293335, 0.6931471824645996
_TINY = 2.0**-126


def nan(x: Value) -> Value:
    """The NaN that the chip makes."""
    words = {"f32": 0x7FFFFFFF, "f64": -(1 << 51)}
    return x.number(words[x.type_], x.format.signed).float


# Exponentials


def exp(x: Value) -> Value:
    """e to the power of x."""
    within = x.fma(0.005724980030208826, 0.5).do("max", "f32", x.number(0.0))
    within = within.do("min", "f32", x.number(1.0))
    whole = within.do("fma", "rm.f32", x.number(252.0), x.number(12582913.0))
    rest = x.fma(1.925963033500011e-08, x.fma(_LOG2_E, -(whole - 12583039.0)))
    return fast(rest, "ex2") * (whole.word << 23).float


def exp2(x: Value) -> Value:
    """2 to the power of x."""
    small = x < -126.0
    power = fast(choice(small, x * 0.5, x), "ex2")
    return choice(small, power * power, power)


def _quarter_exp(a: Value) -> Value:
    """e^a / 4, of a from 0 on."""
    whole = (a * _LOG2_E).rounded("rzi").do("min", "f32", a.number(126.0))
    rest = whole.fma(1.9046542121259336e-09, whole.fma(-_LN2, a))
    return fast(rest * _LOG2_E, "ex2") * ((whole + 12583037.0).word << 23).float


def sinh(x: Value) -> Value:
    """(e^x - e^-x) / 2."""
    a = abs(x)
    quarter = _quarter_exp(a)
    large = quarter.fma(2.0, fast(quarter, "rcp") * -0.125).signed_as(x)
    square = x * x
    return choice(a >= 1.0, large, (square * polynomial(square, _SINH)).fma(x, x))


_SINH = numbers("""
    0.1666666716337204 0.008333349600434303 0.0001983615948120132 2.8169511097075883e-06
""")


def cosh(x: Value) -> Value:
    """(e^x + e^-x) / 2."""
    quarter = _quarter_exp(abs(x))
    return quarter.fma(2.0, fast(quarter, "rcp") * 0.125)


def tanh(x: Value) -> Value:
    """sinh(x) / cosh(x)."""
    a = abs(x)
    inverse = fast(fast(a * (2 * _LOG2_E), "ex2") + 1.0, "rcp")
    large = choice(a >= 9.010913848876953, 1.0, inverse.fma(-2.0, 1.0)).signed_as(x)
    square = x * x
    return choice(a >= 0.6000000238418579, large, polynomial(square, _TANH).fma(x, x))


_TANH = numbers("""
    0.0 -0.33332768082618713 0.13315297663211823 -0.05230396240949631 0.01573968306183815
""")

# Logarithms


def _split(x: Value, least: float, up: int) -> tuple[Value, Value, Value]:
    """(k, m, s) with x = 2^k m and m from `least` on, below twice that; s is x, times 2^up where
    that is subnormal."""
    small = x < _TINY
    s = choice(small, x * 2.0**up, x)
    above = (s.word - x.number(least).word) & -(1 << 23)
    k = above.converted("f32").fma(2.0**-23, choice(small, float(-up), x.number(0.0)))
    return k, (s.word - above).float, s


def _log_edges(s: Value, result: Value) -> Value:
    """That of infinity, NaN and what is below 0, and of 0."""
    result = choice(s.word.below(s.number(inf).word), result, s.fma(inf, inf))
    return choice(s.compare("eq", 0.0), -inf, result)


def _log(x: Value) -> tuple[Value, Value]:
    k, m, s = _split(x, 0.6666666865348816, 23)
    f = m - 1.0
    return s, k.fma(_LN2, (f * polynomial(f, _LOG)).fma(f, f))


def log(x: Value) -> Value:
    """The natural logarithm."""
    return _log_edges(*_log(x))


def log10(x: Value) -> Value:
    """The decimal logarithm."""
    s, natural = _log(x)
    return _log_edges(s, natural * 0.4342944920063019)


_LOG = numbers("""
    -0.5 0.333331823348999 -0.24999669194221497 0.20012299716472626 -0.16684235632419586
    0.1398061066865921 -0.12148627638816833 0.1408461034297943 -0.13018856942653656
""")


def log2(x: Value) -> Value:
    """The binary logarithm."""
    k, m, s = _split(x, _ROOT_HALF, 23)
    f = m - 1.0
    return _log_edges(s, k + f.fma(_LOG2_E, f * (f * polynomial(f, _LOG2))))


_ROOT_HALF = 0.7071067690849304
_LOG2 = numbers("""
    -0.7213475108146667 0.4808982014656067 -0.3606741726398468 0.28857114911079407
    -0.24046532809734344 0.20512372255325317 -0.17900948226451874 0.17168870568275452
    -0.16845393180847168 0.09702014178037643
""")

# Powers


def pow(x: Value, y: Value) -> Value:
    """x to the power of y, with the special cases of IEEE 754."""
    high, low = _log2_parts(abs(x))
    exponent = high * y
    rest = low.fma(y, high.fma(y, -exponent))
    near = exponent.rounded()
    whole, mantissa = near.whole(), polynomial(rest + (exponent - near), _POWER)
    first = choice(near > 0.0, 0, whole.number(-0x7D000000))
    power = mantissa * (first + 0x7F000000).float * ((whole << 23) - first).float
    beyond = choice(exponent < 0.0, 0.0, x.number(inf))
    return power_edges(x, y, choice(abs(exponent) > 152.0, beyond, power))


_POWER = numbers("""
    1.0 0.6931471824645996 0.24022644758224487 0.055503588169813156 0.009618839249014854
    0.0013391353422775865 0.00015239251661114395
""")


def _log2_parts(a: Value) -> tuple[Value, Value]:
    """log2(a) as a sum of two."""
    k, m, _ = _split(a, _ROOT_HALF, 24)
    f, inverse = m - 1.0, fast(m + 1.0, "rcp")
    s = (f + f) * inverse
    square, left = s * s, f - s
    s_low = inverse * (-s).fma(f, left + left)
    tail = polynomial(square, _LOG_TAIL) * square
    high = s.fma(_LOG2_E, k)
    low = s_low.fma(_LOG2_E, s.fma(_LOG2_E, k - high))
    low = (tail * 3.0).fma(s_low, s.fma(1.925136672298322e-08, low))
    return quick_sum(high, tail.fma(s, low))


_LOG_TAIL = numbers("""
    0.12022458761930466 0.018033718690276146 0.0032181653659790754 0.0006568862590938807
""")


def power_edges(x: Value, y: Value, result: Value) -> Value:
    """The power, with the cases that are of their own but infinite exponents of other numbers than
    -1, 0 and 1."""
    half = (y * 0.5).rounded("rzi")
    odd = abs(y - (half + half)).compare("eq", 1.0)
    negative = choice(y.rounded("rmi").compare("ne", y), nan(x), choice(odd, -result, result))
    result = choice(x < 0.0, negative, result)
    result = choice(x.compare("eq", -1.0) & abs(y).compare("eq", inf), 1.0, result)
    double, infinite = (x + x).word, x.number(inf).word
    double = choice(y < 0.0, double ^ infinite, double).float
    double = choice(odd, double, abs(double))
    result = choice(x.compare("eq", 0.0), double, choice(abs(x).compare("eq", inf), double, result))
    result = choice(x.compare("nan", y), x + y, result)
    return choice(x.compare("eq", 1.0), 1.0, choice(y.compare("eq", 0.0), 1.0, result))


def rsqrt(x: Value) -> Value:
    """1 / sqrt(x)."""
    small = abs(x) < _TINY
    root = fast(choice(small, x * 2.0**24, x), "rsqrt")
    return choice(small, root * 2.0**12, root)


# Circular functions


def _turned(x: Value) -> Values:
    """(n, r) with x = n pi/2 + r; the last two bits of n alone are meant."""
    count, r = (x * 0.6366197466850281).rounded().whole(), x
    n = count.converted("f32")
    for part in (1.570796251296997, 7.549789415861596e-08, 5.390302953474238e-15):
        r = n.fma(-part, r)
    far = abs(x) >= 105615.0
    return rarely(far, lambda: _far_turned(choice(far, x, x.number(2.0**31))), (count, r))


def _far_turned(x: Value) -> tuple[Value, Value]:
    top, _ = turns(x)
    fraction = top << 2
    # Below 0 the ones' complement is its size.
    below = fraction >> 63
    r = ((fraction ^ below).converted("f64") * 8.515303950216387e-20).converted("f32")
    count, minus = quarters(top, fraction), x.word.compare("lt", 0)
    r = choice(below.compare("lt", 0), -r, r)
    r = choice(abs(x).compare("eq", inf), x * 0.0, choice(minus, -r, r))
    return choice(minus, -count, count), r


def _circular(x: Value, quarter: int) -> Value:
    n, r = _turned(x)
    n, square = n + quarter, r * r
    sine = (n & 1).compare("eq", 0)
    tail = square.fma(2.4279579520225525e-05, -0.0013887860113754869)
    tail = choice(sine, -0.00019574658654164523, tail)
    for of_sine, of_cosine in (
        (0.00833270326256752, 0.041666727513074875),
        (-0.16666662693023682, -0.4999999701976776),
    ):
        tail = tail.fma(square, choice(sine, of_sine, x.number(of_cosine)))
    first = choice(sine, r, x.number(1.0))
    result = tail.fma(square.fma(first, 0.0), first)
    return choice((n & 2).compare("eq", 0), result, result.fma(-1.0, 0.0))


def sin(x: Value) -> Value:
    """The sine."""
    return _circular(x, 0)


def cos(x: Value) -> Value:
    """The cosine."""
    return _circular(x, 1)


def tan(x: Value) -> Value:
    """The tangent."""
    n, r = _turned(x)
    square = r * r
    tangent = polynomial(square, _TAN).fma(square * r, r)
    tangent = choice(abs(r).compare("eq", 0.0004909669514745474), r, tangent)
    return choice((n & 1).compare("eq", 0), tangent, fast(-tangent, "rcp"))


_TAN = numbers("""
    0.3333323001861572 0.13337790966033936 0.053466796875 0.0242919921875 0.003265380859375
    0.00933837890625
""")


def from_right_angle(part: Value) -> Value:
    """pi/2, as a product, plus a part."""
    return part.number(1.6832555532455444).fma(0.9331894516944885, part)


def _from_half_turn(angle: Value) -> Value:
    """pi, as a product, less an angle."""
    return angle.number(1.6832555532455444).fma(1.866378903388977, -angle)


def angle_of(
    y: Value, x: Value, coefficients: tuple[float, ...], beside: One, behind: One
) -> Value:
    """The angle of the point (x, y); `beside` adds to pi/2, `behind` takes from pi."""
    up, along = abs(y), abs(x)
    steep, back = up > along, x.word.compare("lt", 0)
    large = choice(steep, up, along)
    t = choice(steep, along, up) / large
    square = t * t
    angle = (square * polynomial(square, coefficients)).fma(t, t)
    turned = beside(choice(back, angle, -angle))
    angle = choice(steep, turned, choice(back, behind(angle), angle))
    diagonal = choice(back, 3 * pi / 4, x.number(pi / 4))
    angle = choice(up.compare("eq", along), diagonal, angle)
    on_axis = choice(back, pi, x.number(0.0))
    angle = choice(large.compare("eq", 0.0), on_axis, angle).signed_as(y)
    return choice(x.compare("nan", y), up + along, angle)


def atan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y)."""
    return angle_of(y, x, _ATAN, from_right_angle, _from_half_turn)


_ATAN = numbers("""
    -0.33333197236061096 0.19993925094604492 -0.1420772224664688 0.10640415549278259
    -0.07479298114776611 0.04220075160264969 -0.015681877732276917 0.0027380611281841993
""")
