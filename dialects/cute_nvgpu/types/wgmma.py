"""Types of `sm90.mma`: its atoms."""

from __future__ import annotations

from xdsl.ir import Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.cute.atoms import MmaTraits, Operand
from tilewright.dialects.cute.symbolic.composed import AnyLayout
from tilewright.dialects.cute.types.tiled import MmaAtomAttr
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.traits import wgmma_traits, why_no_descriptor
from tilewright.dialects.cute_nvgpu.atoms.wgmma import FragmentKind, WgmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import find_wgmma
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MajorMode
from tilewright.dialects.cute_nvgpu.types.atom_syntax import after, choice, major
from tilewright.dialects.cute_nvgpu.types.atoms import parse_element

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
            types = after("elem_type", parser, lambda: parse_element(parser))
            majors: list[MajorMode] = after("ab_major", parser, lambda: major(parser))
            parser.parse_punctuation(",")
            parser.parse_keyword("frag_kind")
            parser.parse_punctuation("=")
            kind = _FRAGMENT_KINDS[choice(parser, _FRAGMENT_KINDS)]
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
