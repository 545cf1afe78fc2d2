"""The functions of `math` that the chip approximates, to `ptx`: in f32, rounded again to a smaller
type."""

from __future__ import annotations

from xdsl.dialects import math
from xdsl.ir import Operation

from tilewright.diagnostic import OpError
from tilewright.dialects.ptx import approximate
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_arith import scalar
from tilewright.lowering.to_ptx.convert_arith_floats import float_type, narrowed, widened

_FUNCTIONS: dict[type[Operation], type[ScalarOp]] = {
    math.Exp2Op: approximate.Ex2Op,
    math.Log2Op: approximate.Lg2Op,
    math.RsqrtOp: approximate.RsqrtOp,
}


@lowers(*_FUNCTIONS)
def _approximate(op: math.Exp2Op | math.Log2Op | math.RsqrtOp, to: Conversion) -> None:
    type_ = op.result.type
    scalar(op, type_)
    if float_type(type_) == "f64":
        raise OpError(op, f"'{op.name}' on f64 has no lowering to ptx; nearest legal: f32")
    value = widened(to[op.operand], type_, to)
    result = to.scalar(_FUNCTIONS[type(op)], "approx.ftz.f32", value)
    to[op.result] = narrowed(result, type_, to)
