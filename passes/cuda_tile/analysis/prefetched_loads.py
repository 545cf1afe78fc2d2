"""Loads of blocks to come, whose lines those that run bring to the L2.

A block that folds what it loads waits while nothing of it is on its way: for the fold, and at its
end. Each asks for the lines as far behind its own as memory moves in the microseconds that a load
takes; the block that loads them later finds them in the L2:

    block n    load row n | prefetch row n + 768 (of 8 KiB) | fold | store

A row is a part of a tensor that a block's number says, or begins at a pointer to which its multiple
was added, as Triton's kernels have it: such rows are as many as blocks. Where a loop's variable is
the row's number, the next iteration's row is asked for. Rows at pointers of two matrices are not:
an H200 took 15 % longer for an RMS norm of a sum of two, 7 % for a divergence, where those of one
gained 3 to 9 %.
"""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from xdsl.ir import Operation, Region, SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, IfOp, ReturnOp, may_leave
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


def prefetched_loads(entry: EntryOp) -> set[Operation]:
    """The first loads of tensors whose rows a block's number says, and not where in them,
    of a kernel that folds them and multiplies nothing; of either branch. Rows at pointers are those
    of one matrix."""
    ops = list(entry.walk())
    if any(isinstance(op, Multiplication) for op in ops):
        return set()
    if not any(isinstance(op, ReduceOp) for op in ops):
        return set()
    numbers: set[SSAValue] = {op.results[0] for op in ops if isinstance(op, core.GetTileBlockIdOp)}
    leave = sum(isinstance(op, ReturnOp) for op in ops) > 1
    first: dict[tuple[SSAValue, Region | None], Operation] = {}
    rows = set[Operation]()
    for op in ops:
        if isinstance(op, LoadViewTkoOp):
            row = row_of(op)
            if row is not None and not _is_sure(op, row, numbers, leave=leave):
                row = None
            if _in_rows(op, numbers, row):
                base = tensor_of(op.view).base if row is None else row.base
                first.setdefault((base, _branch(op)), op)
                if row is not None:
                    rows.add(op)
    matrices = {base for (base, _), op in first.items() if op in rows}
    return set(first.values()) - (rows if len(matrices) > 1 else set())


class Row(NamedTuple):
    """A tensor that is a row of a matrix: where that begins, the row's number, which is that of the
    block or the variable of a loop, and the elements from one row to the next."""

    base: SSAValue
    number: SSAValue
    stride: SSAValue
    loop: ForOp | None


def row_of(load: LoadViewTkoOp) -> Row | None:
    """The row that a load's tensor is, if it is one."""
    moved = tensor_of(load.view).base.owner
    if not isinstance(moved, core.OffsetOp):
        return None
    product = _narrow(moved.offset).owner
    if isinstance(product, integer.MulIOp):
        for factor, stride in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
            number, loop = _narrow(factor), load.parent_op()
            if isinstance(loop, ForOp) and number is loop.region.block.args[0]:
                return Row(moved.ptr, number, stride, loop)
            block = number.owner
            if isinstance(block, core.GetTileBlockIdOp) and number is block.results[0]:
                return Row(moved.ptr, number, stride, None)
    return None


def _narrow(value: SSAValue) -> SSAValue:
    """A number before it was extended."""
    return value.owner.operands[0] if isinstance(value.owner, ExtIOp) else value


def _is_sure(
    load: LoadViewTkoOp, row: Row, numbers: Container[SSAValue], *, leave: bool
) -> bool:  # fmt: skip
    """True of a load that every block makes, or every iteration, whatever its number is."""
    if row.loop is not None:
        return not may_leave(row.loop.region.block)
    branches = list(enclosing(load, IfOp))
    return not leave and not any(is_computed_from(op.condition, numbers) for op in branches)


def _branch(op: Operation) -> Region | None:
    parent = op.parent_op()
    if parent is None or isinstance(parent, IfOp):
        return op.parent_region()
    return _branch(parent)


def _in_rows(load: LoadViewTkoOp, numbers: Container[SSAValue], row: Row | None) -> bool:
    along = contiguous(tile_dimensions(load))
    if row is not None and row.loop is not None:
        numbers = {row.number}
    derived = [is_computed_from(index, numbers) for index in load.index]
    return along is not None and (row is not None or any(derived)) and not derived[along]
