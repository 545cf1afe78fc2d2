"""The order in which a GPU begins tile blocks: those of the most iterations first.

Where a loop's end rises with a block's number, as in causal attention, the longest blocks would
begin last, and most multiprocessors would wait for a few. A GPU begins blocks by their number, x
first; so what a kernel takes for its number along that dimension falls, slower than the others:

    number = x + X y;   x' = X - 1 - number / Y;   y' = number mod Y

In a grid of 2^32 blocks or more, whose numbers are no 32 bits, blocks have their own.
"""

from __future__ import annotations

from collections.abc import Container

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate, Signedness
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, MemoryOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, StoreViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.cuda_tile.analysis.tensor_maps import is_weak

_RISING = (
    integer.AddIOp, integer.MulIOp, integer.MinIOp, integer.MaxIOp, ExtIOp, AssumeOp,
)  # fmt: skip
_FIRST = (integer.SubIOp, integer.DivIOp, integer.ShLIOp, integer.ShRIOp)
"""The ops whose result rises with any of their operands, and with the first."""
_SIMPLE = (LoadViewTkoOp, StoreViewTkoOp, LoadPtrTkoOp, StorePtrTkoOp)


def order_blocks(entry: EntryOp) -> None:
    """Let the blocks of the most iterations begin first, where no block waits for another."""
    ops = list(entry.walk())
    accesses = [op for op in ops if isinstance(op, MemoryOp)]
    if not all(isinstance(op, _SIMPLE) and is_weak(op) for op in accesses):
        return
    numbers = [op.results for op in ops if isinstance(op, core.GetTileBlockIdOp)]
    loops = [op for op in ops if isinstance(op, ForOp)]
    for dim in range(3):
        own = {number[dim] for number in numbers}
        if any(_rises(x.upper_bound, own) and not _rises(x.lower_bound, own) for x in loops):
            break
    else:
        return
    new = _numbers(entry, dim)
    for number in numbers:
        for old, value in zip(number, new, strict=True):
            old.replace_all_uses_with(value)


def _rises(value: SSAValue, numbers: Container[SSAValue]) -> bool:
    """True where a value rises with a number."""
    owner = value.owner
    if isinstance(owner, _FIRST):
        return _rises(owner.operands[0], numbers)
    return value in numbers or (
        isinstance(owner, _RISING) and any(_rises(x, numbers) for x in owner.operands)
    )


def _numbers(entry: EntryOp, dim: int) -> list[SSAValue]:
    """The numbers of a block, that along a dimension falling."""
    at = TileBuilder(entry, InsertPoint.at_start(entry.body.block))
    types, unsigned = [TileType.get((), i32)] * 3, {"signedness": Signedness.UNSIGNED}
    begun = at.insert(core.GetTileBlockIdOp.create(result_types=types))
    grid = at.insert(core.GetNumTileBlocksOp.create(result_types=types))
    inner, outer = (i for i in range(3) if i != dim)
    total = begun.results[2]
    for i in (1, 0):
        total = at.add(integer.MulIOp, [total, grid.results[i]])
        total = at.add(integer.AddIOp, [total, begun.results[i]])
    others = at.add(integer.MulIOp, [grid.results[inner], grid.results[outer]])
    left = at.add(integer.RemIOp, [total, others], **unsigned)
    last = at.add(integer.SubIOp, [grid.results[dim], at.constant(1, i32)])
    turn = at.add(integer.DivIOp, [total, others], **unsigned)
    new = {
        dim: at.add(integer.SubIOp, [last, turn]),
        inner: at.add(integer.RemIOp, [left, grid.results[inner]], **unsigned),
        outer: at.add(integer.DivIOp, [left, grid.results[inner]], **unsigned),
    }
    high = [
        at.add(integer.MulhiIOp, [grid.results[inner], grid.results[outer]]),
        at.add(integer.MulhiIOp, [others, grid.results[dim]]),
    ]
    fits = at.add(
        integer.CmpIOp, [at.add(integer.OrIOp, high), at.constant(0, i32)], TileType.get((), i1),
        comparison_predicate=ComparisonPredicate.EQUAL, **unsigned,
    )  # fmt: skip
    return [
        at.add(core.SelectOp, [fits, new[i], old], old.type) for i, old in enumerate(begun.results)
    ]
