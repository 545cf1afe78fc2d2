"""The order in which a GPU begins tile blocks: those of the most iterations first, and those that
share what they load side by side.

Where a loop's end rises with a block's number, as in causal attention, the longest blocks would
begin last, and most multiprocessors would wait for a few. Blocks whose numbers differ along a
dimension that all accesses have to do with, as the batch of matrices, share nothing: begun side by
side they would take L2 from each other, in kernels that multiply: others read most of it once, and
best as it lies (RoPE on an H200: 3.68 TB/s, and 3.42). A GPU begins blocks by their number, x
first; so that dimension's becomes the slowest, and falls where blocks are to end early:

    number = x + X y;   x' = X - 1 - number / Y, or number / Y;   y' = number mod Y

In a grid of 2^32 blocks or more, whose numbers are no 32 bits, blocks have their own.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.attributes import BoundedAttr
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, MemoryOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, StoreViewTkoOp
from tilewright.passes.cuda_tile.analysis.computed_again import is_computed_from, places_of
from tilewright.passes.cuda_tile.analysis.loaded_operands import loaded_by
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.legalization.shaped_builder import (
    EQUAL,
    UNSIGNED,
    ShapedBuilder,
    at_start,
)

_RISING = (
    integer.AddIOp, integer.MulIOp, integer.MinIOp, integer.MaxIOp, ExtIOp, AssumeOp,
)  # fmt: skip
_FIRST = (integer.SubIOp, integer.DivIOp, integer.ShLIOp, integer.ShRIOp)
"""The ops whose result rises with any of their operands, and with the first."""
_ROWS = 4
"""The rows of blocks that are taken at a time."""
_SIMPLE = (LoadViewTkoOp, StoreViewTkoOp, LoadPtrTkoOp, StorePtrTkoOp)


def order_blocks(entry: EntryOp) -> None:
    """Let the blocks of the most iterations begin first, and such as share nothing apart, where no
    block waits for another."""
    ops = list(entry.walk())
    if not are_simple(ops):
        return
    dim, falls = long_dimension(ops), True
    if dim is None and any(isinstance(op, Multiplication) for op in ops):
        dim, falls = slow_dimension(ops), False
    if dim is None:
        return
    new = _numbers(entry, dim, falls=falls)
    for number in [op for op in ops if isinstance(op, core.GetTileBlockIdOp)]:
        for old, value in zip(number.results, new, strict=True):
            old.replace_all_uses_with(value)


def are_simple(ops: Iterable[Operation]) -> bool:
    """True of ops by which no block waits for another."""
    accesses = [op for op in ops if isinstance(op, MemoryOp)]
    return all(isinstance(op, _SIMPLE) and is_weak(op) for op in accesses)


def _block_numbers(ops: Iterable[Operation]) -> list[Sequence[SSAValue]]:
    """The numbers of the block along each dimension, as often as they are asked for."""
    return [op.results for op in ops if isinstance(op, core.GetTileBlockIdOp)]


def long_dimension(ops: Iterable[Operation]) -> int | None:
    """The dimension of the grid along which later blocks have more iterations."""
    ops = list(ops)
    numbers = _block_numbers(ops)
    loops = [op for op in ops if isinstance(op, ForOp)]
    for dim in range(3):
        own = {number[dim] for number in numbers}
        if any(_rises(x.upper_bound, own) and not _rises(x.lower_bound, own) for x in loops):
            return dim
    return None


def slow_dimension(ops: Iterable[Operation]) -> int | None:
    """A dimension of the grid that all accesses have to do with, in front of one that some have
    not."""
    ops = list(ops)
    accesses = [op for op in ops if isinstance(op, MemoryOp)]
    if not all(isinstance(op, LoadViewTkoOp | StoreViewTkoOp) for op in accesses):
        return None
    numbers = _block_numbers(ops)
    along = [{number[dim] for number in numbers} for dim in range(3)]
    counts = [
        sum(any(is_computed_from(x, own) for x in access.operands) for access in accesses)
        for own in along
    ]
    for dim in range(2):
        if counts[dim] == len(accesses) and any(0 < x < len(accesses) for x in counts[dim + 1 :]):
            return dim
    return None


def _rises(value: SSAValue, numbers: Container[SSAValue]) -> bool:
    """True where a value rises with a number."""
    owner = value.owner
    if isinstance(owner, _FIRST):
        return _rises(owner.operands[0], numbers)
    return value in numbers or (
        isinstance(owner, _RISING) and any(_rises(x, numbers) for x in owner.operands)
    )


def numbers_of(
    at: ShapedBuilder, number: SSAValue, extents: Sequence[SSAValue], dim: int
) -> list[SSAValue]:
    """The numbers of a block along each dimension of a grid, where `dim` is the slowest."""
    inner, outer = (i for i in range(3) if i != dim)
    others = at.add(integer.MulIOp, [extents[inner], extents[outer]])
    left = at.add(integer.RemIOp, [number, others], **UNSIGNED)
    new = {
        dim: at.add(integer.DivIOp, [number, others], **UNSIGNED),
        inner: at.add(integer.RemIOp, [left, extents[inner]], **UNSIGNED),
        outer: at.add(integer.DivIOp, [left, extents[inner]], **UNSIGNED),
    }
    return [new[i] for i in range(3)]


def share_both_ways(ops: Iterable[Operation]) -> bool:
    """True of products one of whose operands is the same in blocks along x, and one along y."""
    ops = list(ops)
    sources = [
        loaded_by(x) for op in ops if isinstance(op, Multiplication) for x in op.operands[:2]
    ]
    places = [places_of(source.load) for source in sources if source is not None]
    numbers = _block_numbers(ops)
    along = ({number[dim] for number in numbers} for dim in range(2))
    return all(
        any(not any(is_computed_from(x, own) for x in place) for place in places) for own in along
    )


def in_patches(
    at: ShapedBuilder, numbers: Sequence[SSAValue], extents: Sequence[SSAValue]
) -> list[SSAValue]:
    """The numbers of a block of a grid whose rows are taken four at a time, column by column, those
    behind the last four as they are: of a GPU's part with 16 multiprocessors, which ask the L2 once
    for what several of them load, neighbours have four rows and four columns."""
    x, y, z = numbers
    row = at.add(integer.AndIOp, [y, _ROWS - 1])
    first = at.add(integer.SubIOp, [y, row])
    place = at.add(integer.AddIOp, [at.add(integer.MulIOp, [row, extents[0]]), x])
    behind = at.add(integer.AddIOp, [first, _ROWS])
    whole = at.compare(ComparisonPredicate.LESS_THAN_OR_EQUAL, behind, extents[1])
    column = at.add(integer.DivIOp, [place, _ROWS], **UNSIGNED)
    own = at.select(whole, at.add(integer.AndIOp, [place, _ROWS - 1]), row)
    return [at.select(whole, column, x), at.add(integer.AddIOp, [first, own]), z]


def _numbers(entry: EntryOp, dim: int, *, falls: bool) -> list[SSAValue]:
    """The numbers of a block, that along a dimension the slowest."""
    at = at_start(entry)
    begun, grid = at.grid(core.GetTileBlockIdOp), at.grid(core.GetNumTileBlocksOp)
    inner, outer = (grid[i] for i in range(3) if i != dim)
    total = begun[2]
    for i in (1, 0):
        total = at.add(integer.MulIOp, [total, grid[i]])
        total = at.add(integer.AddIOp, [total, begun[i]])
    new = numbers_of(at, total, grid, dim)
    if falls:
        last = at.add(integer.SubIOp, [grid[dim], 1])
        new[dim] = at.add(integer.SubIOp, [last, new[dim]])
    others = at.add(integer.MulIOp, [inner, outer])
    high = [at.add(integer.MulhiIOp, pair) for pair in ((inner, outer), (others, grid[dim]))]
    fits = at.compare(EQUAL, at.add(integer.OrIOp, high), 0)
    selected = (at.select(fits, own, old) for own, old in zip(new, begun, strict=True))
    return [at.add(AssumeOp, [x], predicate=BoundedAttr.get(0, None)) for x in selected]
