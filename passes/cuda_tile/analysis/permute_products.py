"""Which products have their columns in the order in which lanes take them as A of 8 bits.

Of attention the scores' columns are the weights' along K. A lane computes two neighbours of each
eight, and multiplies four of each sixteen: where TMA loads the rows of keys in that order, each
lane computes what it multiplies, and none is exchanged.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr

from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.passes.cuda_tile.analysis.cost_model import products_of
from tilewright.passes.cuda_tile.analysis.loaded_operands import loaded_by, readers_of
from tilewright.passes.cuda_tile.analysis.tensor_maps import BoxedAccess, boxed_load
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.layouts.layouts import dim_bits
from tilewright.passes.cuda_tile.layouts.mma_layouts import PTX_NAMES, Multiplication, comes_of
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import in_tensor_memory
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import PERMUTED

_COLUMNS = 32
"""The columns at least: the K of one MMA."""


def permute_products(entry: EntryOp, arch: Target | None) -> None:
    """Mark those products, whose B one load of rows is."""
    products = products_of(entry, arch)
    for op in products:
        if in_tensor_memory(op) or shape_of(op.result)[-1] < _COLUMNS:
            continue
        wanted = any(
            shown(element_of(other.lhs)) in PTX_NAMES and comes_of(other.lhs, op)
            for other in products
            if other is not op and other.parent is op.parent
        )
        if wanted and _is_loaded_in_pairs(op, arch):
            op.attributes[PERMUTED] = UnitAttr()


def _is_loaded_in_pairs(op: Multiplication, arch: Target | None) -> bool:
    source, rows = loaded_by(op.rhs), paired_rows(op)
    return (
        source is not None
        and rows is not None
        and isinstance(load := source.load, LoadViewTkoOp)
        and list(readers_of(load.tile)) == [op]
        and isinstance(boxed_load(load, arch, pairs=rows), BoxedAccess)
    )


def paired_rows(product: Multiplication) -> int | None:
    """The dimension of B's loaded tile that its columns are."""
    source = loaded_by(product.rhs)
    if source is None or not isinstance(source.load, LoadViewTkoOp):
        return None
    columns = [source.bits[bit] for bit in dim_bits(shape_of(product.rhs))[-1]]
    dims = [[*bits] for bits in dim_bits(source.load.view_type.tile_shape)]
    return dims.index(columns) if columns in dims else None
