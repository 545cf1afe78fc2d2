"""The arithmetics that MMAs follow, as data: a class each. `chips.py` says who follows which.

None of this is in the PTX ISA. Every model names its source; docs/numerics.md has the evidence.
"""

from typing import Literal, TypeAlias

from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.numerics.errors import NumericsError


@frozen
class FusedDotAdd:
    """The fused dot-add of docs/numerics.md (fused_sum.py).

    fraction_bits: F, the fraction bits that an addend keeps relative to the largest exponent.
    chunk: how many k one fused sum takes. A longer K is a chain of fused sums in k order, each
        rounded to the result type and added to the next; None is one sum over the whole K.
    f32_fraction_bits: fraction bits that an f32 result keeps; the rest is cut off toward zero.
    exponent_floor: how far below the result type's smallest exponent the largest exponent can lie;
        smaller addends are aligned to that floor (f32: -126 - 7). None: no floor is known. It
        shows in subnormal results only, where every addend is far below the normal range.
    An f16 result is rounded to nearest even.
    """

    fraction_bits: int
    source: str
    chunk: int | None = None
    f32_fraction_bits: int = 23
    exponent_floor: int | None = None

    def __post_init__(self) -> None:
        """Reject rows outside what the float64 arithmetic of `fused_sum.py` holds exactly."""
        # Addends below 4 * 2**F, at most 2**10 of them, summed in 53 bits.
        if not 1 <= self.fraction_bits <= 40 or not 1 <= self.f32_fraction_bits <= 23:
            raise NumericsError(f"fused dot-add with impossible widths: {self}")
        if self.chunk is not None and self.chunk < 1:
            raise NumericsError(f"fused dot-add with an empty chunk: {self}")


@frozen
class ScaledDotAdd:
    """Block scaling of single products, kind::mxf8f6f4 (fused_sum.py).

    One fused sum over the whole K in which a product's significand and exponent are those of
    a * b * scale_a * scale_b. fraction_bits: F, as in `FusedDotAdd`. The result is f32.
    """

    fraction_bits: int
    source: str

    def __post_init__(self) -> None:
        """Reject rows outside what float64 holds exactly."""
        # Addends below 2**(F + 4), at most 2**10 of them, summed in 53 bits.
        if not 1 <= self.fraction_bits <= 38:
            raise NumericsError(f"scaled dot-add with impossible widths: {self}")


@frozen
class ScaledBlockDotAdd:
    """Block scaling of exact block sums, kind::mxf4 and kind::mxf4nvf4 (fused_sum.py).

    `block` consecutive products are summed exactly; the block's two scales multiply that sum's
    significand and give it their exponents; then one fused sum over the blocks and c.
    fraction_bits: F, as in `FusedDotAdd`. The result is f32.
    """

    fraction_bits: int
    source: str
    block: int = 16

    def __post_init__(self) -> None:
        """Reject rows outside what float64 holds exactly."""
        # 16 products of e2m1, at most 36 each, times two significands below 2: below 2**(F + 12),
        # and at most 2**6 blocks.
        if not 1 <= self.fraction_bits <= 35 or not 1 <= self.block <= 16:
            raise NumericsError(f"scaled block dot-add with impossible widths: {self}")


@frozen
class ConvertedDotAdd:
    """fp8 on a chip without fp8 tensor cores for the instruction: two chained f16 sums from zero,
    over the low and the high halves of every register, then one addition of c (converted_sum.py).
    """

    halves: FusedDotAdd
    source: str


@frozen
class Float32DotAdd:
    """f16 m8n8k4 on a chip whose tensor cores do not have that shape: multiply-adds in f32, each
    rounded to nearest even (float32_sum.py).
    """

    source: str


@frozen
class FmaChain:
    """f64: fused multiply-adds in k order, each with the instruction's rounding mode."""

    source: str


@frozen
class ExactInteger:
    """Integer and bit MMAs: exact sums, then wrap or clamp to 32 bits."""

    source: str


Model: TypeAlias = (
    FusedDotAdd
    | ScaledDotAdd
    | ScaledBlockDotAdd
    | ConvertedDotAdd
    | Float32DotAdd
    | FmaChain
    | ExactInteger
)

AnyModel: TypeAlias = Model | Literal["exact"]
"""A model, or exact sums that are rounded once."""
