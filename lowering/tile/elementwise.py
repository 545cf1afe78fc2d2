"""Ops on vectors as one op for each element."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tilewright.diagnostic import OpError
from tilewright.lowering.tile.vector_value import VectorValue

if TYPE_CHECKING:
    from tilewright.lowering.tile.kernel import Kernel


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a vector; a scalar has none."""
    return tuple(type_.get_shape()) if isa(type_, VectorType) else ()


def is_vector_op(op: Operation) -> bool:
    """Whether an op computes on vectors."""
    return any(isa(each.type, VectorType) for each in (*op.operands, *op.results))


def elementwise(op: Operation, kernel: Kernel) -> None:
    """An op on vectors as one op for each element; an operand may be a scalar for all."""
    if op.regions or len(op.results) != 1 or op.name.split(".")[0] not in ("arith", "math"):
        raise OpError(op, f"'{op.name}' on vectors has no lowering to cute_nvgpu")
    type_ = op.results[0].type
    assert isa(type_, VectorType)
    count = prod(type_.get_shape())
    columns = [
        kernel.vector(each).elements if isa(each.type, VectorType) else (kernel[each],) * count
        for each in op.operands
    ]
    element = [type_.element_type]
    kind, properties, emitter = type(op), op.properties, kernel.emitter

    def build(*operands: SSAValue) -> SSAValue:
        return emitter.once(
            (kind, *properties.items(), *operands, type_.element_type),
            lambda: kind.create(
                operands=operands, result_types=element, properties=dict(properties)
            ),
        )

    kernel[op.results[0]] = VectorValue(tuple(map(build, *columns)))
