"""Functions of libdevice that are one instruction or a few, and those whose bits are not those of
libdevice but of `math`'s accuracy.

A row's signature has the operands and the result: `"f32 s32 -> f32"`.
"""

from collections.abc import Callable, Iterator
from functools import partial
from math import inf, log2, nan
from typing import TypeAlias

from tilewright.dialects.math_functions.approximations import (
    fast,
    fast_exp,
    fast_log,
    fast_log2,
    fast_log10,
    fast_powf,
)
from tilewright.dialects.math_functions.circular import circular
from tilewright.dialects.math_functions.code import Value, choice, product, table, two_power
from tilewright.dialects.math_functions.functions import FUNCTIONS, exp2, powf, round_, rsqrt
from tilewright.dialects.math_functions.integers import ctpop
from tilewright.dialects.math_functions.libdevice_single import One
from tilewright.dialects.math_functions.special import SPECIAL

Two: TypeAlias = Callable[[Value, Value], Value]
Three: TypeAlias = Callable[[Value, Value, Value], Value]
Row: TypeAlias = tuple[str, str, One | Two | Three, float]
"""A name, its signature, its program, and its greatest error in units of the last place."""

_ROUNDINGS = {"rn": "rn", "rz": "rz", "rd": "rm", "ru": "rp"}
_REALS = {"f32": ("f", "f", "float"), "f64": ("", "d", "double")}
"""By type: the end of names, their beginning where they say how they round, and in C."""
_WHOLE = {"int": "s32", "uint": "u32", "ll": "s64", "ull": "u64"}


def _instruction(mnemonic: str, form: str, type_: str | None = None) -> Callable[..., Value]:
    """The program of one instruction."""

    def program(x: Value, *others: Value) -> Value:
        return x.do(mnemonic, form, *others, type_=type_)

    return program


def _reciprocal(form: str) -> One:
    return lambda x: x.number(1.0).do("div", form, x)


def _flag(condition: Value) -> Value:
    """1 where it holds, else 0."""
    return choice(condition, 1, condition.number(0, "s32"))


def _resized(x: Value, type_: str) -> Value:
    return x.do("cvt", f"{type_}.{x.type_}", type_=f"s{type_[1:]}")


def _operations() -> Iterator[Row]:
    """Those that say how they round."""
    for (end, mode), (real, (letter, first, _)) in (
        (mode, real) for mode in _ROUNDINGS.items() for real in _REALS.items()
    ):
        form = f"{mode}.{real}"
        for name in ("add", "sub", "mul", "div"):
            yield f"{first}{name}_{end}", f"{real} {real} -> {real}", _instruction(name, form), 0
        one = f"{real} -> {real}"
        yield f"{first}sqrt_{end}", one, _instruction("sqrt", form), 0
        yield f"{first}rcp_{end}", one, _reciprocal(form), 0
        yield f"fma{letter}_{end}", f"{real} {real} {real} -> {real}", _instruction("fma", form), 0


def _conversions() -> Iterator[Row]:
    for (end, mode), (word, whole), (real, (*_, c)) in (
        (mode, whole, real)
        for mode in _ROUNDINGS.items() for whole in _WHOLE.items() for real in _REALS.items()
    ):  # fmt: skip
        signless = f"s{whole[1:]}"
        yield f"{c}2{word}_{end}", f"{real} -> {signless}", _to_whole(f"{mode}i", whole), 0
        if end == "rn" or (real, whole[1:]) != ("f64", "32"):
            yield (f"{word}2{c}_{end}", f"{signless} -> {real}",
                   _instruction("cvt", f"{mode}.{real}.{whole}", real), 0)  # fmt: skip
    for end, mode in _ROUNDINGS.items():
        narrow = _instruction("cvt", f"{mode}.f32.f64", "f32")
        yield f"double2float_{end}", "f64 -> f32", narrow, 0
    for name in ("float_as_int", "float_as_uint"):
        yield name, "f32 -> s32", lambda x: x.word, 0
    for name in ("int_as_float", "uint_as_float"):
        yield name, "s32 -> f32", lambda x: x.float, 0
    yield "double_as_longlong", "f64 -> s64", lambda x: x.word, 0
    yield "longlong_as_double", "s64 -> f64", lambda x: x.float, 0
    yield "double2hiint", "f64 -> s32", lambda x: _resized(x.word >> 32, "s32"), 0
    yield "double2loint", "f64 -> s32", lambda x: _resized(x.word, "s32"), 0
    yield "hiloint2double", "s32 s32 -> f64", _from_halves, 0


