"""Elements of a tile that nobody reads: whatever is computed of them is not stored.

%a = load rows of A, of which those from %m on are others        [row i < %m: A's]
%c = mmaf %a, %b, %acc                                           row i of %c is of row i of %a
store %c, where i < %m                                           no other row is stored
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue, Use

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp, IfOp, YieldOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaIOp
from tilewright.dialects.cuda_tile.ops.memory import StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.analysis.pointer_tiles import PointerTiles
from tilewright.passes.cuda_tile.analysis.polynomials import Polynomial, unit_dimensions
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.passed_values import region_of

_Along = tuple[SSAValue, int]
"""A tile, and the dimension along which its elements from the end on are such."""


def why_read(value: SSAValue, axis: int, end: Polynomial, tiles: PointerTiles) -> Operation | None:
    """The op for which the elements of a tile from `end` on along a dimension may matter; None
    where there is none."""
    todo: list[_Along] = [(value, axis)]
    seen = set(todo)
    while todo:
        own = todo.pop()
        for use in own[0].uses:
            reached = _reached(use, own[1], end, tiles)
            if reached is None:
                return use.operation
            new = [x for x in reached if x not in seen]
            todo += new
            seen.update(new)
    return None


def _reached(use: Use, axis: int, end: Polynomial, tiles: PointerTiles) -> Sequence[_Along] | None:
    """The tiles that a use computes such elements of; None where it uses them."""
    op, place = use.operation, use.index
    match op:
        case StorePtrTkoOp(value=value) if place == list(op.operands).index(value):
            bounds = tiles.bounds(op.mask, least=True)
            own = None if isinstance(bounds, str) else bounds.get(axis)
            return [] if own is not None and end in own.above else None
        case MmaFOp() | MmaIOp():
            rank = len(shape_of(op.result))
            free = {0: rank - 2, 1: rank - 1}.get(place, axis)
            batch = axis < rank - 2
            return [(op.result, axis)] if batch or axis == free else None
        case core.PermuteOp():
            order: Any = op.permutation
            return [(op.result, list(order.get_values()).index(axis))]
        case core.ReshapeOp():
            axes = unit_dimensions(op)
            return None if axes is None else [(op.result, axes[axis])]
        case core.BroadcastOp():
            return [(op.result, axis)]
        case ReduceOp(dim=IntegerAttr() as dim) if axis != (along := dim.value.data):
            return [(result, axis - (axis > along)) for result in op.results]
        case ForOp() if place > 2:
            passed = op.region.block.args[place - 2], op.results[place - 3]
            return [(x, axis) for x in passed]
        case ContinueOp() if isinstance(loop := region_of(op), ForOp):
            if any(loop.is_ancestor(x) for x in _owners(end, tiles)):
                return None
            return [(x, axis) for x in (loop.region.block.args[place + 1], loop.results[place])]
        case YieldOp() if isinstance(branch := op.parent_op(), IfOp):
            return [(branch.results[place], axis)]
        case PureOp() if not op.regions and _is_elementwise(op):
            return [(result, axis) for result in op.results]
        case _:
            return None


def _is_elementwise(op: Operation) -> bool:
    """True of an op of tiles of one shape that computes each element of its like."""
    types = [value.type for value in (*op.operands, *op.results)]
    shapes = {type_.shape if isinstance(type_, TileType) else None for type_ in types}
    return len(shapes) == 1


def _owners(polynomial: Polynomial, tiles: PointerTiles) -> Iterator[Operation | Block]:
    """Where the numbers that a polynomial is of come from."""
    for monomial in polynomial:
        for number in monomial:
            factor = tiles.known.factors[number]
            yield from (value.owner for value in factor.values)
            for part in factor.parts:
                yield from _owners(part, tiles)
