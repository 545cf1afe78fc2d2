"""Ops that make tensors, and ops on their elements."""

from abc import ABC
from typing import ClassVar

from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import MemoryAllocEffect, MemoryFreeEffect

from tilewright.dialects.cute.ops.operands import MEMREF
from tilewright.dialects.cute.ops.operation import CuteOp, cute_op
from tilewright.dialects.cute.ops.text import Syntax
from tilewright.dialects.cute.ops.tiled import TypedConstantOp
from tilewright.dialects.cute.symbolic.tuples import is_static
from tilewright.dialects.cute.tensor_memory import why_no_allocation
from tilewright.dialects.cute.types.tensors import MemRefType
from tilewright.dialects.integers import integer_of


class AllocationOp(TypedConstantOp, ABC):
    """A tensor of its own."""

    SPACES: ClassVar[tuple[str, ...]]
    HAS_EFFECT = True

    result = result_def(MEMREF)

    traits = traits_def(MemoryAllocEffect())

    def verify_types(self) -> None:
        type_ = self.result.type
        assert isinstance(type_, MemRefType)
        tensor = type_.tensor
        if tensor.space not in self.SPACES:
            legal = " or ".join(self.SPACES)
            raise self.fail(f"a tensor in {legal}, got {type_}")
        offset = getattr(tensor.layout, "offset", 0)
        modes = tensor.modes
        if offset != 0 or not is_static((modes.shape, modes.stride)):
            raise self.fail(f"a static layout, got {type_}")
        if tensor.space == "tmem":
            self.refuse(why_no_allocation(tensor))


@cute_op("cute.memref.alloc")
class AllocOp(AllocationOp):
    """A tensor in shared memory, as long as the kernel runs; or in tensor memory, in columns of its
    own, until `cute.memref.dealloc` or the end of the kernel.

    Every thread of the CTA executes the allocation of tensor memory: one warp allocates, then the
    CTA synchronises. With `{cta_group = 2}` a pair of CTAs does so, each in its own tensor memory,
    and both synchronise. PTX ISA, tcgen05.alloc.
    """

    SPACES = ("smem", "tmem")

    @property
    def cta_group(self) -> int:
        """How many CTAs allocate together."""
        return integer_of(self.attributes.get("cta_group"), 1)

    def verify_in_place(self) -> None:
        given, type_ = self.attributes.get("cta_group"), self.result.type
        assert isinstance(type_, MemRefType)
        if given is not None and (self.cta_group, type_.tensor.space) != (2, "tmem"):
            raise self.fail(f"cta_group = 2 of tensor memory, or none, got {given} of {type_}")


@cute_op("cute.memref.alloca")
class AllocaOp(AllocationOp):
    """A tensor in registers of each thread."""

    SPACES = ("rmem",)


@cute_op("cute.memref.dealloc")
class DeallocOp(CuteOp):
    """Give the columns of a tensor in tensor memory back: `cute.memref.dealloc(%t)`.

    Every thread of the CTA executes it: the CTA synchronises, then one warp deallocates. Without
    it the end of the kernel does so. PTX ISA, tcgen05.dealloc.
    """

    source = operand_def(MEMREF)

    SYNTAX = Syntax.INFERRED

    traits = traits_def(MemoryFreeEffect())

    def verify_in_place(self) -> None:
        type_ = self.source.type
        assert isinstance(type_, MemRefType)
        if type_.tensor.space != "tmem" or not isinstance(self.source.owner, AllocOp):
            raise self.fail(
                f"the result of a cute.memref.alloc in tmem, got {type_} (shared memory lives as "
                "long as the kernel)"
            )
