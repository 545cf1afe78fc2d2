"""Types of `sm100.mma` and its likes: their atoms."""

from __future__ import annotations

from typing import TypedDict

from xdsl.ir import Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.cute.atoms import MmaTraits, Operand
from tilewright.dialects.cute.symbolic.composed import AnyLayout
from tilewright.dialects.cute.types.tiled import MmaAtomAttr
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.traits import umma_traits, why_no_umma_operand
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom, UmmaFragmentKind
from tilewright.dialects.cute_nvgpu.atoms.umma_lookup import find_umma
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import KINDS
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MajorMode
from tilewright.dialects.cute_nvgpu.lattice.elements import SCALE_TYPES
from tilewright.dialects.cute_nvgpu.types.atom_syntax import after, choice, major
from tilewright.dialects.cute_nvgpu.types.atoms import parse_element

_FRAGMENT_KINDS: tuple[UmmaFragmentKind, ...] = ("ss", "ts")


class UmmaModifiers(TypedDict, total=False):
    """What an atom has beside shape, types and majors; the names of `find_umma`."""

    cta_group: int
    kind: str
    scale_vector: int
    scale_type: str
    satfinite: bool


class UmmaAtomType(Data[UmmaAtom], TypeAttribute, MmaAtomAttr):
    """An atom of `tcgen05.mma`.

    `!cute_nvgpu.sm100.mma<128x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn),
    frag_kind = ss>`: shape M x N x K; the element types of a, b and d; how A and B lie in shared
    memory; and whether A is there too (`ss`) or in tensor memory (`ts`). `cta_group = 2`, `kind =
    mxf4`, `scale_vec = 2`, `scale_type = f8E8M0FNU` and `satfinite` may follow.
    """

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> UmmaAtom:
        with parser.in_angle_brackets():
            start = parser.pos
            shape = parser.parse_dimension_list()
            types = after("elem_type", parser, lambda: parse_element(parser))
            majors: list[MajorMode] = after("ab_major", parser, lambda: major(parser))
            parser.parse_punctuation(",")
            parser.parse_keyword("frag_kind")
            parser.parse_punctuation("=")
            frag_kind = _FRAGMENT_KINDS[choice(parser, _FRAGMENT_KINDS)]
            modifiers = _parse_modifiers(parser)
            if len(shape) != 3 or len(types) != 3 or len(majors) != 2:
                parser.raise_error(
                    "expected MxNxK, elem_type = (a, b, d), ab_major = (a, b)", start, parser.pos
                )
            (m, n, k), (a, b, d) = shape, types
            try:
                return find_umma(
                    cls.name.removeprefix("cute_nvgpu."),
                    (m, n, k),
                    (a, b, d),
                    majors=(majors[0], majors[1]),
                    frag_kind=frag_kind,
                    **modifiers,
                )
            except AtomError as error:
                parser.raise_error(str(error), start, parser.pos)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.parameters)

    @property
    def mma_traits(self) -> MmaTraits:
        return umma_traits(self.data)

    def why_not_operand(self, which: Operand, layout: AnyLayout) -> str | None:
        return why_no_umma_operand(self.data, which, layout)


_ASSIGNED = ("cta_group", "kind", "scale_vec", "scale_type")


def _parse_modifiers(parser: AttrParser) -> UmmaModifiers:
    found: UmmaModifiers = {}
    while parser.parse_optional_punctuation(","):
        if parser.parse_optional_keyword("satfinite"):
            found["satfinite"] = True
            continue
        name = _ASSIGNED[choice(parser, _ASSIGNED)]
        parser.parse_punctuation("=")
        if name == "cta_group":
            found["cta_group"] = parser.parse_integer(allow_boolean=False)
        elif name == "scale_vec":
            found["scale_vector"] = parser.parse_integer(allow_boolean=False)
        elif name == "kind":
            found["kind"] = KINDS[choice(parser, KINDS)]
        else:
            found["scale_type"] = _parse_scale_type(parser)
    return found


def _parse_scale_type(parser: AttrParser) -> str:
    start = parser.pos
    spelled = str(parser.parse_type())
    legal = {row.mlir: row.name for row in SCALE_TYPES.values()}
    if spelled not in legal:
        parser.raise_error(
            f"expected scale factors of type {', '.join(legal)}, got {spelled}", start, parser.pos
        )
    return legal[spelled]


@irdl_attr_definition
class Sm100MmaAtomType(UmmaAtomType):
    """An atom of `sm100.mma`."""

    name = "cute_nvgpu.sm100.mma"


@irdl_attr_definition
class Sm100MmaSpAtomType(UmmaAtomType):
    """An atom of `sm100.mma_sp`."""

    name = "cute_nvgpu.sm100.mma_sp"


@irdl_attr_definition
class Sm100MmaBsAtomType(UmmaAtomType):
    """An atom of `sm100.mma_bs`."""

    name = "cute_nvgpu.sm100.mma_bs"


@irdl_attr_definition
class Sm100MmaBsSpAtomType(UmmaAtomType):
    """An atom of `sm100.mma_bs_sp`."""

    name = "cute_nvgpu.sm100.mma_bs_sp"


@irdl_attr_definition
class Sm100MmaWsAtomType(UmmaAtomType):
    """An atom of `sm100.mma_ws`."""

    name = "cute_nvgpu.sm100.mma_ws"


@irdl_attr_definition
class Sm100MmaWsSpAtomType(UmmaAtomType):
    """An atom of `sm100.mma_ws_sp`."""

    name = "cute_nvgpu.sm100.mma_ws_sp"


UMMA_ATOM_TYPES: dict[str, type[UmmaAtomType]] = {
    each.name.removeprefix("cute_nvgpu."): each
    for each in (
        Sm100MmaAtomType,
        Sm100MmaSpAtomType,
        Sm100MmaBsAtomType,
        Sm100MmaBsSpAtomType,
        Sm100MmaWsAtomType,
        Sm100MmaWsSpAtomType,
    )
}
"""The attribute of the atoms of each op."""
