"""Rows of products that no array has, where the sizes of arrays are known to be small.

    %m = assume bounded<0, 16>                         of the tensor that is stored to
    mmaf : tile<64x64>, tile<64x128>, tile<64x128>     the first of four parts: 16 rows

A block has the first part of its tiles alone: the others would be stored outside of the tensor. So
TMA copies no rows of zeros, which take as long as those of a matrix.
"""

from __future__ import annotations

from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, ModuleOp, UnitAttr, i32
from xdsl.passes import ModulePass

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.attributes import BoundedAttr
from tilewright.dialects.cuda_tile.ops.memory import StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import StoreViewTkoOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.frozen import frozen
from tilewright.passes.cuda_tile.analysis.facts import greatest
from tilewright.passes.cuda_tile.analysis.hints import hint
from tilewright.passes.cuda_tile.analysis.loaded_operands import loaded_by
from tilewright.passes.cuda_tile.analysis.split_dimensions import SplitTiles, UnsplitError
from tilewright.passes.cuda_tile.analysis.view_access import tile_dimensions
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication, multiplications
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import multiplies_by_warpgroups
from tilewright.passes.cuda_tile.legalization.shaped_builder import (
    at_start,
    replace_others,
)
from tilewright.passes.cuda_tile.scheduling.split_entries import (
    rewrite_parts,
    split_entry,
    split_products,
)

READ_ONCE = "cuda_tile.read_once"
"""The attribute of a load of what few other blocks load, at about the same time."""
_LEAST, _FEW = 16, 4
"""The rows that are left, at least: those of an MMA of warps, whose sums are a `wgmma`'s; and the
blocks that have all rows, at most, where they read the rest once."""


@frozen
class CudaTileBoundSizesPass(ModulePass):
    """Assume of integers of each entry, by their places among its parameters, that they are natural
    numbers up to others: as sizes of arrays are in a launch."""

    name = "cuda-tile-bound-sizes"

    places: tuple[int, ...]
    most: tuple[int, ...]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for entry in descendants(op, EntryOp):
            at = at_start(entry)
            for place, most in zip(self.places, self.most, strict=True):
                size = entry.body.block.args[place]
                known = at.add(AssumeOp, [size], predicate=BoundedAttr.get(0, most))
                replace_others(size, known)


def cut_rows(entry: EntryOp, arch: Target | None) -> None:
    """Leave the rows that the arrays of an entry have to products by `wgmma`."""
    products = multiplications(entry)
    bounded = any(
        isinstance(op, AssumeOp) and isinstance(op.predicate, BoundedAttr) and op.predicate.ub
        for op in entry.walk()
    )
    if not bounded or hint(entry, "num_cta_in_cga", arch) is not None or not all(
        _is_alike(op, arch) for op in products
    ):  # fmt: skip
        return
    if all(_covers_rows(op) for op in entry.walk()):
        for load in (loaded_by(op.rhs) for op in products):
            if load is not None:
                load.load.attributes[READ_ONCE] = UnitAttr()
    parts = min((shape_of(op.result)[-2] for op in products), default=0) // _LEAST
    while parts > 1:
        try:
            split = split_entry(entry, parts, partial(split_products, axis_of=_of_rows))
        except UnsplitError:
            return
        if all(_is_outside(op, split) for op in entry.walk()):
            rewrite_parts(split, at_start(entry).constant(0, i32))
            return
        parts //= 2


def _covers_rows(op: object) -> bool:
    """True of all but a store of whose rows other blocks than a few have some."""
    if isinstance(op, StorePtrTkoOp):
        return False
    if not isinstance(op, StoreViewTkoOp):
        return True
    dimensions = tile_dimensions(op)
    if len(dimensions) < 2:
        return False
    rows = dimensions[-2]
    size = rows.size if isinstance(rows.size, int) else greatest(rows.size)
    return size is not None and size <= _FEW * rows.extent


def _of_rows(*_: int) -> int:
    return 0


def _is_alike(op: Multiplication, arch: Target | None) -> bool:
    """True of a product whose sums are the same by MMAs of warps."""
    halves = isinstance(element_of(op.lhs), Float16Type | BFloat16Type)
    single = isinstance(element_of(op.result), Float32Type)
    return halves and single and multiplies_by_warpgroups(op, arch)


def _is_outside(op: object, split: SplitTiles) -> bool:
    """True of all but a store of whose tile parts behind the first one may be in the tensor."""
    if isinstance(op, StorePtrTkoOp):
        return False
    if not isinstance(op, StoreViewTkoOp):
        return True
    dimension = tile_dimensions(op)[split.axes[op.tile]]
    size = dimension.size if isinstance(dimension.size, int) else greatest(dimension.size)
    whole = dimension.step == dimension.extent and not dimension.gathered
    return whole and size is not None and size <= dimension.extent // split.parts
