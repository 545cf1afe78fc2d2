"""Approximations, for `fastmath<afn>` on f32: the chip's ex2, lg2, rsqrt and rcp."""

from tilewright.dialects.math_functions.code import Value, table


def fast(x: Value, mnemonic: str) -> Value:
    """An instruction of f32 without subnormal numbers."""
    return x.do(mnemonic, "approx.ftz.f32")


def fast_exp2(x: Value) -> Value:
    """ex2(x)."""
    return fast(x, "ex2")


def fast_log2(x: Value) -> Value:
    """lg2(x)."""
    return fast(x, "lg2")


def fast_rsqrt(x: Value) -> Value:
    """rsqrt(x)."""
    return fast(x, "rsqrt")


def fast_exp(x: Value) -> Value:
    """ex2(x log2 e)."""
    return fast(x * table("log2e", x)[0], "ex2")


def fast_log(x: Value) -> Value:
    """lg2(x) ln 2."""
    return fast(x, "lg2") * table("ln2_full", x)[0]


def fast_log10(x: Value) -> Value:
    """lg2(x) log10 2."""
    return fast(x, "lg2") * sum(table("log10_2", x)[:2])


def fast_powf(x: Value, y: Value) -> Value:
    """ex2(y lg2 x)."""
    return fast(y * fast(x, "lg2"), "ex2")


def fast_tanh(x: Value) -> Value:
    """1 - 2 / (e^2x + 1)."""
    power = fast(x * (2 * table("log2e", x)[0]), "ex2")
    return fast(power + 1.0, "rcp").fma(-2.0, 1.0)
