"""Facts that a warp of its own can know: where what it copies lies, and how often loops run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects.ancestors import ancestors, enclosing
from tilewright.dialects.cuda_tile.ops import core, views
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp, IfOp, ReturnOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.analysis.computed_again import SCALAR, without_tokens
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_repeatable, is_repeatable_number
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.layouts import bits_of
from tilewright.passes.cuda_tile.layouts.passed_values import region_of

_PLACES = (
    *SCALAR, core.GetTileBlockIdOp, core.GetNumTileBlocksOp, views.GetIndexSpaceShapeOp,
    views.GetTensorShapeOp, views.MakeTensorViewOp, views.MakePartitionViewOp,
    views.MakeStridedViewOp,
)  # fmt: skip
"""The ops that say where tiles lie."""


def needed_for_copies(
    entry: EntryOp, loads: Sequence[views.LoadViewTkoOp | views.StoreViewTkoOp]
) -> set[Operation] | None:
    """The ops that say where what is loaded lies, and how often; None where it depends on more than
    parameters, the block's number and loops' variables, or where a branch leaves the kernel or one
    of those loops, or they are in one."""
    if not all(isinstance(op, ForOp) for load in loads for op in ancestors(load, entry)):
        return None
    loops = {loop for load in loads for loop in enclosing(load, ForOp)}
    indices = [index for load in loads for index in load.index]
    return needed_for(indices, loops, entry) if loops else None


def needed_for(
    values: Sequence[SSAValue], loops: set[ForOp], entry: EntryOp, *, tiles: bool = False
) -> set[Operation] | None:
    """The ops that say what some values are, of a warpgroup `tiles` too, and how often loops run;
    None where another warp cannot know."""
    needed: set[Operation] = set()
    bounds = (bound for loop in loops for bound in (loop.lower_bound, loop.upper_bound, loop.step))
    if any(_leaves(op, loops) for op in entry.walk()):
        return None
    known = all(_add(value, loops, needed, tiles) for value in chain(values, bounds))
    return needed if known else None


def _leaves(op: Operation, loops: set[ForOp]) -> bool:
    """True of what ends the kernel, or an iteration of a loop, under a condition."""
    if not isinstance(op.parent_op(), IfOp):
        return False
    return isinstance(op, ReturnOp) or (isinstance(op, ContinueOp) and region_of(op) in loops)


def _add(value: SSAValue, loops: set[ForOp], needed: set[Operation], tiles: bool) -> bool:
    if isinstance(value, BlockArgument):
        holder = value.block.parent_op()
        return isinstance(holder, EntryOp) or (holder in loops and value.index == 0)
    owner = value.owner
    assert isinstance(owner, Operation)
    if owner in needed:
        return True
    numbers = (bits_of(shape_of(x)) == 0 for x in owner.results if isinstance(x.type, TileType))
    if not is_repeatable_number(owner) and not (
        (isinstance(owner, _PLACES) and (tiles or all(numbers)))
        or (tiles and isinstance(owner, LoadPtrTkoOp) and is_repeatable(owner))
    ):
        return False
    needed.add(owner)
    return all(_add(operand, loops, needed, tiles) for operand in without_tokens(owner))
