"""The bounds of a loop over a range."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from tilewright.diagnostic import OpError
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.lowering.cuda_tile.kernel import Kernel, known_integer


def loop_bounds(op: ForOp, kernel: Kernel) -> list[SSAValue]:
    """The bounds and the step, in 64 bits where the number behind the last one may be none of its
    type, or is unsigned."""
    bounds = [kernel.scalar(bound) for bound in (op.lower_bound, op.upper_bound, op.step)]
    width = bounds[0].type.bitwidth  # type: ignore[attr-defined]
    unsigned = op.unsigned_cmp is not None
    known = [known_integer(bound) for bound in bounds[1:]]
    if None not in known and sum(map(int, known)) < 1 << (width - 1) and not unsigned:  # type: ignore[arg-type]
        return bounds
    if width == 64:
        if unsigned:
            raise OpError(
                op, f"'{op.name}' unsigned of i64 has no lowering to cute; nearest legal: of i32"
            )
        return bounds
    cast = arith.ExtUIOp if unsigned else arith.ExtSIOp
    return [kernel.emit(cast, [bound], i64) for bound in bounds]