def _from_halves(high: Value, low: Value) -> Value:
    low = _resized(low, "s64") & 0xFFFFFFFF
    return ((_resized(high, "s64") << 32) | low).float


def _integers() -> Iterator[Row]:
    for word, end in (("s32", ""), ("s64", "ll")):
        bits = word[1:]
        yield f"popc{end}", f"{word} -> s32", _instruction("popc", f"b{bits}", "s32"), 0
        yield f"clz{end}", f"{word} -> s32", _instruction("clz", f"b{bits}", "s32"), 0
        yield f"brev{end}", f"{word} -> {word}", _instruction("brev", f"b{bits}"), 0
        yield f"ffs{end}", f"{word} -> s32", _first_bit, 0
        yield f"{end}abs", f"{word} -> {word}", abs, 0
        for sign, letter in (("", "s"), ("u", "u")):
            high = _instruction("mul", f"hi.{letter}{bits}")
            yield f"{sign}mul{bits.strip('32')}hi", f"{word} {word} -> {word}", high, 0
    for sign, letter in (("", "s"), ("u", "u")):
        yield f"{sign}sad", "s32 s32 s32 -> s32", _distance(f"{letter}32"), 0
        for name, program in _by_shifts(letter):
            yield f"{sign}{name}", "s32 s32 -> s32", program, 0
    yield "byte_perm", "s32 s32 s32 -> s32", _permuted_bytes, 0


def _by_shifts(letter: str) -> Iterator[tuple[str, Two]]:
    """Products of 24 bits and averages of integers that are signed or not."""
    down = Value.__rshift__ if letter == "s" else Value.shifted_down
    yield "mul24", lambda x, y: down(x << 8, 8) * down(y << 8, 8)
    yield "hadd", lambda x, y: (x & y) + down(x ^ y, 1)
    yield "rhadd", lambda x, y: (x | y) - down(x ^ y, 1)


def _distance(form: str) -> Three:
    return lambda x, y, z: x.do("max", form, y) - x.do("min", form, y) + z


def _permuted_bytes(x: Value, y: Value, places: Value) -> Value:
    """Bytes of both, by the lower three bits of each half byte of the places."""
    both = (_resized(y, "s64") << 32) | (_resized(x, "s64") & 0xFFFFFFFF)
    result = both.number(0)
    for i in range(4):
        place = ((places >> 4 * i) & 7) << 3
        result = result | ((both.do("shr", "u64", place) & 0xFF) << 8 * i)
    return _resized(result, "s32")


def _first_bit(x: Value) -> Value:
    """The number of the lowest bit that is set, from 1 on, or 0."""
    below = ctpop((x ^ (x - 1)) & x.number(-1))
    number = choice(x.compare("eq", 0), 0, below)
    return number if x.type_ == "s32" else _resized(number, "s32")


