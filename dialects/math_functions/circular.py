"""Circular functions and their inverses, of any argument: by Cody and Waite near 0, by Payne and
Hanek far from it."""

from math import inf, nan, pi

from tilewright.dialects.math_functions.code import (
    Value,
    choice,
    polynomial,
    product,
    quick_sum,
    rarely,
    table,
)
from tilewright.dialects.math_functions.coefficients import TABLES, TWO_OVER_PI

# Up to it, three parts of pi/2 are enough.
_NEAR = {"f32": 2.0**16, "f64": 2.0**30}


def _quadrant(x: Value) -> tuple[Value, Value, Value]:
    """(n, r, s) with x = n pi/2 + r + s, |r| <= pi/4, s what rounding took from r; n an integer,
    its low two bits alone meant."""
    n = (x * (2.0 / pi)).rounded()
    high, middle, low = table("half_pi", x)
    above = n.fma(-middle, n.fma(-high, x))
    r = n.fma(-low, above)
    rest = n.fma(-low, above - r)
    far = abs(x) > _NEAR[x.type_]
    other = choice(far, 0.0, n).whole(32), r, rest
    count, r, rest = rarely(far, lambda: _far_quadrant(choice(far, x, x.number(2.0**31))), other)
    return count, r, rest


def _far_quadrant(x: Value) -> tuple[Value, Value, Value]:
    """The same for any finite x."""
    high, low_part, _ = TABLES["half_pi", "f64"]
    top, bottom = turns(x)
    # In quarters of a turn, times 2^64.
    if bottom is None:
        fraction = top << 2
        exact = fraction.converted("f64") * (high * 2.0**-64)
        r = exact.converted("f32")
        rest = (exact - r.converted("f64")).converted("f32")
    else:
        fraction = (top << 2) | bottom.shifted_down(62)
        head = fraction.converted("f64")
        below = fraction - head.whole()
        tail = below.converted("f64") + (bottom << 2).shifted_down(1).converted("f64") * 2.0**-63
        turned, error = product(head, head.number(high))
        error = tail.fma(high, head.fma(low_part, error))
        exact = turned + error
        r, rest = exact * 2.0**-64, (error - (exact - turned)) * 2.0**-64
    n = quarters(top, fraction)
    minus = x.word.compare("lt", 0)
    return choice(minus, -n, n), choice(minus, -r, r), choice(minus, -rest, rest)


def quarters(top: Value, fraction: Value) -> Value:
    """The nearest number of quarters of a turn, from its first 64 bits and those behind two."""
    nearest = top.shifted_down(62) + fraction.shifted_down(63)
    return nearest.do("cvt", "s32.s64", type_="s32")


def turns(x: Value) -> tuple[Value, Value | None]:
    """|x| / 2 pi of any finite x, modulo 1: its first 64 bits, of f64 the next ones too. It is the
    significand times those words of 2/pi that matter: of f32 the upper 64 bits will do, which leave
    32 bits of those that come nearest to a multiple of pi/2."""
    double = x.converted("f64")
    word = double.word
    exponent = ((word >> 52) & 0x7FF) - 1022
    significand = (word << 11) | -(1 << 63)
    start, shift = exponent >> 6, (exponent & 63).do("cvt", "s32.s64", type_="s32")
    window = [_word(start, shift, offset, x) for offset in range(2)]
    top = significand * window[0] + significand.high_product(window[1])
    if x.type_ == "f32":
        return top, None
    low = significand * window[1]
    bottom = low + significand.high_product(_word(start, shift, 2, x))
    return top + choice(bottom.below(low), 1, bottom.number(0)), bottom


def _word(start: Value, shift: Value, offset: int, x: Value) -> Value:
    """64 bits of 2/pi / 4, from bit 64 (start + offset - 1) + shift behind the point on."""
    last = 17 if x.type_ == "f64" else 3
    words = [0, *TWO_OVER_PI, 0][: last + offset + 2]

    def chosen(position: int) -> Value:
        word = start.number(_signed(words[position]))
        for k in range(1, last):
            word = choice(start.compare("eq", k), _signed(words[position + k]), word)
        return word

    head, rest = chosen(offset), chosen(offset + 1)
    # A shift by 64 leaves nothing, in PTX too.
    behind = shift.number(64) - shift
    return head.do("shl", "b64", shift) | rest.do("shr", "u64", behind)


def _signed(word: int) -> int:
    return word - (word >> 63 << 64)


