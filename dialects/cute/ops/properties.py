"""The properties that stand between an op's name and its operands.

cute.get<[1, 0]> (%x)       cute.group_modes<0, 2> (%x)       cute.append_to_rank<3> (%x, %e)
"""

from abc import ABC
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i32
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cute.ops.operation import CuteOp, InferredOp
from tilewright.dialects.cute.symbolic.scalar import fits


def path_of(mode: Attribute | None) -> tuple[int, ...]:
    """The mode numbers of a property; none where it is missing."""
    if mode is None:
        return ()
    return tuple(cast("DenseArrayBase[IntegerType]", mode).get_values())


def parse_number(parser: Parser) -> int:
    """An integer of 32 bits."""
    start = parser.pos
    number = parser.parse_integer()
    if not fits(number, 32):
        parser.raise_error(f"expected an integer of 32 bits, got {number}", start, parser.pos)
    return number


class ModePrefix(CuteOp, ABC):
    """An op with a list of mode numbers, `<[1, 0]>`."""

    MODE_IS_OPTIONAL: ClassVar[bool] = True

    @classmethod
    def parse_prefix(cls, parser: Parser) -> dict[str, Attribute]:
        if cls.MODE_IS_OPTIONAL and parser.parse_optional_punctuation("<") is None:
            return {}
        if not cls.MODE_IS_OPTIONAL:
            parser.parse_punctuation("<")
        path = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_number(parser)
        )
        parser.parse_punctuation(">")
        return {"mode": DenseArrayBase.from_list(i32, path)}

    def print_prefix(self, printer: Printer) -> None:
        if (mode := self.properties.get("mode")) is not None:
            printer.print_string(f"<[{', '.join(map(str, path_of(mode)))}]>")
        printer.print_string(" ")


class ModeOp(ModePrefix, InferredOp, ABC):
    """One whose results its rule gives."""

    @classmethod
    def arguments(cls, properties: dict[str, Attribute]) -> tuple[Any, ...]:
        return (path_of(properties.get("mode")),)


class NumbersOp(InferredOp, ABC):
    """An op with numbers, `<0, 2>`, each under a name of its own."""

    NUMBERS: ClassVar[tuple[str, ...]]

    @classmethod
    def arguments(cls, properties: dict[str, Attribute]) -> tuple[Any, ...]:
        return tuple(cast("IntegerAttr", properties[name]).value.data for name in cls.NUMBERS)

    @classmethod
    def parse_prefix(cls, parser: Parser) -> dict[str, Attribute]:
        parser.parse_punctuation("<")
        numbers: dict[str, Attribute] = {}
        for i, name in enumerate(cls.NUMBERS):
            if i:
                parser.parse_punctuation(",")
            numbers[name] = IntegerAttr(parse_number(parser), i32)
        parser.parse_punctuation(">")
        return numbers

    def print_prefix(self, printer: Printer) -> None:
        printer.print_string(f"<{', '.join(map(str, self.arguments(self.properties)))}> ")
