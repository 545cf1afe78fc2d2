"""Number formats of the MMAs: what a bit pattern is worth, exactly.

Every format is one row of `FORMATS`. A row says how the bits divide into sign, exponent and
mantissa and which patterns are not numbers; decoding, encoding (`rounding.py`) and the exponents
that the fused sum aligns to all read the row.

An element travels as the unsigned integer that holds its bits: uint8 for formats of up to 8 bits,
uint16 for f16 and bf16, uint32 for tf32 and f32, uint64 for f64. Bits above the format's own are
ignored on input, and so are the low 13 bits of a tf32 word (docs/numerics.md, H100).

Sources of the rows: PTX ISA, "Fundamental Types" and "Alternate Floating-Point Data Formats";
the OCP Microscaling Formats (MX) specification v1.0 for the 8-, 6- and 4-bit formats.
"""

from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.array_types import AnyDType, Float64Array, Int64Array
from tilewright.lowering.interpreter.numerics.errors import NumericsError

Bits: TypeAlias = NDArray[np.unsignedinteger[Any]]
Floats: TypeAlias = Float64Array
Exponents: TypeAlias = NDArray[np.int16]

ZERO_EXPONENT = -4096
"""The `exponent_of` zero: a zero times anything stays below every real product's
exponent (at least 2 * -1022), and the sum of two still fits int16."""


class NanRule(Enum):
    """The patterns of a format that are NaN."""

    IEEE = "exponent all ones, mantissa not zero"
    ALL_ONES = "exponent and mantissa all ones"
    NEVER = "no pattern"


@dataclass(frozen=True)
class FloatFormat:
    """One floating-point format.

    `bits` is the width of the word that carries an element and `ignored_low_bits` how many of its
    low bits do not take part. `canonical_nan` is the word that a NaN result is written as (None:
    the format has no NaN, and conversion gives the largest finite value instead).
    """

    name: str
    bits: int
    exponent_bits: int
    mantissa_bits: int
    bias: int
    has_inf: bool
    nan_rule: NanRule
    canonical_nan: int | None
    source: str
    signed: bool = True
    has_zero: bool = True
    ignored_low_bits: int = 0

    def __post_init__(self) -> None:
        """Reject a row whose fields do not fill a word or whose NaN is not one."""
        fields = self.signed + self.exponent_bits + self.mantissa_bits + self.ignored_low_bits
        if fields > self.bits or (self.has_inf and self.nan_rule is not NanRule.IEEE):
            raise NumericsError(f"format {self.name}: the row contradicts itself")
        if (self.canonical_nan is None) != (self.nan_rule is NanRule.NEVER):
            raise NumericsError(f"format {self.name}: NaN rule and canonical NaN disagree")

    @property
    def min_exponent(self) -> int:
        """The smallest exponent, which subnormals share (f16: -14)."""
        return 1 - self.bias if self.has_zero else -self.bias

    @property
    def container(self) -> AnyDType:
        """The unsigned NumPy type that holds one element."""
        width = max(8, 1 << (self.bits - 1).bit_length())
        return np.dtype(f"uint{width}")

    @property
    def sign_bit(self) -> int:
        """The word's sign bit alone (0 for an unsigned format)."""
        low = self.ignored_low_bits + self.mantissa_bits + self.exponent_bits
        return int(self.signed) << low

    @property
    def infinity(self) -> int:
        """The word of +infinity, or the first word past the largest finite value."""
        magnitudes = 1 << (self.exponent_bits + self.mantissa_bits)
        unusable = {NanRule.IEEE: 1 << self.mantissa_bits, NanRule.ALL_ONES: 1, NanRule.NEVER: 0}[
            self.nan_rule
        ]
        return (magnitudes - unusable) << self.ignored_low_bits

    @property
    def max_finite(self) -> int:
        """The word of the largest finite value."""
        return self.infinity - (1 << self.ignored_low_bits)

    @cached_property
    def largest(self) -> float:
        """The largest finite value."""
        return float(decode(np.array([self.max_finite], dtype=self.container), self)[0])

    @cached_property
    def values(self) -> Floats:
        """Value of every word of an at most 16-bit format: float64 [2**bits]."""
        return _value_of_words(self._words(), self)

    @cached_property
    def exponents(self) -> Exponents:
        """Exponent of every word of an at most 16-bit format: int16 [2**bits]."""
        return _exponent_of_words(self._words(), self)

    def _words(self) -> NDArray[np.int64]:
        return np.arange(1 << self.container.itemsize * 8, dtype=np.int64)


Formats: TypeAlias = tuple[FloatFormat, FloatFormat, FloatFormat, FloatFormat]
"""Those of A, B, C and D."""

_IEEE, _ALL_ONES, _NEVER = NanRule.IEEE, NanRule.ALL_ONES, NanRule.NEVER
_ALT = "PTX ISA, Alternate Floating-Point Data Formats"
_BASIC = "PTX ISA, Fundamental Types; IEEE 754"
_TILE_IR = "CUDA Tile IR 13.4, f8E5M3FNU (developer preview)"

