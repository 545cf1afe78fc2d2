"""Where an op comes from, as debuggers want to know it: the attributes `di_...`.

#file = #cuda_tile.di_file<"kernel.py" in "/home/me">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "f",
                                     compileUnit = #unit, scopeLine = 2>
%0 = iota : tile<4xi32> loc(#cuda_tile.di_loc<loc("kernel.py":7:8) in #function>)
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class DINodeAttr(ParametrizedAttribute):
    """A piece of debug info."""


class DIScopeAttr(DINodeAttr):
    """A file, a unit or a scope within a function."""


class DILocalScopeAttr(DIScopeAttr):
    """A function, or a block within one."""


Field = tuple[str, bool]
"""A name as text has it, and whether it may be left out; 0 is what it is then."""


class StructAttr(DIScopeAttr):
    """`<file = #file, line = 1>`: FIELDS in the order of the parameters, read in any order."""

    FIELDS: ClassVar[tuple[Field, ...]]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        given: dict[str, Attribute] = {}
        names = dict(cls.FIELDS)

        def parse_field() -> None:
            start = parser.pos
            name = parser.parse_identifier()
            if name not in names or name in given:
                wanted = ", ".join(field for field in names if field not in given)
                parser.raise_error(f"expected one of {wanted}, got {name}", start, parser.pos)
            parser.parse_punctuation("=")
            value = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
            given[name] = parser.parse_attribute() if value is None else IntAttr(value)

        start = parser.pos
        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_field)
        for name, optional in cls.FIELDS:
            if name not in given and not optional:
                parser.raise_error(f"'{cls.name}' expected {name}, got none", start, parser.pos)
        return [given.get(name, IntAttr(0)) for name in names]

    def print_parameters(self, printer: Printer) -> None:
        shown = [
            (name, value)
            for (name, optional), value in zip(self.FIELDS, self.parameters, strict=True)
            if not (optional and value == IntAttr(0))
        ]
        with printer.in_angle_brackets():
            printer.print_list(shown, lambda field: _print_field(printer, *field))


def _print_field(printer: Printer, name: str, value: Attribute) -> None:
    printer.print_string(f"{name} = ")
    if isinstance(value, IntAttr):
        printer.print_string(str(value.data))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    else:
        printer.print_attribute(value)


def _pair(
    parser: AttrParser, first: Callable[[], Attribute], second: Callable[[], Attribute]
) -> Sequence[Attribute]:
    """`<first in second>`"""
    with parser.in_angle_brackets():
        one = first()
        parser.parse_keyword("in")
        return one, second()


@irdl_attr_definition
class DIFileAttr(DIScopeAttr):
    """`di_file<"kernel.py" in "/home/me">`."""

    name = "cuda_tile.di_file"

    file_name: StringAttr
    directory: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def string() -> StringAttr:
            return StringAttr(parser.parse_str_literal())

        return _pair(parser, string, string)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.file_name)
            printer.print_string(" in ")
            printer.print_attribute(self.directory)


@irdl_attr_definition
class DICompileUnitAttr(StructAttr):
    """`di_compile_unit<file = #file>`."""

    name = "cuda_tile.di_compile_unit"
    FIELDS = (("file", False),)

    file: DIFileAttr


@irdl_attr_definition
class DISubprogramAttr(StructAttr, DILocalScopeAttr):
    """A function: `di_subprogram<file = #file, line = 1, name = "f", linkageName = "f",
    compileUnit = #unit, scopeLine = 2>`."""

    name = "cuda_tile.di_subprogram"
    FIELDS = (
        ("file", False),
        ("line", False),
        ("name", False),
        ("linkageName", False),
        ("compileUnit", False),
        ("scopeLine", True),
    )

    file: DIFileAttr
    line: IntAttr
    function_name: StringAttr
    linkage_name: StringAttr
    compile_unit: DICompileUnitAttr
    scope_line: IntAttr


@irdl_attr_definition
class DILexicalBlockAttr(StructAttr, DILocalScopeAttr):
    """A block within a function: `di_lexical_block<scope = #function, file = #file, line = 3,
    column = 4>`."""

    name = "cuda_tile.di_lexical_block"
    FIELDS = (("scope", False), ("file", False), ("line", False), ("column", True))

    scope: DILocalScopeAttr
    file: DIFileAttr
    line: IntAttr
    column: IntAttr


@irdl_attr_definition
class DILocAttr(ParametrizedAttribute):
    """A place with its scope: `di_loc<loc("kernel.py":7:8) in #function>`. An op's location."""

    name = "cuda_tile.di_loc"

    source: FileLineColLoc
    scope: DILocalScopeAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return _pair(parser, lambda: _parse_source(parser), parser.parse_attribute)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.source)
            printer.print_string(" in ")
            printer.print_attribute(self.scope)


def _parse_source(parser: AttrParser) -> Attribute:
    location = parser.parse_optional_location()
    return parser.parse_attribute() if location is None else location
