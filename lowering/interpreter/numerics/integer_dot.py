"""Integer and bit MMAs: exact sums of products, then 32 bits of them (docs/numerics.md, H100)."""

from typing import Any, Literal, TypeAlias

import numpy as np

from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_types import AnyArray, UInt32Array
from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.formats import Bits
from tilewright.lowering.interpreter.numerics.lanes import check_shapes

BitOperation: TypeAlias = Literal["and", "xor"]

_S32_MIN, _S32_MAX = -(1 << 31), (1 << 31) - 1
# Whole numbers below these are exact in float32 and float64, in whatever order they are summed.
_F32_EXACT, _F64_EXACT = 1 << 24, 1 << 53


@frozen
class IntegerFormat:
    """An integer element type: the low `bits` of a byte, two's complement if signed."""

    name: str
    bits: int
    signed: bool

    @property
    def largest(self) -> int:
        """The largest magnitude."""
        return 1 << (self.bits - 1) if self.signed else (1 << self.bits) - 1


INTEGER_FORMATS: dict[str, IntegerFormat] = {
    row.name: row
    for row in (
        IntegerFormat("s8", 8, True),
        IntegerFormat("u8", 8, False),
        IntegerFormat("s4", 4, True),
        IntegerFormat("u4", 4, False),
        IntegerFormat("b1", 1, False),
    )
}


def decode_integer(bits: Bits, fmt: IntegerFormat, dtype: type[np.floating[Any]]) -> AnyArray:
    """Each element's value: `dtype`, shape of `bits`. Bits above the format's are ignored."""
    spare = 8 - fmt.bits
    byte = bits.astype(np.uint8) << np.uint8(spare)
    signed = byte.view(np.int8) if fmt.signed else byte
    return (signed >> spare).astype(dtype)


def integer_dot_add(
    a: Bits,
    b: Bits,
    c: Bits,
    formats: tuple[IntegerFormat, IntegerFormat],
    *,
    satfinite: bool,
    bit_operation: BitOperation,
) -> UInt32Array:
    """D = A B + C in whole numbers; for b1, the population count of A op B, plus C.

    a [..., M, K], b [..., K, N]: one element a byte (s4, u4: 0..15; b1: 0 or 1); c [..., M, N]:
    uint32 words of s32. Returns uint32 words of s32 [..., M, N]: the sum modulo 2**32, or with
    `satfinite` clamped to s32's range. Raises NumericsError for shapes, b1 mixed with another
    type, `satfinite` on b1, or an unknown bit operation.
    """
    check_shapes(a, b, c)
    binary = "b1" in (formats[0].name, formats[1].name)
    if binary and (formats[0] != formats[1] or satfinite):
        raise NumericsError("b1 multiplies b1 only and has no satfinite")
    if bit_operation not in ("and", "xor"):
        raise NumericsError(f"expected a bit operation of and, xor, got {bit_operation!r}")
    bound = a.shape[-1] * formats[0].largest * formats[1].largest
    dtype = np.float32 if bound <= _F32_EXACT else np.float64
    if bound > _F64_EXACT:
        raise NumericsError(f"K = {a.shape[-1]} is too long for exact sums")
    x, y = decode_integer(a, formats[0], dtype), decode_integer(b, formats[1], dtype)
    total = np.matmul(x, y).astype(np.int64)
    if binary and bit_operation == "xor":
        # popc(a ^ b) = popc(a) + popc(b) - 2 popc(a & b)
        ones = x.sum(axis=-1, keepdims=True) + y.sum(axis=-2, keepdims=True)
        total = ones.astype(np.int64) - 2 * total
    total += c.astype(np.uint32).view(np.int32)
    if satfinite:
        np.clip(total, _S32_MIN, _S32_MAX, out=total)
    return total.astype(np.uint32)
