"""Types of tiled MMAs and copies, and of the pipelines between them.

!cute.tiled_mma<ATOM, atom_layout_MNK = "(2,2,1):(1,2,4)", permutation_MNK = "[32:1;32:1;16:1]">
!cute.tiled_copy<COPY_ATOM, layout_tv = "((8,16),8):((128,1),16)", tiler_mn = "[16:1;64:1]">
!cute.tma_copy<TMA_ATOM, 128x64xbf16, swizzle = 128>
!cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152>

The atoms are attributes of a dialect above this one, which derive from the classes here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.atoms import CopyTraits, MmaTraits, Operand
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.symbolic.text import tile_text
from tilewright.dialects.cute.symbolic.tuples import wrapped
from tilewright.dialects.cute.tiled_copy import TiledCopy, why_no_tiled_copy
from tilewright.dialects.cute.tiled_mma import (
    DEFAULT_ATOM_LAYOUT,
    DEFAULT_PERMUTATION,
    TiledMma,
    why_no_tiled_mma,
)
from tilewright.dialects.cute.types.algebra import TypedAttribute, built_by
from tilewright.dialects.cute.types.tensors import read_value
from tilewright.dialects.cute.values import Typed, read_typed
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.labelled import parse_label


class AtomAttr(ABC):
    """Base of the attributes that are instructions."""

    @abstractmethod
    def requirement(self) -> Requirement:
        """The lowest target and PTX version that run the instruction."""


@dataclass(frozen=True, init=False)
class AtomType(ParametrizedAttribute, TypeAttribute, TypedAttribute, ABC):
    """A type whose values issue the instruction of an atom."""

    atom: Attribute

    def requirement(self) -> Requirement:
        """That of its atom."""
        assert isinstance(self.atom, AtomAttr)
        return self.atom.requirement()


class MmaAtomAttr(AtomAttr):
    """Base of the attributes that are MMA instructions, `atoms.MmaAtom`."""

    @property
    @abstractmethod
    def mma_traits(self) -> MmaTraits:
        """How threads hold its operands. Raises LayoutError where a tile cannot be made of it."""

    @abstractmethod
    def why_not_operand(self, which: Operand, layout: AnyLayout) -> str | None:
        """Why the instruction cannot read an operand of that layout from where it has it."""


class CopyAtomAttr(AtomAttr):
    """Base of the attributes that are copy instructions, `atoms.CopyAtom`."""

    @property
    @abstractmethod
    def copy_traits(self) -> CopyTraits:
        """The parts of its source and its destination that threads hold."""


class ConversionAttr(AtomAttr):
    """Base of the attributes that are conversions between element types."""

    @property
    @abstractmethod
    def random_words(self) -> int:
        """How many elements share a word of random bits; 0 where there are none."""

    @abstractmethod
    def why_not(self, source: str, result: str, elements: int) -> str | None:
        """Why it does not convert so many elements of these MLIR types, or None."""


def _assigned(parser: AttrParser, name: str, kind: str) -> Any:
    """`name = "text"`."""
    parse_label(parser, name)
    return read_value(parser, kind)


@dataclass(frozen=True, init=False)
class TiledType(AtomType, ABC):
    """The type of an atom that is tiled, by a layout and a tile. WHAT is what atom has to be one of
    ATOMS."""

    layout: StringAttr
    tile: StringAttr

    WHAT: ClassVar[str]
    ATOMS: ClassVar[type[AtomAttr]]

    @classmethod
    def get(cls, tiled: TiledMma | TiledCopy) -> Self:
        """The type of a tiled atom. Raises VerifyException."""
        atom, layout, tile = (getattr(tiled, field.name) for field in fields(tiled))
        return _type(cls, atom, str(layout), tile_text(tile))

    @property
    @abstractmethod
    def tiled(self) -> Any:
        """The tiled atom of this type."""

    @property
    def typed(self) -> Typed:
        return Typed(self.name.removeprefix("cute."), self.tiled)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.tiled))

    @abstractmethod
    def why_not(self) -> str | None:
        """Why its atom is not tiled like this."""

    def verify(self) -> None:
        name = self.name.removeprefix("cute.")
        if not isinstance(self.atom, self.ATOMS):
            raise VerifyException(f"{name} expected {self.WHAT}, got {self.atom}")
        if (reason := self.why_not()) is not None:
            raise VerifyException(f"{name} {reason}")


_Type = TypeVar("_Type", bound=TiledType)
_Tiled = TypeVar("_Tiled", TiledMma, TiledCopy)


@cache
def _type(kind: type[_Type], atom: Attribute, layout: str, tile: str) -> _Type:
    return kind(atom, StringAttr(layout), StringAttr(tile))


@cache
def _tiled(kind: type[_Tiled], atom: Any, layout: StringAttr, tile: StringAttr) -> _Tiled:
    return kind(atom, read_typed("layout", layout.data).value, read_typed("tile", tile.data).value)


@irdl_attr_definition
class TiledMmaType(TiledType):
    """An MMA atom tiled over threads and values: CuTe's TiledMMA.

    `!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>,
    atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32:1;32:1;16:1]">`: four warps, two
    along M and two along N, and a tile of 32x32x16. Without `atom_layout_MNK` there is one atom;
    a permutation of `_` is the extent of the atoms.
    """

    name = "cute.tiled_mma"

    WHAT = "an MMA atom"
    ATOMS = MmaAtomAttr

    @property
    def tiled(self) -> TiledMma:
        """The tiled MMA of this type."""
        return _tiled(TiledMma, self.atom, self.layout, self.tile)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            atom = parser.parse_attribute()
            atom_layout, permutation = DEFAULT_ATOM_LAYOUT, DEFAULT_PERMUTATION
            while parser.parse_optional_punctuation(","):
                if parser.parse_optional_keyword("atom_layout_MNK"):
                    parser.parse_punctuation("=")
                    atom_layout = read_value(parser, "layout")
                else:
                    permutation = _assigned(parser, "permutation_MNK", "tile")
        return [atom, StringAttr(str(atom_layout)), StringAttr(tile_text(permutation))]

    def why_not(self) -> str | None:
        return why_no_tiled_mma(self.tiled)


@irdl_attr_definition
class TiledCopyType(TiledType):
    """A copy atom tiled over threads and values: CuTe's TiledCopy.

    `!cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv =
    "((4,32),8):((256,1),32)", tiler_mn = "[32:1;32:1]">`: thread and value to an element of the
    tile of 32 x 32, counted along its first mode, of which each thread copies 8.
    """

    name = "cute.tiled_copy"

    WHAT = "a copy atom"
    ATOMS = CopyAtomAttr

    @property
    def tiled(self) -> TiledCopy:
        """The tiled copy of this type."""
        return _tiled(TiledCopy, self.atom, self.layout, self.tile)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            atom = parser.parse_attribute()
            parser.parse_punctuation(",")
            layout: Layout = _assigned(parser, "layout_tv", "layout")
            parser.parse_punctuation(",")
            tiler = _assigned(parser, "tiler_mn", "tile")
        return [atom, StringAttr(str(layout)), StringAttr(tile_text(wrapped(tiler)))]

    def why_not(self) -> str | None:
        return why_no_tiled_copy(self.tiled)


built_by("tiled_mma", lambda typed: TiledMmaType.get(typed.value))
built_by("tiled_copy", lambda typed: TiledCopyType.get(typed.value))
