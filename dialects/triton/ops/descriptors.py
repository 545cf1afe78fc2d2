"""Tensors in memory by descriptors, as blocks. TritonOps.td, tensor descriptors.

%d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f32>, <tensor<8x32xf32>>
%x = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<tensor<8x32xf32>> -> tensor<8x32xf32>
"""

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, var_operand_def

from tilewright.dialects.declared import declared_op
from tilewright.dialects.triton.constraints import (
    CACHE,
    CACHE_POLICY,
    DESCRIPTOR,
    EVICTION,
    I32,
    I32_TENSOR,
    I64,
    ONE_POINTER,
    PADDING,
    REDUCTION,
    TENSOR,
)
from tilewright.dialects.triton.operation import PureOp, TritonOp
from tilewright.dialects.triton.ops.memory import MODIFIERS, NORMAL, UNCACHED
from tilewright.dialects.triton.types import TensorDescType, element_of, shape_of


def block_of(descriptor: SSAValue) -> Attribute:
    """The type of a block that a descriptor loads."""
    assert isinstance(descriptor.type, TensorDescType)
    return descriptor.type.signless_block_type


@declared_op("tt.make_tensor_descriptor")
class MakeTensorDescOp(PureOp):
    """A descriptor of a tensor in memory: its extents, its strides in elements."""

    assembly_format = (
        "$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict "
        "`:` custom<BareType>(type($base)) `,` custom<BareType>(type($result))"
    )

    base = operand_def(ONE_POINTER)
    shape = var_operand_def(I32)
    strides = var_operand_def(I64)
    padding = opt_prop_def(PADDING, PADDING.attribute_of("zero"))
    result = result_def(DESCRIPTOR)

    def verify_types(self) -> None:
        if len(self.shape) != len(self.strides):
            given = f"{len(self.shape)} and {len(self.strides)}"
            raise self.fail(f"as many extents as strides, got {given}")


class BlockAccess(TritonOp):
    """A block at indices, one for each dimension of its tensor."""

    def verify_block(
        self, descriptor: SSAValue, indices: Sequence[SSAValue], tensor: Attribute
    ) -> None:
        """Raise VerifyException unless the tensor is a block, without leading dimensions of 1."""
        block = block_of(descriptor)
        shape, given = shape_of(block), shape_of(tensor)
        if len(indices) != len(shape):
            raise self.fail(f"as many indices as {block} has dimensions, got {len(indices)}")
        ahead = len(shape) - len(given)
        if (
            ahead < 0
            or any(dim != 1 for dim in shape[:ahead])
            or shape[ahead:] != given
            or element_of(block) != element_of(tensor)
        ):
            raise self.fail(f"{block}, as the block of {descriptor.type}, got {tensor}")


@declared_op("tt.descriptor_load")
class DescriptorLoadOp(BlockAccess):
    """The block at indices."""

    assembly_format = (
        f"$desc `[` $indices `]` {MODIFIERS} attr-dict `:` type($desc) `->` type($result)"
    )

    desc = operand_def(DESCRIPTOR)
    indices = var_operand_def(I32)
    cache = opt_prop_def(CACHE, UNCACHED)
    evict = opt_prop_def(EVICTION, NORMAL)
    cachePolicy = opt_prop_def(CACHE_POLICY)
    result = result_def(TENSOR)

    def verify_types(self) -> None:
        self.verify_block(self.desc, self.indices, self.result.type)


class BlockStore(BlockAccess):
    """A block at indices from a tensor."""

    def verify_types(self) -> None:
        self.verify_block(self.operands[0], self.operands[2:], self.operands[1].type)


@declared_op("tt.descriptor_store")
class DescriptorStoreOp(BlockStore):
    """Write the block at indices."""

    assembly_format = "$desc `[` $indices `]` `,` $src attr-dict `:` type($desc) `,` type($src)"

    desc = operand_def(DESCRIPTOR)
    src = operand_def(TENSOR)
    indices = var_operand_def(I32)


@declared_op("tt.descriptor_reduce")
class DescriptorReduceOp(BlockStore):
    """Update each element of the block at indices."""

    assembly_format = (
        "custom<Word>($kind) `,` $desc `[` $indices `]` `,` $src attr-dict "
        "`:` type($desc) `,` type($src)"
    )

    kind = prop_def(REDUCTION)
    desc = operand_def(DESCRIPTOR)
    src = operand_def(TENSOR)
    indices = var_operand_def(I32)


class RowAccess(TritonOp):
    """Rows of a tensor, by their numbers, from a column on."""

    def verify_rows(self, descriptor: SSAValue, rows: SSAValue, tensor: Attribute) -> None:
        """Raise VerifyException unless a row of the tensor is a block, and one is for each."""
        block, offsets = block_of(descriptor), shape_of(rows.type)
        if len(offsets) != 1:
            raise self.fail(f"x_offsets of one dimension, got {rows.type}")
        element: Any = element_of(block)
        if getattr(element, "bitwidth", 64) > 32:
            raise self.fail(f"elements of at most 32 bits, got {element}")
        columns = shape_of(block)[-1:]
        if shape_of(block) != (1, *columns) or columns < (least := (256 // element.bitwidth,)):
            raise self.fail(
                f"a block of 1 row of at least {256 // element.bitwidth} elements, got {block}"
            )
        if offsets < (least := (8,)):
            raise self.fail(f"at least {least[0]} rows, got {rows.type}")
        if shape_of(tensor) != (*offsets, *columns) or element_of(tensor) != element:
            raise self.fail(f"a tensor of {offsets[0]} rows as {block}, got {tensor}")


@declared_op("tt.descriptor_gather")
class DescriptorGatherOp(RowAccess):
    """The rows of some numbers."""

    assembly_format = (
        "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, $result)"
    )

    desc = operand_def(DESCRIPTOR)
    x_offsets = operand_def(I32_TENSOR)
    y_offset = operand_def(I32)
    result = result_def(TENSOR)

    def verify_types(self) -> None:
        self.verify_rows(self.desc, self.x_offsets, self.result.type)


@declared_op("tt.descriptor_scatter")
class DescriptorScatterOp(RowAccess):
    """Write the rows of some numbers."""

    assembly_format = "$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)"

    desc = operand_def(DESCRIPTOR)
    x_offsets = operand_def(I32_TENSOR)
    y_offset = operand_def(I32)
    src = operand_def(TENSOR)

    def verify_types(self) -> None:
        self.verify_rows(self.desc, self.x_offsets, self.src.type)