def _sin_kernel(r: Value, rest: Value) -> Value:
    square = r * r
    tail = rest.fma(square * -0.5, rest)
    return r + (square * r).fma(polynomial(square, table("sin", r)), tail)


def _cos_kernel(r: Value, rest: Value) -> Value:
    square = r * r
    half = square * 0.5
    first = r.number(1.0) - half
    lost = r.fma(-rest, (r.number(1.0) - first) - half)
    return first + (square * square).fma(polynomial(square, table("cos", r)), lost)


def circular(n: Value, r: Value, rest: Value) -> Value:
    """The sine of n pi/2 + r + rest, |r| <= pi/4."""
    swap = (n & 1).compare("ne", 0)
    value = choice(swap, _cos_kernel(r, rest), _sin_kernel(r, rest))
    return choice((n & 2).compare("ne", 0), -value, value)


def _circular(x: Value, quarter: int) -> Value:
    n, r, rest = _quadrant(x)
    value = circular(n + quarter, r, rest)
    return choice(abs(x).compare("eq", inf), nan, value)


def sin(x: Value) -> Value:
    """The sine."""
    return choice(x.compare("eq", 0.0), x, _circular(x, 0))


def cos(x: Value) -> Value:
    """The cosine."""
    return _circular(x, 1)


def tan(x: Value) -> Value:
    """The tangent."""
    n, r, rest = _quadrant(x)
    square = r * r
    tail = (square * r).fma(polynomial(square, table("tan", r)), rest.fma(square, rest))
    t, rest = quick_sum(r, tail)
    inverse = r.number(-1.0) / t
    # One step of Newton's with what the sum lost.
    inverse = inverse.fma(inverse.fma(t, inverse.fma(rest, 1.0)), inverse)
    value = choice((n & 1).compare("ne", 0), inverse, t)
    value = choice(abs(x).compare("eq", inf), nan, value)
    return choice(x.compare("eq", 0.0), x, value)


def _atan_of_ratio(small: Value, large: Value) -> Value:
    """atan(small / large), 0 <= small <= large."""
    t = small / large
    square = t * t
    return (square * t).fma(polynomial(square, table("atan", t)), t)


def atan(x: Value) -> Value:
    """The angle with this tangent."""
    a = abs(x)
    one = x.number(1.0)
    beyond = a > 1.0
    angle = _atan_of_ratio(choice(beyond, one, a), choice(beyond, a, one))
    high, low, _ = table("half_pi", x)
    return choice(beyond, (x.number(low) - angle) + high, angle).signed_as(x)


def atan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y)."""
    up, along = abs(y), abs(x)
    steep = up > along
    small, large = choice(steep, along, up), choice(steep, up, along)
    both = small.compare("eq", inf)
    small, large = choice(both, 1.0, small), choice(both, 1.0, large)
    angle = _atan_of_ratio(small, choice(large.compare("eq", 0.0), 1.0, large))
    high, low, _ = table("half_pi", x)
    angle = choice(steep, (x.number(low) - angle) + high, angle)
    back = x.word.compare("lt", 0)
    angle = choice(back, (x.number(2 * low) - angle) + 2 * high, angle).signed_as(y)
    unordered = x + y
    return choice(unordered.is_nan & (small.is_nan), unordered,
                  choice(x.is_nan, x, choice(y.is_nan, y, angle)))  # fmt: skip


def _asin_kernel(s: Value) -> Value:
    square = s * s
    return (square * s).fma(polynomial(square, table("asin", s)), s)


def _half_angle(a: Value) -> Value:
    """asin(sqrt((1 - a) / 2)) for a > 1/2, which is half of pi/2 - asin(a)."""
    square = (a.number(1.0) - a) * 0.5
    s = square.sqrt()
    lost = s.fma(-s, square) / choice(s.compare("eq", 0.0), 1.0, s + s)
    return s + (square * s).fma(polynomial(square, table("asin", s)), lost)


def asin(x: Value) -> Value:
    """The angle with this sine."""
    a = abs(x)
    high, low, _ = table("half_pi", x)
    large = _half_angle(a).fma(-2.0, low) + high
    return choice(a > 0.5, large, _asin_kernel(a)).signed_as(x)


def acos(x: Value) -> Value:
    """The angle with this cosine."""
    a = abs(x)
    high, low, _ = table("half_pi", x)
    far = _half_angle(a) * 2.0
    behind = (x.number(2 * low) - far) + 2 * high
    beside = (x.number(low) - _asin_kernel(x)) + high
    return choice(a > 0.5, choice(x > 0.0, far, behind), beside)
