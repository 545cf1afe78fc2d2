"""Functions of `math` on integers of 32 or 64 bits."""

from tilewright.dialects.math_functions.code import Value, choice


def ctpop(x: Value) -> Value:
    """The number of bits that are set."""
    return _wide(x.do("popc", f"b{x.type_[1:]}", type_="s32"), x)


def ctlz(x: Value) -> Value:
    """The number of zeros above the highest bit that is set."""
    return _wide(x.do("clz", f"b{x.type_[1:]}", type_="s32"), x)


def cttz(x: Value) -> Value:
    """The number of zeros below the lowest bit that is set."""
    return ctlz(x.do("brev", f"b{x.type_[1:]}"))


def _wide(count: Value, like: Value) -> Value:
    return count if like.type_ == "s32" else count.do("cvt", "s64.s32", type_="s64")


def ipowi(base: Value, exponent: Value) -> Value:
    """base to an integer power, modulo the width; a negative power of anything but 1 and -1 is 0,
    and of 0 as well, where MLIR leaves it open."""
    result, power = base.number(1), base
    for bit in range(base.format.bits - 1):
        odd = (exponent >> bit & 1).compare("ne", 0)
        result = choice(odd, result * power, result)
        power = power * power
    unit = choice((exponent & 1).compare("ne", 0), base, base.number(1))
    inverse = choice(base.compare("eq", 1), 1, choice(base.compare("eq", -1), unit, base.number(0)))
    return choice(exponent.compare("lt", 0), inverse, result)
