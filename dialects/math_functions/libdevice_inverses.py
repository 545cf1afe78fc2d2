"""Inverse circular functions, those accurate near 0, and the error function, of f32 as CUDA's
libdevice computes them, bit for bit."""

from math import inf

from tilewright.dialects.math_functions.approximations import fast
from tilewright.dialects.math_functions.code import (
    Value,
    choice,
    numbers,
    polynomial,
)
from tilewright.dialects.math_functions.libdevice_single import from_right_angle

_FAR = 0.5600000023841858


def atan(x: Value) -> Value:
    """The angle with this tangent."""
    a = abs(x)
    beyond = a > 1.0
    t = choice(beyond, fast(a, "rcp"), a)
    square = t * t
    angle = (square * polynomial(square, _ATAN)).fma(t, t)
    angle = choice(beyond, from_right_angle(-angle), angle)
    return choice(a <= inf, angle.signed_as(x), angle)


_ATAN = numbers("""
    -0.3333294093608856 0.19988775253295898 -0.1417180299758911 0.10518480092287064
    -0.07252974808216095 0.03984975069761276 -0.014396979473531246 0.0024500289000570774
""")


def _near_one(a: Value) -> Value:
    """sqrt((1 - a) / 2) for a far from 0, else a."""
    half = (-a).fma(0.5, 0.5)
    inverse = fast(half, "rsqrt")
    root = half * inverse
    root = root.fma((-root).fma(inverse * 0.5, 0.5), root)
    return choice(a > _FAR, choice(a.compare("eq", 1.0), 0.0, root), a)


def asin(x: Value) -> Value:
    """The angle with this sine."""
    a = abs(x)
    t = _near_one(a)
    square = t * t
    angle = (square * polynomial(square, _ASIN)).fma(t, t)
    angle = choice(a > _FAR, from_right_angle(angle * -2.0), angle)
    return choice(angle <= inf, angle.signed_as(x), angle)


_ASIN = numbers("""
    0.16667181253433228 0.07482301443815231 0.04676905274391174 0.018773360177874565
    0.05025001987814903
""")


def acos(x: Value) -> Value:
    """The angle with this cosine."""
    a = abs(x)
    far, t = a > _FAR, _near_one(a).signed_as(x)
    square = t * t
    angle = (square * polynomial(square, _ACOS)).fma(t, t)
    other = from_right_angle(choice(far, angle, -angle))
    angle = choice(x > _FAR, angle, other)
    return choice(far, angle + angle, angle)


_ACOS = numbers("""
    0.16666707396507263 0.07498904317617416 0.04470941796898842 0.0307629331946373
    0.016980519518256187 0.03538220748305321
""")


def expm1(x: Value) -> Value:
    """e to the power of x, less 1."""
    n = (x * 1.4426950216293335).rounded()
    n = choice(abs(x) < 0.4099999964237213, 0.0, n)
    r = (-n).fma(1.428606765330187e-06, (-n).fma(0.693145751953125, x))
    top = n.compare("eq", 128.0)
    whole = choice(top, n - 1.0, n)
    less_one = (r * polynomial(r, _EXPM1)).fma(r, r)
    power = fast(whole, "ex2")
    result = less_one.fma(power, power - 1.0)
    result = choice(whole > 128.0, inf, choice(top, result + result, result))
    result = choice(whole < -25.0, -1.0, result)
    return choice(x.compare("eq", 0.0), x + x, result)


_EXPM1 = numbers("""
    0.4999999403953552 0.1666639745235443 0.04166783019900322 0.008382412604987621
    0.0013879507314413786
""")


def log1p(x: Value) -> Value:
    """log(1 + x)."""
    one_more = x.do("add", "rz.f32", x.number(1.0))
    above = (one_more.word - x.number(0.75).word) & -(1 << 23)
    scale = (x.number(4.0).word - above).float
    f = scale.fma(0.25, -1.0) + (x.word - above).float
    result = (f * polynomial(f, _LOG1P)).fma(f, f)
    result = (above.converted("f32") * 2.0**-23).fma(0.6931471824645996, result)
    known = (x >= -1.0) & (x < inf)
    result = choice(known, result, x.fma(inf, inf))
    return choice(x.compare("eq", 0.0), x, result)


_LOG1P = numbers("""
    -0.5 0.33333510160446167 -0.2500019669532776 0.199888676404953 -0.16641564667224884
    0.14491446316242218 -0.13229703903198242 0.10546888411045074 -0.04534861445426941
""")


def erf(x: Value) -> Value:
    """The error function."""
    a = abs(x)
    far = a >= 1.002959966659546
    t, factor = choice(far, a, x * x), choice(far, -a, x)
    terms = [choice(far, there, x.number(here)) for there, here in zip(_ERF_FAR, _ERF, strict=True)]
    result = terms[-1]
    for term in terms[-2::-1]:
        result = result.fma(t, term)
    result = result.fma(factor, factor)
    return choice(far, (x.number(1.0) - fast(result, "ex2")).signed_as(x), result)


_ERF = numbers("""
    0.12837915122509003 -0.37612664699554443 0.11284004896879196 -0.026868773624300957
    0.005213488824665546 -0.0008213091641664505 8.483494457323104e-05
""")
_ERF_FAR = numbers("""
    0.6282998323440552 0.9163130521774292 0.1532936990261078 -0.034303076565265656
    0.0052647641859948635 -0.0004680210549850017 1.6425845387857407e-05
""")
