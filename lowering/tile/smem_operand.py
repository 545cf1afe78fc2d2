"""Operands that an MMA reads from shared memory, through descriptors."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.dialects.cute import ComposedLayout, Layout
from tilewright.dialects.cute.symbolic import layouts
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import WGMMA, DescriptorFormat
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.dialects.cute_nvgpu.types.fragments import MLIR_TYPES
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.lowering.tile.kernel import Kernel, static_extents


def block_of(tensor: Tensor, row: int, column: int) -> tuple[int, int]:
    """The first element of one atom's values in a partition, and how many there are."""
    values, rows, *_ = static_extents(tensor)
    return (column * rows + row) * values, values


def descriptor(
    tensor: Tensor,
    row: int,
    k: int,
    element: ElementType,
    kernel: Kernel,
    format: DescriptorFormat = WGMMA,
) -> SSAValue:
    """The descriptor of one atom's matrix in a partition."""
    first, _ = block_of(tensor, row, k)
    line, at = kernel.place(tensor, first)
    type_ = SmemDescViewType.get(MLIR_TYPES[element.name], _matrix(tensor), format)
    return kernel.emitter.once(("desc", line, at, type_), lambda: MakeSmemDescOp(line, [at], type_))


def _matrix(tensor: Tensor) -> Layout | ComposedLayout:
    """The layout of one atom's matrix (mn, k), through the swizzle of its memory."""
    values = layouts.mode(tensor.modes, (0,))
    if isinstance(tensor.layout, ComposedLayout):
        return ComposedLayout(tensor.layout.inner, 0, values)
    return values
