"""Block-scaled MMAs: the fused dot-add with a scale factor on A and one on B.

docs/numerics.md, "Block scaling". Two arithmetics, after MMA-Sim (arXiv 2511.10909); no Blackwell
chip was at hand. With `ScaledDotAdd` every product is an addend and carries the scales along; with
`ScaledBlockDotAdd` sixteen products are first summed exactly, and their scales alone say where that
sum is cut off. NaN scales, infinities and zeros need no path of their own: float64 does with them
what the definition says. The bounds of `models.py` keep every intermediate exact.
"""

from functools import partial

import numpy as np

from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.formats import (
    Bits,
    Exponents,
    FloatFormat,
    Floats,
    decode,
    exponent_of,
)
from tilewright.lowering.interpreter.numerics.fused_sum import (
    LOWEST_EXPONENT,
    round_total,
    truncated_sum,
)
from tilewright.lowering.interpreter.numerics.lanes import Block, in_blocks
from tilewright.lowering.interpreter.numerics.models import ScaledBlockDotAdd, ScaledDotAdd
from tilewright.lowering.interpreter.numerics.scales import Scales

_F32_FRACTION_BITS = 23


def scaled_dot_add(
    a: Bits,
    b: Bits,
    c: Bits,
    scales: Scales,
    formats: tuple[FloatFormat, FloatFormat, FloatFormat, FloatFormat],
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
    f = partial(_block, formats=(*formats, scales.format), model=model)
    with np.errstate(all="ignore"):
        return in_blocks(a, b, c, formats[3].container, f, scales.along_k(k))


def _block(
    block: Block,
    formats: tuple[FloatFormat, FloatFormat, FloatFormat, FloatFormat, FloatFormat],
    model: ScaledDotAdd | ScaledBlockDotAdd,
) -> Bits:
    """One block's sums; words of D laid out like `block.c`."""
    a_format, b_format, c_format, result, _ = formats
    addends = decode(block.a, a_format) * decode(block.b, b_format)
    scale, exponents = _scales(block, formats[4])
    if isinstance(model, ScaledBlockDotAdd):
        addends = addends.reshape(-1, model.block, *addends.shape[1:]).sum(axis=1)
        scale, exponents = scale[:: model.block], exponents[:: model.block]
    else:
        exponents = exponents + (exponent_of(block.a, a_format) + exponent_of(block.b, b_format))
    addends *= scale
    top = np.maximum(exponents.max(axis=0), exponent_of(block.c, c_format))
    np.maximum(top, np.int16(LOWEST_EXPONENT), out=top)
    total = truncated_sum(addends, decode(block.c, c_format), top, model.fraction_bits)
    return round_total(total, result, _F32_FRACTION_BITS)


def _scales(block: Block, scale_format: FloatFormat) -> tuple[Floats, Exponents]:
    """The two scales of every element of [K, ...]: their product and the sum of their exponents."""
    assert block.scale_a is not None and block.scale_b is not None
    scale = decode(block.scale_a, scale_format) * decode(block.scale_b, scale_format)
    exponents = exponent_of(block.scale_a, scale_format) + exponent_of(block.scale_b, scale_format)
    return scale, exponents
