"""Which products pairs of CTAs multiply together: a `tcgen05.mma` of the CTA of even rank reads the
shared memory of both, and each has the sums of its own rows.

    tile<256x64>, tile<64x256>, tile<256x256>     CTA r: rows 128 r to 128 r + 127 of A and of C,
                                                         columns 128 r to 128 r + 127 of B

A may be in tensor memory, 128 rows in that of each.

All products of a kernel in tensor memory are such, or none: ptxas takes one `.cta_group` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFScaledOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANES
from tilewright.passes.cuda_tile.analysis.loaded_operands import (
    halved_dimension,
    is_rounded_by_copies,
    loaded_by,
)
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.shared_blocks import SharedBlocks
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    OPERAND,
    PAIR,
    extents_of,
    products_in,
    tensor_core_atom,
)

_ROWS, _FEWEST, _MOST = 64, 32, 256
"""The rows of each CTA at least, and the columns of a product of a pair."""


def pair_axis(rows: int, columns: int, ctas: int) -> int | None:
    """Along which dimension so many CTAs split a product that two of them at a time multiply
    together; None where they do not."""
    return 0 if rows >= ctas * _ROWS and _FEWEST <= columns <= _MOST else None


def may_be_folded(products: Sequence[Operation]) -> bool:
    """True of products in which each of a pair may have 64 rows: their operands are loaded as they
    are multiplied, and have no scale factors, as B's would be in other lanes."""
    sources = [loaded_by(operand) for op in products for operand in op.operands[:2]]
    return not any(isinstance(op, MmaFScaledOp) for op in products) and all(
        source is not None and (not source.converted or is_rounded_by_copies(source.load))
        for source in sources
    )


def pair_products(entry: EntryOp, arch: Target | None) -> None:
    """Mark the products in tensor memory, where CTAs share a tile block, and each of them has rows
    of A and all of B: two of them at a time, which load for nobody else."""
    products: list[Any] = products_in(entry)
    blocks = SharedBlocks.of(entry)
    if blocks.ctas == 1 or not blocks.clustered or not products:
        return
    for op in products:
        op.attributes[PAIR] = UnitAttr()
    halves = dict[Operation, int | None]()
    for op in products:
        if (why := _why_none(op, arch, halves)) is not None:
            unpair_products(entry, why)
            return


def unpair_products(entry: EntryOp, why: str) -> None:
    """Let each CTA multiply on its own."""
    for op in products_in(entry):
        if op.attributes.pop(PAIR, None) is not None:
            remark(op, "tensor-memory", f"'{op.name}' is not multiplied by a pair of CTAs: {why}")


def are_paired(entry: EntryOp) -> bool:
    """True of a kernel whose products pairs multiply."""
    return any(PAIR in op.attributes for op in entry.walk())


def _why_none(
    op: Multiplication, arch: Target | None, halves: dict[Operation, int | None]
) -> str | None:
    """Why pairs do not multiply; `halves` are the dimensions in which each CTA loads half."""
    _, rows, columns = extents_of(op)
    a, b = loaded_by(op.lhs), loaded_by(op.rhs)
    stored = OPERAND in op.attributes and rows >= LANES
    if b is None or (a is None and not stored):
        return "A or B does not come of loads alone"
    if pair_axis(rows, columns, 1) is None or tensor_core_atom(op, arch) is None:
        return f"each has {rows} rows, of {columns} columns"
    part = SharedBlocks.PART
    if (a is not None and part not in a.load.attributes) or part in b.load.attributes:
        return "they have different columns"
    half = halves.setdefault(b.load, halved_dimension(op))
    if half is None or half != halved_dimension(op):
        return "B has no two halves of columns"
    return None
