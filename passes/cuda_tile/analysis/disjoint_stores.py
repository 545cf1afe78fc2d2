"""Stores of tiles of one tensor that never meet: in no two iterations of a loop, and no two stores.

    for %i: store_view_tko weak %x, %a[%i, 0]    the tile's first index is another each time,
            store_view_tko weak %y, %a[%i, 1]    the second ones are two numbers

What tiles have in common does not matter where an index is one value for all of them. Along the
other dimensions an address says what the indices are: a stride is more than those below it reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cuda_tile.ops import integer
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, LoopOp
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp
from tilewright.dialects.cuda_tile.ops.views import StoreViewTkoOp
from tilewright.dialects.cuda_tile.types import PartitionViewType
from tilewright.passes.cuda_tile.analysis.facts import known_integer
from tilewright.passes.cuda_tile.analysis.view_access import Extent, extents_of, tensor_of


def are_disjoint(stores: Sequence[Operation]) -> bool:
    """True of stores, all of the same memory, no two of which, nor one in two iterations, write
    the same."""
    loops = {tuple(_loops(op)) for op in stores}
    if loops == {()} and len(stores) == 1:
        return True
    tiles = [op for op in stores if isinstance(op, StoreViewTkoOp)]
    around = loops.pop()
    if loops or len(around) > 1 or len(tiles) < len(stores):
        return False
    loop = around[0] if around else None
    if isinstance(loop, LoopOp) or not _are_of_one_partition(tiles):
        return False
    places = [[_place(index, loop) for index in op.index] for op in tiles]
    columns = [[x for x in column if x is not None] for column in zip(*places, strict=True)]
    known = [len(column) == len(tiles) for column in columns]
    still = [all_ and not column[0].factor and len({*column}) == 1
             for all_, column in zip(known, columns, strict=True)]  # fmt: skip
    moves = loop is None or all(any(x and x.factor for x in own) for own in places)
    apart = all(any(map(_differ, *pair)) for pair in combinations(places, 2))
    return moves and apart and _nest(tiles[0], still)


def _loops(op: Operation) -> Iterator[ForOp | LoopOp]:
    return (around for around in ancestors(op) if isinstance(around, ForOp | LoopOp))


def _are_of_one_partition(stores: Sequence[StoreViewTkoOp]) -> bool:
    """True of stores to tensors that are the same, in tiles that are as large."""
    tensors = [tensor_of(op.view) for op in stores]
    kinds = [op.view_type for op in stores]
    return (
        all(isinstance(kind, PartitionViewType) for kind in kinds)
        and len({kind.tile_shape for kind in kinds}) == 1
        and len({tensor.base for tensor in tensors}) == 1
        and all(extents_of(tensor) == extents_of(tensors[0]) for tensor in tensors)
    )


def _nest(store: StoreViewTkoOp, still: Sequence[bool]) -> bool:
    """True where each stride is more than the dimensions of smaller ones reach, of those along
    which not all tiles have one place."""
    free: list[tuple[int, Extent]] = []
    for size, stride, alike in zip(*extents_of(tensor_of(store.view)), still, strict=True):
        if not alike and not isinstance(stride, int):
            return False
        if not alike and isinstance(stride, int):
            free.append((stride, size))
    free.sort(key=lambda dimension: dimension[0])
    reach = 0
    for number, (stride, size) in enumerate(free):
        if stride <= reach or (not isinstance(size, int) and number < len(free) - 1):
            return False
        reach += (size - 1) * stride if isinstance(size, int) else 0
    return True


class _Place(NamedTuple):
    """A number: a loop's variable times a factor, an offset, and what is the same each time."""

    factor: int
    offset: int
    others: frozenset[SSAValue]


def _place(index: SSAValue, loop: ForOp | None) -> _Place | None:
    """A number in those terms, if it can be said so."""
    if (number := known_integer(index)) is not None:
        return _Place(0, number, frozenset())
    if loop is None or not _is_within(index, loop):
        return _Place(0, 0, frozenset({index}))
    if index is loop.region.block.args[0]:
        return _Place(1, 0, frozenset())
    match index.owner:
        case ExtIOp() as op:
            return _place(op.operands[0], loop)
        case (integer.AddIOp() | integer.MulIOp()) as op:
            one, other = (_place(x, loop) for x in (op.lhs, op.rhs))
            if one is None or other is None:
                return None
            if op.name == integer.AddIOp.name:
                both = one.others | other.others
                disjoint = len(both) == len(one.others) + len(other.others)
                added = one.factor + other.factor, one.offset + other.offset
                return _Place(*added, both) if disjoint else None
            if one.others or other.others or (one.factor and other.factor):
                return None
            times = one.offset if other.factor else other.offset
            scaled = other if other.factor else one
            return _Place(scaled.factor * times, scaled.offset * times, frozenset())
        case _:
            return None


def _is_within(value: SSAValue, loop: ForOp) -> bool:
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    return block is not None and loop.is_ancestor(block)


def _differ(one: _Place | None, other: _Place | None) -> bool:
    """True of places that are two in any two iterations, and in one."""
    if one is None or other is None or one.others != other.others or one.factor != other.factor:
        return False
    apart = one.offset - other.offset
    return apart % one.factor != 0 if one.factor else apart != 0
