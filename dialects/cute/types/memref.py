"""Memory spaces, and what the layouts of `cute` say of memrefs."""

from typing import TypeGuard

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.cute import ComposedLayout, Layout, Swizzle, flatten
from tilewright.dialects.cute.int_tuple import product_each
from tilewright.dialects.cute.swizzle import AnyLayout, outer_of
from tilewright.dialects.cute.symbolic.tuples import is_static
from tilewright.dialects.cute.types.algebra import ComposedLayoutType, LayoutType
from tilewright.dialects.cute.values import is_known


def layout_type(layout: AnyLayout) -> LayoutType | ComposedLayoutType:
    """The attribute that holds this layout."""
    return LayoutType.get(layout) if isinstance(layout, Layout) else ComposedLayoutType.get(layout)


class Space(StrEnum):
    """Where a tensor lives, in CuTe's words."""

    GENERIC = "generic"
    GMEM = "gmem"
    SMEM = "smem"
    DSMEM = "dsmem"
    RMEM = "rmem"
    TMEM = "tmem"

    @property
    def is_shared(self) -> bool:
        """True for shared memory, whose addresses have 32 bits: that of the CTA, or of any CTA of
        its cluster."""
        return self in (Space.SMEM, Space.DSMEM)


@irdl_attr_definition
class SpaceAttr(EnumAttribute[Space], SpacedOpaqueSyntaxAttribute):
    """A memory space, `#cute<space smem>`."""

    name = "cute.space"


def shared_line(
    element: Attribute, count: int, swizzle: Swizzle | None = None
) -> MemRefType[Attribute]:
    """Shared memory of so many elements, one behind the other, through a swizzle."""
    line = NoneAttr()
    if swizzle is not None and swizzle.bits:
        line = ComposedLayoutType.get(ComposedLayout(swizzle, 0, Layout(count, 1)))
    return MemRefType(element, [count], line, SpaceAttr(Space.SMEM))


# NVVM's numbering of memory spaces, which upstream front ends write: memref<..., 3>.
_NVVM_SPACES = {0: Space.GENERIC, 1: Space.GMEM, 3: Space.SMEM, 7: Space.DSMEM}


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
    """True for a memref."""
    return isinstance(type_, MemRefType)


def layout_of(type_: MemRefType) -> AnyLayout | None:
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
    plain = outer_of(layout)
    if not is_static((plain.shape, plain.stride)):
        return f"expected a static layout, got {layout}"
    if not all(isinstance(step, int) for step in flatten(plain.stride)):
        return f"expected a layout with integer strides, got {layout}"
    extents = product_each(plain.shape)
    if extents != tuple(type_.get_shape()):
        shape = "x".join(map(str, type_.get_shape()))
        return f"expected a layout of shape {shape}, got {layout}"
    return None


SHARED_ALIGN = 128
"""Alignment of a memref in shared memory in bytes, unless its allocation asks for more."""


def alignment(asked: int, layout: AnyLayout, element_bytes: int) -> int:
    """Where a tile of shared memory may start, in bytes: a swizzled one starts with its pattern, so
    that the hardware, which swizzles addresses, sees what the layout, which swizzles offsets, says.
    """
    pattern = 1
    if isinstance(layout, ComposedLayout) and isinstance(layout.inner, Swizzle):
        pattern = layout.inner.size() * element_bytes
    return max(asked, SHARED_ALIGN, pattern)


def footprint(layout: AnyLayout) -> int:
    """How many elements a tile of the layout spans: a swizzle, or the offset before it, may reach
    above the cosize."""
    if isinstance(layout, Layout):
        return layout.cosize()
    swizzle, offset = layout.inner, layout.offset
    assert isinstance(swizzle, Swizzle) and isinstance(offset, int)
    # The swizzle permutes each run of indices up to the highest bit that it changes.
    run = 1 << (swizzle.base + swizzle.bits + max(0, -swizzle.shift))
    return -(-(offset + layout.cosize()) // run) * run


def space_mismatch(type_: MemRefType) -> str | None:
    """Why threads cannot address a memref where it is, tensor memory; or None where they can."""
    if space_of(type_.memory_space) is not Space.TMEM:
        return None
    return (
        f"expected a memref in global or shared memory, got {type_}; nearest legal: "
        "cute_nvgpu.tmem.load, store or slice"
    )


def addressing_mismatch(type_: MemRefType) -> str | None:
    """Why threads cannot address a memref by its layout, or None where they can."""
    if (reason := layout_mismatch(type_)) is not None:
        return f"{type_} {reason}"
    layout = layout_of(type_)
    if isinstance(layout, ComposedLayout) and not isinstance(layout.inner, Swizzle):
        return f"{type_} expected a swizzle before its layout, got {layout.inner}"
    return None


def argument_mismatch(type_: MemRefType) -> str | None:
    """Why a memref can be no kernel argument, or None where it can: only its address is passed, so
    its strides must be static."""
    if (reason := addressing_mismatch(type_)) is not None:
        return reason
    if space_of(type_.memory_space) not in (Space.GMEM, Space.GENERIC):
        return f"kernel argument {type_} expected global memory"
    if isinstance(type_.layout, StridedLayoutAttr) and type_.layout.get_offset() != 0:
        return (
            f"kernel argument {type_} expected no offset; nearest legal: give it one with "
            "memref.reinterpret_cast"
        )
    strides = type_.get_strides()
    if layout_of(type_) is None and (strides is None or None in strides):
        return (
            f"{type_} has strides that its address does not carry; nearest legal: pass memref<?x"
            f"{type_.element_type}> and give it extents with memref.reinterpret_cast"
        )
    return None
