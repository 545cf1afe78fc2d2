"""Which memrefs threads can address: what the lowering and the interpreter refuse alike."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, Operation

from tilewright.dialects.cute.types.memref import (
    addressing_mismatch,
    argument_mismatch,
    is_memref,
    space_mismatch,
)
from tilewright.dialects.ptx.scalar_types import element_bytes
from tilewright.source.diagnostic import OpError

_Value = TypeVar("_Value")


def argument_strides(op: Operation, type_: MemRefType) -> tuple[int, ...]:
    """The strides of a kernel argument: they must be static (bare-pointer convention).

    Raises OpError where the argument can be none.
    """
    if (reason := argument_mismatch(type_)) is not None:
        raise OpError(op, reason)
    return tuple(step for step in type_.get_strides() or () if step is not None)


def check_layout(op: Operation, type_: MemRefType) -> None:
    """Raise OpError for a memref whose layout gives no addresses."""
    if (reason := addressing_mismatch(type_)) is not None:
        raise OpError(op, reason)


def check_space(op: Operation, type_: Attribute) -> None:
    """Raise OpError for a memref that threads cannot address: tensor memory."""
    assert is_memref(type_)
    if (reason := space_mismatch(type_)) is not None:
        raise OpError(op, f"'{op.name}' {reason}")


def element_size(op: Operation, type_: Attribute) -> int:
    """The bytes of an element. Raises OpError where it is no scalar."""
    assert is_memref(type_)
    if (size := element_bytes(type_.element_type)) is None:
        raise OpError(op, f"'{op.name}' of {type_.element_type} has no lowering to ptx")
    return size


def mixed(static: Sequence[int], dynamic: Iterable[_Value]) -> tuple[int | _Value, ...]:
    """Constants, and the values of what is not constant, as MLIR's DynamicIndexList keeps them."""
    rest = iter(dynamic)
    return tuple(next(rest) if number == DYNAMIC_INDEX else number for number in static)
