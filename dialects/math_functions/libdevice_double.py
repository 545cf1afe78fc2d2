"""Functions of f64 as CUDA's libdevice computes them, bit for bit: its constants and the order of
its operations. What it does on the upper words of numbers is done here on the numbers."""

from math import inf, pi

from tilewright.dialects.math_functions.circular import quarters, turns
from tilewright.dialects.math_functions.code import (
    Value,
    Values,
    choice,
    numbers,
    polynomial,
    product,
    quick_sum,
    rarely,
    scaled,
)
from tilewright.dialects.math_functions.libdevice_single import angle_of, nan, power_edges

_LOG2_E = 1.4426950408889634
_LN2, _LN2_LOW = 0.6931471805599453, 2.3190468138462996e-17
_MAGIC = 1.5 * 2.0**52
"""Added to a number, it leaves the nearest integer in the low bits."""


def _approximate(x: Value, mnemonic: str) -> Value:
    """A function of f64 as near as the chip knows it."""
    return x.do(mnemonic, "approx.ftz.f64")


def _reciprocal(x: Value) -> Value:
    near = _approximate(x, "rcp")
    error = (-x).fma(near, 1.0)
    return error.fma(error, error).fma(near, near)


# Exponentials

_EXP = numbers("""
    1.0 1.0 0.5000000000000012 0.16666666666666477 0.041666666666519754 0.008333333333455043
    0.001388888894591638 0.00019841269589115497 2.4801491039099165e-05 2.755751454588244e-06
    2.763090348817311e-07 2.502232253650299e-08
""")


def _reduced(x: Value) -> tuple[Value, Value, Value]:
    """(w, n, r) with x = n ln 2 + r; the low bits of w are those of n."""
    shifted = x.fma(_LOG2_E, _MAGIC)
    n = shifted - _MAGIC
    return shifted.word, n, n.fma(-_LN2_LOW, n.fma(-_LN2, x))


def exp(x: Value) -> Value:
    """e to the power of x."""
    word, n, r = _reduced(x)
    power = polynomial(r, _EXP)
    result = (power.word + (word << 52)).float

    def far() -> tuple[Value]:
        beyond = choice(x < 0.0, 0.0, x + inf)
        return (choice(abs(x) < 745.0, scaled(power, n.whole()), beyond),)

    [result] = rarely(abs(x).compare("geu", 708.39599609375), far, (result,))
    return result


def exp2(x: Value) -> Value:
    """2 to the power of x."""
    shifted = x + _MAGIC
    n = shifted - _MAGIC
    rest = x - n
    power = polynomial(rest.fma(_LN2, rest * _LN2_LOW), _EXP)
    result = (power.word + (shifted.word << 52)).float

    def far() -> tuple[Value]:
        beyond = choice(x.is_nan, x + x, choice(x < 0.0, 0.0, x.number(inf)))
        return (choice(abs(x) < 1075.0, scaled(power, n.whole()), beyond),)

    [result] = rarely(abs(x).compare("geu", 1022.0), far, (result,))
    return result


def sinh(x: Value) -> Value:
    """(e^x - e^-x) / 2."""
    a = abs(x)
    square = a * a
    small = (square * polynomial(square, _SINH)).fma(a, a)
    word, n, r = _reduced(a)
    less_one = (r * polynomial(r, _HALF_EXPM1)).fma(r, r)
    extreme = n.compare("eq", 1025.0)
    power = (word + choice(extreme, 1021, word.number(1022)) << 52).float
    half = less_one.fma(power, power - 0.5)
    half = choice(extreme, half + half, half)
    large = half + half / half.fma(2.0, 1.0)
    large = choice(a >= 710.475860073944, inf, large)
    return choice(a < 1.0, small, large).signed_as(x)


