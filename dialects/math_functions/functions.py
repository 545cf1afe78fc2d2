"""The functions of `math` on f32 and f64 as programs of scalar instructions.

Argument reductions and kernels are the textbook ones: Cody and Waite, Payne and Hanek; Muller,
Elementary Functions. `FUNCTIONS` says of each how far it may be from the mathematical result.
"""

from collections.abc import Callable
from functools import partial
from math import inf, nan

from tilewright.dialects.frozen import frozen
from tilewright.dialects.math_functions.approximations import (
    fast,
    fast_exp,
    fast_exp2,
    fast_log,
    fast_log2,
    fast_log10,
    fast_powf,
    fast_rsqrt,
    fast_tanh,
)
from tilewright.dialects.math_functions.circular import acos, asin, atan, atan2, cos, sin, tan
from tilewright.dialects.math_functions.code import (
    Value,
    choice,
    clamped,
    polynomial,
    product,
    quick_sum,
    scaled,
    table,
    two_power,
)
from tilewright.dialects.math_functions.integers import ctlz, ctpop, cttz, ipowi

# Exponentials

# Beyond these e^x is infinite or zero, and the exponent stays a sound integer.
_RANGE = {"f32": (-104.0, 89.0), "f64": (-746.0, 710.0)}
# Beyond it e^-x is nothing to 1.
_DEEP = {"f32": 18.0, "f64": 38.0}


def _reduced(x: Value) -> tuple[Value, Value]:
    """(n, e^x / 2^n - 1) with n near x / ln 2."""
    n = (x * table("log2e", x)[0]).rounded()
    high, low, _ = table("ln2", x)
    return n, _less_one(n.fma(-low, n.fma(-high, x)))


def _less_one(r: Value) -> Value:
    """e^r - 1 for |r| <= ln 2 / 2."""
    return (r * r).fma(polynomial(r, table("exp", r)), r)


def _exp(x: Value, doublings: int = 0) -> Value:
    """2^doublings e^x."""
    low, high = _RANGE[x.type_]
    n, less_one = _reduced(clamped(x, low, high - doublings))
    return scaled(less_one + 1.0, n.whole() + doublings)


_NORMAL, _WHOLE = 126.5, 1.5 * 2**23
"""The exponents that a factor has are below it, and the f32 whose last bit counts ones."""


def _exp_by_chip(x: Value) -> Value:
    """e to the power of x, of f32: ex2 of the fraction of x log2 e, which is in [0, 1) but where
    the whole part is that of no normal number; then ex2 has the rest of it."""
    high, low, _ = table("log2e", x)
    within = x.do("max", "f32", x.number((1 - _NORMAL) / high))
    within = within.do("min", "f32", x.number(_NORMAL / high))
    bias = _WHOLE + x.format.bias
    whole = within.do("fma", "rm.f32", x.number(high), x.number(bias))
    fraction = x.fma(low, x.fma(high, -(whole - bias)))
    return fast(fraction, "ex2") * (whole.word << x.format.mantissa).float


def exp(x: Value) -> Value:
    """e to the power of x."""
    return _exp_by_chip(x) if x.type_ == "f32" else _exp(x)


def exp2(x: Value, rest: Value | None = None) -> Value:
    """2 to the power of x + rest."""
    low, high = (bound * table("log2e", x)[0] for bound in _RANGE[x.type_])
    bounded = clamped(x, low, high)
    n = bounded.rounded()
    fraction, rest = (bounded - n, None) if rest is None else quick_sum(bounded - n, rest)
    ln2, ln2_low, _ = table("ln2_full", x)
    part, error = product(fraction, x.number(ln2))
    error = fraction.fma(ln2_low, error)
    if rest is not None:
        error = rest.fma(ln2, error)
    less_one = (part * part).fma(polynomial(part, table("exp", x)), error) + part
    return scaled(less_one + 1.0, n.whole())


def expm1(x: Value) -> Value:
    """e to the power of x, less 1: accurate near 0."""
    n, less_one = _reduced(clamped(x, -2 * _DEEP[x.type_], _RANGE[x.type_][1]))
    half = two_power(n.whole() - 1, x.format)
    result = less_one.fma(half, half - 0.5) * 2.0
    return choice(x.compare("eq", 0.0), x, result)


def _quotient(x: Value, y: Value) -> Value:
    """x / y, of f32 within an ulp, where neither y nor its reciprocal is infinite or subnormal."""
    if x.type_ == "f64":
        return x / y
    reciprocal = fast(y, "rcp")
    quotient = x * reciprocal
    return (-quotient).fma(y, x).fma(reciprocal, quotient)


