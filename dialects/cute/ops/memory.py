"""Ops that make tensors, and ops on their elements."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import MemoryAllocEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.ops.operands import MEMREF
from tilewright.dialects.cute.ops.tiled import TypedConstantOp
from tilewright.dialects.cute.symbolic.tuples import is_static
from tilewright.dialects.cute.tensor_types import MemRefType


class AllocationOp(TypedConstantOp, ABC):
    """A tensor of its own."""

    RESULTS: ClassVar = (MEMREF,)
    SPACE: ClassVar[str]
    HAS_EFFECT: ClassVar = True

    traits = traits_def(MemoryAllocEffect())

    def verify_(self) -> None:
        super().verify_()
        type_ = self.result.type
        assert isinstance(type_, MemRefType)
        tensor = type_.tensor
        if tensor.space != self.SPACE:
            raise VerifyException(f"'{self.name}' expected a tensor in {self.SPACE}, got {type_}")
        offset = getattr(tensor.layout, "offset", 0)
        modes = tensor.modes
        if offset != 0 or not is_static((modes.shape, modes.stride)):
            raise VerifyException(f"'{self.name}' expected a static layout, got {type_}")


@irdl_op_definition
class AllocOp(AllocationOp):
    """A tensor in shared memory, as long as the kernel runs."""

    name = "cute.memref.alloc"
    SPACE: ClassVar = "smem"


@irdl_op_definition
class AllocaOp(AllocationOp):
    """A tensor in registers of each thread."""

    name = "cute.memref.alloca"
    SPACE: ClassVar = "rmem"


MEMORY_OPS = (AllocOp, AllocaOp)
