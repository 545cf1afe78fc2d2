"""Loads of blocks to come, whose lines those that run bring to the L2.

A block that folds what it loads waits while nothing of it is on its way: for the fold, and at its
end. Each asks for the lines as far behind its own as memory moves in the microseconds that a load
takes; the block that loads them later finds them in the L2:

    block n    load row n | prefetch row n + 768 (of 8 KiB) | fold | store
"""

from __future__ import annotations

from collections.abc import Container

from xdsl.ir import Operation, Region, SSAValue

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.control_flow import IfOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.passes.cuda_tile.analysis.computed_again import is_computed_from
from tilewright.passes.cuda_tile.analysis.view_access import (
    contiguous,
    tensor_of,
    tile_dimensions,
)
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication

AHEAD = 6 << 20
"""The bytes between a block's own lines and those that it asks for: of an H200, 3 us (softmax: 4, 6
and 8 MiB alike, 12 MiB slower than none)."""
LINE = 128


def prefetched_loads(entry: EntryOp) -> set[Operation]:
    """The first loads of tensors whose rows a block's number says, and not where in them,
    of a kernel that folds them and multiplies nothing; of either branch."""
    ops = list(entry.walk())
    if any(isinstance(op, Multiplication) for op in ops):
        return set()
    if not any(isinstance(op, ReduceOp) for op in ops):
        return set()
    numbers: set[SSAValue] = {op.results[0] for op in ops if isinstance(op, core.GetTileBlockIdOp)}
    first: dict[tuple[SSAValue, Region | None], Operation] = {}
    for op in ops:
        if isinstance(op, LoadViewTkoOp) and _in_rows(op, numbers):
            first.setdefault((tensor_of(op.view).base, _branch(op)), op)
    return set(first.values())


def _branch(op: Operation) -> Region | None:
    parent = op.parent_op()
    if parent is None or isinstance(parent, IfOp):
        return op.parent_region()
    return _branch(parent)


def _in_rows(load: LoadViewTkoOp, numbers: Container[SSAValue]) -> bool:
    along = contiguous(tile_dimensions(load))
    derived = [is_computed_from(index, numbers) for index in load.index]
    return along is not None and any(derived) and not derived[along]