_SINH = numbers("""
    0.16666666666666669 0.008333333333333148 0.00019841269841431873 2.755731915707185e-06
    2.5052123136725876e-08 1.6057259768605444e-10 7.75874880215053e-13
""")
_HALF_EXPM1 = numbers("""
    0.5 0.1666666666666667 0.04166666666666661 0.008333333333321891 0.0013888888888929842
    0.00019841269897009385 2.4801587233770713e-05 2.755722422687505e-06 2.7557338697780046e-07
    2.5118162590908232e-08 2.0900320002536536e-09
""")


def cosh(x: Value) -> Value:
    """(e^x + e^-x) / 2."""
    a = abs(x)
    word, _, r = _reduced(a)
    quarter = (polynomial(r, _EXP).word + (word - 2 << 52)).float
    half = _reciprocal(quarter).fma(0.0625, quarter)
    half = choice(a < 710.47607421875, half, choice(a.is_nan, x, x.number(inf)))
    return half + half


def tanh(x: Value) -> Value:
    """sinh(x) / cosh(x)."""
    a = abs(x)
    double = a + a
    n = (double.converted("f32") * 1.4426950216293335).rounded()
    r = (-n.converted("f64")).fma(_LN2, double)
    less_one = (r * polynomial(r, _TANH_EXP)).fma(r, r)
    power = n.do("ex2", "approx.ftz.f32").converted("f64")
    inverse = _reciprocal(x.number(2.0) - (-less_one).fma(power, x.number(1.0) - power))
    large = (-inverse).fma(2.0, 1.0)
    large = choice(a >= 19.061553955078125, 1.0, large).signed_as(x)
    square = x * x
    return choice(a >= 0.6554117889404296, large, polynomial(square, _TANH).fma(x, x))


_TANH_EXP = numbers("""
    0.5000000000000006 0.16666666666666607 0.041666666666573884 0.008333333333377164
    0.0013888888932264757 0.00019841269746984988 2.4801504596442702e-05 2.7557381798574225e-06
    2.762626470761021e-07 2.506210197447926e-08
""")
_TANH = numbers("""
    0.0 -0.33333333333333304 0.1333333333331715 -0.05396825395322091 0.021869487987893173
    -0.008863225224458907 0.0035920144108182715 -0.001455047543504545 0.000586488194620488
    -0.00022870121144856145 7.709297689027866e-05 -1.596017517389285e-05
""")

# Logarithms


def _split(x: Value) -> tuple[Value, Value, Value]:
    """(k, m, s) with x = 2^k m and m between the roots of 1/2 and 2; s is x, times 2^54 where that
    is subnormal."""
    small = x < 2.0**-1022
    s = choice(small, x * 2.0**54, x)
    above = s.word - 0x3FE6A09F00000000
    k = (above >> 52) + choice(small, 0x4338000000000000 - 54, above.number(0x4338000000000000))
    return k.float - _MAGIC, (s.word - (above >> 52 << 52)).float, s


def _ratio(m: Value) -> tuple[Value, Value, Value]:
    """(s, e, m - 1) with s + e = 2 (m - 1) / (m + 1)."""
    inverse, f = _reciprocal(m + 1.0), m - 1.0
    s = f.fma(inverse, f * inverse)
    left = f - s
    return s, inverse * (-s).fma(f, left + left), f


def _with_exponent(k: Value, high: Value, low: Value) -> tuple[Value, Value]:
    """k ln 2 + high + low as two numbers, not yet added."""
    total = k.fma(_LN2, high)
    return total, k.fma(_LN2_LOW, low - ((-k).fma(_LN2, total) - high))


def log(x: Value) -> Value:
    """The natural logarithm."""
    k, m, x = _split(x)
    s, s_low, _ = _ratio(m)
    square = s * s
    tail = (square * polynomial(square, _LOG)).fma(s, s_low)
    high, low = _with_exponent(k, s, tail)
    edge = choice(x.compare("eq", 0.0), -inf, x.fma(inf, inf))
    return choice((x > 0.0) & (x < inf), high + low, edge)


