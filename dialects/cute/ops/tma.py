"""`cute.make_tma_copy`: the copy of a tensor's tiles by the tensor memory accelerator."""

from functools import partial
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cute.ops.operands import COPIER, MEMREF, TENSOR
from tilewright.dialects.cute.ops.operation import InferredOp, Syntax, cute_op
from tilewright.dialects.cute.rules import copies
from tilewright.dialects.cute.tensor import read_layout
from tilewright.dialects.cute.types.tma import TmaAtomAttr
from tilewright.dialects.cute.values import read_typed, typed_layout
from tilewright.dialects.reading import read_text


@cute_op("cute.make_tma_copy", (MEMREF,), (COPIER, TENSOR), copies.make_tma_copy)
class MakeTmaCopyOp(InferredOp):
    """The copy of tiles of a tensor in global memory, an argument of the kernel, and the tensor of
    its coordinates.

    `%tma, %coords = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem =
    "S<3,3,3> o 0 o (128,64):(64,1)"> (%a)`: tiles of 128 x 64, which lie in shared memory as
    `smem` says. The copy's source is a tile of `%coords`.
    """

    SYNTAX: ClassVar = Syntax.INFERRED

    source = operand_def()
    atom = prop_def(Attribute)
    tile = prop_def(StringAttr)
    smem = prop_def(StringAttr)
    copy = result_def()
    coords = result_def()

    @classmethod
    def arguments(cls, properties: dict[str, Attribute]) -> tuple[Any, ...]:
        tile, smem = (cast("StringAttr", properties[name]).data for name in ("tile", "smem"))
        memory = typed_layout(read_layout(smem))
        return (properties["atom"], read_typed("tile", tile), memory)

    @classmethod
    def parse_prefix(cls, parser: Parser) -> dict[str, Attribute]:
        properties: dict[str, Attribute] = {}
        with parser.in_angle_brackets():
            start = parser.pos
            properties["atom"] = parser.parse_attribute()
            if not isinstance(properties["atom"], TmaAtomAttr):
                parser.raise_error(
                    f"expected a TMA atom, got {properties['atom']}", start, parser.pos
                )
            for name in ("tile", "smem"):
                parser.parse_punctuation(",")
                parser.parse_keyword(name)
                parser.parse_punctuation("=")
                text = read_text(parser, name, partial(_spelled, name))
                properties[name] = StringAttr(text)
        return properties

    def print_prefix(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.atom)
            printer.print_string(f', tile = "{self.tile.data}", smem = "{self.smem.data}"')
        printer.print_string(" ")


def _spelled(name: str, text: str) -> str:
    return (read_typed("tile", text) if name == "tile" else typed_layout(read_layout(text))).text
