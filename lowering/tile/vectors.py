"""Vectors of the tile level: one scalar for each element, and one op for each."""

from collections.abc import Sequence

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.frozen import frozen
from tilewright.lowering.emit.emitter import Emitter
from tilewright.source.diagnostic import OpError


@frozen
class VectorValue:
    """The elements of a vector, in order."""

    elements: tuple[SSAValue, ...]


def is_vector_op(op: Operation) -> bool:
    """An op computes on vectors."""
    for value in (*op.operands, *op.results):  # noqa: SIM110
        if isinstance(value.type, VectorType):
            return True
    return False


def elementwise_types(op: Operation) -> list[VectorType]:
    """The vectors that an op computes element by element. Raises OpError for another op."""
    if op.regions or not op.results or op.name.split(".")[0] not in ("arith", "math"):
        raise OpError(op, f"'{op.name}' on vectors has no lowering to cute_nvgpu")
    types = [result.type for result in op.results]
    assert isa(types, list[VectorType])
    return types


def elementwise(
    op: Operation, operands: Sequence[Sequence[SSAValue]], emitter: Emitter
) -> list[VectorValue]:
    """The results of an op on vectors as one op for each element; `operands` are the elements of
    each."""
    kind, properties = type(op), op.properties
    elements = [type_.element_type for type_ in elementwise_types(op)]
    number = emitter.kind(kind, *properties, *properties.values(), *elements)

    def build(*scalars: SSAValue) -> Sequence[SSAValue]:
        return emitter.every(
            (number, *scalars),
            lambda: kind.create(operands=scalars, result_types=elements, properties=properties),
        )

    columns = zip(*map(build, *operands), strict=True)
    return [VectorValue(tuple(column)) for column in columns]