_LOG = numbers("""
    0.08333333333333331 0.012500000000004514 0.0022321428567665586 0.00043402779293201976
    8.877807196497797e-05 1.8784407018835667e-05 4.036488625710656e-06 1.0263276909458365e-06
""")


def log2(x: Value) -> Value:
    """The binary logarithm."""
    natural = log(x)
    return natural.fma(_LOG2_E, natural * 2.0355273740931033e-17)


def log10(x: Value) -> Value:
    """The decimal logarithm."""
    natural = log(x)
    return natural.fma(0.4342944819032518, natural * 1.098319650216765e-17)


# Powers


def pow(x: Value, y: Value) -> Value:
    """x to the power of y, with the special cases of IEEE 754."""
    a = abs(x)
    high, low = _log_parts(a)
    # So that no product is infinite, of exponents so large the upper bits are cleared.
    word = y.word
    bounded = choice(abs(y) >= 2.0**1009, (word & ~(0xF << 52)).float, y)
    exponent, rest = product(high, bounded)
    exponent, rest = quick_sum(exponent, low.fma(bounded, rest))
    power = exp(exponent)
    power = choice(abs(power).compare("eq", inf), power, power.fma(rest, power))
    grows = choice(a > 1.0, y, -y) > 0.0
    endless = choice(grows, inf, y.number(0.0))
    return power_edges(x, y, choice(abs(y).compare("eq", inf), endless, power))


def _log_parts(a: Value) -> tuple[Value, Value]:
    """log(a) as a sum of two."""
    k, m, _ = _split(a)
    s, s_low, _ = _ratio(m)
    near = s * s
    q, twelfth = polynomial(near, _LOG_TAIL), a.number(0.08333333333333333)
    factor = near.fma(q, twelfth)
    lost = near.fma(q, twelfth - factor) + 0.0
    factor, factor_low = quick_sum(factor, lost - 2.4550373211645616e-18)
    square, square_low = product(s, s)
    square_low = s.fma(s_low + s_low, square_low)
    cube, cube_low = product(square, s)
    cube_low = square_low.fma(s, square.fma(s_low, cube_low))
    tail, tail_low = product(factor, cube)
    tail_low = factor_low.fma(cube, factor.fma(cube_low, tail_low))
    tail, tail_low = quick_sum(tail, tail_low)
    high, low = quick_sum(s, tail)
    high, low = quick_sum(high, s_low + (tail_low + low))
    return quick_sum(*_with_exponent(k, high, low))


_LOG_TAIL = numbers("""
    0.012500000000001945 0.002232142856960391 0.0004340277860504996 8.877820186630203e-05
    1.8783065870784382e-05 4.043636205277137e-06 1.0109501899597673e-06
""")


def rsqrt(x: Value) -> Value:
    """1 / sqrt(x)."""
    small = x < 2.0**-1022
    s = choice(small, x * 2.0**54, x)
    near = _approximate(s, "rsqrt")
    error = (-(near * near)).fma(s, 1.0)
    root = error.fma(0.375, 0.5).fma(near * error, near)
    root = choice(small, root * 2.0**27, root)
    root = choice(x.compare("eq", inf), 0.0, choice(x < 0.0, nan(x), root))
    return choice(x.compare("eq", 0.0), x.number(inf).signed_as(x), root)


# Circular functions


def _turned(x: Value) -> Values:
    """(n, r) with x = n pi/2 + r; the last two bits of n alone are meant."""
    shifted = x * 0.6366197723675814 + _MAGIC
    n, r = shifted - _MAGIC, x
    for part in (1.5707963267948966, 6.123233995736757e-17, 8.478427660368898e-32):
        r = (-n).fma(part, r)
    count = shifted.word.do("cvt", "s32.s64", type_="s32")
    far = (abs(x) >= 2.0**31) & (abs(x) < inf)
    return rarely(far, lambda: _far_turned(choice(far, x, x.number(2.0**31))), (count, r))


