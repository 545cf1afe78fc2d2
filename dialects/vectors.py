"""The elements of vectors, in row-major order."""

from math import prod

from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from tilewright.source.diagnostic import OpError


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a vector; a scalar has none."""
    return tuple(type_.get_shape()) if isa(type_, VectorType) else ()


def window_of(op: vector.ExtractOp | vector.InsertOp, whole: Attribute, part: Attribute) -> slice:
    """The elements of a vector that a position names. Raises OpError for one that is not known."""
    if op.dynamic_position:
        raise OpError(op, f"'{op.name}' expected a static position; nearest legal: a constant one")
    shape, first = shape_of(whole), 0
    for axis, index in enumerate(op.static_position.get_values()):
        first += index * prod(shape[axis + 1 :])
    return slice(first, first + prod(shape_of(part)))