def sinh(x: Value) -> Value:
    """(e^x - e^-x) / 2."""
    a = abs(x)
    t = expm1(clamped(a, 0.0, _DEEP[x.type_]))
    one_more = t + 1.0
    small = choice(t < 1.0, t + t - _quotient(t * t, one_more), t + _quotient(t, one_more)) * 0.5
    return choice(a > _DEEP[x.type_], _exp(a, -1), small).signed_as(x)


def cosh(x: Value) -> Value:
    """(e^x + e^-x) / 2."""
    a = abs(x)
    power = _exp(clamped(a, 0.0, _DEEP[x.type_]))
    return choice(a > _DEEP[x.type_], _exp(a, -1), power.fma(0.5, _quotient(x.number(0.5), power)))


def tanh(x: Value) -> Value:
    """sinh(x) / cosh(x)."""
    a = clamped(abs(x), 0.0, _DEEP[x.type_])
    t = expm1(a + a)
    small = a < 0.5
    quotient = _quotient(choice(small, t, x.number(2.0)), t + 2.0)
    return choice(small, quotient, x.number(1.0) - quotient).signed_as(x)


# Logarithms


def _decomposed(x: Value) -> tuple[Value, Value]:
    """(k, m) with x = 2^k m, sqrt(1/2) <= m < sqrt(2), for x positive and finite; k is a float."""
    form = x.format
    small = x < 2.0 ** (1 - form.bias)
    shift = form.mantissa + 1
    word = choice(small, x * 2.0**shift, x).word
    above = word - x.number(0.5**0.5).word
    k = above >> form.mantissa
    m = (word - (k << form.mantissa)).float
    real = k.converted(form.name)
    return choice(small, real - float(shift), real), m


def _log1p_reduced(f: Value, rest: Value) -> Value:
    """log(1 + f) + rest, for 1 + f between the roots of 1/2 and 2, and a small rest."""
    tail = (f * f * f).fma(polynomial(f, table("log", f)), rest)
    return f + (f * f).fma(-0.5, tail)


def _log_edges(x: Value, result: Value) -> Value:
    """Infinity at infinity, minus infinity at 0, NaN below."""
    result = choice(x.compare("eq", inf), inf, result)
    result = choice(x.compare("eq", 0.0), -inf, result)
    return choice(x < 0.0, nan, choice(x.is_nan, x, result))


def log(x: Value) -> Value:
    """The natural logarithm."""
    k, m = _decomposed(x)
    high, low, _ = table("ln2", x)
    return _log_edges(x, k.fma(high, _log1p_reduced(m - 1.0, k * low)))


def log10(x: Value) -> Value:
    """The decimal logarithm."""
    k, m = _decomposed(x)
    high, low, _ = table("log10_2", x)
    scale, scale_low, _ = table("log10e", x)
    natural = _log1p_reduced(m - 1.0, x.number(0.0))
    part = natural.fma(scale, natural.fma(scale_low, k * low))
    return _log_edges(x, k.fma(high, part))


def log1p(x: Value) -> Value:
    """log(1 + x), accurate near 0."""
    one_more = x + 1.0
    k, m = _decomposed(one_more)
    # What 1 + x lost, as a part of it.
    lost = choice(x < 1.0, x - (one_more - 1.0), (x - one_more) + 1.0) / one_more
    near = (x > 0.5**0.5 - 1.0) & (x < 2.0**0.5 - 1.0)
    f = choice(near, x, m - 1.0)
    k, lost = choice(near, 0.0, k), choice(near, 0.0, lost)
    high, low, _ = table("ln2", x)
    result = k.fma(high, _log1p_reduced(f, k.fma(low, lost)))
    return choice(x.compare("eq", 0.0), x, _log_edges(one_more, result))


def _log2_parts(x: Value) -> tuple[Value, Value]:
    """log2(x) as a sum of two, for x positive and finite: half as many bits again."""
    k, m = _decomposed(x)
    # log m = 2 s + s^3 (2/3 + s^2 Q(s^2)) with s = (m - 1) / (m + 1)
    above, below = m - 1.0, m + 1.0
    below_low = m - (below - 1.0)
    s = above / below
    s_low = (s.fma(-below, above) - s * below_low) / below
    square, square_low = product(s, s)
    square_low = s.fma(s_low + s_low, square_low)
    cube, cube_low = product(square, s)
    cube_low = square.fma(s_low, square_low.fma(s, cube_low))
    thirds, thirds_low, _ = table("two_thirds", x)
    q = square * polynomial(square, table("log_tail", x))
    factor, factor_low = quick_sum(x.number(thirds), q)
    factor_low = factor_low + thirds_low
    tail, tail_low = product(cube, factor)
    tail_low = cube.fma(factor_low, cube_low.fma(factor, tail_low))
    high, low = quick_sum(s + s, tail)
    low = low + (s_low + s_low) + tail_low
    high, low = quick_sum(high, low)
    scale, scale_low, _ = table("log2e", x)
    part, part_low = product(high, x.number(scale))
    part_low = high.fma(scale_low, low.fma(scale, part_low))
    total, total_low = quick_sum(k, part)
    total, total_low = (
        choice(k.compare("eq", 0.0), part, total),
        choice(k.compare("eq", 0.0), 0.0, total_low),
    )
    return quick_sum(total, total_low + part_low)


