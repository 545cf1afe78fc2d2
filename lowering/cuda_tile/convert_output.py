"""Claims of a kernel about itself: `assert`."""

from __future__ import annotations

from xdsl.dialects import cf

from tilewright.dialects.cuda_tile.ops.control_flow import AssertOp
from tilewright.lowering.cuda_tile.kernel import Kernel, lowers


@lowers(AssertOp)
def _assert(op: AssertOp, kernel: Kernel) -> None:
    layout = kernel.table.of(op.condition)
    conditions = dict.fromkeys(kernel.elements(op.condition, layout))
    for condition in conditions:
        kernel.emitter.add(cf.AssertOp(condition, op.message))
