"""The fused dot-add: what the tensor cores make of one row of A, one column of B and an addend.

docs/numerics.md, "One element of D", states the steps. They are computed here in float64,
whose 53 bits hold every intermediate exactly: a product has at most 22 significant bits; scaled by
2**(F - emax) an addend is below 4 * 2**F <= 2**42, so up to 2**10 truncated ones sum exactly; and
no format here comes near float64's exponent range. Infinities and NaNs need no special path: the
scale factor is a finite power of two, and IEEE 754's rules for inf * 0, inf - inf and NaN are the
chip's.

Block-scaled MMAs (docs/numerics.md, "Block scaling") are two arithmetics, after MMA-Sim (arXiv
2511.10909); no Blackwell chip was at hand. With `ScaledDotAdd` every product is an addend and
carries the scales along; with `ScaledBlockDotAdd` sixteen products are first summed exactly, and
their scales alone say where that sum is cut off. The bounds of `models.py` keep every intermediate
exact.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.formats import (
    Bits,
    Exponents,
    FloatFormat,
    Floats,
    Formats,
    decode,
    exponent_of,
    format_named,
)
from tilewright.lowering.interpreter.numerics.lanes import Block, in_blocks
from tilewright.lowering.interpreter.numerics.models import (
    FusedDotAdd,
    ScaledBlockDotAdd,
    ScaledDotAdd,
)
from tilewright.lowering.interpreter.numerics.rounding import encode
from tilewright.lowering.interpreter.numerics.scales import Scales

LOWEST_EXPONENT = -600
"""No floor: below every real exponent sum (scaled e5m2: -282), and 2**(F + 600) is a float64."""
_F32_MIN_NORMAL = 2.0**-126
_F32_QUANTUM = 2.0**-149


def fused_dot_add(
    a: Bits,
    b: Bits,
    c: Bits,
    formats: Formats,
    model: FusedDotAdd,
) -> Bits:
    """D = A B + C as the hardware computes it.

    a [..., M, K], b [..., K, N], c [..., M, N]: words of the formats of A, B and C. Returns words
    of D's format, [..., M, N]. Where C and D differ (`wmma` and m8n8k4) the sum is in f32: an f16 C
    is converted first, and the result to an f16 D last, to nearest even. Raises NumericsError if D
    is not f16 or f32.
    """
    a_format, b_format, c_format, result = formats
    if result.name not in ("f16", "f32"):
        raise NumericsError(f"the fused dot-add writes f16 or f32, not {result.name}")
    accumulator = result if c_format.name == result.name else format_named("f32")
    f = partial(_block, formats=(a_format, b_format, accumulator), model=model)
    # What an f16 subnormal's exponent is depends on it: in f32 it is a normal number (H200).
    words = in_blocks(a, b, _converted(c, c_format, accumulator), accumulator.container, f)
    return _converted(words, accumulator, result)


def _converted(words: Bits, fmt: FloatFormat, to: FloatFormat) -> Bits:
    return words if fmt.name == to.name else encode(decode(words, fmt), to)


def scaled_dot_add(
    a: Bits,
    b: Bits,
    c: Bits,
    scales: Scales,
    formats: Formats,
    model: ScaledDotAdd | ScaledBlockDotAdd,
) -> Bits:
    """D = (A scaled) (B scaled) + C as the hardware computes it.

    a [..., M, K], b [..., K, N], c [..., M, N]: words of the formats of A, B and C. Returns words
    of D's format, [..., M, N]. Raises NumericsError unless C and D are f32, and where a block that
    is summed exactly would cross from one scale to the next.
    """
    if {formats[2].name, formats[3].name} != {"f32"}:
        names = f"{formats[2].name} and {formats[3].name}"
        raise NumericsError(f"a block-scaled MMA adds and writes f32, not {names}")
    k = a.shape[-1]
    if isinstance(model, ScaledBlockDotAdd) and k // scales.count % model.block:
        raise NumericsError(
            f"expected scales for multiples of {model.block} elements, got {scales.count} "
            f"scales for K = {k}"
        )
    summed = model.block if isinstance(model, ScaledBlockDotAdd) else None
    f = partial(
        _block,
        formats=(*formats[:2], formats[3]),
        model=FusedDotAdd(model.fraction_bits, model.source),
        scale_format=scales.format,
        summed=summed,
    )
    return in_blocks(a, b, c, formats[3].container, f, scales.along_k(k))


def _block(
    block: Block,
    formats: tuple[FloatFormat, FloatFormat, FloatFormat],
    model: FusedDotAdd,
    scale_format: FloatFormat | None = None,
    summed: int | None = None,
) -> Bits:
    """The chain of fused sums over one block; words of D laid out like `block.c`.

    formats: of A, of B, of C and D. summed: how many products are one addend, of its scales'
    exponent; None: each is one, of its own too.
    """
    a_format, b_format, result = formats
    a, a_exponent = decode(block.a, a_format), exponent_of(block.a, a_format)
    b, b_exponent = decode(block.b, b_format), exponent_of(block.b, b_format)
    k = a.shape[0]
    step = model.chunk or k
    floor = model.exponent_floor
    lowest = LOWEST_EXPONENT if floor is None else result.min_exponent - floor
    words = block.c
    for start in range(0, k, step):
        part = slice(start, start + step)
        addends, exponents = a[part] * b[part], a_exponent[part] + b_exponent[part]
        if scale_format is not None:
            addends, exponents = _scaled(addends, exponents, block, scale_format, summed)
        # A zero's exponent sentinel keeps its products out of this maximum.
        top = exponents.max(axis=0)
        np.maximum(top, exponent_of(words, result), out=top)
        np.maximum(top, np.int16(lowest), out=top)
        total = _truncated_sum(addends, decode(words, result), top, model.fraction_bits)
        words = _round_total(total, result, model.f32_fraction_bits)
    return words


def _scaled(
    products: Floats,
    exponents: Exponents,
    block: Block,
    scale_format: FloatFormat,
    summed: int | None,
) -> tuple[Floats, Exponents]:
    """All products of a block as addends with their scales, and the exponents of those."""
    assert block.scale_a is not None and block.scale_b is not None
    a, b = block.scale_a, block.scale_b
    scale = decode(a, scale_format) * decode(b, scale_format)
    own = exponent_of(a, scale_format) + exponent_of(b, scale_format)
    if summed is None:
        return products * scale, own + exponents
    sums = products.reshape(-1, summed, *products.shape[1:]).sum(axis=1)
    return sums * scale[::summed], own[::summed]


def _truncated_sum(products: Floats, addend: Floats, top: Exponents, fraction_bits: int) -> Floats:
    """Steps 3 and 4: every addend cut off below 2**(top - F), then the exact sum.

    products [K, ...], overwritten; addend and top, the largest exponent, [...]. Returns float64
    laid out like the addend.
    """
    scale = _power_of_two(fraction_bits - top)
    products *= scale
    np.trunc(products, out=products)
    total = np.add.reduce(products, axis=0)
    addend = addend * scale
    total += np.trunc(addend, out=addend)
    total /= scale
    return total


def _power_of_two(exponents: NDArray[np.int16]) -> Floats:
    """2**e for -1022 <= e <= 1023: float64 of the same shape."""
    field = exponents.astype(np.int64)
    field += 1023
    field <<= 52
    return field.view(np.float64)


def _round_total(total: Floats, result: FloatFormat, f32_fraction_bits: int) -> Bits:
    """The one rounding: f16 to nearest even; f32 by cutting off. Words, shape of `total`.

    A zero is always +0, of whatever sign the addends or the lost value were (H200).
    """
    if result.name == "f16":
        words: Bits = total.astype(np.float16).view(np.uint16)
    else:
        words = _cut_to_f32(total, f32_fraction_bits)
    negative_zero = words == result.container.type(result.sign_bit)
    if negative_zero.any():
        words[negative_zero] = 0
    nan = np.isnan(total)
    if nan.any():
        assert result.canonical_nan is not None
        words[nan] = result.canonical_nan
    return words


def _cut_to_f32(total: Floats, fraction_bits: int) -> Bits:
    """Toward zero with so many fraction bits; 2**128 and above becomes infinity.

    With the bits below f32's cut off in float64, the conversion is exact, except for results
    below f32's normal range, where the last bit is worth 2**-149 (H100: nothing is flushed).
    """
    kept = (total.view(np.int64) & np.int64(-1 << 52 - fraction_bits)).view(np.float64)
    small = np.abs(kept) < _F32_MIN_NORMAL
    if small.any():
        quantum = _F32_QUANTUM * 2.0 ** (23 - fraction_bits)
        kept = np.where(small, np.trunc(total / quantum) * quantum, kept)
    return kept.astype(np.float32).view(np.uint32)
