"""Loads of blocks to come, whose lines those that run bring to the L2.

A block that folds what it loads waits while nothing of it is on its way: for the fold, and at its
end. Each asks for the lines as far behind its own as memory moves in the microseconds that a load
takes; the block that loads them later finds them in the L2:

    block n    load row n | prefetch row n + 768 (of 8 KiB) | fold | store

A row is a part of a tensor that a block's number says, or begins at a pointer to which its multiple
was added, as Triton's kernels have it: such rows are as many as blocks.
"""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from xdsl.ir import Operation, Region, SSAValue

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.control_flow import IfOp, ReturnOp
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp
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
    all_load = sum(isinstance(op, ReturnOp) for op in ops) == 1
    first: dict[tuple[SSAValue, Region | None], Operation] = {}
    for op in ops:
        if isinstance(op, LoadViewTkoOp):
            row = row_of_block(op) if all_load and _by_every_block(op, numbers) else None
            if _in_rows(op, numbers, row):
                base = tensor_of(op.view).base if row is None else row.base
                first.setdefault((base, _branch(op)), op)
    return set(first.values())


class Row(NamedTuple):
    """A tensor that is a row of a matrix: where that begins, the number of the block whose row it
    is, and the elements from one row to the next."""

    base: SSAValue
    number: SSAValue
    stride: SSAValue


def row_of_block(load: LoadViewTkoOp) -> Row | None:
    """The row that a load's tensor is, if it is one for each block."""
    moved = tensor_of(load.view).base.owner
    product = _narrow(moved.offset).owner if isinstance(moved, core.OffsetOp) else None
    if isinstance(product, integer.MulIOp):
        for number, stride in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
            block = _narrow(number).owner
            if isinstance(block, core.GetTileBlockIdOp) and _narrow(number) is block.results[0]:
                return Row(moved.ptr, block.results[0], stride)
    return None


def _narrow(value: SSAValue) -> SSAValue:
    """A number before it was extended."""
    return value.owner.operands[0] if isinstance(value.owner, ExtIOp) else value


def _by_every_block(op: Operation, numbers: Container[SSAValue]) -> bool:
    """True of an op that is in no branch that a block's number chooses."""
    return not any(
        isinstance(around, IfOp) and is_computed_from(around.condition, numbers)
        for around in ancestors(op)
    )


def _branch(op: Operation) -> Region | None:
    parent = op.parent_op()
    if parent is None or isinstance(parent, IfOp):
        return op.parent_region()
    return _branch(parent)


def _in_rows(load: LoadViewTkoOp, numbers: Container[SSAValue], row: Row | None) -> bool:
    along = contiguous(tile_dimensions(load))
    derived = [is_computed_from(index, numbers) for index in load.index]
    return along is not None and (row is not None or any(derived)) and not derived[along]
