"""Tensor memory: its allocation, and views of it.

The address of an allocation travels through shared memory: one warp allocates, and every thread
that uses the tensor memory retrieves the address behind a barrier. What is in tensor memory is a
memref whose layout counts lanes and columns (`tmem_layouts`).
"""

from xdsl.dialects.builtin import IndexType, MemRefType, i32
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, result_def, var_operand_def

from tilewright.dialects.cute import Layout, equivalent
from tilewright.dialects.cute.types.algebra import LayoutType
from tilewright.dialects.cute.types.memref import Space, SpaceAttr, layout_of
from tilewright.dialects.cute_nvgpu.lattice import tmem as rows
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.ops.cta_group import ONE_CTA, AllocationOp, GroupInstructionOp
from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp, NvgpuOp
from tilewright.dialects.cute_nvgpu.ops.memory_operand import (
    bits_of,
    tmem_layout,
    tmem_span,
    verify_tmem,
    verify_words,
)
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.illegal import Illegal
from tilewright.dialects.integers import constant_integer
from tilewright.dialects.traits import PURE


def allocation_type(columns: int, element_type: Attribute = i32) -> MemRefType:
    """The memref of a whole allocation: 128 lanes of `columns` cells."""
    layout = Layout((rows.LANES, columns), (rows.LANE_STRIDE, 1))
    space = SpaceAttr(Space.TMEM)
    return MemRefType(element_type, (rows.LANES, columns), LayoutType.get(layout), space)


def allocated_columns(what: str, type_: Attribute) -> int:
    """How many columns a whole allocation has. Raises Illegal for another memref."""
    memref = verify_tmem(what, type_, 2)
    columns, bits = memref.get_shape()[1], bits_of(memref.element_type)
    nearest = closest(columns, rows.ALLOCATIONS)
    legal = allocation_type(nearest, memref.element_type if bits == rows.CELL_BITS else i32)
    if bits != rows.CELL_BITS or columns not in rows.ALLOCATIONS or not _same(memref, legal):
        raise Illegal(
            f"{what} expected a whole allocation, all lanes of "
            f"{', '.join(map(str, rows.ALLOCATIONS))} columns of 32-bit cells, got {type_}; "
            f"nearest legal: {legal}"
        )
    return columns


def _same(one: MemRefType[Attribute], other: MemRefType[Attribute]) -> bool:
    layouts = layout_of(one), layout_of(other)
    plain = [layout for layout in layouts if isinstance(layout, Layout)]
    return one.get_shape() == other.get_shape() and len(plain) == 2 and equivalent(*plain)


def verify_slot(type_: Attribute, indices: int) -> None:
    """Raise Illegal unless the type is a memref of addresses: i32 in shared memory."""
    verify_words("slot", type_, indices, i32, "an address of tensor memory has 32 bits")


class TmemOp(GroupInstructionOp, NvgpuOp):
    """An op of one row, for one CTA or a pair."""

    cta_group = opt_prop_def(NUMBER, ONE_CTA)


@fields_op("cute_nvgpu.tmem.alloc", rows.TMEM_ALLOC)
class AllocOp(AllocationOp, TmemOp):
    """Allocate columns of tensor memory and write their address to a word of shared memory.

    ```mlir
    cute_nvgpu.tmem.alloc %slot[%zero] columns 256 : memref<1xi32, #cute<space smem>>
    cute_nvgpu.tmem.alloc %slot[%zero] columns 256 cta_group 2 : memref<1xi32, #cute<space smem>>
    ```

    All threads of one warp execute it together; with cta_group 2, one warp of either CTA. It waits
    until there are so many free columns. PTX ISA, tcgen05.alloc.
    """

    slot = operand_def(MemRefType)
    indices = var_operand_def(IndexType())

    assembly_format = "$slot `[` $indices `]` `columns` $columns"

    def verify_(self) -> None:
        super().verify_()
        verify_slot(self.slot.type, len(self.indices))


@fields_op("cute_nvgpu.tmem.retrieve")
class RetrieveOp(BaselineOp):
    """The tensor memory whose address an allocation wrote to shared memory.

    ```mlir
    %t = cute_nvgpu.tmem.retrieve %slot[%zero] : memref<1xi32, #cute<space smem>>
       -> memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
    ```

    The allocation must be before it: a barrier in between. A load from shared memory in PTX.
    """

    slot = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    result = result_def(MemRefType)

    assembly_format = "$slot `[` $indices `]`"

    def verify_(self) -> None:
        verify_slot(self.slot.type, len(self.indices))
        allocated_columns("result", self.result.type)


@fields_op("cute_nvgpu.tmem.dealloc", rows.TMEM_DEALLOC)
class DeallocOp(TmemOp):
    """Give an allocation back, all of it.

    ```mlir
    cute_nvgpu.tmem.dealloc %t
      : memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
    ```

    All threads of one warp execute it together; with cta_group 2, one warp of either CTA. Whoever
    used the tensor memory must be done. PTX ISA, tcgen05.dealloc.
    """

    source = operand_def(MemRefType)

    @property
    def columns(self) -> int:
        """How many columns it gives back."""
        return allocated_columns("source", self.source.type)

    def verify_(self) -> None:
        super().verify_()
        _ = self.columns


@fields_op("cute_nvgpu.tmem.relinquish_alloc_permit", rows.TMEM_RELINQUISH)
class RelinquishAllocPermitOp(TmemOp):
    """The CTA allocates no more tensor memory, so that another one on its SM may. All threads of
    one warp execute it together; with cta_group 2, one warp of either CTA. PTX ISA,
    tcgen05.relinquish_alloc_permit."""


@fields_op("cute_nvgpu.tmem.slice")
class SliceOp(BaselineOp):
    """The tensor that begins at an element of another one in tensor memory, as whatever it is.

    ```mlir
    %d = cute_nvgpu.tmem.slice %t[%zero, %column]
       : memref<128x256xi32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>
       -> memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
    ```

    The result's layout counts from that element, in elements of its own type. It lies within the
    lanes and columns of the source. An addition to the address in PTX.
    """

    source = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    result = result_def(MemRefType)

    traits = PURE

    assembly_format = "$source `[` $indices `]`"

    def verify_(self) -> None:
        source = verify_tmem("source", self.source.type, len(self.indices))
        result = verify_tmem("result", self.result.type, self.result.type.get_num_dims())
        wanted = tmem_span("result", result)
        there = tmem_span("source", source)
        lane, column = self._begin(source)
        if lane + wanted[0] > there[0] or column + wanted[1] > there[1]:
            raise self.fail(
                f"a result within the {there[0]} lanes and {there[1]} columns of {source}, got "
                f"{wanted[0]} lanes from {lane} and {wanted[1]} columns from {column} on"
            )

    def _begin(self, source: MemRefType[Attribute]) -> tuple[int, int]:
        """The lane and column of the first element, as far as its indices are constants."""
        layout, bits = tmem_layout(source)
        offset = sum(
            layout[mode](constant_integer(index) or 0) for mode, index in enumerate(self.indices)
        )
        lane, column = divmod(offset * bits // rows.CELL_BITS, rows.LANE_STRIDE)
        return lane, column