def _floats() -> Iterator[Row]:
    for real, (letter, *_) in _REALS.items():
        one, two = f"{real} -> {real}", f"{real} {real} -> {real}"
        for name, program in _ONE.items():
            yield f"{name}{letter}", one, program, 0
        for name, program in _TWO.items():
            yield f"{name}{letter}", two, program, 0
        yield f"llrint{letter}", f"{real} -> s64", _to_whole("rni", "s64"), 0
        yield f"llround{letter}", f"{real} -> s64", lambda x: round_(x).whole(64), 0
        for name in ("ldexp", "scalbn"):
            yield f"{name}{letter}", f"{real} s32 -> {real}", _scaled, 0
        yield f"powi{letter}", f"{real} s32 -> {real}", _whole_power, 1.5
        yield f"fma{letter}", f"{real} {real} {real} -> {real}", Value.fma, 0
        for name in _BY_MATH:
            function = FUNCTIONS[f"math.{name}"]
            yield f"{name}{letter}", one, function.program, function.ulps[real == "f64"]
        for name, (program, operands) in _NEAR.items():
            yield f"{name}{letter}", two if operands == 2 else one, program, 4
        for name, (program, ulps) in SPECIAL.items():
            if letter:
                program, ulps = _in_double(program), 2
            yield f"{name}{letter}", one, program, ulps
        for count in (3, 4):
            several = f"{' '.join([real] * count)} -> {real}"
            for name, program in (("norm", _norm), ("rnorm", _inverse(_norm))):
                yield f"{name}{count}d{letter}", several, program, 5
        flags = f"{real} -> s32"
        yield f"ilogb{letter}", flags, _exponent, 0
        yield f"logb{letter}", one, _binade, 0
        end = letter or "d"
        yield f"isnan{end}", flags, lambda x: _flag(x.is_nan), 0
        yield f"isinf{end}", flags, lambda x: _flag(abs(x).compare("eq", inf)), 0
        yield "finitef" if letter else "isfinited", flags, lambda x: _flag(abs(x) < inf), 0
        yield f"signbit{end}", flags, lambda x: _flag(x.word.compare("lt", 0)), 0
    yield "saturatef", "f32 -> f32", _between, 0
    for name, program in _FAST.items():
        yield f"fast_{name}f", "f32 -> f32", program, 0
    for name in ("sin", "cos"):
        yield f"fast_{name}f", "f32 -> f32", partial(fast, mnemonic=name), 0
    yield "fast_tanf", "f32 -> f32", lambda x: _quotient(fast(x, "sin"), fast(x, "cos")), 0
    yield "frsqrt_rn", "f32 -> f32", _in_double(rsqrt), 0
    yield "fast_powf", "f32 f32 -> f32", fast_powf, 0
    yield "fast_fdividef", "f32 f32 -> f32", _quotient, 2


def _between(x: Value) -> Value:
    """x within [0, 1], of NaN 0."""
    return x.do("max", "f32", x.number(0.0)).do("min", "f32", x.number(1.0))


def _to_whole(rounding: str, whole: str) -> One:
    """The program that rounds first, then converts."""
    return lambda x: x.rounded(rounding).do("cvt", f"rzi.{whole}.{x.type_}", type_=f"s{whole[1:]}")


def _scaled(x: Value, exponent: Value) -> Value:
    """x times a power of two, by three factors that are normal numbers: where one before the last
    leaves no normal number, zero is left in the end."""
    bias, mantissa = x.format.bias, x.format.mantissa
    bound, limit = exponent.number(2 * (bias + mantissa)), bias - 1
    exponent = exponent.do("max", "s32", -bound).do("min", "s32", bound)
    whole = exponent if x.type_ == "f32" else _resized(exponent, "s64")
    for _ in range(2):
        down = choice(whole < -limit, mantissa + 1 - limit, whole.number(0))
        part = choice(whole > limit, limit, down)
        x, whole = x * two_power(part, x.format), whole - part
    return x * two_power(whole, x.format)


def _whole_power(x: Value, exponent: Value) -> Value:
    return powf(x, exponent.converted(x.type_))


def _neighbour(x: Value, to: Value) -> Value:
    """The next number from x in the direction of another."""
    step = choice(to > x, 1, x.word.number(-1))
    step = choice(x.word.compare("lt", 0), -step, step)
    least = step.number(1).float.signed_as(to)
    moved = choice(x.compare("eq", 0.0), least, (x.word + step).float)
    moved = choice(x.compare("eq", to), to, moved)
    return choice(x.is_nan, x, choice(to.is_nan, to, moved))


def _positive_difference(x: Value, y: Value) -> Value:
    return choice(x <= y, 0.0, x - y)


def _norm(*values: Value) -> Value:
    """The root of the sum of squares."""
    sizes = [abs(value) for value in values]
    large, *others = sizes
    for i, size in enumerate(others):
        large, others[i] = large.do("max", size.type_, size), large.do("min", size.type_, size)
    divisor, total = choice(large.compare("eq", 0.0), 1.0, large), large.number(1.0)
    for size in others:
        ratio = size / divisor
        total = ratio.fma(ratio, total)
    root, endless = large * total.sqrt(), large.compare("eq", inf)
    for size in reversed(sizes):
        root = choice(size.is_nan, size, root)
    return choice(endless, inf, root)


