"""Descriptors of matrices in shared memory."""

from xdsl.ir import SSAValue

from tilewright.dialects.cute import ComposedLayout, Layout
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import DescriptorFormat
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.lowering.tile.kernel import KernelLowering


def descriptor(
    tensor: Tensor,
    first: int,
    matrix: Layout,
    element: ElementType,
    format: DescriptorFormat,
    kernel: KernelLowering,
) -> SSAValue:
    """That of a matrix (mn, k) from an element of a tensor on, through its memory's swizzle."""
    layout: AnyLayout = matrix
    if isinstance(tensor.layout, ComposedLayout):
        layout = ComposedLayout(tensor.layout.inner, 0, matrix)
    line, at = kernel.place(tensor, first)
    type_ = SmemDescViewType.of(element, layout, format)
    return kernel.emitter.once(("desc", line, at, type_), lambda: MakeSmemDescOp(line, [at], type_))
