"""The values that loops and branches pass on, and what ends their regions."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cuda_tile.ops.control_flow import (
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LoopOp,
    YieldOp,
)


def passed_on(op: ForOp | LoopOp | IfOp) -> list[list[SSAValue]]:
    """The values that are one and the same to those who read what regions pass on."""
    ends = [inner for inner in op.walk() if region_of(inner) is op]
    again = [end for end in ends if isinstance(end, ContinueOp)]
    left = [end for end in ends if not isinstance(end, ContinueOp)]
    columns: list[list[SSAValue]] = []
    if not isinstance(op, IfOp):
        first = len(op.region.block.args) - len(op.init_values)
        for i, initial in enumerate(op.init_values):
            columns.append([initial, op.region.block.args[first + i]])
            columns[-1] += [end.operands[i] for end in again]
            if isinstance(op, ForOp):
                columns[-1].append(op.results[i])
    if not isinstance(op, ForOp):
        columns += [[x, *(end.operands[i] for end in left)] for i, x in enumerate(op.results)]
    return columns


def region_of(op: Operation) -> Operation | None:
    """The loop or the branch that a terminator passes values to."""
    holder = op.parent_op()
    if isinstance(op, ContinueOp | BreakOp):
        return next(enclosing(op, ForOp | LoopOp))
    return holder if isinstance(op, YieldOp) and isinstance(holder, IfOp) else None
