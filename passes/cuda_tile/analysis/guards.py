"""The comparisons that branches say of the code that they guard.

if %tile >= %first { .. }                       holds in the region
if %tile >= %first {} else { break } ..         holds behind it: the other way leaves
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, Region, SSAValue

from tilewright.dialects.cuda_tile.attributes import choice_attr
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate, Signedness
from tilewright.dialects.cuda_tile.ops import integer
from tilewright.dialects.cuda_tile.ops.control_flow import IfOp, YieldOp

_EQUALITIES = (ComparisonPredicate.EQUAL, ComparisonPredicate.NOT_EQUAL)


def guards(op: Operation) -> Iterator[integer.CmpIOp]:
    """The signed comparisons, but for `==` and `!=`, that are true wherever an op is executed."""
    inner: Operation | None = op
    while inner is not None:
        before = inner.prev_op
        while before is not None:
            if isinstance(before, IfOp) and _leaves(before.else_region):
                yield from comparisons(before.condition)
            before = before.prev_op
        outer = inner.parent_op()
        if isinstance(outer, IfOp) and inner.parent_region() is outer.then_region:
            yield from comparisons(outer.condition)
        inner = outer


def _leaves(region: Region) -> bool:
    """True of a branch that does not go on behind it."""
    return bool(region.blocks) and not isinstance(region.block.last_op, YieldOp)


def comparisons(condition: SSAValue) -> Iterator[integer.CmpIOp]:
    """Those that are true where a condition is."""
    match condition.owner:
        case integer.AndIOp() as op:
            yield from comparisons(op.lhs)
            yield from comparisons(op.rhs)
        case integer.CmpIOp() as op if op.comparison_predicate.data not in _EQUALITIES:
            if op.properties["signedness"] == choice_attr(Signedness.SIGNED):
                yield op
        case _:
            pass
