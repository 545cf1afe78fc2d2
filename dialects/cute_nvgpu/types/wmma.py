"""`wmma.load` and `wmma.store` as types of `cute_nvgpu`, beside those of the MMA atoms."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess, find_access
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.types.atoms import parse_element


class WmmaAccessType(Data[WmmaAccess], TypeAttribute):
    """The matrix that a `wmma.load` or `wmma.store` moves.

    `!cute_nvgpu.wmma.load<16x16x16, operand = a, elem_type = f16, layout = row>`: the shape
    M x N x K of the MMA, which of its matrices, and whether rows or columns lie in memory side by
    side.
    """

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> WmmaAccess:
        with parser.in_angle_brackets():
            start = parser.pos
            shape = parser.parse_dimension_list()
            if len(shape) != 3:
                parser.raise_error("expected MxNxK", start, parser.pos)
            operand = _parse_assignment(parser, "operand", parser.parse_identifier)
            element = _parse_assignment(parser, "elem_type", lambda: parse_element(parser))
            major = _parse_assignment(parser, "layout", parser.parse_identifier)
            try:
                m, n, k = shape
                op = cls.name.removeprefix("cute_nvgpu.")
                return find_access(op, operand, (m, n, k), element, major)
            except AtomError as error:
                parser.raise_error(str(error), start, parser.pos)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.parameters)

    def requirement(self) -> Requirement:
        """The lowest target and PTX version that run the instruction."""
        return Requirement.of(self.data.row)


def _parse_assignment(parser: AttrParser, name: str, value: Callable[[], str]) -> str:
    parser.parse_punctuation(",")
    parser.parse_keyword(name)
    parser.parse_punctuation("=")
    return value()


@irdl_attr_definition
class WmmaLoadType(WmmaAccessType):
    """A `wmma.load`."""

    name = "cute_nvgpu.wmma.load"


@irdl_attr_definition
class WmmaStoreType(WmmaAccessType):
    """A `wmma.store`."""

    name = "cute_nvgpu.wmma.store"


WMMA_ACCESS_TYPES: dict[str, type[WmmaAccessType]] = {
    type_.name.removeprefix("cute_nvgpu."): type_ for type_ in (WmmaLoadType, WmmaStoreType)
}
"""The attribute of the accesses of each op."""