def _far_turned(x: Value) -> tuple[Value, Value]:
    top, bottom = turns(x)
    assert bottom is not None
    high, low = (top << 2) | bottom.shifted_down(62), bottom << 2
    below, minus = high.compare("lt", 0), x.word.compare("lt", 0)
    count = quarters(top, high)
    zero = low.number(0)
    borrow = choice(low.compare("eq", 0), 0, low.number(1))
    high, low = choice(below, zero - high - borrow, high), choice(below, zero - low, low)
    # The first bit comes to the top; a shift by 64 leaves nothing.
    zeros = high.do("clz", "b64", type_="s32")
    behind = zeros.number(64) - zeros
    head = high.do("shl", "b64", zeros) | low.do("shr", "u64", behind)
    half_pi = head.number(0xC90FDAA22168C235 - (1 << 64))
    turned, tail = head.high_product(half_pi), head * half_pi
    short = turned.compare("gt", 0)
    turned = choice(short, turned << 1 | tail.shifted_down(63), turned)
    shift = zeros.do("cvt", "s64.s32", type_="s64") + choice(short, 1, zero)
    rounded = ((turned + 1).shifted_down(10) + 1).shifted_down(1)
    r = (rounded + 0x3FE0000000000000 - (shift << 52)).float
    r = choice(below, -r, r)
    return choice(minus, -count, count), choice(minus, -r, r)


def _circular(x: Value, quarter: int) -> Value:
    n, r = _turned(x)
    n, square = n + quarter, r * r
    sine = (n & 1).compare("eq", 0)
    tail = choice(sine, _SIN[-1], x.number(_COS[-1]))
    for of_sine, of_cosine in zip(_SIN[-2::-1], _COS[-2::-1], strict=True):
        tail = tail.fma(square, choice(sine, of_sine, x.number(of_cosine)))
    result = choice(sine, tail.fma(r, r), tail.fma(square, 1.0))
    return choice((n & 2).compare("eq", 0), result, result.fma(-1.0, 0.0))


_SIN = numbers("""
    0.0 -0.16666666666666663 0.008333333333329349 -0.0001984126983447703 2.755731498463003e-06
    -2.5050911383645487e-08 1.5903078570611027e-10
""")
_COS = numbers("""
    -0.5 0.04166666666666664 -0.0013888888888880667 2.4801587293618683e-05
    -2.7557315542999557e-07 2.08758833785978e-09 -1.1367817304626284e-11
""")


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
    tail = square * polynomial(square, _TAN)
    tangent = tail.fma(r, r)
    lost = tail.fma(r, -(tangent - r))
    inverse = -_reciprocal(tangent)
    inverse = inverse.fma(lost, tangent.fma(inverse, 1.0)).fma(inverse, inverse)
    return choice((n & 1).compare("eq", 0), tangent, inverse)


_TAN = numbers("""
    0.3333333333333338 0.13333333333325342 0.053968253972902704 0.02186948839933789
    0.008863237921861371 0.003592100888585718 0.001456045484467204 0.0005888648775485667
    0.00024375039850848564 8.355928731821164e-05 6.722398433088007e-05 -2.5640012693782273e-05
    4.864417313093716e-05 -2.4279526494179897e-05 9.80062872032863e-06
""")


def atan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y)."""
    return angle_of(y, x, _ATAN, lambda part: part + pi / 2, lambda angle: angle.number(pi) - angle)


_ATAN = numbers("""
    -0.3333333333333186 0.1999999999975502 -0.14285714271334815 0.11111110678749424
    -0.09090901235400523 0.07692212930586784 -0.06665860363351257 0.05877307772179085
    -0.05239233005460132 0.046739496199157994 -0.04092638242050997 0.03406781108271512
    -0.025826796814495994 0.01697803583459733 -0.009184559218716548 0.0038559749383629918
    -0.0011640717779930576 0.0002230224034575851 -2.0258553044438358e-05
""")
