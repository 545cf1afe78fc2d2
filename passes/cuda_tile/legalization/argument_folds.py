"""The place of the greatest or the least element, by a fold of values and their numbers at once,
whose region compares both for each element. The values alone are folded first, then the numbers of
those that are the result:

    _, %i = reduce %x, %n (...)
                            ->  %v = reduce %x (maxf);  %i = reduce (%x == %v ? %n : none) (mini)

What a region chooses is asked of examples: it has comparisons of its arguments and logic alone,
which know of two values no more than how they are ordered. Nobody may read the value: -0.0 is 0.0
here.
"""

from __future__ import annotations

import operator
from itertools import product
from math import inf, nan, prod
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.dialects.cuda_tile.enums import ComparisonOrdering, ComparisonPredicate
from tilewright.dialects.cuda_tile.ops import core, floating_point, integer
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.control_flow import YieldOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.passes.cuda_tile.legalization.shaped_builder import EQUAL, SIGNED, ShapedBuilder

_PAIR = 2
_NONE = (1 << 31) - 1
"""More than the number of any element."""
_EXAMPLES = [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (nan, 1.0), (1.0, nan), (nan, nan)]
_BEST: dict[type[Operation], int] = {floating_point.MaxFOp: 1, floating_point.MinFOp: -1}


def best_of(op: ReduceOp) -> type[Operation] | None:
    """The op whose result is the value that a fold finds the number of, the least of several; NaN
    is worse than any. None of any other fold."""
    if len(op.operands) != _PAIR or op.results[0].first_use is not None:
        return None
    value, number = op.operands
    axis: int = op.dim.value.data  # type: ignore[attr-defined]
    if isinstance(number.owner, core.BroadcastOp):
        number = number.owner.source
    is_line = prod(shape_of(number)) == shape_of(number)[axis] == shape_of(value)[axis]
    if isinstance(number.owner, core.ReshapeOp):
        number = number.owner.source
    if not (is_line and isinstance(number.owner, core.IotaOp) and element_of(number) == i32):
        return None
    for kind, sign in _BEST.items():
        if all(
            _chosen(op.body.block, a, b, i, j) == _expected(sign * a, sign * b, i, j)
            for (a, b), (i, j) in product(_EXAMPLES, ((0, 1), (1, 0)))
        ):
            return kind
    return None


def _expected(a: float, b: float, i: int, j: int) -> int:
    ranks = [-inf if x != x else x for x in (a, b)]
    return i if (ranks[0], j) > (ranks[1], i) else j


def _chosen(block: Block, *values: Any) -> Any:
    """The second value that a region yields; None where it does more than compare and choose."""
    known: dict[SSAValue, Any] = dict(zip(block.args, values, strict=True))
    result: Any
    for op in block.ops:
        given = [known.get(value) for value in op.operands]
        match op:
            case YieldOp():
                return given[1]
            case floating_point.CmpFOp():
                holds = getattr(operator, _WORDS[op.comparison_predicate.data])(*given)
                unordered = any(x != x for x in given)
                ordered = op.comparison_ordering.data is ComparisonOrdering.ORDERED
                result = holds and not unordered if ordered else holds or unordered
            case integer.CmpIOp():
                result = getattr(operator, _WORDS[op.comparison_predicate.data])(*given)
            case core.SelectOp():
                result = given[1] if given[0] else given[2]
            case integer.AndIOp():
                result = given[0] and given[1]
            case integer.OrIOp():
                result = given[0] or given[1]
            case _:
                return None
        known[op.results[0]] = result
    return None


_WORDS = {
    ComparisonPredicate.EQUAL: "eq", ComparisonPredicate.NOT_EQUAL: "ne",
    ComparisonPredicate.LESS_THAN: "lt", ComparisonPredicate.LESS_THAN_OR_EQUAL: "le",
    ComparisonPredicate.GREATER_THAN: "gt", ComparisonPredicate.GREATER_THAN_OR_EQUAL: "ge",
}  # fmt: skip


def number_of_best(op: ReduceOp, kind: type[Operation], before: ShapedBuilder) -> SSAValue:
    """The number of the best value: of nothing but NaN the first."""
    value, number = op.operands
    axis, shape = op.dim.value.data, shape_of(value)  # type: ignore[attr-defined]
    element: Any = element_of(value)
    worst = FloatAttr(-inf * _BEST[kind], element)
    best = _folded(op, value, worst, before, kind)
    best = before.reshape(best, [1 if i == axis else x for i, x in enumerate(shape)])
    same = before.compare_floats(EQUAL, value, before.broadcast(best, shape))
    none = before.constant(_NONE, number.type)
    own = before.select(same, number, none)
    least = _folded(op, own, IntegerAttr(_NONE, i32), before, integer.MinIOp, **SIGNED)
    first = before.constant(0, least.type)
    return before.select(before.compare(EQUAL, least, _NONE), first, least)


def _folded(
    op: ReduceOp, value: SSAValue, identity: Attribute, before: ShapedBuilder,
    kind: type[Operation], **sign: Any,
) -> SSAValue:  # fmt: skip
    """A fold of a tile along the same dimension by another op."""
    scalar = TileType.get((), element_of(value))
    body = Block(arg_types=[scalar, scalar])
    inner = ShapedBuilder(op, InsertPoint.at_end(body))
    inner.insert(YieldOp.create(operands=[inner.add(kind, body.args, **sign)]))
    type_ = op.result_of(tile_type(value), op.dim.value.data)  # type: ignore[attr-defined]
    properties = {"dim": op.dim, "identities": ArrayAttr([identity])}
    return before.insert(ReduceOp.create(
        operands=[value], result_types=[type_], properties=properties, regions=[Region(body)],
    )).results[0]  # fmt: skip
