"""The type of a copy by the tensor memory accelerator.

!cute.tma_copy<#cute_nvgpu.tma<load>, 128x64xbf16, swizzle = 128, modes = [0, 1]>

Its atom is an attribute of a dialect above this one, which derives from `TmaAtomAttr`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.atoms import TmaBox, TmaCopy
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.types.algebra import built_by
from tilewright.dialects.cute.types.tiled import AtomAttr, AtomType
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.labelled import parse_label, parse_natural


class TmaAtomAttr(AtomAttr):
    """Base of the attributes that are TMA instructions, `atoms.TmaAtom`."""

    @property
    @abstractmethod
    def loads(self) -> bool:
        """True where it copies to shared memory; else from there."""

    @property
    @abstractmethod
    def multicast(self) -> bool:
        """True where it copies to several CTAs of a cluster, which a mask names."""

    @abstractmethod
    def box_for(
        self, tensor: Layout, tile: tuple[int, ...], memory: AnyLayout, element: str
    ) -> TmaBox:
        """The box that each instruction copies. Raises LayoutError where there is none."""

    @abstractmethod
    def why_not_box(self, box: TmaBox) -> str | None:
        """Why the instruction copies no such box."""

    @abstractmethod
    def why_not_memory(self, box: TmaBox, memory: AnyLayout) -> str | None:
        """Why shared memory of that layout, its modes those of the box, does not hold boxes as the
        instruction lays them down."""


@irdl_attr_definition
class TmaCopyType(AtomType):
    """A copy of boxes of a tensor in global memory.

    `!cute.tma_copy<#cute_nvgpu.tma<load>, 128x64xbf16, swizzle = 128>`: each instruction copies
    128 x 64 elements, the last dimension contiguous, and swizzles them over rows of 128 bytes.
    `modes = [1, 0]` says that the box's first dimension runs along the tensor's mode 1.
    """

    name = "cute.tma_copy"

    extents: ArrayAttr[IntAttr]
    element: StringAttr
    swizzle: IntAttr
    modes: ArrayAttr[IntAttr]

    @classmethod
    def get(cls, copy: TmaCopy) -> TmaCopyType:
        """The type of a copy. Raises VerifyException."""
        atom = copy.atom
        assert isinstance(atom, Attribute)
        return _type(atom, copy.box)

    @property
    def box(self) -> TmaBox:
        """The box that each instruction copies."""
        return TmaBox(
            tuple(extent.data for extent in self.extents),
            self.element.data,
            self.swizzle.data,
            tuple(mode.data for mode in self.modes),
        )

    @property
    def typed(self) -> Typed:
        atom: Any = self.atom
        return Typed("tma_copy", TmaCopy(atom, self.box))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            atom = parser.parse_attribute()
            parser.parse_punctuation(",")
            extents, element = parser.parse_ranked_shape()
            swizzle, modes = 0, list(range(len(extents)))
            while parser.parse_optional_punctuation(","):
                if parser.parse_optional_keyword("swizzle"):
                    parser.parse_punctuation("=")
                    swizzle = parse_natural(parser)
                else:
                    parse_label(parser, "modes")
                    modes = parser.parse_comma_separated_list(
                        parser.Delimiter.SQUARE, parser.parse_integer
                    )
        return [
            atom,
            ArrayAttr(map(IntAttr, extents)),
            StringAttr(str(element)),
            IntAttr(swizzle),
            ArrayAttr(map(IntAttr, modes)),
        ]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.atom)
            printer.print_string(f", {self.box}")

    def verify(self) -> None:
        if not isinstance(self.atom, TmaAtomAttr):
            raise VerifyException(f"tma_copy expected a TMA atom, got {self.atom}")
        box = self.box
        if sorted(box.modes) != list(range(len(box.modes))) or len(box.modes) != len(box.extents):
            raise VerifyException(
                f"tma_copy expected one mode of the tensor for each of {len(box.extents)} extents, "
                f"got {list(box.modes)}"
            )
        if (reason := self.atom.why_not_box(box)) is not None:
            raise VerifyException(f"tma_copy {reason}")


@cache
def _type(atom: Attribute, box: TmaBox) -> TmaCopyType:
    return TmaCopyType(
        atom,
        ArrayAttr(map(IntAttr, box.extents)),
        StringAttr(box.element),
        IntAttr(box.swizzle),
        ArrayAttr(map(IntAttr, box.modes)),
    )


built_by("tma_copy", lambda typed: TmaCopyType.get(typed.value))
