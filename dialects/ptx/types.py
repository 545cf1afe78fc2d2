"""Registers of PTX as SSA types."""

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.labelled import Bracketed, parse_natural

KINDS: dict[str, int] = {
    "pred": 1, "b8": 8, "b16": 16, "b32": 32, "f32": 32, "b64": 64, "f64": 64
}  # fmt: skip
"""Register kinds, as `.reg` declares them, and their widths in bits. PTX ISA 5.2."""


@irdl_attr_definition
class RegType(Bracketed, TypeAttribute):
    """A register, `!ptx.reg<b32>`, or a list of registers, `!ptx.reg<b32 x 4>`.

    A list is one SSA value: a fragment, or the operand of a vector access. Printing PTX
    expands it to `{%r1, %r2, %r3, %r4}`.
    """

    name = "ptx.reg"

    kind: StringAttr
    count: IntAttr

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        kind = parser.parse_identifier()
        count = 1
        if parser.parse_optional_keyword("x"):
            count = parse_natural(parser)
        return [StringAttr(kind), IntAttr(count)]

    def print_inside(self, printer: Printer) -> None:
        count = self.count.data
        printer.print_string(self.kind.data + (f" x {count}" if count > 1 else ""))

    def verify(self) -> None:
        if self.kind.data not in KINDS:
            raise VerifyException(
                f"expected a register kind of {', '.join(KINDS)}, got {self.kind.data}"
            )
        if self.count.data < 1:
            raise VerifyException(f"expected at least one register, got {self.count.data}")


@cache
def reg(kind: str, count: int = 1) -> RegType:
    """The type of `count` registers of a kind."""
    return RegType(StringAttr(kind), IntAttr(count))


B16, B32, B64, PRED = map(reg, ("b16", "b32", "b64", "pred"))
