"""Sizes, strides and indices of views in the width that they are computed in."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Attribute, SSAValue

from tilewright.lowering.cuda_tile.kernel import Kernel
from tilewright.lowering.cuda_tile.view_access import Extent


def wide(kernel: Kernel, extent: Extent, type_: Attribute) -> SSAValue:
    """A size, a stride or an index, which read as unsigned, in an integer type."""
    if isinstance(extent, int):
        return kernel.constant(extent, type_)  # type: ignore[arg-type]
    value = kernel.scalar(extent)
    own, wanted = value.type.bitwidth, type_.bitwidth  # type: ignore[attr-defined]
    if own == wanted:
        return value
    return kernel.emit(arith.ExtUIOp if own < wanted else arith.TruncIOp, [value], type_)  # type: ignore[arg-type]
