"""Kernels whose tiles are strip-mined: a loop computes a part after the other. MMAs of warps have
all sums in registers, beside operands, tensor memory has so many columns, and PTX a line for every
register.

    s = q k'; o += p v; store o        for i in 0, 1:  si = qi k'; oi += pi v; store oi
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.ir import Block, SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.aggregate import Aggregate
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ReturnOp
from tilewright.dialects.cuda_tile.ops.memory import StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import StoreViewTkoOp, ViewAccess
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.passes.cuda_tile.analysis.cost_model import WARP, is_full_of_sums, thread_count
from tilewright.passes.cuda_tile.analysis.place_accumulators import lacks_columns
from tilewright.passes.cuda_tile.analysis.split_dimensions import SplitTiles, UnsplitError
from tilewright.passes.cuda_tile.layouts.elements import tile_type
from tilewright.passes.cuda_tile.layouts.mma_layouts import multiplications
from tilewright.passes.cuda_tile.legalization.shaped_builder import INDEX, ShapedBuilder
from tilewright.passes.cuda_tile.scheduling.computed_parts import part_extracts
from tilewright.passes.cuda_tile.scheduling.split_blocks import MATRICES
from tilewright.passes.cuda_tile.scheduling.split_entries import (
    Atomic,
    rewrite_parts,
    split_entry,
    split_products,
    spread_longest,
)
from tilewright.passes.cuda_tile.scheduling.strip_mine_folds import strip_mine_folds
from tilewright.passes.cuda_tile.scheduling.unfolded_rows import unfold_rows

_PARTS, _OF_WARP = 2, 16
"""The parts of sums, and the least rows or columns of each for a warp: all of them multiply."""
_FOLDED = 1 << 15
"""The elements of a part of a tile that is folded: a line or more for each step."""
LARGE = 1 << 17
"""The elements of a tile that are not too many for registers: 128 of each of 1024 threads."""


def strip_mine(entry: EntryOp, arch: Target | None) -> None:
    """Split the matrices of an entry, their rows or columns, until there is room for sums."""
    least = thread_count(entry, arch) // WARP * _OF_WARP

    def split_sums(split: SplitTiles, axis: int) -> None:
        def legal(*extents: int) -> int | None:
            return axis if axis == MATRICES or extents[axis] >= least * _PARTS else None

        split_products(split, legal)

    axes = MATRICES, 0, 1
    while arch is not None and (is_full_of_sums(entry, arch) or lacks_columns(entry, arch)):
        if not any(_mined(entry, _PARTS, partial(split_sums, axis=axis)) for axis in axes):
            break
    if any(_is_large(result) for op in entry.walk() for result in op.results):
        unfold_rows(entry, LARGE)
        part_extracts(entry, LARGE)
    while large := _large_tiles(entry):
        folds = bool(descendants(entry, Aggregate))
        largest = max(tile_type(value).elements for value in large)
        parts = most = largest // (_FOLDED if folds else LARGE)
        while parts > 1 and not _mined(entry, parts, _split_stored):
            parts //= 2
        if parts == 1:
            strip_mine_folds(entry, most, large)
            return


def _large_tiles(entry: EntryOp) -> list[SSAValue]:
    """The tiles that are too large, but for operands of products, which are sliced: parts of rows
    would leave less than MMAs have."""
    multiplied = {x for op in multiplications(entry) for x in op.operands if x is not op.acc}
    for op in reversed(list(entry.walk())):
        if not multiplied.isdisjoint(op.results):
            multiplied.update(op.operands)
    return [x for op in entry.walk() for x in op.results if _is_large(x) and x not in multiplied]


def _is_large(value: SSAValue) -> bool:
    return isinstance(value.type, TileType) and value.type.elements > LARGE


def _split_stored(split: SplitTiles) -> None:
    """Split every tile that is stored."""
    spread_longest(
        split,
        [
            op.accessed if isinstance(op, ViewAccess) else op.operands[0]
            for op in descendants(split.entry, StoreViewTkoOp | StorePtrTkoOp | Atomic)
        ],
    )
    if not all(tile in split.axes for tile in _large_tiles(split.entry)):
        raise UnsplitError("a large tile is needed whole")


def _mined(entry: EntryOp, parts: int, spread: Callable[[SplitTiles], object]) -> bool:
    """Make an entry a loop over parts of its tiles, if that can be."""
    returns = descendants(entry, ReturnOp)
    try:
        split = split_entry(entry, parts, spread, in_loops=True)
    except UnsplitError:
        return False
    if len(returns) > 1:
        return False
    body, (last,) = Block(arg_types=[INDEX]), returns
    rewrite_parts(split, body.args[0])
    for op in list(entry.body.block.ops):
        if op is not last:
            op.detach()
            body.add_op(op)
    body.add_op(ContinueOp.create())
    ShapedBuilder(last).loop(parts, body)
    return True
