"""fp8 `mma.sync` on Hopper, which has no tensor core for it.

ptxas makes of one such MMA (read with nvdisasm from its sm_90 code): every operand register is
converted to f16, the low two bytes and the high two bytes apart; an f16 MMA over the low pairs
(k % 4 < 2) starts from zero; a second one over the high pairs adds to its result; an addition,
rounded to nearest even, adds c.
"""

import numpy as np

from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.formats import (
    Bits,
    FloatFormat,
    Formats,
    decode,
    format_named,
)
from tilewright.lowering.interpreter.numerics.fused_sum import fused_dot_add
from tilewright.lowering.interpreter.numerics.models import ConvertedDotAdd
from tilewright.lowering.interpreter.numerics.rounding import encode

_F16 = format_named("f16")


def converted_dot_add(
    a: Bits,
    b: Bits,
    c: Bits,
    formats: Formats,
    model: ConvertedDotAdd,
) -> Bits:
    """D = A B + C through f16.

    a [..., M, K], b [..., K, N], c [..., M, N]: words of the formats of A, B and C. Returns words
    of D's format, [..., M, N]. Raises NumericsError unless C and D are of one format.
    """
    a_format, b_format, c_format, result = formats
    if c_format != result:
        raise NumericsError(f"expected c and d of one type, got {c_format.name}, {result.name}")
    wide_a, wide_b = _to_f16(a, a_format), _to_f16(b, b_format)
    places = np.arange(a.shape[-1], dtype=np.int64)
    total = np.zeros_like(c)
    for half in (0, 1):
        taken = np.flatnonzero(places // 2 % 2 == half)
        if not len(taken):
            continue
        part_a = np.ascontiguousarray(wide_a[..., taken])
        part_b = np.ascontiguousarray(wide_b[..., taken, :])
        total = fused_dot_add(part_a, part_b, total, (_F16, _F16, result, result), model.halves)
    # Two f16 or f32 numbers add exactly enough in float64 for one rounding (24 < 53 / 2).
    return encode(decode(c, result) + decode(total, result), result)


def _to_f16(words: Bits, fmt: FloatFormat) -> Bits:
    """fp8 words as f16 words: every value is exact."""
    return encode(decode(words, fmt), _F16)
