"""Stores of tiles of one tensor that never meet: in no two iterations of a loop, and no two stores.

    for %i: store_view_tko weak %x, %a[%i, 0]    the tile's first index is another each time,
            store_view_tko weak %y, %a[%i, 1]    the second ones are two numbers

What tiles have in common does not matter where an index is one value for all of them. Along the
other dimensions an address says what the indices are: a stride is more than those below it reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, LoopOp
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp
from tilewright.dialects.cuda_tile.ops.views import StoreViewTkoOp
from tilewright.dialects.cuda_tile.types import PartitionViewType
from tilewright.passes.cuda_tile.analysis.view_access import extents_of, tensor_of


def are_disjoint(stores: Sequence[Operation]) -> bool:
    """True of stores, all of the same memory, no two of which, nor one in two iterations, write
    the same."""
    loops = {tuple(_loops(op)) for op in stores}
    if loops == {()} and len(stores) == 1:
        return True
    tiles = [op for op in stores if isinstance(op, StoreViewTkoOp)]
    if len(tiles) < len(stores) or len(loops) > 1 or not _are_of_one_tensor(tiles):
        return False
    (around,) = loops
    apart = all(any(map(_differ, a.index, b.index)) for a, b in combinations(tiles, 2))
    match around:
        case ():
            return apart
        case (ForOp() as loop,):
            moves = all(any(_follows(index, loop) for index in op.index) for op in tiles)
            return apart and moves
        case _:
            return False


def _loops(op: Operation) -> Iterator[Operation]:
    return (around for around in ancestors(op) if isinstance(around, ForOp | LoopOp))


def _are_of_one_tensor(stores: Sequence[StoreViewTkoOp]) -> bool:
    """True of stores of tiles of one partition, in which an address says where a tile is."""
    first = stores[0]
    base, (sizes, strides) = tensor_of(first.view).base, extents_of(tensor_of(first.view))
    alike = all(
        isinstance(op.view_type, PartitionViewType)
        and op.view_type.tile_shape == first.view_type.tile_shape
        and tensor_of(op.view).base is base
        and extents_of(tensor_of(op.view)) == (sizes, strides)
        for op in stores
    )
    return alike and _nest(stores, sizes, strides)


def _nest(
    stores: Sequence[StoreViewTkoOp], sizes: Sequence[object], strides: Sequence[object]
) -> bool:
    """True where each stride is more than the dimensions of smaller ones reach, of those along
    which not all tiles have one and the same place."""
    loops, reach = [*_loops(stores[0])], 0
    free: list[tuple[int, object]] = []
    for axis, stride in enumerate(strides):
        indices = {op.index[axis] for op in stores}
        if len(indices) == 1 and not any(
            loop.is_ancestor(_owner(x)) for x in indices for loop in loops
        ):
            continue
        if not isinstance(stride, int):
            return False
        free.append((stride, sizes[axis]))
    free.sort(key=lambda own: own[0])
    for stride, size in free:
        if stride <= reach:
            return False
        reach = reach + (size - 1) * stride if isinstance(size, int) else 1 << 63
    return True


def _differ(one: SSAValue, other: SSAValue) -> bool:
    """True of two numbers that are not the same."""
    values = [
        x.owner.elements.array() for x in (one, other) if isinstance(x.owner, core.ConstantOp)
    ]
    return len(values) == 2 and bool(values[0] != values[1])


def _follows(index: SSAValue, loop: ForOp) -> bool:
    """True of a number that is another one in each iteration: its variable, and what is the same
    each time added to it."""
    if index is loop.region.block.args[0]:
        return True
    match index.owner:
        case ExtIOp() as op:
            return _follows(op.operands[0], loop)
        case integer.AddIOp() as op:
            own = [x for x in op.operands if not loop.is_ancestor(_owner(x))]
            rest = [x for x in op.operands if x not in own]
            return len(rest) == 1 and _follows(rest[0], loop)
        case _:
            return False


def _owner(value: SSAValue) -> Operation:
    owner = value.owner
    return owner if isinstance(owner, Operation) else owner.parent_op()  # type: ignore[return-value]
