"""Two 16-bit registers as one of 32 bits."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.dialects.ptx.registers import ListGetOp, PackOp, UnpackOp
from tilewright.lowering.to_ptx.conversion import Conversion


def packed_halves(low: SSAValue, high: SSAValue, to: Conversion) -> SSAValue:
    """The register of two halves: where they are the two of one that was taken apart, that one."""
    first, second = low.owner, high.owner
    if (
        isinstance(first, ListGetOp)
        and isinstance(second, ListGetOp)
        and first.source is second.source
        and isinstance(first.source.owner, UnpackOp)
        and (first.position.value.data, second.position.value.data) == (0, 1)
    ):
        return first.source.owner.source
    return to.pure((PackOp, low, high), (low, high), lambda: PackOp(low, high))
