"""MMA atoms as types of `cute_nvgpu`, one for each op of the lattice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.ir import Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.cute.atoms import MmaTraits, Operand
from tilewright.dialects.cute.symbolic.composed import AnyLayout
from tilewright.dialects.cute.types.tiled import MmaAtomAttr
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError, MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.lookup import Modifiers, find
from tilewright.dialects.cute_nvgpu.atoms.traits import mma_traits
from tilewright.dialects.cute_nvgpu.atoms.universal_fma import UniversalFma, find_fma
from tilewright.dialects.cute_nvgpu.lattice.elements import SCALE_TYPES
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.types.fragments import LEGAL_ELEMENTS, element_of


class MmaAtomType(Data[MmaAtom], TypeAttribute, MmaAtomAttr):
    """An atom of one op of the lattice.

    `!cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32)>`: shape M x N x K and the
    element types of a, b and the accumulators (or of a, b, c and d), then the modifiers
    `layouts = (row, col)`, `kind = mxf4`, `scale_vec = 2`, `scale_type = f8E8M0FNU`,
    `ordered_metadata`, `satfinite`, `rounding = rz` or `bit_op = xor`.
    """

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MmaAtom:
        with parser.in_angle_brackets():
            start = parser.pos
            shape = parser.parse_dimension_list()
            types = parse_element_types(parser)
            if len(shape) != 3 or len(types) not in (3, 4):
                parser.raise_error(
                    "expected MxNxK, elem_type = (a, b, acc) or (a, b, c, d)", start, parser.pos
                )
            modifiers = parse_modifiers(parser, _ASSIGNED, _FLAGS)
            if modifiers.pop("ordered_metadata", False):
                modifiers["sparsity"] = "sp::ordered_metadata"
            a, b, c, d = (*types, types[-1]) if len(types) == 3 else types
            try:
                m, n, k = shape
                op = cls.name.removeprefix("cute_nvgpu.")
                return find(op, (m, n, k), (a, b, c, d), **cast("Modifiers", modifiers))
            except AtomError as error:
                parser.raise_error(str(error), start, parser.pos)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.parameters)

    @property
    def mma_traits(self) -> MmaTraits:
        return mma_traits(self.data)

    def requirement(self) -> Requirement:
        return Requirement.of(self.data.row)

    def why_not_operand(self, which: Operand, layout: AnyLayout) -> str | None:
        return f"{self.data} reads {which} from registers"


@irdl_attr_definition
class Sm70MmaAtomType(MmaAtomType):
    """An atom of `sm70.mma`."""

    name = "cute_nvgpu.sm70.mma"


@irdl_attr_definition
class Sm80MmaAtomType(MmaAtomType):
    """An atom of `sm80.mma`."""

    name = "cute_nvgpu.sm80.mma"


@irdl_attr_definition
class Sm80SparseMmaAtomType(MmaAtomType):
    """An atom of `sm80.sparse_mma`."""

    name = "cute_nvgpu.sm80.sparse_mma"


@irdl_attr_definition
class Sm89MmaAtomType(MmaAtomType):
    """An atom of `sm89.mma`."""

    name = "cute_nvgpu.sm89.mma"


@irdl_attr_definition
class Sm89SparseMmaAtomType(MmaAtomType):
    """An atom of `sm89.sparse_mma`."""

    name = "cute_nvgpu.sm89.sparse_mma"


@irdl_attr_definition
class Sm120MmaAtomType(MmaAtomType):
    """An atom of `SM120.mma`."""

    name = "cute_nvgpu.SM120.mma"


@irdl_attr_definition
class Sm120MmaSpAtomType(MmaAtomType):
    """An atom of `SM120.mma_sp`."""

    name = "cute_nvgpu.SM120.mma_sp"


@irdl_attr_definition
class Sm120MmaBsAtomType(MmaAtomType):
    """An atom of `SM120.mma_bs`."""

    name = "cute_nvgpu.SM120.mma_bs"


@irdl_attr_definition
class Sm120MmaBsSpAtomType(MmaAtomType):
    """An atom of `SM120.mma_bs_sp`."""

    name = "cute_nvgpu.SM120.mma_bs_sp"


@irdl_attr_definition
class WmmaMmaAtomType(MmaAtomType):
    """An atom of `wmma.mma`."""

    name = "cute_nvgpu.wmma.mma"


@irdl_attr_definition
class UniversalFmaType(Data[UniversalFma], TypeAttribute, MmaAtomAttr):
    """`fma.rn` of one thread as an atom: `!cute_nvgpu.universal_fma<1x1x1, elem_type = (f32, f32,
    f32)>`, f64 as well, and <2x1x1, ...> of f16 and bf16."""

    name = "cute_nvgpu.universal_fma"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> UniversalFma:
        with parser.in_angle_brackets():
            start = parser.pos
            shape = tuple(parser.parse_dimension_list())
            types = parse_element_types(parser)
            try:
                return find_fma(shape, tuple(types))
            except AtomError as error:
                parser.raise_error(str(error), start, parser.pos)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.parameters)

    @property
    def mma_traits(self) -> MmaTraits:
        return self.data.traits

    def requirement(self) -> Requirement:
        return self.data.form.requirement

    def why_not_operand(self, which: Operand, layout: AnyLayout) -> str | None:
        return f"{self.data} reads {which} from registers"


MMA_ATOM_TYPES: dict[str, type[MmaAtomType]] = {
    type_.name.removeprefix("cute_nvgpu."): type_
    for type_ in (
        Sm70MmaAtomType,
        Sm80MmaAtomType,
        Sm80SparseMmaAtomType,
        Sm89MmaAtomType,
        Sm89SparseMmaAtomType,
        Sm120MmaAtomType,
        Sm120MmaSpAtomType,
        Sm120MmaBsAtomType,
        Sm120MmaBsSpAtomType,
        WmmaMmaAtomType,
    )
}
"""The attribute of the atoms of each op."""


def parse_element_types(parser: AttrParser) -> list[str]:
    """`, elem_type = (a, b, acc)`."""
    parser.parse_punctuation(",")
    parser.parse_keyword("elem_type")
    parser.parse_punctuation("=")
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_element(parser))


def parse_element(parser: AttrParser) -> str:
    """The PTX name of an element type that IR spells."""
    start = parser.pos
    spelled = parser.parse_type()
    element = element_of(spelled)
    if element is None:
        parser.raise_error(
            f"expected an element type of {LEGAL_ELEMENTS}, got {spelled}", start, parser.pos
        )
    return element.name


@dataclass(frozen=True, slots=True)
class Modifier:
    """A modifier `name = value` of an atom: what the lookup calls it, and how its value is read."""

    argument: str
    parse: Callable[[AttrParser], object]


def parse_modifiers(
    parser: AttrParser, assigned: Mapping[str, Modifier], flags: Sequence[str]
) -> dict[str, object]:
    """`, name = value` and `, flag`, in any order, as arguments of the lookup."""
    modifiers: dict[str, object] = {}
    while parser.parse_optional_punctuation(","):
        start = parser.pos
        name = parser.parse_identifier("a modifier")
        if name in flags:
            modifiers[name] = True
            continue
        if name not in assigned:
            legal = ", ".join((*assigned, *flags))
            parser.raise_error(f"expected a modifier of {legal}, got {name}", start, parser.pos)
        parser.parse_punctuation("=")
        modifiers[assigned[name].argument] = assigned[name].parse(parser)
    return modifiers


def choice(parser: AttrParser, legal: Sequence[str]) -> str:
    """Which of these words comes next."""
    start = parser.pos
    word = parser.parse_identifier()
    if word not in legal:
        parser.raise_error(f"expected {' or '.join(legal)}, got {word}", start, parser.pos)
    return word


def parse_integer(parser: AttrParser) -> int:
    """A number, no `true`."""
    return parser.parse_integer(allow_boolean=False)


def parse_scale_type(parser: AttrParser) -> str:
    """The PTX name of a type of scale factors that IR spells."""
    start = parser.pos
    spelled = str(parser.parse_type())
    legal = {row.mlir: row.name for row in SCALE_TYPES.values()}
    if spelled not in legal:
        parser.raise_error(
            f"expected scale factors of type {', '.join(legal)}, got {spelled}", start, parser.pos
        )
    return legal[spelled]


def _parse_majors(parser: AttrParser) -> tuple[str, ...]:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_identifier))


_ASSIGNED = {
    "layouts": Modifier("majors", _parse_majors),
    "kind": Modifier("kind", AttrParser.parse_identifier),
    "scale_vec": Modifier("scale_vector", parse_integer),
    "scale_type": Modifier("scale_type", parse_scale_type),
    "rounding": Modifier("rounding", AttrParser.parse_identifier),
    "bit_op": Modifier("bit_op", AttrParser.parse_identifier),
}
_FLAGS = ("ordered_metadata", "satfinite")