def log2(x: Value) -> Value:
    """The binary logarithm."""
    high, low = _log2_parts(choice((x > 0.0) & (x < inf), x, x.number(1.0)))
    return _log_edges(x, high + low)


def powf(x: Value, y: Value) -> Value:
    """x to the power of y, with the special cases of IEEE 754."""
    a = abs(x)
    high, low = _log2_parts(choice((a > 0.0) & (a < inf), a, x.number(1.0)))
    bounded = clamped(y, -(2.0**80), 2.0**80) if x.type_ == "f32" else y
    exponent, rest = product(bounded, high)
    rest = bounded.fma(low, rest)
    # Beyond the range of exponents the rest means nothing, and is not a number at infinity.
    known = abs(exponent) < -2.0 * _RANGE[x.type_][0]
    result = exp2(exponent, choice(known, rest, x.number(0.0)))
    return _pow_edges(x, a, y, result)


def _pow_edges(x: Value, a: Value, y: Value, result: Value) -> Value:
    whole = y.rounded("rzi").compare("eq", y)
    half = y * 0.5
    odd = whole & half.rounded("rzi").compare("ne", half)
    zero, infinite = a.compare("eq", 0.0), a.compare("eq", inf)
    # 0 and infinity, and infinite exponents of anything but 1.
    result = choice(zero, choice(y > 0.0, 0.0, x.number(inf)), result)
    result = choice(infinite, choice(y > 0.0, inf, x.number(0.0)), result)
    grows = choice(a > 1.0, y, -y)
    endless = abs(y).compare("eq", inf) & a.compare("ne", 1.0)
    result = choice(endless, choice(grows > 0.0, inf, x.number(0.0)), result)
    minus = x.word.compare("lt", 0)
    result = choice(minus & odd, -result, result)
    plain = (x < 0.0) & abs(y).compare("ne", inf) & (x > -inf)
    result = choice(plain & y.compare("ne", y.rounded("rzi")), nan, result)
    unordered = x + y
    result = choice(x.is_nan, unordered, choice(y.is_nan, unordered, result))
    one = choice(abs(y).compare("eq", inf), x.number(1.0), x)
    minus_one = a.compare("eq", 1.0) & abs(y).compare("eq", inf)
    result = choice(minus_one, abs(one), result)
    return choice(y.compare("eq", 0.0), 1.0, choice(x.compare("eq", 1.0), 1.0, result))


# Inverse hyperbolic functions


def asinh(x: Value) -> Value:
    """The number whose sinh this is."""
    a = abs(x)
    large = a > 2.0**28
    near = choice(large, 1.0, a)
    square = near * near
    small = log1p(near + square / ((square + 1.0).sqrt() + 1.0))
    return choice(large, log(a) + table("ln2_full", x)[0], small).signed_as(x)


def acosh(x: Value) -> Value:
    """The number from 0 on whose cosh this is."""
    large = x > 2.0**28
    t = choice(large, 1.0, x) - 1.0
    small = log1p(t + t.fma(t, t + t).sqrt())
    # Below -1 the root is a number again.
    small = choice(x < 1.0, nan, small)
    return choice(large, log(x) + table("ln2_full", x)[0], small)


def atanh(x: Value) -> Value:
    """The number whose tanh this is."""
    a = abs(x)
    return (log1p((a + a) / (x.number(1.0) - a)) * 0.5).signed_as(x)


# The error function

_ERF_END = {"f32": 4.0, "f64": 6.0}


def erf(x: Value) -> Value:
    """The error function."""
    a = clamped(abs(x), 0.0, _ERF_END[x.type_])
    square, rest = product(a, a)
    near = a.fma(polynomial(square, table("erf", x)), a)
    end = _ERF_END[x.type_]
    u = (a - (1.0 + end) / 2) * (2 / (end - 1.0))
    decay = _exp(-square)
    tail = (decay - decay * rest) * polynomial(u, table("erfc_scaled", x))
    return choice(a < 1.0, near, x.number(1.0) - tail).signed_as(x)


