"""Types of `sm90.mma`: its atoms, and matrices in shared memory as a descriptor sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute import ComposedLayout, Layout, LayoutParseError, parse_layout
from tilewright.dialects.cute.atoms import MmaTraits, Operand
from tilewright.dialects.cute.dialect import layout_type
from tilewright.dialects.cute.symbolic.composed import AnyLayout
from tilewright.dialects.cute.tiled_types import MmaAtomAttr
from tilewright.dialects.cute.types import ComposedLayoutType, LayoutType
from tilewright.dialects.cute_nvgpu.atom import AtomError
from tilewright.dialects.cute_nvgpu.atom_types import parse_element
from tilewright.dialects.cute_nvgpu.attributes import LEGAL_ELEMENTS, element_of
from tilewright.dialects.cute_nvgpu.elements import ElementType
from tilewright.dialects.cute_nvgpu.mma_traits import wgmma_traits, why_no_descriptor
from tilewright.dialects.cute_nvgpu.smem_descriptor import MAJOR_MODES, DescriptorError, MajorMode
from tilewright.dialects.cute_nvgpu.solve_descriptor import SmemTile, solve
from tilewright.dialects.cute_nvgpu.wgmma_atom import FragmentKind, WgmmaAtom
from tilewright.dialects.cute_nvgpu.wgmma_lookup import find_wgmma

Parsed = TypeVar("Parsed")

_FRAGMENT_KINDS: tuple[FragmentKind, ...] = ("ss", "rs")


class WgmmaAtomType(Data[WgmmaAtom], TypeAttribute, MmaAtomAttr):
    """An atom of `wgmma.mma_async`.

    `!cute_nvgpu.sm90.mma<64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn),
    frag_kind = ss>`: shape M x N x K; the element types of a, b and d; how A and B lie in shared
    memory; and whether A is there too (`ss`) or in registers (`rs`). `satfinite` may follow.
    """

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> WgmmaAtom:
        with parser.in_angle_brackets():
            start = parser.pos
            shape = parser.parse_dimension_list()
            types = _after("elem_type", parser, lambda: parse_element(parser))
            majors: list[MajorMode] = _after("ab_major", parser, lambda: _major(parser))
            parser.parse_punctuation(",")
            parser.parse_keyword("frag_kind")
            parser.parse_punctuation("=")
            kind = _FRAGMENT_KINDS[_choice(parser, _FRAGMENT_KINDS)]
            satfinite = parser.parse_optional_punctuation(",") is not None
            if satfinite:
                parser.parse_keyword("satfinite")
            if len(shape) != 3 or len(types) != 3 or len(majors) != 2:
                parser.raise_error(
                    "expected MxNxK, elem_type = (a, b, d), ab_major = (a, b)", start, parser.pos
                )
            (m, n, k), (a, b, d) = shape, types
            try:
                return find_wgmma(
                    cls.name.removeprefix("cute_nvgpu."),
                    (m, n, k),
                    (a, b, d),
                    majors=(majors[0], majors[1]),
                    frag_kind=kind,
                    satfinite=satfinite,
                )
            except AtomError as error:
                parser.raise_error(str(error), start, parser.pos)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.parameters)

    @property
    def mma_traits(self) -> MmaTraits:
        return wgmma_traits(self.data)

    def why_not_operand(self, which: Operand, layout: AnyLayout) -> str | None:
        major = self.data.majors[0 if which == "A" else 1]
        return why_no_descriptor(layout, self.data.element(which), major)


@irdl_attr_definition
class Sm90MmaAtomType(WgmmaAtomType):
    """An atom of `sm90.mma`."""

    name = "cute_nvgpu.sm90.mma"


@irdl_attr_definition
class Sm90SparseMmaAtomType(WgmmaAtomType):
    """An atom of `sm90.sparse_mma`."""

    name = "cute_nvgpu.sm90.sparse_mma"


WGMMA_ATOM_TYPES: dict[str, type[WgmmaAtomType]] = {
    each.name.removeprefix("cute_nvgpu."): each for each in (Sm90MmaAtomType, Sm90SparseMmaAtomType)
}
"""The attribute of the atoms of each op."""


def _after(keyword: str, parser: AttrParser, parse: Callable[[], Parsed]) -> list[Parsed]:
    """`, keyword = (x, y)`."""
    parser.parse_punctuation(",")
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse)


def _major(parser: AttrParser) -> MajorMode:
    return MAJOR_MODES[_choice(parser, MAJOR_MODES)]


def _choice(parser: AttrParser, legal: Sequence[str]) -> int:
    """Which of these words comes next."""
    start = parser.pos
    found = parser.parse_identifier()
    if found not in legal:
        parser.raise_error(f"expected {' or '.join(legal)}, got {found}", start, parser.pos)
    return legal.index(found)


@irdl_attr_definition
class SmemDescViewType(ParametrizedAttribute, TypeAttribute):
    """A matrix in shared memory that a descriptor expresses.

    `!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">`: (M or N) x K elements
    and their layout `(mn, k) -> offset` from the matrix's first element, before or through a
    swizzle. What no descriptor expresses is no such type.
    """

    name = "cute_nvgpu.smem_desc_view"

    rows: IntAttr
    columns: IntAttr
    element_type: Attribute
    layout: LayoutType | ComposedLayoutType

    @classmethod
    def get(cls, element_type: Attribute, layout: Layout | ComposedLayout) -> SmemDescViewType:
        """The matrix of that layout, its extents those of the layout."""
        rows, columns = (layout[mode].size() for mode in (0, 1))
        return cls(IntAttr(rows), IntAttr(columns), element_type, layout_type(layout))

    @property
    def element(self) -> ElementType:
        """The row of the element type."""
        found = element_of(self.element_type)
        assert found is not None
        return found

    @property
    def extents(self) -> tuple[int, int]:
        """(M or N, K)."""
        return self.rows.data, self.columns.data

    @property
    def tile(self) -> SmemTile:
        """Its major-ness, offsets and swizzle."""
        return _solved(self.layout.data, self.element.bits)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            start = parser.pos
            shape, element = parser.parse_ranked_shape()
            if len(shape) != 2:
                parser.raise_error("expected MNxKxTYPE, such as 64x16xbf16", start, parser.pos)
            parser.parse_punctuation(",")
            start = parser.pos
            text = parser.parse_str_literal()
            try:
                layout = layout_type(parse_layout(text))
            except LayoutParseError as error:
                parser.raise_error(str(error), start, parser.pos)
        return [IntAttr(shape[0]), IntAttr(shape[1]), element, layout]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.rows.data}x{self.columns.data}x")
            printer.print_attribute(self.element_type)
            printer.print_string(", ")
            printer.print_attribute(self.layout.text)

    def verify(self) -> None:
        if element_of(self.element_type) is None:
            raise VerifyException(
                f"smem_desc_view expected an element type of {LEGAL_ELEMENTS}, "
                f"got {self.element_type}"
            )
        layout = self.layout.data
        found = tuple(layout[mode].size() for mode in range(layout.rank()))
        if found != self.extents:
            raise VerifyException(
                f"smem_desc_view expected a layout of shape {self.rows.data}x{self.columns.data}, "
                f"got {layout}"
            )
        try:
            _ = self.tile
        except DescriptorError as error:
            raise VerifyException(f"smem_desc_view: {error}") from None


@cache
def _solved(layout: Layout | ComposedLayout, bits: int) -> SmemTile:
    return solve(layout, bits)
