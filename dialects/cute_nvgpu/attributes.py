"""Types and attributes of `cute_nvgpu`: fragments and atoms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, IntAttr, NoneAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    Data,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.cute import Layout, LayoutParseError, flatten
from tilewright.dialects.cute.dialect import LayoutType
from tilewright.dialects.cute_nvgpu.atom import WARP, AtomError, MmaAtom, find
from tilewright.dialects.cute_nvgpu.elements import ELEMENT_TYPES, ElementType


def _mlir_types() -> dict[str, Attribute]:
    """MLIR's type of every element type, by its PTX name."""
    context = Context()
    context.load_dialect(Builtin)
    return {row.name: Parser(context, row.mlir).parse_type() for row in ELEMENT_TYPES.values()}


MLIR_TYPES = _mlir_types()
_ELEMENT_OF = {MLIR_TYPES[name]: row for name, row in ELEMENT_TYPES.items()}
_LEGAL_ELEMENTS = ", ".join(row.mlir for row in ELEMENT_TYPES.values())


def element_of(type_: Attribute) -> ElementType | None:
    """The row of an MLIR element type, or None where no MMA takes it."""
    return _ELEMENT_OF.get(type_)


@irdl_attr_definition
class FragmentType(ParametrizedAttribute, TypeAttribute):
    """The registers that each thread of a warp holds of a matrix.

    `!cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">`: eight elements a
    thread and, where it is known, the TV layout `(thread, value) -> index` of the matrix.
    """

    name = "cute_nvgpu.fragment"

    count: IntAttr
    element_type: Attribute
    layout: LayoutType | NoneAttr

    @classmethod
    def get(cls, count: int, element_type: Attribute, layout: Layout | None = None) -> FragmentType:
        """The fragment of `count` elements a thread, with or without its layout."""
        return cls(
            IntAttr(count), element_type, NoneAttr() if layout is None else LayoutType.get(layout)
        )

    @property
    def element(self) -> ElementType:
        """The row of the element type."""
        return _ELEMENT_OF[self.element_type]

    @property
    def tv_layout(self) -> Layout | None:
        """The declared layout, or None where it is left out."""
        if isinstance(self.layout, NoneAttr):
            return None
        layout = self.layout.data
        assert isinstance(layout, Layout)
        return layout

    @property
    def registers(self) -> int:
        """How many registers a thread holds the fragment in."""
        return self.count.data // self.element.per_register

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            start = parser.pos
            shape, element = parser.parse_ranked_shape()
            if len(shape) != 1:
                parser.raise_error("expected COUNTxTYPE, such as 8xbf16", start, parser.pos)
            layout: Attribute = NoneAttr()
            if parser.parse_optional_punctuation(","):
                start = parser.pos
                text = parser.parse_str_literal()
                try:
                    layout = LayoutType.get(Layout.parse(text))
                except LayoutParseError as error:
                    parser.raise_error(str(error), start, parser.pos)
        return [IntAttr(shape[0]), element, layout]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.count.data}x")
            printer.print_attribute(self.element_type)
            if isinstance(self.layout, LayoutType):
                printer.print_string(", ")
                printer.print_attribute(self.layout.text)

    def verify(self) -> None:
        found = element_of(self.element_type)
        if found is None:
            raise VerifyException(
                f"fragment expected an element type of {_LEGAL_ELEMENTS}, got {self.element_type}"
            )
        count = self.count.data
        if count < 1 or count % found.per_register:
            nearest = max(1, round(count / found.per_register)) * found.per_register
            raise VerifyException(
                f"fragment expected whole registers of {found.per_register} x {found.mlir}, "
                f"got {count} elements; nearest legal: {nearest}"
            )
        layout = self.tv_layout
        if layout is None:
            return
        if not all(isinstance(step, int) for step in flatten(layout.stride)):
            raise VerifyException(f"fragment expected a layout with integer strides, got {layout}")
        if layout.size() != WARP * count:
            raise VerifyException(
                f"fragment expected a layout of {WARP} threads x {count} values, "
                f"got size {layout.size()} of {layout}"
            )


class MmaAtomType(Data[MmaAtom], TypeAttribute):
    """An atom of one op of the lattice.

    `!cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32)>`: shape M x N x K and the
    element types of a, b and the accumulators (or of a, b, c and d), then the modifiers
    `satfinite`, `rounding = rz` or `bit_op = xor`.
    """

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MmaAtom:
        with parser.in_angle_brackets():
            start = parser.pos
            shape = parser.parse_dimension_list()
            parser.parse_punctuation(",")
            parser.parse_keyword("elem_type")
            parser.parse_punctuation("=")
            types = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: _parse_element(parser)
            )
            if len(shape) != 3 or len(types) not in (3, 4):
                parser.raise_error(
                    "expected MxNxK, elem_type = (a, b, acc) or (a, b, c, d)", start, parser.pos
                )
            modifiers = _parse_modifiers(parser)
            a, b, c, d = (*types, types[-1]) if len(types) == 3 else types
            try:
                m, n, k = shape
                op = cls.name.removeprefix("cute_nvgpu.")
                return find(op, (m, n, k), (a, b, c, d), **modifiers)
            except AtomError as error:
                parser.raise_error(str(error), start, parser.pos)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.parameters)


@irdl_attr_definition
class Sm80MmaAtomType(MmaAtomType):
    """An atom of `sm80.mma`."""

    name = "cute_nvgpu.sm80.mma"


@irdl_attr_definition
class Sm89MmaAtomType(MmaAtomType):
    """An atom of `sm89.mma`."""

    name = "cute_nvgpu.sm89.mma"


MMA_ATOM_TYPES: dict[str, type[MmaAtomType]] = {
    each.name.removeprefix("cute_nvgpu."): each for each in (Sm80MmaAtomType, Sm89MmaAtomType)
}
"""The attribute of the atoms of each op."""


def _parse_element(parser: AttrParser) -> str:
    start = parser.pos
    spelled = parser.parse_type()
    element = element_of(spelled)
    if element is None:
        parser.raise_error(
            f"expected an element type of {_LEGAL_ELEMENTS}, got {spelled}", start, parser.pos
        )
    return element.name


class _Modifiers(TypedDict, total=False):
    satfinite: bool
    rounding: str
    bit_op: str


def _parse_modifiers(parser: AttrParser) -> _Modifiers:
    found: _Modifiers = {}
    while parser.parse_optional_punctuation(","):
        if parser.parse_optional_keyword("satfinite"):
            found["satfinite"] = True
        elif parser.parse_optional_keyword("bit_op"):
            parser.parse_punctuation("=")
            found["bit_op"] = parser.parse_identifier()
        else:
            parser.parse_keyword("rounding")
            parser.parse_punctuation("=")
            found["rounding"] = parser.parse_identifier()
    return found


class Cache(StrEnum):
    """The cache operators of `cp.async`: `ca` keeps the line in L1, `cg` in L2 alone."""

    CA = "ca"
    CG = "cg"


@irdl_attr_definition
class CacheAttr(EnumAttribute[Cache], SpacedOpaqueSyntaxAttribute):
    """A cache operator, `#cute_nvgpu<cache cg>`."""

    name = "cute_nvgpu.cache"