# Roots, integral values, signs


def cbrt(x: Value) -> Value:
    """The cube root."""
    form = x.format
    a = abs(x)
    # A first guess above the root of a number near the largest one has an infinite cube.
    tiny, huge = a < 2.0 ** (1 - form.bias), a >= 2.0 ** (form.bias - 1)
    shift = form.mantissa // 3 + 2
    a = choice(tiny, a * 2.0 ** (3 * shift), choice(huge, a * 2.0**-3, a))
    third = (a.word / 3) + (2 * form.bias << form.mantissa) // 3
    root = third.float
    for _ in range(4 if form.name == "f64" else 3):
        square = root * root
        root = root - (square * root - a) / (square * 3.0)
    square, square_low = product(root, root)
    residue = square.fma(root, -a)
    residue = square_low.fma(root, residue)
    root = root - residue / (square * 3.0)
    root = choice(tiny, root * 2.0**-shift, choice(huge, root * 2.0, root))
    plain = (a > 0.0) & (a < inf)
    return choice(plain, root.signed_as(x), x)


def rsqrt(x: Value) -> Value:
    """1 / sqrt(x)."""
    return x.number(1.0) / x.sqrt()


def round_(x: Value) -> Value:
    """The nearest integer, halves away from 0."""
    toward = x.rounded("rzi")
    up = abs(x - toward) >= 0.5
    return choice(up, toward + x.number(1.0).signed_as(x), toward).signed_as(x)


@frozen
class Function:
    """A function of `math`: its program, and its greatest error in units in the last place of the
    result, on f32 and on f64; 0 where it is exact."""

    program: Callable[..., Value]
    ulps: tuple[float, float]


FUNCTIONS: dict[str, Function] = {
    "math.exp": Function(exp, (2, 1)),
    "math.exp2": Function(exp2, (1, 1)),
    "math.expm1": Function(expm1, (1.5, 2)),
    "math.sinh": Function(sinh, (2, 2)),
    "math.cosh": Function(cosh, (1.5, 1.5)),
    "math.tanh": Function(tanh, (2, 2)),
    "math.log": Function(log, (1, 1)),
    "math.log2": Function(log2, (1, 1)),
    "math.rsqrt": Function(rsqrt, (1.5, 1.5)),
    "math.log10": Function(log10, (2, 2)),
    "math.log1p": Function(log1p, (1.5, 1.5)),
    "math.powf": Function(powf, (1.5, 1.5)),
    "math.sin": Function(sin, (1.5, 1.5)),
    "math.cos": Function(cos, (1.5, 1.5)),
    "math.tan": Function(tan, (2, 2)),
    "math.asin": Function(asin, (2, 2)),
    "math.acos": Function(acos, (2, 2)),
    "math.atan": Function(atan, (1.5, 1.5)),
    "math.atan2": Function(atan2, (2, 2)),
    "math.asinh": Function(asinh, (2, 2)),
    "math.acosh": Function(acosh, (2, 2)),
    "math.atanh": Function(atanh, (2, 2)),
    "math.erf": Function(erf, (1.5, 1.5)),
    "math.cbrt": Function(cbrt, (1, 1)),
    "math.floor": Function(partial(Value.rounded, direction="rmi"), (0, 0)),
    "math.ceil": Function(partial(Value.rounded, direction="rpi"), (0, 0)),
    "math.trunc": Function(partial(Value.rounded, direction="rzi"), (0, 0)),
    "math.roundeven": Function(Value.rounded, (0, 0)),
    "math.round": Function(round_, (0, 0)),
    "math.copysign": Function(Value.signed_as, (0, 0)),
}
"""Functions of floats, by the op's name."""

APPROXIMATIONS: dict[str, Callable[..., Value]] = {
    "math.exp": fast_exp,
    "math.exp2": fast_exp2,
    "math.log": fast_log,
    "math.log2": fast_log2,
    "math.rsqrt": fast_rsqrt,
    "math.log10": fast_log10,
    "math.powf": fast_powf,
    "math.tanh": fast_tanh,
}
"""The functions that `fastmath<afn>` allows on f32 (and, through it, on f16 and bf16)."""

ON_INTEGERS: dict[str, Callable[..., Value]] = {
    "math.absi": Value.__abs__,
    "math.ctlz": ctlz,
    "math.ctpop": ctpop,
    "math.cttz": cttz,
    "math.ipowi": ipowi,
}
"""Functions of integers of 32 and 64 bits."""
