"""The ops of an instruction, which both dialects have, and the place in memory that an op names."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cute.types.memref import Space, is_memref, space_of
from tilewright.dialects.cute_nvgpu.dialect import CUTE_NVGPU
from tilewright.dialects.once import once_each
from tilewright.dialects.ptx.bulk_copy import TensorCopyOp
from tilewright.dialects.ptx.dialect import PTX
from tilewright.dialects.ptx.types import B32


@cache
def _ops_by_row() -> dict[int, list[type[Operation]]]:
    """The ops that may have a row, by its identity: not all rows can be hashed."""
    ops = defaultdict[int, list[type[Operation]]](list)
    for op in (*CUTE_NVGPU.operations, *PTX.operations):
        for row in vars(op).get("ROWS", ()):
            ops[id(row)].append(op)
    return dict(ops)


def ops_of(*keys: Any) -> Iterator[Any]:
    """The ops of some rows, of both dialects; the type of an op, or a rule, stands for itself."""
    for key in keys:
        yield from (key,) if callable(key) else _ops_by_row()[id(key)]


class MemoryOperand(NamedTuple):
    """An element of a memref, by its indices; or, where these are None, what lies so far behind an
    address: in bytes, in tensor memory in columns."""

    memory: SSAValue
    indices: tuple[SSAValue, ...] | None
    offset: int = 0

    @property
    def space(self) -> Space | None:
        """The memory that it is in; an address of 32 bits is one of shared memory."""
        return _space_of(self.memory.type)

    @property
    def is_shared(self) -> bool:
        """It is in shared memory, the CTA's or the cluster's."""
        return self.space is not None and self.space.is_shared


def memory_operand(op: Any, name: str = "") -> MemoryOperand:
    """The memory that an op accesses: its operand of a name, or else its memref, or its first
    operand, which is an address."""
    if name:
        memory = getattr(op, name)
    else:
        memory = next((value for value in op.operands if is_memref(value.type)), op.operands[0])
    if is_memref(memory.type):
        indices = _field(op.__class__, name, "indices")
        return MemoryOperand(memory, tuple(getattr(op, indices, ())))
    offset = getattr(op, _field(op.__class__, name, "offset"), None)
    return MemoryOperand(memory, None, 0 if offset is None else offset.value.data)


@once_each
def _space_of(type_: Attribute) -> Space | None:
    if is_memref(type_):
        return space_of(type_.memory_space)
    return Space.SMEM if type_ in (i32, B32) else Space.GMEM


def box_corner(op: Any) -> tuple[SSAValue, ...]:
    """The coordinates of the box that an op copies, outermost first."""
    return tuple(op.coordinates)[:: -1 if isinstance(op, TensorCopyOp) else 1]


@cache
def _field(op: type[Operation], operand: str, name: str) -> str:
    """The name of a field of an operand, `dest_indices`, or of the op."""
    own = f"{operand}_{name}"
    return own if own in dir(op) else name
