"""`vector`: elements put together and taken apart.

A vector is one array [threads, elements], of any rank in row-major order.
"""

from typing import Any

import numpy as np
from xdsl.dialects import vector

from tilewright.dialects.vectors import shape_of, window_of
from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.ops.base.arith import Compute, computes, type_name
from tilewright.lowering.interpreter.values import Bits, spread
from tilewright.source.diagnostic import OpError


@computes
def _broadcast(op: vector.BroadcastOp) -> Compute:
    source, result = shape_of(op.source.type), shape_of(op.vector.type)
    type_name(op, op.vector.type)

    def compute(value: Bits) -> Bits:
        wide = value.reshape(-1, *(1,) * (len(result) - len(source)), *source)
        return np.broadcast_to(wide, (len(value), *result)).reshape(len(value), -1)

    return compute


@computes
def _extract(op: vector.ExtractOp) -> Compute:
    window = window_of(op, op.vector.type, op.result.type)
    taken = window if shape_of(op.result.type) else window.start

    def compute(value: Bits) -> Bits:
        return value[:, taken]

    return compute


@computes
def _insert(op: vector.InsertOp) -> Compute:
    window = window_of(op, op.dest.type, op.source.type)

    def compute(source: Bits, dest: Bits) -> Bits:
        count = max(len(source), len(dest))
        result = np.array(spread(dest, count))
        result[:, window] = source.reshape(len(source), -1)
        return result

    return compute


@computes
def _fma(op: vector.FMAOp) -> Compute:
    type_ = type_name(op, op.res.type)
    if type_ == "bf16":
        raise OpError(op, f"'{op.name}' on bf16 cannot be interpreted; nearest legal: f32")
    compute: Any = scalar("fma", f"rn.{type_}")
    return compute
