"""From exact (or round-to-odd) float64 values to the bits of a format, with one rounding.

A float64 that holds the exact result, or its round-to-odd, still knows on which side of every
boundary of a format of at most 51 significant bits it lies, so one rounding here is the only one
(S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
rounding to odd", IEEE Trans. Computers 57(4), 2008).
"""

from typing import Literal, TypeAlias, get_args

import numpy as np

from tilewright.lowering.interpreter.array_types import BoolArray, UInt32Array
from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.formats import Bits, FloatFormat, Floats

Rounding: TypeAlias = Literal["rn", "rz", "rm", "rp"]
"""PTX's rounding modifiers: nearest even, toward zero, toward minus and plus infinity."""


def check_rounding(rounding: str) -> None:
    """NumericsError unless `rounding` is one of `Rounding`."""
    if rounding not in get_args(Rounding):
        raise NumericsError(f"expected a rounding of rn, rz, rm, rp, got {rounding!r}")


def encode(values: Floats, fmt: FloatFormat, rounding: Rounding = "rn") -> Bits:
    """Round each value once to `fmt` and give its bits.

    values: float64, any shape. Returns the format's container type, same shape. NaN becomes the
    format's canonical NaN. Overflow is IEEE 754's: infinity, or the largest finite value where
    the direction asks for it; a format without infinities saturates, one without NaN gives its
    largest finite value for NaN (PTX `cvt`'s .satfinite). Raises NumericsError for the unsigned
    scale formats, which no instruction modelled here writes, and for an unknown rounding.
    """
    check_rounding(rounding)
    if not fmt.signed:
        raise NumericsError(f"{fmt.name} is a scale format and never a result")
    if fmt.name == "f64":
        words = values.view(np.uint64).copy()
    elif fmt.name == "f32":
        words = _to_f32(values, rounding)
    elif fmt.name == "f16" and rounding == "rn":
        words = values.astype(np.float16).view(np.uint16)
    else:
        words = _to_words(values, fmt, rounding)
    nan = np.isnan(values)
    if nan.any():
        word = fmt.max_finite if fmt.canonical_nan is None else fmt.canonical_nan
        words[nan] = word
    return words


def _to_f32(values: Floats, rounding: Rounding) -> UInt32Array:
    """Cast to nearest, then step back the lanes that went past the value."""
    nearest = values.astype(np.float32)
    words = nearest.view(np.uint32)
    if rounding == "rn":
        return words
    back = nearest.astype(np.float64)
    if rounding == "rz":
        words -= np.abs(back) > np.abs(values)
        return words
    wrong = back > values if rounding == "rm" else back < values
    target = np.float32(-np.inf if rounding == "rm" else np.inf)
    return np.where(wrong, np.nextafter(nearest, target), nearest).view(np.uint32)


def _to_words(values: Floats, fmt: FloatFormat, rounding: Rounding) -> Bits:
    """Round to any format: quantum by quantum, with the carry into the exponent for free.

    A finite magnitude in quanta q = 2**(e - mantissa_bits), e not below the smallest exponent, is
    a whole number n <= 2**(mantissa_bits + 1), and the word is n plus (e - min_exponent) steps of
    2**mantissa_bits, whether n is subnormal, normal or has just carried.
    """
    magnitude = np.abs(values)
    negative = np.signbit(values)
    field = (magnitude.view(np.int64) >> 52) - 1023
    exponent = np.clip(field, fmt.min_exponent, fmt.min_exponent + (1 << fmt.exponent_bits))
    quanta = np.ldexp(magnitude, fmt.mantissa_bits - exponent)
    if rounding == "rn":
        quanta = np.rint(quanta)
    elif rounding == "rz":
        quanta = np.floor(quanta)
    else:
        away = negative if rounding == "rm" else ~negative
        quanta = np.where(away, np.ceil(quanta), np.floor(quanta))
    limit = fmt.infinity >> fmt.ignored_low_bits
    steps = np.minimum(quanta, 2.0 ** (fmt.mantissa_bits + 2)).astype(np.int64)
    steps += (exponent - fmt.min_exponent) << fmt.mantissa_bits
    # The largest finite value where the direction points inward or no infinity exists.
    if rounding == "rn":
        outward = np.full(values.shape, fmt.has_inf)
    else:
        outward = np.isinf(values) if rounding == "rz" else away_from_zero(negative, rounding)
        outward = (outward | np.isinf(values)) & fmt.has_inf
    steps = np.where(steps >= limit, np.where(outward, limit, limit - 1), steps)
    words: Bits = (steps << fmt.ignored_low_bits).astype(fmt.container)
    sign: Bits = (negative * fmt.container.type(fmt.sign_bit)).astype(fmt.container)
    return words | sign


def away_from_zero(negative: BoolArray, rounding: Rounding) -> BoolArray:
    """True where a directed rounding moves values of this sign away from zero; same shape."""
    if rounding == "rm":
        return negative
    return ~negative if rounding == "rp" else np.zeros_like(negative)
