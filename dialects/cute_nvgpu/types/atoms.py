"""MMA atoms as types of `cute_nvgpu`, one for each op of the lattice."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from xdsl.ir import Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.cute.atoms import MmaTraits, Operand
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.types.tiled import MmaAtomAttr
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.lookup import Modifiers, find
from tilewright.dialects.cute_nvgpu.atoms.traits import mma_traits
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.elements import SCALE_TYPES
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.lattice.wmma import WMMA_MMA
from tilewright.dialects.cute_nvgpu.types.fragments import LEGAL_ELEMENTS, element_of
from tilewright.dialects.frozen import frozen
from tilewright.dialects.labelled import parse_label
from tilewright.dialects.reading import legal_text

_Data = TypeVar("_Data", bound=Any)


class ParametersData(Data[_Data], Generic[_Data]):
    """A value of the lattice as an attribute, by its parameters."""

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.parameters)


class LatticeData(ParametersData[_Data], TypeAttribute, Generic[_Data]):
    """A value of the lattice as a type: its parameters, its row's requirement."""

    def requirement(self) -> Requirement:
        """The lowest target and PTX version that run the instruction."""
        return Requirement.of(self.data.row)


class MmaAtomType(LatticeData[MmaAtom], MmaAtomAttr):
    """An atom of one op of the lattice.

    `!cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32)>`: shape M x N x K and the
    element types of a, b and the accumulators (or of a, b, c and d), then the modifiers
    `layouts = (row, col)`, `kind = mxf4`, `scale_vec = 2`, `scale_type = f8E8M0FNU`,
    `ordered_metadata`, `satfinite`, `rounding = rz` or `bit_op = xor`.
    """

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MmaAtom:
        with parser.in_angle_brackets(), legal_text(parser):
            start = parser.pos
            shape = parser.parse_dimension_list()
            types = parse_list(parser, "elem_type", parse_element)
            if len(shape) != 3 or len(types) not in (3, 4):
                parser.raise_error(
                    "expected MxNxK, elem_type = (a, b, acc) or (a, b, c, d)", start, parser.pos
                )
            modifiers = parse_modifiers(parser, _ASSIGNED, _FLAGS)
            if modifiers.pop("ordered_metadata", False):
                modifiers["sparsity"] = "sp::ordered_metadata"
            a, b, c, d = (*types, types[-1]) if len(types) == 3 else types
            m, n, k = shape
            op = cls.name.removeprefix("cute_nvgpu.")
            return find(op, (m, n, k), (a, b, c, d), **cast("Modifiers", modifiers))

    @property
    def mma_traits(self) -> MmaTraits:
        return mma_traits(self.data)

    def why_not_operand(self, which: Operand, layout: AnyLayout) -> str | None:
        return f"{self.data} reads {which} from registers"


_Type = TypeVar("_Type", bound=Data[Any])


def types_of(base: type[_Type], ops: Iterable[str]) -> dict[str, type[_Type]]:
    """A type for each op of the lattice, `!cute_nvgpu.OP`, all of one base."""
    named: dict[str, Any] = {
        op: type(f"{base.__name__} {op}", (base,), {"name": f"cute_nvgpu.{op}"}) for op in ops
    }
    return {op: irdl_attr_definition(class_) for op, class_ in named.items()}


MMA_ATOM_TYPES = types_of(MmaAtomType, (row.op for row in (*MMA_ROWS, *WMMA_MMA)))
"""The type of the atoms of each op."""


_Part = TypeVar("_Part")


def parse_assignment(
    parser: AttrParser, keyword: str, parse: Callable[[AttrParser], _Part]
) -> _Part:
    """`, keyword = value`"""
    parser.parse_punctuation(",")
    parse_label(parser, keyword)
    return parse(parser)


def parse_list(
    parser: AttrParser, keyword: str, parse: Callable[[AttrParser], _Part]
) -> list[_Part]:
    """`, keyword = (x, y)`"""
    return parse_assignment(
        parser,
        keyword,
        lambda parser: parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse(parser)
        ),
    )


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


@frozen
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
