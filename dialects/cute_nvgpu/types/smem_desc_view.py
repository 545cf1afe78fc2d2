"""Matrices in shared memory as the descriptors of `wgmma` and `tcgen05` see them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import IntAttr, NoneAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute import parse_layout
from tilewright.dialects.cute.int_tuple import product_each
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.types.algebra import ComposedLayoutType, LayoutType
from tilewright.dialects.cute.types.memref import layout_type
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    FORMATS,
    WGMMA,
    DescriptorFormat,
)
from tilewright.dialects.cute_nvgpu.descriptors.solve_descriptor import SmemTile, solve
from tilewright.dialects.cute_nvgpu.lattice.elements import UNPACKED, ElementType
from tilewright.dialects.cute_nvgpu.types.fragments import (
    LEGAL_ELEMENTS,
    MLIR_TYPES,
    element_of,
    unpacked_of,
)
from tilewright.dialects.labelled import Bracketed
from tilewright.dialects.once import once
from tilewright.dialects.reading import legal_text


@irdl_attr_definition
class SmemDescViewType(Bracketed, TypeAttribute):
    """A matrix in shared memory that a descriptor expresses.

    `!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">`: (M or N) x K elements
    and their layout `(mn, k) -> offset` from the matrix's first element, before or through a
    swizzle. What no descriptor expresses is no such type. `tcgen05` before the layout names the
    other format of descriptor, and `unpacked` says that each e2m1 has a byte of the layout: 16 of
    them lie in the first 8 of 16 bytes.
    """

    name = "cute_nvgpu.smem_desc_view"

    rows: IntAttr
    columns: IntAttr
    element_type: Attribute
    layout: LayoutType | ComposedLayoutType
    format_name: StringAttr
    unpacked: UnitAttr | NoneAttr

    @classmethod
    def get(
        cls,
        element_type: Attribute,
        layout: AnyLayout,
        format: DescriptorFormat = WGMMA,
        *,
        unpacked: bool = False,
    ) -> SmemDescViewType:
        """The matrix of that layout, its extents those of the layout."""
        rows, columns = (layout[mode].size() for mode in (0, 1))
        return cls(
            IntAttr(rows),
            IntAttr(columns),
            element_type,
            layout_type(layout),
            StringAttr(format.name),
            UnitAttr() if unpacked else NoneAttr(),
        )

    @classmethod
    def of(
        cls, element: ElementType, layout: AnyLayout, format: DescriptorFormat
    ) -> SmemDescViewType:
        """The matrix of a layout of elements as a row of the tables describes them."""
        unpacked = UNPACKED.get(element.name) is element
        return cls.get(MLIR_TYPES[element.name], layout, format, unpacked=unpacked)

    def with_layout(self, layout: AnyLayout) -> SmemDescViewType:
        """Such a matrix of another layout."""
        return SmemDescViewType.of(self.element, layout, self.format)

    @property
    def element(self) -> ElementType:
        """The row of the element type."""
        if isinstance(self.unpacked, UnitAttr):
            return unpacked_of(self.element_type)
        element = element_of(self.element_type)
        assert element is not None
        return element

    @property
    def format(self) -> DescriptorFormat:
        """The format of the descriptor."""
        return FORMATS[self.format_name.data]

    @property
    def extents(self) -> tuple[int, int]:
        """(M or N, K)."""
        return self.rows.data, self.columns.data

    @once
    def tile(self) -> SmemTile:
        """Its major-ness, offsets and swizzle."""
        return _solved(self.layout.data, self.element.bits, self.format)

    @property
    def elements(self) -> str:
        """`64x16xbf16`, `128x32xf4E2M1FN, unpacked`."""
        packing = ", unpacked" if isinstance(self.unpacked, UnitAttr) else ""
        return f"{self.rows.data}x{self.columns.data}x{self.element_type}{packing}"

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        shape, element = parser.parse_ranked_shape()
        if len(shape) != 2:
            parser.raise_error("expected MNxKxTYPE, such as 64x16xbf16", start, parser.pos)
        parser.parse_punctuation(",")
        unpacked: UnitAttr | NoneAttr = NoneAttr()
        if parser.parse_optional_keyword("unpacked"):
            unpacked = UnitAttr()
            parser.parse_punctuation(",")
        format = _parse_format(parser)
        with legal_text(parser):
            layout = layout_type(parse_layout(parser.parse_str_literal()))
        return [
            IntAttr(shape[0]), IntAttr(shape[1]), element, layout, StringAttr(format), unpacked
        ]  # fmt: skip

    def print_inside(self, printer: Printer) -> None:
        printer.print_string(f"{self.rows.data}x{self.columns.data}x")
        printer.print_attribute(self.element_type)
        if isinstance(self.unpacked, UnitAttr):
            printer.print_string(", unpacked")
        if self.format is not WGMMA:
            printer.print_string(f", {self.format.name}")
        printer.print_string(", ")
        printer.print_attribute(self.layout.text)

    def verify(self) -> None:
        if element_of(self.element_type) is None:
            raise VerifyException(
                f"smem_desc_view expected an element type of {LEGAL_ELEMENTS}, "
                f"got {self.element_type}"
            )
        if isinstance(self.unpacked, UnitAttr) and self.element_type not in _UNPACKED:
            raise VerifyException(
                f"smem_desc_view expected unpacked elements of {', '.join(map(str, _UNPACKED))}, "
                f"got {self.element_type} (others have one form in shared memory)"
            )
        layout = self.layout.data
        shape = product_each(layout.shape)
        if shape != self.extents:
            raise VerifyException(
                f"smem_desc_view expected a layout of shape {self.rows.data}x{self.columns.data}, "
                f"got {layout}"
            )
        try:
            _ = self.tile
        except DescriptorError as error:
            raise VerifyException(f"smem_desc_view: {error}") from None


_UNPACKED = tuple(MLIR_TYPES[name] for name in UNPACKED)


def _parse_format(parser: AttrParser) -> str:
    start = parser.pos
    name = parser.parse_optional_identifier()
    if name is None:
        return WGMMA.name
    if name not in FORMATS:
        parser.raise_error(
            f"expected a descriptor of {' or '.join(FORMATS)}, got {name}", start, parser.pos
        )
    parser.parse_punctuation(",")
    return name


@cache
def _solved(layout: AnyLayout, bits: int, format: DescriptorFormat) -> SmemTile:
    return solve(layout, bits, format=format)
