"""Types of the MMA atoms that read matrices from shared memory: `sm90.mma`, `sm100.mma` and their
likes."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

from xdsl.parser import AttrParser

from tilewright.dialects.cute.atoms import MmaTraits, Operand
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.types.tiled import MmaAtomAttr
from tilewright.dialects.cute_nvgpu.atoms.traits import (
    umma_traits,
    wgmma_traits,
    why_no_descriptor,
    why_no_umma_operand,
)
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma_lookup import UMMA_OPS, find_umma
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import KINDS
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import WGMMA_OPS, find_wgmma
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MAJOR_MODES
from tilewright.dialects.cute_nvgpu.types.atoms import (
    LatticeData,
    Modifier,
    choice,
    parse_assignment,
    parse_element,
    parse_integer,
    parse_list,
    parse_modifiers,
    parse_scale_type,
    types_of,
)
from tilewright.dialects.reading import legal_text

AtomT = TypeVar("AtomT", WgmmaAtom, UmmaAtom)


class SharedAtomType(LatticeData[AtomT], MmaAtomAttr, Generic[AtomT]):
    """An atom whose B, and mostly A, is a matrix in shared memory.

    `!cute_nvgpu.sm90.mma<64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn),
    frag_kind = ss>`: shape M x N x K; the element types of a, b and d; how A and B lie in shared
    memory; and where A is. `FRAGMENT_KINDS`, `MODIFIERS` and `FIND` are those of the instruction.
    """

    FRAGMENT_KINDS: ClassVar[tuple[str, ...]]
    MODIFIERS: ClassVar[dict[str, Modifier]]
    FIND: ClassVar[Callable[..., Any]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AtomT:
        with parser.in_angle_brackets(), legal_text(parser):
            start = parser.pos
            shape = parser.parse_dimension_list()
            types = parse_list(parser, "elem_type", parse_element)
            majors = parse_list(parser, "ab_major", lambda parser: choice(parser, MAJOR_MODES))
            frag_kind = parse_assignment(
                parser, "frag_kind", lambda parser: choice(parser, cls.FRAGMENT_KINDS)
            )
            modifiers = parse_modifiers(parser, cls.MODIFIERS, ("satfinite",))
            if len(shape) != 3 or len(types) != 3 or len(majors) != 2:
                parser.raise_error(
                    "expected MxNxK, elem_type = (a, b, d), ab_major = (a, b)", start, parser.pos
                )
            op = cls.name.removeprefix("cute_nvgpu.")
            return cls.FIND(
                op, tuple(shape), tuple(types), majors=tuple(majors), frag_kind=frag_kind,
                **modifiers,
            )  # fmt: skip

    @property
    @abstractmethod
    def mma_traits(self) -> MmaTraits: ...


class WgmmaAtomType(SharedAtomType[WgmmaAtom]):
    """An atom of `wgmma.mma_async`: A is in shared memory (`ss`) or in registers (`rs`)."""

    FRAGMENT_KINDS: ClassVar = ("ss", "rs")
    MODIFIERS: ClassVar = {}
    FIND: ClassVar = staticmethod(find_wgmma)

    @property
    def mma_traits(self) -> MmaTraits:
        return wgmma_traits(self.data)

    def why_not_operand(self, which: Operand, layout: AnyLayout) -> str | None:
        major = self.data.majors[0 if which == "A" else 1]
        return why_no_descriptor(layout, self.data.element(which), major)


class UmmaAtomType(SharedAtomType[UmmaAtom]):
    """An atom of `tcgen05.mma`: A is in shared memory (`ss`) or in tensor memory (`ts`).
    `cta_group = 2`, `kind = mxf4`, `scale_vec = 2` and `scale_type = f8E8M0FNU` may follow."""

    FRAGMENT_KINDS: ClassVar = ("ss", "ts")
    MODIFIERS: ClassVar = {
        "cta_group": Modifier("cta_group", parse_integer),
        "kind": Modifier("kind", lambda parser: choice(parser, KINDS)),
        "scale_vec": Modifier("scale_vector", parse_integer),
        "scale_type": Modifier("scale_type", parse_scale_type),
    }
    FIND: ClassVar = staticmethod(find_umma)

    @property
    def mma_traits(self) -> MmaTraits:
        return umma_traits(self.data)

    def why_not_operand(self, which: Operand, layout: AnyLayout) -> str | None:
        return why_no_umma_operand(self.data, which, layout)


WGMMA_ATOM_TYPES = types_of(WgmmaAtomType, WGMMA_OPS)
UMMA_ATOM_TYPES = types_of(UmmaAtomType, UMMA_OPS)
"""The type of the atoms of each op."""
