"""Vectors of the tile level: one scalar for each element, and one op for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tilewright.diagnostic import OpError
from tilewright.lowering.tile.emitter import Emitter


@dataclass(frozen=True, slots=True)
class VectorValue:
    """The elements of a vector, in order."""

    elements: tuple[SSAValue, ...]


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a vector; a scalar has none."""
    return tuple(type_.get_shape()) if isa(type_, VectorType) else ()


def is_vector_op(op: Operation) -> bool:
    """An op computes on vectors."""
    return any(isa(value.type, VectorType) for value in (*op.operands, *op.results))


def result_type(op: Operation) -> VectorType:
    """The vector that an op computes element by element. Raises OpError for another op."""
    if op.regions or len(op.results) != 1 or op.name.split(".")[0] not in ("arith", "math"):
        raise OpError(op, f"'{op.name}' on vectors has no lowering to cute_nvgpu")
    type_ = op.results[0].type
    assert isa(type_, VectorType)
    return type_


def elementwise(
    op: Operation, operands: Sequence[Sequence[SSAValue]], emitter: Emitter
) -> VectorValue:
    """An op on vectors as one op for each element; `operands` are the elements of each."""
    kind, properties, element = type(op), op.properties, result_type(op).element_type

    def build(*scalars: SSAValue) -> SSAValue:
        return emitter.once(
            (kind, *properties.items(), *scalars, element),
            lambda: kind.create(
                operands=scalars, result_types=[element], properties=dict(properties)
            ),
        )

    return VectorValue(tuple(map(build, *operands)))
