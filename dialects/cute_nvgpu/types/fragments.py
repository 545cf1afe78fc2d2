"""Types and attributes of `cute_nvgpu`: fragments, and how copies are cached."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, IntAttr, NoneAttr, UnitAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.cute import Layout, flatten
from tilewright.dialects.cute.types.algebra import LayoutType
from tilewright.dialects.cute_nvgpu.lattice.elements import (
    ELEMENT_TYPES,
    INTEGERS,
    METADATA,
    SCALE_TYPES,
    UNPACKED,
    ElementType,
)
from tilewright.dialects.labelled import Bracketed
from tilewright.dialects.once import once, once_each
from tilewright.dialects.reading import legal_text

_THREADS = (32, 128)
"""How many threads hold a matrix together: a warp or a warpgroup."""

_MATRIX_TYPES = (*ELEMENT_TYPES.values(), *SCALE_TYPES.values(), METADATA)
_FRAGMENT_TYPES = (*_MATRIX_TYPES, *INTEGERS.values())


def _mlir_types() -> dict[str, Attribute]:
    """MLIR's type of every element type, by its PTX name."""
    context = Context()
    context.load_dialect(Builtin)
    return {row.name: Parser(context, row.mlir).parse_type() for row in _FRAGMENT_TYPES}


MLIR_TYPES = _mlir_types()
# Where two types are one in MLIR (e4m3 and ue4m3), the first says how a fragment holds it.
_HELD_AS = {MLIR_TYPES[row.name]: row for row in reversed(_FRAGMENT_TYPES)}
_ELEMENT_OF = {MLIR_TYPES[row.name]: row for row in reversed(_MATRIX_TYPES)}
_UNPACKED_OF = {MLIR_TYPES[name]: row for name, row in UNPACKED.items()}
LEGAL_ELEMENTS = ", ".join(dict.fromkeys(row.mlir for row in _MATRIX_TYPES))
LEGAL_HELD = ", ".join(dict.fromkeys(row.mlir for row in _FRAGMENT_TYPES))


@once_each
def element_of(type_: Attribute) -> ElementType | None:
    """The row of an MLIR element type, or None where no MMA takes it."""
    return _ELEMENT_OF.get(type_)


def unpacked_of(type_: Attribute) -> ElementType:
    """The row of an element type of `UNPACKED` where each element takes a byte."""
    return _UNPACKED_OF[type_]


@lru_cache(1 << 10)
def _plain(count: int, element_type: Attribute, unpacked: bool) -> FragmentType:
    """The fragment without its layout."""
    mark = UnitAttr() if unpacked else NoneAttr()
    return FragmentType(IntAttr(count), element_type, NoneAttr(), mark)


@irdl_attr_definition
class FragmentType(Bracketed, TypeAttribute):
    """The registers that each thread of a warp holds of a matrix, or of a tensor.

    `!cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">`: eight elements a
    thread and, where it is known, the TV layout `(thread, value) -> index` of the matrix.
    `!cute_nvgpu.fragment<16xf4E2M1FN, unpacked>` holds one element a byte, as `kind::f8f6f4` and
    `kind::mxf8f6f4` want them, where the element type would otherwise be packed.
    """

    name = "cute_nvgpu.fragment"

    count: IntAttr
    element_type: Attribute
    layout: LayoutType | NoneAttr
    unpacked: UnitAttr | NoneAttr

    @classmethod
    def get(
        cls,
        count: int,
        element_type: Attribute,
        layout: Layout | None = None,
        *,
        unpacked: bool = False,
    ) -> FragmentType:
        """The fragment of `count` elements a thread, with or without its layout."""
        plain = _plain(count, element_type, unpacked)
        return plain if layout is None else plain.with_layout(layout)

    @classmethod
    def of(cls, element: ElementType, count: int) -> FragmentType:
        """The fragment of `count` elements a thread, as a row of the tables describes them."""
        unpacked = UNPACKED.get(element.name) is element
        return cls.get(count, MLIR_TYPES[element.name], unpacked=unpacked)

    def with_layout(self, layout: Layout) -> FragmentType:
        """The same fragment, its layout known."""
        return FragmentType(self.count, self.element_type, LayoutType.get(layout), self.unpacked)

    @property
    def is_unpacked(self) -> bool:
        """True where each element takes a byte although its type would be packed."""
        return isinstance(self.unpacked, UnitAttr)

    @once
    def element(self) -> ElementType:
        """The row of the element type."""
        if self.is_unpacked:
            return _UNPACKED_OF[self.element_type]
        return _HELD_AS[self.element_type]

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
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        shape, element = parser.parse_ranked_shape()
        if len(shape) != 1:
            parser.raise_error("expected COUNTxTYPE, such as 8xbf16", start, parser.pos)
        layout: Attribute = NoneAttr()
        unpacked: Attribute = NoneAttr()
        more = parser.parse_optional_punctuation(",") is not None
        if more and parser.parse_optional_keyword("unpacked"):
            unpacked = UnitAttr()
            more = parser.parse_optional_punctuation(",") is not None
        if more:
            with legal_text(parser):
                layout = LayoutType.get(Layout.parse(parser.parse_str_literal()))
        return [IntAttr(shape[0]), element, layout, unpacked]

    def print_inside(self, printer: Printer) -> None:
        printer.print_string(f"{self.count.data}x")
        printer.print_attribute(self.element_type)
        if self.is_unpacked:
            printer.print_string(", unpacked")
        if isinstance(self.layout, LayoutType):
            printer.print_string(", ")
            printer.print_attribute(self.layout.text)

    def verify(self) -> None:
        element = _HELD_AS.get(self.element_type)
        if element is None:
            raise VerifyException(
                f"fragment expected an element type of {LEGAL_HELD}, got {self.element_type}"
            )
        if self.is_unpacked:
            if self.element_type not in _UNPACKED_OF:
                legal = ", ".join(row.mlir for row in UNPACKED.values())
                raise VerifyException(
                    f"fragment expected unpacked elements of {legal}, got {self.element_type} "
                    "(others have one form in registers)"
                )
            element = self.element
        count = self.count.data
        if count < 1 or count % element.per_register:
            nearest = max(1, round(count / element.per_register)) * element.per_register
            raise VerifyException(
                f"fragment expected whole registers of {element.per_register} x {element.mlir}, "
                f"got {count} elements; nearest legal: {nearest}"
            )
        layout = self.tv_layout
        if layout is None:
            return
        if not all(isinstance(step, int) for step in flatten(layout.stride)):
            raise VerifyException(f"fragment expected a layout with integer strides, got {layout}")
        threads = layout[0].size() if layout.rank() == 2 else layout.size() // count
        if threads not in _THREADS or layout.size() != threads * count:
            raise VerifyException(
                f"fragment expected a layout of {' or '.join(map(str, _THREADS))} threads "
                f"x {count} values, got size {layout.size()} of {layout}"
            )


class Cache(StrEnum):
    """The cache operators of `cp.async`: `ca` keeps the line in L1, `cg` in L2 alone."""

    CA = "ca"
    CG = "cg"


@irdl_attr_definition
class CacheAttr(EnumAttribute[Cache], SpacedOpaqueSyntaxAttribute):
    """A cache operator, `#cute_nvgpu<cache cg>`."""

    name = "cute_nvgpu.cache"
