"""Kernels that compute a part of their tiles after the other: MMAs of warps have all sums in
registers, beside operands, tensor memory has so many columns, and PTX a line for every register.

    s = q k'; o += p v; store o        for i in 0, 1:  si = qi k'; oi += pi v; store oi
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.ops.aggregate import Aggregate
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp, ReturnOp
from tilewright.dialects.cuda_tile.ops.memory import StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import StoreViewTkoOp, ViewAccess
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.passes.cuda_tile.analysis.cost_model import WARP, is_full_of_sums, thread_count
from tilewright.passes.cuda_tile.analysis.place_accumulators import lacks_columns
from tilewright.passes.cuda_tile.analysis.split_dimensions import SplitTiles, UnsplitError
from tilewright.passes.cuda_tile.layouts.elements import shape_of, tile_type
from tilewright.passes.cuda_tile.layouts.mma_layouts import multiplications
from tilewright.passes.cuda_tile.scheduling.computed_parts import part_extracts
from tilewright.passes.cuda_tile.scheduling.fold_turns import turn_folds
from tilewright.passes.cuda_tile.scheduling.split_blocks import (
    MATRICES,
    Atomic,
    check_ops,
    check_parts,
    rewrite_parts,
    split_products,
)
from tilewright.passes.cuda_tile.scheduling.unfolded_rows import unfold_rows

_TURNS, _OF_WARP = 2, 16
"""The turns, and the least rows or columns of each for a warp: all of them multiply."""
_FOLDED = 1 << 15
"""The elements of a tile in turns that are folded: a line or more for each step."""
LARGE = 1 << 17
"""The elements of a tile that are not too many for registers: 128 of each of 1024 threads."""


def turn_kernel(entry: EntryOp, arch: Target | None) -> None:
    """Split the matrices of an entry, their rows or columns, until there is room for sums."""
    least = thread_count(entry, arch) // WARP * _OF_WARP

    def split_sums(split: SplitTiles, axis: int) -> None:
        def legal(*extents: int) -> int | None:
            return axis if axis == MATRICES or extents[axis] >= least * _TURNS else None

        split_products(split, legal)

    axes = MATRICES, 0, 1
    while arch is not None and (is_full_of_sums(entry, arch) or lacks_columns(entry, arch)):
        if not any(_turn(entry, _TURNS, partial(split_sums, axis=axis)) for axis in axes):
            break
    if any(_is_large(result) for op in entry.walk() for result in op.results):
        unfold_rows(entry, LARGE)
        part_extracts(entry, LARGE)
    while large := _large_tiles(entry):
        folds = any(isinstance(op, Aggregate) for op in entry.walk())
        largest = max(tile_type(value).elements for value in large)
        parts = most = largest // (_FOLDED if folds else LARGE)
        while parts > 1 and not _turn(entry, parts, _split_stored):
            parts //= 2
        if parts == 1:
            turn_folds(entry, most, large)
            return


def _large_tiles(entry: EntryOp) -> list[SSAValue]:
    """The tiles that are too large, but for what products multiply, of which they have slices:
    turns of rows would leave less than MMAs have."""
    multiplied = {x for op in multiplications(entry) for x in op.operands if x is not op.acc}
    for op in reversed(list(entry.walk())):
        if not multiplied.isdisjoint(op.results):
            multiplied.update(op.operands)
    return [x for op in entry.walk() for x in op.results if _is_large(x) and x not in multiplied]


def _is_large(value: SSAValue) -> bool:
    return isinstance(value.type, TileType) and value.type.elements > LARGE


def _split_stored(split: SplitTiles) -> None:
    """Split every tile that is stored along its longest dimension that can be."""
    ops = list(split.entry.walk())
    for op in ops:
        if isinstance(op, StoreViewTkoOp | StorePtrTkoOp | Atomic):
            tile = op.accessed if isinstance(op, ViewAccess) else op.operands[0]
            if tile not in split.axes:
                shape = shape_of(tile)
                split.spread_along(tile, sorted(range(len(shape)), key=lambda i: -shape[i]))
    if not all(tile in split.axes for tile in _large_tiles(split.entry)):
        raise UnsplitError("a large tile is needed whole")


def _turn(entry: EntryOp, parts: int, split_tiles: Callable[[SplitTiles], None]) -> bool:
    """Split an entry into parts, one in each turn of a loop, if that can be."""
    returns = [op for op in entry.walk() if isinstance(op, ReturnOp)]
    split = SplitTiles(entry, parts)
    try:
        check_ops(entry, by_turns=True)
        split.copy_cheap()
        split_tiles(split)
        check_parts(split)
    except UnsplitError:
        return False
    body, source, last = Block(arg_types=[TileType.get((), i32)]), entry.body.block, returns[0]
    if len(returns) > 1:
        return False
    rewrite_parts(split, body.args[0])
    for op in list(source.ops):
        if op is not last:
            op.detach()
            body.add_op(op)
    body.add_op(ContinueOp.create())
    at = TileBuilder(last)
    bounds = [at.constant(number, i32) for number in (0, parts, 1)]
    turns = ForOp.create(operands=bounds, regions=[Region(body)])
    turns.location = last.location
    source.insert_op_before(turns, last)
    return True
