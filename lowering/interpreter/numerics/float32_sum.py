"""f16 `mma.sync.m8n8k4` from sm_80 on, where the tensor cores no longer have that shape.

ptxas makes f32 arithmetic of it (read with nvdisasm from its sm_80 to sm_121 code; equal to an H200
bit for bit). Every step is IEEE 754's, to nearest even, with subnormals and the sign of zeros:

    d f32:  s = a0 b0 + 0;  s = a1 b1 + s;  s = a2 b2 + s;  s = a3 b3 + s;  d = c + s
    d f16:  p = a1 b1 + (a0 b0);  q = a3 b3 + (a2 b2);  d = f16((c + p) + q)
"""

from functools import partial

import numpy as np

from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.fma import Singles, fma32
from tilewright.lowering.interpreter.numerics.formats import (
    Bits,
    FloatFormat,
    Formats,
    decode,
    format_named,
)
from tilewright.lowering.interpreter.numerics.lanes import Block, in_blocks
from tilewright.lowering.interpreter.numerics.rounding import encode

_F16 = format_named("f16")
_TYPES = tuple(("f16", "f16", *rest) for rest in (("f16", "f16"), ("f16", "f32"), ("f32", "f32")))
_K = 4


def float32_dot_add(a: Bits, b: Bits, c: Bits, formats: Formats) -> Bits:
    """D = A B + C in f32 arithmetic.

    a [..., M, 4], b [..., 4, N], c [..., M, N]: words of the formats of A, B (f16) and C. Returns
    words of D's format, [..., M, N]. Raises NumericsError for types and a K that m8n8k4 has not.
    """
    names = tuple(fmt.name for fmt in formats)
    if names not in _TYPES or a.shape[-1] != _K:
        raise NumericsError(
            f"f32 arithmetic stands in for f16 MMAs with K = {_K}, "
            f"not {', '.join(names)} with K = {a.shape[-1]}"
        )
    f = partial(_block, c_format=formats[2], result=formats[3])
    return in_blocks(a, b, c, formats[3].container, f)


def _block(block: Block, c_format: FloatFormat, result: FloatFormat) -> Bits:
    """One block; words of D laid out like `block.c`."""
    a, b = _singles(block.a, _F16), _singles(block.b, _F16)
    c = _singles(block.c, c_format)
    if result.name == "f32":
        chain = np.zeros_like(c)
        for k in range(_K):
            chain = fma32(a[k], b[k], chain)
        total = c + chain
    else:
        total = c
        for k in (0, 2):
            total = total + fma32(a[k + 1], b[k + 1], a[k] * b[k])
    return encode(total.astype(np.float64), result)


def _singles(words: Bits, fmt: FloatFormat) -> Singles:
    """f16 and f32 words as float32: every value is exact."""
    return decode(words, fmt).astype(np.float32)
