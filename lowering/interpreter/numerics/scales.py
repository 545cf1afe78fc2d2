"""The scale factors of block-scaled MMAs: one for every K / S consecutive elements of a row of A or
of a column of B (PTX ISA 9.7.14.3, Block Scaling for mma.sync)."""

import numpy as np

from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.formats import Bits, FloatFormat, format_named

SCALE_TYPES = ("ue8m0", "ue4m3")


@frozen
class Scales:
    """Scales of A [..., M, S] and of B [..., S, N], uint8 words of `format`."""

    a: Bits
    b: Bits
    format: FloatFormat

    @property
    def count(self) -> int:
        """S, the scales along K."""
        return self.a.shape[-1]

    def along_k(self, k: int) -> tuple[Bits, Bits]:
        """One scale to an element: A's [..., M, K] and B's [..., K, N]."""
        factor = k // self.count
        return np.repeat(self.a, factor, axis=-1), np.repeat(self.b, factor, axis=-2)


def scales_for(
    a: Bits, b: Bits, scale_a: Bits | None, scale_b: Bits | None, scale_type: str | None
) -> Scales | None:
    """The scales of a [..., M, K] and b [..., K, N]; None where nothing is scaled.

    Raises NumericsError unless all three are given or none is, for other types than `SCALE_TYPES`
    and uint8 words, and for shapes that do not divide K into equal parts.
    """
    if scale_a is None and scale_b is None and scale_type is None:
        return None
    if scale_a is None or scale_b is None or scale_type is None:
        raise NumericsError("expected scale_a, scale_b and scale_type together or none of them")
    if scale_type not in SCALE_TYPES:
        known = ", ".join(SCALE_TYPES)
        raise NumericsError(f"expected a scale type of {known}, got {scale_type!r}")
    if scale_a.dtype != np.uint8 or scale_b.dtype != np.uint8:
        dtypes = f"{scale_a.dtype} and {scale_b.dtype}"
        raise NumericsError(f"expected {scale_type} scales in uint8, got {dtypes}")
    count = scale_a.shape[-1] if scale_a.ndim else 0
    fits = scale_a.shape == (*a.shape[:-1], count)
    fits = fits and scale_b.shape == (*b.shape[:-2], count, b.shape[-1])
    if not fits or count == 0 or a.shape[-1] % count:
        raise NumericsError(
            "expected scale_a [..., M, S], scale_b [..., S, N] with S a divisor of K, "
            f"got scale_a {scale_a.shape}, scale_b {scale_b.shape} for a {a.shape}, b {b.shape}"
        )
    return Scales(scale_a, scale_b, format_named(scale_type))
