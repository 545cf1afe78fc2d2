"""The `cute` dialect, and what its layouts say of memrefs."""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, NoneAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Dialect, Operation, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.cute import ComposedLayout, Layout, flatten
from tilewright.dialects.cute.argument import ArgumentAttr
from tilewright.dialects.cute.ops.accessors import ACCESSORS
from tilewright.dialects.cute.ops.arithmetic import ARITHMETIC
from tilewright.dialects.cute.ops.constructors import CONSTRUCTORS
from tilewright.dialects.cute.ops.copy import CopyOp
from tilewright.dialects.cute.ops.elements import ELEMENT_OPS
from tilewright.dialects.cute.ops.gemm import GemmOp
from tilewright.dialects.cute.ops.layout_algebra import LAYOUT_ALGEBRA
from tilewright.dialects.cute.ops.memory import MEMORY_OPS
from tilewright.dialects.cute.ops.pipeline import PIPELINE_OPS
from tilewright.dialects.cute.ops.scheduler import SCHEDULER_OPS
from tilewright.dialects.cute.ops.size_index import SIZE_INDEX
from tilewright.dialects.cute.ops.tensors import TENSOR_OPS
from tilewright.dialects.cute.ops.tiled import TILED_OPS
from tilewright.dialects.cute.ops.tiling import TILING
from tilewright.dialects.cute.ops.tma import TMA_OPS
from tilewright.dialects.cute.pipeline_types import PipelineType
from tilewright.dialects.cute.tensor_types import TENSOR_TYPES
from tilewright.dialects.cute.tiled_types import TILED_TYPES
from tilewright.dialects.cute.tma_types import TmaCopyType
from tilewright.dialects.cute.types import (
    ATTRIBUTES,
    TYPES,
    ComposedLayoutType,
    LayoutType,
)
from tilewright.dialects.cute.values import is_known


def layout_type(layout: Layout | ComposedLayout) -> LayoutType | ComposedLayoutType:
    """The attribute that holds this layout."""
    return LayoutType.get(layout) if isinstance(layout, Layout) else ComposedLayoutType.get(layout)


class Space(StrEnum):
    """Where a tensor lives, in CuTe's words."""

    GENERIC = "generic"
    GMEM = "gmem"
    SMEM = "smem"
    RMEM = "rmem"
    TMEM = "tmem"


@irdl_attr_definition
class SpaceAttr(EnumAttribute[Space], SpacedOpaqueSyntaxAttribute):
    """A memory space, `#cute<space smem>`."""

    name = "cute.space"


# NVVM's numbering of memory spaces, which upstream front ends write: memref<..., 3>.
_NVVM_SPACES = {0: Space.GENERIC, 1: Space.GMEM, 3: Space.SMEM}


def space_of(attribute: Attribute) -> Space | None:
    """The space that a memref's memory-space attribute means; None where it means none of ours.

    No attribute is global memory, as the kernel ABI has it; integers are NVVM's numbers.
    """
    match attribute:
        case NoneAttr():
            return Space.GMEM
        case SpaceAttr():
            return attribute.data
        case IntegerAttr():
            return _NVVM_SPACES.get(attribute.value.data)
        case _:
            return None


def is_memref(type_: object) -> TypeGuard[MemRefType[Attribute]]:
    """Whether a type is a memref."""
    return isinstance(type_, MemRefType)


def layout_of(type_: MemRefType) -> Layout | ComposedLayout | None:
    """The layout, coordinates to element offsets, of a memref whose layout is static.

    None where it is not: dynamic extents or strides, or an affine map.
    """
    if isinstance(type_.layout, LayoutType | ComposedLayoutType):
        return type_.layout.data if is_known(type_.layout.typed) else None
    strides, shape = type_.get_strides(), type_.get_shape()
    if strides is None or None in strides or DYNAMIC_INDEX in (*shape, *strides):
        return None
    return Layout(shape, tuple(step for step in strides if step is not None))


def layout_mismatch(type_: MemRefType) -> str | None:
    """Why a memref's CuTe layout is none of its shape, or None where it is (or has none)."""
    if not isinstance(type_.layout, LayoutType | ComposedLayoutType):
        return None
    layout = type_.layout.data
    plain = layout.outer if isinstance(layout, ComposedLayout) else layout
    if not all(isinstance(step, int) for step in flatten(plain.stride)):
        return f"expected a layout with integer strides, got {layout}"
    found = tuple(plain[mode].size() for mode in range(plain.rank()))
    if found != tuple(type_.get_shape()):
        shape = "x".join(map(str, type_.get_shape()))
        return f"expected a layout of shape {shape}, got {layout}"
    return None


ALGEBRA_OPS: tuple[type[Operation], ...] = (
    *CONSTRUCTORS,
    *ACCESSORS,
    *LAYOUT_ALGEBRA,
    *SIZE_INDEX,
    *ARITHMETIC,
    *TILING,
)
"""The ops of NVIDIA's CuTe IR: values of the layout algebra."""

TILE_OPS: tuple[type[Operation], ...] = (
    *TENSOR_OPS,
    *TILED_OPS,
    *MEMORY_OPS,
    *ELEMENT_OPS,
    CopyOp,
    *TMA_OPS,
    GemmOp,
    *PIPELINE_OPS,
    *SCHEDULER_OPS,
)
"""The ops of the tile level: tensors, copies, MMAs, pipelines."""

OPS = (*ALGEBRA_OPS, *TILE_OPS)

CUTE = Dialect(
    "cute",
    list(OPS),
    [
        *TYPES,
        *ATTRIBUTES,
        SpaceAttr,
        ArgumentAttr,
        *TENSOR_TYPES,
        *TILED_TYPES,
        TmaCopyType,
        PipelineType,
    ],
)
