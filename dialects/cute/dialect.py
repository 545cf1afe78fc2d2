"""The `cute` dialect's attributes: layouts as IR, in the text of NVIDIA's CuTe IR."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from functools import cache
from typing import Self, TypeGuard

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    MemRefLayoutAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    Dialect,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException, VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.cute import (
    ComposedLayout,
    Layout,
    LayoutParseError,
    flatten,
    parse_layout,
)


@cache
def _parsed(text: str) -> Layout | ComposedLayout:
    return parse_layout(text)


class _LayoutText(ParametrizedAttribute, TypeAttribute, MemRefLayoutAttr, ABC):
    """A layout attribute whose one parameter is CuTe's text of it."""

    text: StringAttr

    @property
    def data(self) -> Layout | ComposedLayout:
        """The layout as a value of the algebra."""
        return _parsed(self.text.data)

    @classmethod
    def get(cls, layout: Layout | ComposedLayout) -> Self:
        """The attribute of a layout."""
        return cls(StringAttr(str(layout)))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            start = parser.pos
            text = parser.parse_str_literal()
            try:
                return [StringAttr(str(_parsed(text)))]
            except LayoutParseError as error:
                parser.raise_error(str(error), start, parser.pos)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.text)

    def get_strides(self) -> Sequence[int | None] | None:
        layout = self.data
        if isinstance(layout, Layout) and isinstance(layout.stride, tuple):
            strides = [step for step in layout.stride if isinstance(step, int)]
            return strides if len(strides) == len(layout.stride) else None
        return None

    def get_affine_map(self) -> AffineMap:
        strides = self.get_strides()
        if strides is None:
            raise DiagnosticException(f"no affine map expresses the layout {self.text.data}")
        result = AffineExpr.constant(0)
        for dim, step in enumerate(strides):
            assert step is not None
            result = result + AffineExpr.dimension(dim) * step
        return AffineMap(len(strides), 0, (result,))


@irdl_attr_definition
class LayoutType(_LayoutText):
    """A layout: `!cute.layout<"(4,8):(1,4)">`. As a memref's layout it maps the memref's
    coordinates to element offsets."""

    name = "cute.layout"

    def verify(self) -> None:
        if not isinstance(self.data, Layout):
            raise VerifyException(f"expected a plain layout, got '{self.text.data}'")


@irdl_attr_definition
class ComposedLayoutType(_LayoutText):
    """A swizzled layout: `!cute.composed_layout<"S<2,3,3> o 0 o (64,32):(32,1)">`."""

    name = "cute.composed_layout"

    def verify(self) -> None:
        if not isinstance(self.data, ComposedLayout):
            raise VerifyException(f"expected a composed layout, got '{self.text.data}'")


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
        return type_.layout.data
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


CUTE = Dialect("cute", [], [LayoutType, ComposedLayoutType, SpaceAttr])
