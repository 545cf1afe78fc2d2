"""`vector`: elements put together and taken apart.

A vector is one array [threads, elements], of any rank in row-major order.
"""

from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.builder import Builder, Step, runs
from tilewright.lowering.interpreter.ops.base.arith import pure, type_name
from tilewright.lowering.interpreter.values import Bits, spread
from tilewright.source.diagnostic import OpError


def _shape(type_: Attribute) -> tuple[int, ...]:
    """The extents of a vector; a scalar has none."""
    return tuple(type_.get_shape()) if isa(type_, VectorType) else ()


@runs(vector.BroadcastOp)
def _broadcast(op: vector.BroadcastOp, builder: Builder) -> Step:
    source, result = _shape(op.source.type), _shape(op.vector.type)
    type_name(op, op.vector.type)

    def compute(value: Bits) -> Bits:
        wide = value.reshape(-1, *(1,) * (len(result) - len(source)), *source)
        return np.broadcast_to(wide, (len(value), *result)).reshape(len(value), -1)

    return pure(op, builder, compute)


def _window(op: vector.ExtractOp | vector.InsertOp, whole: Attribute, part: Attribute) -> slice:
    """The elements of a vector that a position names."""
    if op.dynamic_position:
        raise OpError(op, f"'{op.name}' expected a static position")
    shape, size, first = _shape(whole), prod(_shape(part)), 0
    position = op.static_position.get_values()
    for axis, index in enumerate(position):
        first += index * prod(shape[axis + 1 :])
    return slice(first, first + size)


@runs(vector.ExtractOp)
def _extract(op: vector.ExtractOp, builder: Builder) -> Step:
    window, scalar_result = _window(op, op.vector.type, op.result.type), not _shape(op.result.type)

    def compute(value: Bits) -> Bits:
        return value[:, window.start] if scalar_result else value[:, window]

    return pure(op, builder, compute)


@runs(vector.InsertOp)
def _insert(op: vector.InsertOp, builder: Builder) -> Step:
    window = _window(op, op.dest.type, op.source.type)

    def compute(source: Bits, dest: Bits) -> Bits:
        count = max(len(source), len(dest))
        result = np.array(spread(dest, count))
        result[:, window] = source.reshape(len(source), -1)
        return result

    return pure(op, builder, compute)


@runs(vector.FMAOp)
def _fma(op: vector.FMAOp, builder: Builder) -> Step:
    type_ = type_name(op, op.res.type)
    if type_ == "bf16":
        raise OpError(op, f"'{op.name}' on bf16 cannot be interpreted; nearest legal: f32")
    compute: Any = scalar("fma", f"rn.{type_}")
    return pure(op, builder, compute)
