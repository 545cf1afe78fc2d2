"""Which products of tf32 are computed as C' = B' A'.

`wgmma` takes matrices of 4 bytes K-major alone, but A from registers, where any order is as good:
rows of B, N contiguous, are read there as columns of A, and A, K contiguous, lies as B does.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr

from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.passes.cuda_tile.analysis.cost_model import products_of
from tilewright.passes.cuda_tile.analysis.loaded_operands import is_readable, loaded_by
from tilewright.passes.cuda_tile.analysis.tensor_maps import BoxedAccess, boxed_load
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import in_tensor_memory
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import TRANSPOSED

_COLUMNS = 64
"""The columns at least, which are rows of A."""


def transpose_products(entry: EntryOp, arch: Target | None) -> None:
    """Mark those products, whose matrices TMA rounds on their way."""
    for op in products_of(entry, arch):
        wide = shape_of(op.result)[-1] >= _COLUMNS
        if wide and not in_tensor_memory(op) and _lie_apart(op, arch):
            op.attributes[TRANSPOSED] = UnitAttr()


def _lie_apart(op: Multiplication, arch: Target | None) -> bool:
    """True where A lies as MMAs can read it, and B does not."""
    readable = list[bool]()
    for operand in op.operands[:2]:
        source = loaded_by(operand)
        load = None if source is None else source.load
        boxed = boxed_load(load, arch) if isinstance(load, LoadViewTkoOp) else None
        if source is None or not isinstance(boxed, BoxedAccess) or not boxed.is_rounded:
            return False
        readable.append(is_readable(boxed.order, source, operand, op, rounded=True))
    return readable == [True, False]