def _quotient(x: Value, y: Value) -> Value:
    return x * fast(y, "rcp")


def _in_double(program: Callable[..., Value]) -> One:
    """The program of f64 for f32, rounded once more."""
    return lambda x: program(x.converted("f64")).converted(x.type_)


def _binade(x: Value) -> Value:
    """The exponent of x."""
    a, form = abs(x), x.format
    tiny = a < 2.0 ** (1 - form.bias)
    scaled = choice(tiny, a * 2.0**form.mantissa, a)
    exponent = (scaled.word >> form.mantissa).converted(x.type_)
    exponent = exponent - choice(tiny, float(form.bias + form.mantissa), x.number(form.bias))
    return choice(a.compare("eq", 0.0), -inf, choice(a < inf, exponent, a))


def _exponent(x: Value) -> Value:
    """The exponent of x as an integer: the least of 0 and NaN, the greatest of infinity."""
    return choice(x.is_nan, -(1 << 31), _to_whole("rni", "s32")(_binade(x)))


_LOG2_10 = {
    "f32": (3.321928024291992, 7.059537016037032e-08),
    "f64": (3.321928094887362, 1.661617516973592e-16),
}
"""The binary logarithm of 10, in two parts."""


def _exp10(x: Value) -> Value:
    high, low = _LOG2_10[x.type_]
    bounded = choice(abs(x) > 400.0, x.number(400.0).signed_as(x), x)
    exponent, rest = product(bounded, x.number(high))
    return exp2(exponent, bounded.fma(low, rest))


def _of_half_turns(quarter: int) -> One:
    """The sine, or a quarter of a turn ahead the cosine, of pi x."""

    def program(x: Value) -> Value:
        doubled = (x - (x * 0.5).rounded() * 2.0) * 2.0
        n = doubled.rounded()
        high, low, _ = table("half_pi", x)
        angle, error = product(doubled - n, x.number(high))
        value = circular(n.whole(32) + quarter, angle, (doubled - n).fma(low, error))
        value = choice(abs(x).compare("eq", inf), nan, value)
        return value if quarter else choice(x.compare("eq", x.rounded("rzi")), x * 0.0, value)

    return program


def _inverse(program: Callable[..., Value]) -> Callable[..., Value]:
    return lambda *operands: operands[0].number(1.0) / program(*operands)


_ONE: dict[str, One] = {
    "fabs": abs, "sqrt": Value.sqrt,
    "rint": Value.rounded, "nearbyint": Value.rounded,
}  # fmt: skip
_TWO: dict[str, Two] = {
    "fmax": lambda x, y: x.do("max", x.type_, y), "fmin": lambda x, y: x.do("min", x.type_, y),
    "copysign": Value.signed_as, "fdim": _positive_difference, "nextafter": _neighbour,
}  # fmt: skip
_FAST: dict[str, One] = {
    "exp": fast_exp, "log": fast_log, "log2": fast_log2, "log10": fast_log10,
    "exp10": lambda x: fast(x * log2(10.0), "ex2"),
}  # fmt: skip
_BY_MATH = (
    "ceil", "floor", "trunc", "round",
    "asin", "acos", "atan", "expm1", "log1p", "asinh", "acosh", "atanh", "erf", "cbrt",
)  # fmt: skip
_NEAR: dict[str, tuple[One | Two, int]] = {
    "hypot": (_norm, 2), "rhypot": (_inverse(_norm), 2), "exp10": (_exp10, 1),
    "rcbrt": (_inverse(FUNCTIONS["math.cbrt"].program), 1),
    "sinpi": (_of_half_turns(0), 1), "cospi": (_of_half_turns(1), 1),
}  # fmt: skip

ROWS: list[Row] = [*_operations(), *_conversions(), *_integers(), *_floats()]
"""All of them, without `__nv_`."""
