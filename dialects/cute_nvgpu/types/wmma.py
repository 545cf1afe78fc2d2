"""`wmma.load` and `wmma.store` as types of `cute_nvgpu`, beside those of the MMA atoms."""

from xdsl.parser import AttrParser

from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess, find_access
from tilewright.dialects.cute_nvgpu.types.atoms import (
    LatticeData,
    parse_assignment,
    parse_element,
    types_of,
)
from tilewright.dialects.reading import legal_text


class WmmaAccessType(LatticeData[WmmaAccess]):
    """The matrix that a `wmma.load` or `wmma.store` moves.

    `!cute_nvgpu.wmma.load<16x16x16, operand = a, elem_type = f16, layout = row>`: the shape
    M x N x K of the MMA, which of its matrices, and whether rows or columns lie in memory side by
    side.
    """

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> WmmaAccess:
        with parser.in_angle_brackets(), legal_text(parser):
            start = parser.pos
            shape = parser.parse_dimension_list()
            if len(shape) != 3:
                parser.raise_error("expected MxNxK", start, parser.pos)
            operand = parse_assignment(parser, "operand", AttrParser.parse_identifier)
            element = parse_assignment(parser, "elem_type", parse_element)
            major = parse_assignment(parser, "layout", AttrParser.parse_identifier)
            m, n, k = shape
            op = cls.name.removeprefix("cute_nvgpu.")
            return find_access(op, operand, (m, n, k), element, major)


WMMA_ACCESS_TYPES = types_of(WmmaAccessType, ("wmma.load", "wmma.store"))
"""The type of the accesses of each op."""