FORMATS: dict[str, FloatFormat] = {
    row.name: row
    for row in (
        FloatFormat("f64", 64, 11, 52, 1023, True, _IEEE, 0xFFF8 << 48, _BASIC),
        FloatFormat("f32", 32, 8, 23, 127, True, _IEEE, 0x7FFFFFFF, _BASIC),
        FloatFormat("f16", 16, 5, 10, 15, True, _IEEE, 0x7FFF, _BASIC),
        FloatFormat("bf16", 16, 8, 7, 127, True, _IEEE, 0x7FFF, _ALT),
        FloatFormat("tf32", 32, 8, 10, 127, True, _IEEE, 0x7FFFE000, _ALT, ignored_low_bits=13),
        FloatFormat("e4m3", 8, 4, 3, 7, False, _ALL_ONES, 0x7F, _ALT),
        FloatFormat("e5m2", 8, 5, 2, 15, True, _IEEE, 0x7F, _ALT),
        FloatFormat("e3m2", 6, 3, 2, 3, False, _NEVER, None, _ALT),
        FloatFormat("e2m3", 6, 2, 3, 1, False, _NEVER, None, _ALT),
        FloatFormat("e2m1", 4, 2, 1, 1, False, _NEVER, None, _ALT),
        FloatFormat(
            "ue8m0", 8, 8, 0, 127, False, _ALL_ONES, 0xFF, _ALT, signed=False, has_zero=False
        ),
        FloatFormat("ue4m3", 8, 4, 3, 7, False, _ALL_ONES, 0x7F, _ALT, signed=False),
        FloatFormat("ue5m3", 8, 5, 3, 15, False, _ALL_ONES, 0xFF, _TILE_IR, signed=False),
    )
}


@cache
def format_named(name: str) -> FloatFormat:
    """The row of `FORMATS` with this PTX name; NumericsError if there is none."""
    try:
        return FORMATS[name]
    except KeyError:
        known = ", ".join(FORMATS)
        raise NumericsError(f"expected a floating-point type of {known}, got {name!r}") from None


def _fields(words: Int64Array, fmt: FloatFormat) -> tuple[Int64Array, ...]:
    """Split words into sign (0 or 1), biased exponent and mantissa, each int64 like `words`."""
    payload = words >> fmt.ignored_low_bits
    mantissa = payload & ((1 << fmt.mantissa_bits) - 1)
    biased = (payload >> fmt.mantissa_bits) & ((1 << fmt.exponent_bits) - 1)
    sign = ((words & fmt.sign_bit) != 0).astype(np.int64)
    return sign, biased, mantissa


def _value_of_words(words: Int64Array, fmt: FloatFormat) -> Floats:
    """Value of each word by the book: shape of `words`, float64. Slow; fills the tables."""
    sign, biased, mantissa = _fields(words, fmt)
    if not fmt.has_zero:
        value = np.ldexp(1.0, biased - fmt.bias)
    else:
        hidden = (biased > 0).astype(np.int64) << fmt.mantissa_bits
        exponent = np.maximum(biased, 1) - fmt.bias - fmt.mantissa_bits
        value = np.ldexp((hidden + mantissa).astype(np.float64), exponent)
    top = biased == (1 << fmt.exponent_bits) - 1
    full = mantissa == (1 << fmt.mantissa_bits) - 1
    if fmt.has_inf:
        value[top & (mantissa == 0)] = np.inf
    if fmt.nan_rule is NanRule.IEEE:
        value[top & (mantissa != 0)] = np.nan
    elif fmt.nan_rule is NanRule.ALL_ONES:
        value[top & full] = np.nan
    return np.where(sign == 1, -value, value)


def _exponent_of_words(words: Int64Array, fmt: FloatFormat) -> Exponents:
    """Exponent of each word, as `exponent_of` defines it: shape of `words`, int16."""
    _, biased, mantissa = _fields(words, fmt)
    if not fmt.has_zero:
        return (biased - fmt.bias).astype(np.int16)
    exponent = (np.maximum(biased, 1) - fmt.bias).astype(np.int16)
    exponent[(biased == 0) & (mantissa == 0)] = ZERO_EXPONENT
    return exponent


def _widen(words: Bits) -> Floats:
    # A signalling NaN is a NaN like any other here.
    return words.view(np.float32).astype(np.float64)


def decode(bits: Bits, fmt: FloatFormat) -> Floats:
    """The exact value of each element.

    bits: unsigned integers of the format's container type, any shape and strides. Returns float64
    of the same shape; NaN patterns give NaN. Raises nothing.
    """
    if fmt.name == "f64":
        return np.ascontiguousarray(bits).view(np.float64)
    if fmt.bits == 32:
        return _widen(
            bits & np.uint32(0xFFFFE000) if fmt.name == "tf32" else np.ascontiguousarray(bits)
        )
    if fmt.name == "bf16":
        # Half an f32: cheaper than a walk through 512 KiB of table.
        wide = bits.astype(np.uint32)
        wide <<= 16
        return _widen(wide)
    return fmt.values.take(bits)


def exponent_of(bits: Bits, fmt: FloatFormat) -> Exponents:
    """The exponent that the fused dot-add aligns by (docs/numerics.md, step 1).

    bits: as for `decode`. Returns int16 of the same shape: the unbiased exponent field, where a
    subnormal keeps the smallest exponent of its type, and `ZERO_EXPONENT` for a zero. Infinities
    and NaNs give some exponent above all finite ones; nothing depends on which.
    """
    if fmt.bits <= 16:
        return fmt.exponents.take(bits)
    shift = fmt.bits - 1 - fmt.exponent_bits
    magnitude = bits & fmt.container.type(fmt.sign_bit - (1 << fmt.ignored_low_bits))
    exponent = (magnitude >> fmt.container.type(shift)).astype(np.int16)
    np.maximum(exponent, np.int16(1), out=exponent)
    exponent -= np.int16(fmt.bias)
    exponent[magnitude == 0] = ZERO_EXPONENT
    return exponent
