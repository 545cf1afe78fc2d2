"""Tile blocks that several CTAs compute, as `num_cta_in_cga` hints, where registers of one are too
few, or a launch has few blocks: each CTA has its part of every tile that has to do with a product.

A kernel stays whole where CTAs would store the same, or one would access what another one writes.
The rewritten entry is Tile IR: with a grid of so many times the blocks along x, one for each CTA,
it computes the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target
from tilewright.dialects.cute_nvgpu.lattice.tmem import DATACENTER_BLACKWELL
from tilewright.dialects.frozen import frozen
from tilewright.dialects.integers import integer_of
from tilewright.dialects.ptx.control_flow import BLOCK_CTAS
from tilewright.passes.cuda_tile.analysis.cost_model import (
    ctas_of_tiles,
    ctas_wanted,
    multiplies_by_mmas,
    small_axis,
)
from tilewright.passes.cuda_tile.analysis.hints import hint
from tilewright.passes.cuda_tile.analysis.pair_products import may_be_folded, pair_axis
from tilewright.passes.cuda_tile.analysis.place_accumulators import lacks_columns
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.shared_blocks import MOST_OF_CLUSTER, SharedBlocks
from tilewright.passes.cuda_tile.analysis.split_dimensions import SplitTiles, UnsplitError
from tilewright.passes.cuda_tile.layouts.layouts import log2
from tilewright.passes.cuda_tile.layouts.mma_layouts import multiplications
from tilewright.passes.cuda_tile.legalization.shaped_builder import (
    UNSIGNED,
    ShapedBuilder,
    at_start,
    replace_others,
)
from tilewright.passes.cuda_tile.scheduling.split_entries import (
    AxisOf,
    rewrite_parts,
    split_entry,
    split_products,
)

_CLUSTERS = target("sm_90")
_MOST = 16
"""The CTAs of a tile block at most, where pairs of them multiply."""
_ROWS, _TALL = 64, 128
"""The rows of a CTA's part at least, and from which on rows are split rather than columns."""

_SHARED_BY = "cuda_tile.shared_by"

MATRICES = -1
"""The dimension in front of rows and columns."""


@frozen
class CudaTileShareBlocksPass(ModulePass):
    """Let up to so many CTAs, a power of two, share each tile block of the kernels that hint at no
    number: as many as a launch of few blocks leaves multiprocessors for. They load on their own,
    not by multicast, so that no cluster has to find room."""

    name = "cuda-tile-share-blocks"

    ctas: int

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for entry in descendants(op, EntryOp):
            entry.attributes[_SHARED_BY] = IntegerAttr(self.ctas, i32)


def _shared_by(entry: EntryOp) -> int:
    """The CTAs that may share a block of an entry."""
    return integer_of(entry.attributes.get(_SHARED_BY), 1)


def split_blocks(entry: EntryOp, arch: Target | None) -> None:
    """Split the tile block of an entry as it hints, and say so in its attributes, once."""
    if arch is None or BLOCK_CTAS in entry.attributes:
        return
    hinted = hint(entry, "num_cta_in_cga", arch)
    ctas, clustered = hinted, True
    if ctas is None:
        ctas = 2 if lacks_columns(entry, arch) else ctas_wanted(entry, arch)
    if ctas == 1 and hinted is None:
        clustered = False
        ctas = (_shared_by if multiplies_by_mmas(entry, arch) else ctas_of_tiles)(entry)
    while ctas > 1:
        blocks = SharedBlocks(ctas, clustered)
        try:
            split = _split(entry, arch, blocks)
        except UnsplitError as why:
            if hinted is not None:
                remark(entry, "hint", f"num_cta_in_cga = {ctas} is not honoured: {why}")
                return
            ctas //= 2
        else:
            blocks.mark(entry)
            for op in rewrite_parts(split, _number(split)):
                op.attributes[SharedBlocks.PART] = UnitAttr()
            return


def _split(entry: EntryOp, arch: Target, blocks: SharedBlocks) -> SplitTiles:
    """The tiles of an entry, split along the first of some dimensions of its products along which
    they can be. Raises UnsplitError, which says why not along the first of all."""
    failed: list[UnsplitError] = []
    for axis_of in _axes(entry, arch, blocks):
        try:
            return split_entry(entry, blocks.ctas, partial(split_products, axis_of=axis_of))
        except UnsplitError as why:
            failed.append(why)
    raise failed[0]


def _axes(entry: EntryOp, arch: Target, blocks: SharedBlocks) -> Sequence[AxisOf]:
    """Along which dimensions CTAs may split a product: those of a cluster, those of a small grid,
    and those whose threads multiply by themselves and have too few registers for tiles."""
    if not blocks.clustered:
        by_mmas = multiplies_by_mmas(entry, arch)
        return [small_axis] if by_mmas else [_of_matrices, _of_longer]
    pairs = arch.supports(DATACENTER_BLACKWELL)
    if not arch.supports(_CLUSTERS) or blocks.ctas > (_MOST if pairs else MOST_OF_CLUSTER):
        raise UnsplitError(f"the target has no clusters of {blocks.ctas}")
    if pairs:
        # CTAs that multiply as pairs share rows.
        return [_pair_axis if may_be_folded(multiplications(entry)) else _axis]
    return [_axis, _of_matrices]


def _axis(rows: int, columns: int, parts: int) -> int | None:
    """Rows are split where enough are left to each CTA, else columns."""
    if rows >= _TALL * parts or columns < _ROWS * parts <= rows:
        return 0
    return 1 if columns >= _ROWS * parts else None


def _of_matrices(*_: int) -> int:
    return MATRICES


def _of_longer(rows: int, columns: int, _: int) -> int:
    return int(columns > rows)


def _pair_axis(rows: int, columns: int, parts: int) -> int | None:
    """Rows are split where the two multiply together."""
    axis = pair_axis(rows, columns, parts)
    return _axis(rows, columns, parts) if axis is None else axis


def _number(split: SplitTiles) -> SSAValue:
    """The number of the CTA among those of its block; blocks are numbered without it."""
    for op in list(split.entry.walk()):
        if isinstance(op, core.GetTileBlockIdOp | core.GetNumTileBlocksOp):
            after, number = ShapedBuilder(op, InsertPoint.after(op)), op.results[0]
            own = after.add(integer.ShRIOp, [number, log2(split.parts)], **UNSIGNED)
            replace_others(number, own)
    at = at_start(split.entry)
    own = at.grid(core.GetTileBlockIdOp)[0]
    return at.add(integer.AndIOp, [own, split.parts - 1])
